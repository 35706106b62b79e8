# SPDX-License-Identifier: Apache-2.0
"""Merges the traces of ranks: one file with a row of processes, and who waited for whom."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.markup import escape

from ...errors import quoted_path
from ...files import output_files
from .. import report
from . import trace

_COLLECTIVES = "Hccl"


@dataclass(frozen=True)
class Wait:
    """How long a rank stood in collectives that another was the last to begin."""

    rank: int
    waited_for: int
    collectives: int
    seconds: float


@dataclass(frozen=True)
class Merged:
    """Traces of one time, rank r of the r-th file."""

    ranks: int
    collectives: int  # that all of their ranks have
    waits: list[Wait]  # the longest first
    notes: list[str]
    events: list[dict]


@dataclass(frozen=True)
class _Rank:
    path: Path
    entries: list[tuple[dict, trace.Event | None]]

    @property
    def events(self) -> list[trace.Event]:
        return [event for _, event in self.entries if event is not None]

    @property
    def name(self) -> str:
        """That of the program."""
        for entry, _ in self.entries:
            if entry["ph"] == "M" and entry.get("name") == "process_name":
                return str(entry.get("args", {}).get("name", ""))
        return ""


def merge(paths: list[Path]) -> Merged:
    """Times stay what they are: those of one machine are of one clock."""
    ranks = [_Rank(path, trace.entries(path)) for path in paths]
    found, waits = _waits(ranks)
    events = [entry for rank, each in enumerate(ranks) for entry in _row(rank, each)]
    return Merged(len(ranks), found, waits, _notes(ranks), events)


def write(merged: Merged, path: Path) -> None:
    """A line an event, as the traces themselves are."""
    lines = ",\n".join(json.dumps(each, separators=(",", ":")) for each in merged.events)
    output_files.replace(path, lambda file: file.write(f"[\n{lines}\n]\n".encode()))


def document(merged: Merged, path: Path) -> dict:
    """For --json: everything but the events."""
    return {
        "file": str(path),
        "ranks": merged.ranks,
        "events": len(merged.events),
        "collectives": merged.collectives,
        "waits": [asdict(each) for each in merged.waits],
        "notes": merged.notes,
    }


def _row(rank: int, traced: _Rank) -> list[dict]:
    """A rank's events as those of process `rank`; threads and streams keep their rows in it."""
    label = f"rank {rank}" + (f" ({traced.name})" if traced.name else "")
    named = {"process_name": {"name": label}, "process_sort_index": {"sort_index": rank}}
    heads = [
        {"ph": "M", "name": name, "pid": rank, "tid": 0, "args": arguments}
        for name, arguments in named.items()
    ]
    kept = [
        {**entry, "pid": rank}
        for entry, _ in traced.entries
        if entry["ph"] != "M" or entry.get("name") not in named
    ]
    return heads + kept


def _notes(ranks: list[_Rank]) -> list[str]:
    """Notes that keep a reader from wrong conclusions."""
    notes = []
    spans = []
    for rank, each in enumerate(ranks):
        others = sorted(_ranks_of(each, len(ranks)) - {rank})
        if others:
            notes.append(f"rank {rank} calls itself rank {others[0]}: {quoted_path(each.path)}")
        if not each.events:
            notes.append(f"rank {rank} has no events: {quoted_path(each.path)}")
            continue
        begin = min(event.start for event in each.events)
        spans.append((rank, begin, max(event.end for event in each.events)))
    for rank, begin, end in spans[1:]:
        first, first_begin, first_end = spans[0]
        if begin > first_end or end < first_begin:
            notes.append(
                f"rank {rank} has no time in common with rank {first}: a trace's clock is that of"
                " its machine, and times of two machines cannot be compared"
            )
    return notes


def _ranks_of(traced: _Rank, ranks: int) -> set[int]:
    """The ranks that the trace names in collectives of all of them."""
    found: dict[tuple, set[int]] = {}
    for entry, event in traced.entries:
        said = entry.get("args") if event is not None else None
        if _is_collective(said) and said["ranks"] == ranks and isinstance(said.get("rank"), int):
            found.setdefault(_communicator(said), set()).add(said["rank"])
    # One of which this process has several ranks is not one of all these processes.
    return set().union(*(each for each in found.values() if len(each) == 1))


def _waits(ranks: list[_Rank]) -> tuple[int, list[Wait]]:
    """How many collectives all their ranks have, and the waits in them.

    A rank waits in a collective from its own begin to the last one's.
    """
    begins: dict[tuple, dict[int, float]] = {}
    sizes: dict[tuple, int] = {}
    for rank, traced in enumerate(ranks):
        for entry, event in traced.entries:
            if event is None or event.kind != "task" or not event.name.startswith(_COLLECTIVES):
                continue
            said = entry.get("args", {})
            if _is_collective(said):
                key = (*_communicator(said), said["number"], event.name)
                begins.setdefault(key, {})[rank] = event.start
                sizes[key] = said["ranks"]
    whole = [starts for key, starts in begins.items() if len(starts) == sizes[key] > 1]
    totals: dict[tuple[int, int], list[float]] = {}
    for starts in whole:
        last = max(starts, key=starts.__getitem__)
        for rank, start in starts.items():
            if rank != last:
                totals.setdefault((rank, last), []).append(starts[last] - start)
    waits = [Wait(*pair, len(each), sum(each)) for pair, each in totals.items()]
    return len(whole), sorted(waits, key=lambda wait: -wait.seconds)


def _is_collective(said) -> bool:
    """Messages have no number."""
    if not isinstance(said, dict) or not all(isinstance(each, str) for each in _communicator(said)):
        return False
    return all(isinstance(said.get(name), int) for name in ("number", "ranks"))


def _communicator(said: dict) -> tuple:
    """Which it is: others may have its name, of another program or made one after the other."""
    return said.get("communicator"), said.get("identifier", "")


def print_merged(merged: Merged, path: Path) -> None:
    grid = report.table("rank", "waited for rank", "collectives", "total", "mean")
    for column in grid.columns:
        column.justify = "right"
    for wait in merged.waits:
        times = map(report.seconds, (wait.seconds, wait.seconds / wait.collectives))
        grid.add_row(str(wait.rank), str(wait.waited_for), str(wait.collectives), *times)
    if merged.waits:
        report.console().print(grid)
    words = f"{quoted_path(path)}: {merged.ranks} ranks, {len(merged.events)} events"
    words += f", {merged.collectives} collectives that all of their ranks have"
    report.console().print(escape("\n".join([words, *(f"note: {each}" for each in merged.notes)])))
