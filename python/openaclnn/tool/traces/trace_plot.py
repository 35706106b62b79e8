# SPDX-License-Identifier: Apache-2.0
"""A trace as a picture: how long each name took in all, and beside it when."""

from pathlib import Path

from ...errors import InputError, quoted
from ...files.output_files import replace
from ...pages import svg
from .. import report
from .trace import Event, Row, Summary

_MOST = 20  # names of a kind: the longest
_CELLS = 1000  # of the whole time; what is nearer than one is drawn as one piece
_COLOURS = {"task": "tab:blue", "wait": "lightgray", "call": "tab:orange"}
_FORMATS = (".svg", ".png")


def check(path: Path) -> None:
    """Refuses what is no picture before anything is read."""
    if path.suffix not in _FORMATS:
        raise InputError(f"--plot is {quoted(path)}, expected a file that ends in {' or '.join(_FORMATS)}")


def draw(summary: Summary, events: list[Event], path: Path) -> None:
    """Draws the longest names of each kind into a file."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.use("svg")
    matplotlib.rcParams.update(svg.STYLE)
    rows = shown(summary)
    figure = Figure(figsize=(11, 1.5 + 0.25 * len(rows)), layout="constrained")
    total, when = figure.subplots(1, 2, sharey=True, width_ratios=(1, 2))
    begin = min((each.start for each in events), default=0.0)
    for place, row in enumerate(rows):
        colour = _COLOURS.get(row.kind, "tab:gray")
        total.barh(place, row.total, color=colour)
        note = f" {report.seconds(row.total)}, {row.calls} x"
        total.annotate(note, (row.total, place), va="center", fontsize=7)
        ours = [each for each in events if (each.kind, each.name) == (row.kind, row.name)]
        when.broken_barh(pieces(ours, begin, summary.seconds), (place - 0.4, 0.8), color=colour)
    names = [f"{quoted(row.name)} ({quoted(row.kind)})".replace("$", r"\$") for row in rows]
    total.set_yticks(range(len(rows)), names, fontsize=7)
    total.invert_yaxis()
    total.set(xlabel="seconds in all")
    total.margins(x=0.35)
    when.set(xlabel="seconds from the first event", xlim=(0, summary.seconds or 1))
    left = len(summary.rows) - len(rows)
    rest = f"; {left} names that took less are left out" if left else ""
    figure.suptitle(f"{report.seconds(summary.seconds)} in all{rest}", fontsize=9)
    kind = path.suffix.removeprefix(".")
    metadata = {"Date": None} if kind == "svg" else None
    replace(path, lambda file: figure.savefig(file, format=kind, metadata=metadata, dpi=150))


def shown(summary: Summary) -> list[Row]:
    """The rows of each kind that took longest, in the summary's order."""
    kept: dict[str, int] = {}
    rows = []
    for row in summary.rows:
        kept[row.kind] = kept.get(row.kind, 0) + 1
        if kept[row.kind] <= _MOST:
            rows.append(row)
    return rows


def pieces(events: list[Event], begin: float, whole: float) -> list[tuple[float, float]]:
    """From when and how long, from the first event on; neighbours that nobody could tell are one."""
    cell = whole / _CELLS
    found: list[tuple[float, float]] = []
    for event in sorted(events, key=lambda each: each.start):
        start, end = event.start - begin, event.end - begin
        if found and start - found[-1][1] < cell:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return [(start, max(end - start, cell)) for start, end in found]
