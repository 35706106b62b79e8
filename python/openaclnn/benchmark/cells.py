# SPDX-License-Identifier: Apache-2.0
"""Tables in Markdown, and figures as their cells have them."""

from collections.abc import Iterable

from .. import report


def section(title: str, table: str) -> list[str]:
    return [f"## {title}", table]


def table(columns: str, rows: Iterable[list[str]]) -> str:
    names = columns.split(", ")
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(_cell(each) for each in line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def seconds(spread: dict) -> str:
    return report.seconds(spread["median"])


def number(value: float | None) -> str:
    return "" if value is None else report.number(value)


def ratio(row: dict) -> list[str]:
    """It and its spread."""
    found = row["ratio"]
    return [f"{found['value']:.2f}", f"{found['low']:.2f} to {found['high']:.2f}"]


def marked(row: dict, name: str) -> str:
    return name + ("" if row["counts"] else " (!)")
