# SPDX-License-Identifier: Apache-2.0
"""Sizes and counts of ranks, and what the comparison with gloo refuses of them."""

import argparse
import subprocess
import sys
from pathlib import Path

import pytest
from ranks_sizes import amount, count, counts, number, numbers

COMPARE = Path(__file__).with_name("compare.py")


def test_sizes_have_units():
    assert numbers("8,64K,3M,1G") == [8, 64 << 10, 3 << 20, 1 << 30]
    for wrong in ("", "K", "8KM", "much"):
        with pytest.raises(ValueError, match="invalid literal"):
            number(wrong)


def test_amounts_are_whole():
    sizes = (8, 4096, 3 << 20, 3 << 19, 4097)
    assert [amount(each) for each in sizes] == ["8", "4 Ki", "3 Mi", "1536 Ki", "4097"]


def test_counts_begin_with_one():
    assert counts("1,2,64") == [1, 2, 64]
    for wrong in ("0", "-1", "", "two", "\u0663"):
        with pytest.raises(argparse.ArgumentTypeError, match="expected a number from 1 on"):
            count(wrong)


@pytest.mark.parametrize("option", ["--rounds", "--ranks"])
def test_a_comparison_of_nothing_is_refused(option):
    command = [sys.executable, COMPARE, "no-such-program", option, "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == ""
    assert f"argument {option}: is 0, expected a number from 1 on" in done.stderr
