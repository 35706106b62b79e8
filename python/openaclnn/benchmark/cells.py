# SPDX-License-Identifier: Apache-2.0
"""Tables in Markdown, and figures as their cells have them."""

from collections.abc import Iterable

from ..tool import report


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


def is_slow(row: dict) -> bool:
    """Less than half as fast as a framework's call."""
    return row["counts"] and row["ratio"]["value"] < 0.5


def calls(rows: Iterable[dict], counted: bool = False) -> str:
    """Frameworks' calls beside PyTorch's; `counted`: with how often models make each."""
    times_made = "times made, " if counted else ""
    columns = f"call, {times_made}type, threads, caches, npu, cpu, ratio, spread of the ratio"
    return table(
        columns,
        (
            [
                marked(row, row["call"]),
                *([str(row["count"])] if counted else []),
                row["dtype"],
                str(row["threads"]),
                row["state"],
                seconds(row["times"]["npu"]),
                seconds(row["times"]["cpu"]),
                *ratio(row),
            ]
            for row in rows
        ),
    )


def ratio(row: dict) -> list[str]:
    """It and its spread; empty cells where there is none."""
    found = row["ratio"]
    if not found:
        return ["", ""]
    return [f"{found['value']:.2f}", f"{found['low']:.2f} to {found['high']:.2f}"]


def marked(row: dict, name: str) -> str:
    return name + ("" if row["counts"] else " (!)")
