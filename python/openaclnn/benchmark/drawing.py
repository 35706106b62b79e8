# SPDX-License-Identifier: Apache-2.0
"""Plots of a run, as SVG: time against size, share of the roof, ratio to the fastest peer.

matplotlib is that of this Python or, where it has none, of the peers'.
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from .. import svg
from ..errors import Error
from ..output_files import replace

_OURS = "ours"


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
    for operator in dict.fromkeys(row["operator"] for row in cold):
        swept = [row for row in cold if (row["operator"], row["kind"]) == (operator, "sweep")]
        if swept:
            _time_against_size(operator, swept, folder / f"time_{operator}.svg")
    shares = [(_name(row), row["roof_share"], row["counts"]) for row in stated]
    ratios = [(_name(row), row["ratio"]["value"], row["counts"]) for row in stated if row["ratio"]]
    _bars("share of the roof", shares, folder / "roof_share.svg")
    _bars("time of the fastest peer / ours", ratios, folder / "ratio.svg")
    calls = [
        (f"{row['call']} {row['dtype']} {row['threads']}", row["ratio"]["value"], row["counts"])
        for row in found["supporting"]
        if row["state"] == "cold"
    ]
    _bars("time on the CPU / on the NPU", calls, folder / "calls.svg")


def _name(row: dict) -> str:
    return f"{row['operator']} {row['case']} {row['dtype']} {row['threads']}"


def _time_against_size(operator: str, rows: list[dict], path: Path) -> None:
    """Of the most threads; the line is what the roof allows."""
    from matplotlib.figure import Figure

    most = max(row["threads"] for row in rows)
    rows = [row for row in rows if row["threads"] == most]
    figure = Figure(figsize=(7, 5))
    axes = figure.subplots()
    for name in dict.fromkeys(name for row in rows for name in row["times"]):
        having = [row for row in rows if name in row["times"]]
        sizes = [row["read_bytes"] + row["write_bytes"] for row in having]
        times = [row["times"][name]["median"] for row in having]
        axes.plot(sizes, times, marker="o", linewidth=2.5 if name == _OURS else 1, label=name)
    sizes = [row["read_bytes"] + row["write_bytes"] for row in rows]
    axes.plot(sizes, [row["roof_seconds"] for row in rows], "k--", label="the roof")
    axes.set(xscale="log", yscale="log", xlabel="bytes read and written", ylabel="seconds")
    axes.set_title(f"{operator}, {rows[0]['dtype']}, {most} threads, cold")
    axes.legend(fontsize=7)
    _save(figure, path)


def _bars(title: str, bars: list[tuple[str, float, bool]], path: Path) -> None:
    """One for each row; those that do not count are pale."""
    from matplotlib.figure import Figure

    if not bars:
        return
    figure = Figure(figsize=(9, 1 + 0.18 * len(bars)))
    axes = figure.subplots()
    names, values, counting = zip(*reversed(bars), strict=True)
    colours = ["tab:blue" if each else "lightgrey" for each in counting]
    axes.barh(range(len(names)), values, color=colours)
    axes.set_yticks(range(len(names)), names, fontsize=6)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_title(f"{title} (cold)", fontsize=9)
    axes.margins(y=0.01)
    _save(figure, path)


def _save(figure, path: Path) -> None:
    def write(file: BinaryIO) -> None:
        figure.savefig(file, format="svg", metadata={"Date": None}, bbox_inches="tight")

    replace(path, write)


if __name__ == "__main__":
    _draw(json.load(sys.stdin), Path(sys.argv[1]))
