# SPDX-License-Identifier: Apache-2.0
"""The tables of lists that nobody chose: all records, and the calls that models make."""

from collections.abc import Iterable

from .cells import calls, is_slow, marked, number, ratio, seconds, section, table
from .figures import geometric_mean
from .row import OURS

_SLOWEST = 20
_LEAST_SHARE = 0.1  # of the roof, without PyTorch beside it
_PEER = "torch"


def of_walk(rows: list[dict]) -> list[str]:
    """Nothing where no record was measured."""
    if not rows:
        return []
    rows = sorted(rows, key=lambda row: row["ratio"]["value"])
    beside = [row for row in rows if row["peer"] == _PEER]
    alone = [row for row in rows if row["peer"] != _PEER and row["roof_share"] < _LEAST_SHARE]
    alone.sort(key=lambda row: row["roof_share"])
    return [
        *section(f"The slowest {_SLOWEST} records beside PyTorch", _records(beside[:_SLOWEST])),
        *section("Records without PyTorch beside them, below a tenth of the roof", _records(alone)),
        *section("All records", _records(rows)),
    ]


def _records(rows: Iterable[dict]) -> str:
    columns = "operator, shapes, type, threads, ours, peer, its time, ratio, spread of the ratio, of the roof, by"
    return table(
        columns,
        (
            [
                marked(row, row["operator"]),
                row["shapes"],
                row["dtype"],
                str(row["threads"]),
                seconds(row["times"][OURS]),
                row["peer"],
                seconds(row["times"][row["peer"]]) if row["peer"] in row["times"] else "",
                *ratio(row),
                f"{row['roof_share']:.0%}",
                row["by"],
            ]
            for row in rows
        ),
    )


def of_drawn(rows: list[dict]) -> list[str]:
    """Nothing where no call was measured."""
    if not rows:
        return []
    slow = filter(is_slow, rows)
    return [
        *section("Families, by the calls that each makes", _families(rows)),
        *section("Drawn calls less than half as fast", calls(slow, counted=True)),
        *section("Drawn calls and whole models, NPU beside CPU", calls(rows, counted=True)),
    ]


def _families(rows: list[dict]) -> str:
    """A call counts once in each family that makes it, however often that does."""
    names = dict.fromkeys(name for row in rows for name in row["of"])
    keys = sorted({(row["threads"], row["state"]) for row in rows})
    made = []
    for name in names:
        for threads, state in keys:
            ratios = [
                row["ratio"]["value"]
                for row in rows
                if name in row["of"] and row["counts"] and (row["threads"], row["state"]) == (threads, state)
            ]
            made.append([name, str(threads), state, str(len(ratios)), number(geometric_mean(ratios))])
    return table("family, threads, caches, calls, geometric mean", made)

