# SPDX-License-Identifier: Apache-2.0
"""Two runs beside each other: how many times as fast the second is, row by row."""

from dataclasses import asdict, dataclass

from rich.markup import escape

from ..errors import quoted
from ..tool import report
from .figures import Ratio, Spread, geometric_mean
from .row import OURS

KEYS = {
    "rows": ("operator", "case", "dtype", "threads", "state"),
    "supporting": ("call", "dtype", "threads", "state"),
    "walk": ("operator", "dtype", "threads", "state"),
    "drawn": ("call", "dtype", "threads", "state"),
}
OURS_OF = {"rows": OURS, "supporting": "npu", "walk": OURS, "drawn": "npu"}


@dataclass(frozen=True)
class Change:
    """A row that both runs have."""

    name: str
    before: float
    after: float
    ratio: Ratio  # above 1: the second is faster
    counts: bool  # in both

    @property
    def moved(self) -> bool:
        """The quarters in the middle do not meet."""
        return self.ratio.low > 1 or self.ratio.high < 1


@dataclass(frozen=True)
class Comparison:
    """All rows that both have, and what one of them lacks."""

    changes: list[Change]
    only_first: int
    only_second: int

    @property
    def mean(self) -> float | None:
        return geometric_mean(each.ratio.value for each in self.changes if each.counts)


def compare(first: dict, second: dict) -> Comparison:
    """Our times of both documents."""
    changes, only_first, only_second = [], 0, 0
    for member, keys in KEYS.items():
        before, after = (_by_key(each[member], keys) for each in (first, second))
        shared = [key for key in before if key in after]
        only_first += len(before) - len(shared)
        only_second += len(after) - len(shared)
        changes += [_change(key, before[key], after[key], OURS_OF[member]) for key in shared]
    return Comparison(changes, only_first, only_second)


def document(found: Comparison) -> dict:
    """The document that --json prints."""
    rows = [{**asdict(each), "moved": each.moved} for each in found.changes]
    return {"rows": rows, "mean": found.mean, "only_first": found.only_first, "only_second": found.only_second}


def show(found: Comparison) -> None:
    names = "row, before, after, ratio, spread of the ratio, verdict"
    grid = report.table(*names.split(", "))
    for each in found.changes:
        verdict = "faster" if each.ratio.value > 1 else "slower"
        grid.add_row(
            escape(quoted(each.name)),
            report.seconds(each.before),
            report.seconds(each.after),
            f"{each.ratio.value:.2f}",
            f"{each.ratio.low:.2f} to {each.ratio.high:.2f}",
            ("does not count" if not each.counts else verdict if each.moved else "the same"),
        )
    words = f"{len(found.changes)} rows in both"
    if found.only_first or found.only_second:
        words += f", {found.only_first} only in the first, {found.only_second} only in the second"
    counting = sum(each.counts for each in found.changes)
    mean = f"{found.mean:.2f}" if found.mean else "none"
    console = report.console()
    console.print(grid, f"{words}; geometric mean of the {counting} that count: {mean}.")


def _by_key(rows: list[dict], keys: tuple[str, ...]) -> dict[tuple, dict]:
    return {tuple(row[key] for key in keys): row for row in rows}


def _change(key: tuple, before: dict, after: dict, ours: str) -> Change:
    first, second = (Spread.read(each["times"][ours]) for each in (before, after))
    return Change(
        name=" ".join(map(str, key)),
        before=first.median,
        after=second.median,
        ratio=Ratio.of(first, second),
        counts=before["counts"] and after["counts"],
    )
