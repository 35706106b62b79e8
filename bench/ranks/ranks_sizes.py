# SPDX-License-Identifier: Apache-2.0
"""Sizes in bytes and numbers of things, as the scripts of ranks read and print them."""

import argparse


def number(text: str) -> int:
    """8, 64K, 16M, 1G."""
    shift = {"K": 10, "M": 20, "G": 30}.get(text[-1:], 0)
    return int(text[:-1] if shift else text) << shift


def numbers(text: str) -> list[int]:
    return [number(each) for each in text.split(",")]


def amount(size: int) -> str:
    """As `number` reads it, but for the unit: 8, 64 Ki, 16 Mi."""
    for shift, unit in ((20, " Mi"), (10, " Ki")):
        if size >= 1 << shift and size % (1 << shift) == 0:
            return f"{size >> shift}{unit}"
    return str(size)


def count(text: str) -> int:
    if text.isascii() and text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"is {text}, expected a number from 1 on")


def counts(text: str) -> list[int]:
    return [count(each) for each in text.split(",")]
