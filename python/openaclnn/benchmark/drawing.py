# SPDX-License-Identifier: Apache-2.0
"""Plots of a run, as SVG: time against size, share of the roof, ratio to the fastest peer.

matplotlib is that of this Python or, where it has none, of the peers'.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from typing import BinaryIO

from ..errors import Error
from ..files.output_files import replace
from ..pages import svg

_OURS = {"ours": "tab:red", "ours, second phase": "lightcoral"}  # as row.py names them
_PEERS_COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:purple", "tab:brown", "tab:cyan")
_PALE = "lightgrey"
_LIMITS = {"memory": "tab:blue", "FMA": "tab:orange"}


@dataclass(frozen=True)
class Bar:
    """A row of the benchmark as a figure shows it."""

    name: str
    value: float
    counts: bool
    of: str  # what it is compared with, which has a colour


@dataclass(frozen=True)
class Chart:
    """The contents of a figure of bars."""

    title: str
    measured: str
    line: str  # at 1
    colour: str = _OURS["ours"]  # of the line


_SHARES = Chart(
    "Share of what the machine allows",
    "least time possible / our time; memory or FMA is the limit",
    "the limit",
    "black",
)
_RATIOS = Chart(
    "Each operator beside its fastest peer",
    "time of the fastest peer / our time: right of the line ours is faster",
    "ours",
)
_CALLS = Chart(
    "Calls of PyTorch, on the NPU by us and on the CPU",
    "time on the CPU / our time: right of the line ours is faster",
    "ours",
)


def find_python() -> str:
    """The Python that draws."""
    from . import start

    if find_spec("matplotlib"):
        return sys.executable
    python = start.peers_python()
    command = [python, "-c", "import matplotlib"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        raise Error(f"{python} has no matplotlib, expected it for --plots: bench/setup.sh")
    return python


def draw(found: dict, folder: Path, python: str) -> None:
    """Draws into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    if python == sys.executable:
        _draw(found, folder)
        return
    paths = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    subprocess.run(
        [python, "-m", __name__, str(folder.absolute())],
        input=json.dumps(found),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        text=True,
        check=True,
    )


def _draw(found: dict, folder: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(svg.STYLE)
    cold = [row for row in found["rows"] if row["state"] == "cold"]
    stated = [row for row in cold if row["kind"] != "sweep"]
    colours = _colours(cold)
    for operator in dict.fromkeys(row["operator"] for row in cold):
        swept = [row for row in cold if (row["operator"], row["kind"]) == (operator, "sweep")]
        if swept:
            _time_against_size(operator, swept, colours, folder / f"time_{operator}.svg")
    shares = [
        Bar(_name(row), row["roof_share"], row["counts"], row["roof_limit"])
        for row in stated
        if row["roof_share"] is not None
    ]
    _bars(_SHARES, shares, _LIMITS, folder / "roof_share.svg")
    ratios = [
        Bar(_name(row), row["ratio"]["value"], row["counts"], row["fastest_peer"])
        for row in stated
        if row["ratio"]
    ]
    _bars(_RATIOS, ratios, colours, folder / "ratio.svg")
    calls = [
        Bar(f"{row['call']} {row['dtype']} {row['threads']}", row["ratio"]["value"], row["counts"],
            "PyTorch on the CPU")
        for row in found["supporting"]
        if row["state"] == "cold"
    ]  # fmt: skip
    _bars(_CALLS, calls, {"PyTorch on the CPU": _PEERS_COLOURS[0]}, folder / "calls.svg")


def _name(row: dict) -> str:
    return f"{row['operator']} {row['case']} {row['dtype']} {row['threads']}"


def _colours(rows: list[dict]) -> dict[str, str]:
    """One for each way, the same in all figures; ours are reds, which no peer has."""
    names = sorted({name for row in rows for name in row["times"]} - _OURS.keys())
    return _OURS | dict(zip(names, cycle(_PEERS_COLOURS), strict=False))


def _time_against_size(operator: str, rows: list[dict], colours: dict, path: Path) -> None:
    """Draws the times with the most threads; the dashed line is what the machine allows."""
    from matplotlib.figure import Figure

    most = max(row["threads"] for row in rows)
    rows = [row for row in rows if row["threads"] == most]
    figure = Figure(figsize=(7, 5))
    axes = figure.subplots()
    for name in dict.fromkeys(name for row in rows for name in row["times"]):
        having = [row for row in rows if name in row["times"]]
        sizes = [row["read_bytes"] + row["write_bytes"] for row in having]
        times = [row["times"][name]["median"] for row in having]
        width = 2.5 if name in _OURS else 1
        axes.plot(sizes, times, marker="o", color=colours[name], linewidth=width, label=name)
    sizes = [row["read_bytes"] + row["write_bytes"] for row in rows]
    axes.plot(sizes, [row["roof_seconds"] for row in rows], "k--", label="least time possible")
    axes.set(xscale="log", yscale="log", xlabel="bytes read and written", ylabel="seconds a call")
    axes.set_title(f"{operator}, {rows[0]['dtype']}, {most} threads, caches cold")
    axes.legend(fontsize=7)
    _save(figure, path)


def _bars(chart: Chart, bars: list[Bar], colours: dict[str, str], path: Path) -> None:
    """One for each row, the largest on top; those that do not count are pale."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    if not bars:
        return
    bars = sorted(bars, key=lambda bar: bar.value)
    figure = Figure(figsize=(9, 1.5 + 0.18 * len(bars)))
    axes = figure.subplots()
    shown = [colours[bar.of] if bar.counts else _PALE for bar in bars]
    axes.barh(range(len(bars)), [bar.value for bar in bars], color=shown)
    axes.set_yticks(range(len(bars)), [bar.name for bar in bars], fontsize=6)
    line = axes.axvline(1, color=chart.colour, linewidth=1.5, label=chart.line)
    axes.set_title(f"{chart.title} (shape, type, threads; caches cold)", fontsize=9)
    axes.set_xlabel(chart.measured, fontsize=8)
    seen = [name for name in colours if any(bar.of == name and bar.counts for bar in bars)]
    handles = [line, *(Patch(color=colours[name], label=name) for name in seen)]
    if not all(bar.counts for bar in bars):
        handles.append(Patch(color=_PALE, label="does not count: others computed meanwhile"))
    axes.legend(handles=handles, fontsize=6, loc="lower right")
    axes.margins(y=0.01)
    _save(figure, path)


def _save(figure, path: Path) -> None:
    def write(file: BinaryIO) -> None:
        figure.savefig(file, format="svg", metadata={"Date": None}, bbox_inches="tight")

    replace(path, write)


if __name__ == "__main__":
    _draw(json.load(sys.stdin), Path(sys.argv[1]))
