# SPDX-License-Identifier: Apache-2.0
"""How the errors of an output are distributed, as SVG: by their size, and over its elements."""

import io

from ..accuracy import Accuracy
from ..distribution import Distribution, bin_names
from . import svg

_WIDTH = 4.4  # inches: on a telephone's 340 pixels letters of 8 points are 9 pixels high
_OUTSIDE = "#d62728"
_INSIDE = "#3b6ea5"


def histogram(seen: Distribution) -> str:
    """The elements by their error in ulp; a count beside each bar, since the axis is logarithmic."""
    last = max(int(seen.bins.nonzero()[0].max(initial=0)), 3)
    names, counts = bin_names()[: last + 1], seen.bins[: last + 1]
    figure, axes = _figure(0.9 + 0.17 * len(names))
    axes.barh(range(len(names)), counts, color=_INSIDE, height=0.85)
    for place, count in enumerate(counts):
        if count:
            axes.annotate(
                f"{count:,}", (count, place), (3, 0), textcoords="offset points", va="center",
                fontsize=8,
            )  # fmt: skip
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)  # the least on top
    axes.set_xscale("log")
    axes.set_xlim(0.5, 20 * max(1, counts.max()))  # room for the longest count
    axes.set(xlabel="elements", ylabel="ulp, up to")
    axes.spines[["top", "right"]].set_visible(False)
    return _text(figure)


def heat_map(seen: Distribution, result: Accuracy) -> str:
    """Error / bound over the projection, the largest of each cell; the worst elements by number."""
    import numpy as np
    from matplotlib.colors import ListedColormap

    figure, axes = _figure(3.2)
    extent = (0, seen.columns, seen.rows, 0)
    shared = {"extent": extent, "aspect": "auto", "interpolation": "nearest"}
    most = float(np.where(np.isfinite(seen.ratio) & ~seen.outside, seen.ratio, 0).max())
    ratio = np.where(np.isfinite(seen.ratio), seen.ratio, most)
    image = axes.imshow(ratio, cmap="viridis", vmin=0, vmax=most or 1, **shared)
    if seen.outside.any():
        red = np.ma.masked_array(seen.outside, ~seen.outside)
        axes.imshow(red, cmap=ListedColormap([_OUTSIDE]), **shared)
    bar = figure.colorbar(image, ax=axes, pad=0.02)
    bar.set_label("error / bound", fontsize=8)
    bar.ax.tick_params(labelsize=8)
    for number, each in enumerate(result.worst, 1):
        row, column = seen.place(each.coordinates)
        axes.plot(column + 0.5, row + 0.5, "o", ms=5, mfc="none", mec="white", mew=1.2)
        near_right = column > 0.9 * seen.columns
        near_top = row < 0.1 * seen.rows
        axes.annotate(
            str(number), (column + 0.5, row + 0.5),
            (-5 if near_right else 5, -5 if near_top else 3), textcoords="offset points",
            ha="right" if near_right else "left", va="top" if near_top else "bottom",
            color="white", fontsize=8, bbox={"fc": "#000000a0", "ec": "none", "pad": 0.8},
        )  # fmt: skip
    down, along = seen.axes
    axes.set(xlabel=along, ylabel=down)
    return _text(figure)


def derivatives(reference: list[float], operator: list[float]) -> str:
    """Difference / allowed of each direction; what is not finite is at the top."""
    import numpy as np

    figure, axes = _figure(2.6)
    finite = [each for each in (*reference, *operator) if np.isfinite(each)]
    top = 1.1 * max([1.0, *finite])
    for values, marker, colour, name in (
        (reference, ".", "#7f7f7f", "numerical against reference"),
        (operator, "x", _INSIDE, "operator against numerical"),
    ):
        heights = [each if np.isfinite(each) else top for each in values]
        colours = [colour if each <= 1 else _OUTSIDE for each in values]
        places = range(len(values))
        axes.scatter(places, heights, 12, colours, marker=marker, linewidths=0.8, label=name)
    axes.axhline(1, color=_OUTSIDE, linewidth=0.8)
    axes.set(xlabel="direction", ylabel="difference / allowed")
    axes.set_ylim(-0.02 * top, 1.05 * top)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(fontsize=8, loc="outside upper left", ncols=2, frameon=False)
    return _text(figure)


def _figure(height: float):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    axes = figure.subplots()
    axes.tick_params(labelsize=8)
    return figure, axes


def _text(figure) -> str:
    """The figure's element, without what only a file of its own has."""
    import matplotlib

    written = io.StringIO()
    with matplotlib.rc_context(svg.STYLE):
        figure.savefig(written, format="svg", dpi=150, metadata={"Date": None})
    text = written.getvalue()
    return text[text.index("<svg") :]
