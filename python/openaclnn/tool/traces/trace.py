# SPDX-License-Identifier: Apache-2.0
"""Sums up a trace that OPENACLNN_TRACE wrote: how often, how long, how many bytes."""

import json
from dataclasses import dataclass
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from ...errors import InputError, quoted
from ...files import input_files
from .. import report

_BYTES = ("bytes", "bytes_read", "bytes_written")
_ORDER = ("task", "wait", "call")  # of kinds in the table; others follow


@dataclass(frozen=True)
class Event:
    """A call, a task, or a wait: a task that only waits, which is no work."""

    kind: str
    name: str
    start: float  # seconds, as all times here
    seconds: float
    bytes: int  # 0: not known

    @property
    def end(self) -> float:
        return self.start + self.seconds


@dataclass(frozen=True)
class Row:
    """All events of one kind and name."""

    kind: str
    name: str
    calls: int
    total: float
    mean: float
    min: float
    max: float
    share: float  # of the time of all events of the kind
    gigabytes_per_second: float | None


@dataclass(frozen=True)
class Summary:
    """A trace as a table: tasks, then waits, then calls, the longest first."""

    seconds: float  # from the first event's start to the last one's end
    rows: list[Row]


def read(path: Path) -> list[Event]:
    """The calls, tasks and waits of a trace, which may be a list or an object with `traceEvents`."""
    return [event for _, event in entries(path) if event is not None]


def entries(path: Path) -> list[tuple[dict, Event | None]]:
    """All of a trace as it is written, with what it says of a call or a task."""
    text = input_files.read(path, "a trace")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not a trace: {error}") from error
    found = document.get("traceEvents") if isinstance(document, dict) else document
    try:
        return [(each, _event(each) if each["ph"] == "X" else None) for each in found]
    except (TypeError, KeyError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{path} is not a trace: expected a list of trace events") from error


def _event(entry: dict) -> Event:
    arguments = entry.get("args", {})
    seconds = [_number(entry[key]) * 1e-6 for key in ("ts", "dur")]
    size = sum(_number(arguments[key]) for key in _BYTES if key in arguments)
    return Event(_text(entry.get("cat", "")), _text(entry["name"]), *seconds, size)


def _text(value) -> str:
    text = str(value)
    text.encode()  # half of a surrogate pair is no text
    return text


def _number(value) -> float:
    """Sums of these are finite, too."""
    if isinstance(value, bool) or not 0 <= value < 2**63:
        raise ValueError(value)
    return value


def summarise(events: list[Event]) -> Summary:
    groups: dict[tuple[str, str], list[Event]] = {}
    whole: dict[str, float] = {}
    for event in events:
        groups.setdefault((event.kind, event.name), []).append(event)
        whole[event.kind] = whole.get(event.kind, 0) + event.seconds
    rows = [_row(group, whole[kind]) for (kind, _), group in groups.items()]
    rows.sort(key=lambda row: (_place(row.kind), row.kind, -row.total, row.name))
    begin = min((event.start for event in events), default=0)
    return Summary(max((event.end for event in events), default=begin) - begin, rows)


def _place(kind: str) -> int:
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER)


def _row(events: list[Event], whole: float) -> Row:
    times = [event.seconds for event in events]
    total = sum(times)
    moving = [event for event in events if event.bytes]
    busy = sum(event.seconds for event in moving)
    return Row(
        kind=events[0].kind,
        name=events[0].name,
        calls=len(events),
        total=total,
        mean=total / len(events),
        min=min(times),
        max=max(times),
        share=total / whole if whole else 0,
        gigabytes_per_second=sum(event.bytes for event in moving) / busy / 1e9 if busy else None,
    )


_HEAD = ("kind", "name", "calls", "total", "mean", "min", "max", "share", "GB/s")
_DISPENSABLE = ("min", "max", "mean", "GB/s")  # in the order in which they give way


def print_summary(summary: Summary) -> None:
    """A table; where names would not stay whole beside all figures some are left out, which it says."""
    console = report.console()
    unlimited = console.options.update(max_width=1 << 20)
    for count in range(len(_DISPENSABLE) + 1):
        left_out = _DISPENSABLE[:count]
        grid = _table(summary.rows, [name for name in _HEAD if name not in left_out])
        if console.measure(grid, options=unlimited).maximum <= console.width:
            break
    words = (
        "Shares: of the time of all tasks, of all waits of streams, of all calls; waiting in a call is part of it."
    )
    if left_out:
        words += f" Left out for want of room: {', '.join(left_out)}; --json has all."
    console.print(grid, f"{report.seconds(summary.seconds)} in all. {words}")


def _table(rows: list[Row], columns: list[str]) -> Table:
    grid = report.table(*columns, whole=tuple(name for name in columns if name != "name"))
    for column in grid.columns[2:]:
        column.justify = "right"
    kind = None
    for row in rows:
        if kind not in (None, row.kind):
            grid.add_section()
        cells = _cells(row) | {"kind": escape(quoted(row.kind)) if row.kind != kind else ""}
        grid.add_row(*(cells[name] for name in columns))
        kind = row.kind
    return grid


def _cells(row: Row) -> dict[str, str]:
    speed = row.gigabytes_per_second
    times = {name: report.seconds(getattr(row, name)) for name in ("total", "mean", "min", "max")}
    return times | {
        "name": escape(quoted(row.name)),
        "calls": str(row.calls),
        "share": f"{row.share:.1%}",
        "GB/s": report.number(speed) if speed is not None else "",
    }
