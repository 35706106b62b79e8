# SPDX-License-Identifier: Apache-2.0
"""Arguments of what reads planes at the coordinates of a grid."""

import numpy as np

from cases import Case, Draw
from plane_cases import _batch, _dims


def _sampled(d: Draw):
    """Input, grid and setting, and the result's shape."""
    dims = _dims(d)
    array = d.array(_batch(d, dims), None, "tame")
    side = {2: 56, 3: 16}[dims]
    places = tuple(d.whole(0 if d.style == "empty" else 1, 5, walk=side) for _ in range(dims))
    # Beyond the edges too, and at points that are an element's centre or edge.
    grid = d.random.uniform(-1.6, 1.6, (array.shape[0], *places, dims))
    exact = d.random.integers(-6, 7, grid.shape) / 4
    grid = np.where(d.random.random(grid.shape) < 0.3, exact, grid).astype(d.first)
    given = {"input": array, "grid": grid, "interpolationMode": d.one((0, 0, 1, 2)[: 6 - dims]),
             "paddingMode": d.whole(0, 2, walk=0), "alignCorners": d.flag()}  # fmt: skip
    return given, (*array.shape[:2], *places)


def grid_sampler(d: Draw) -> Case:
    given, _ = _sampled(d)
    return Case(given, "double", {"out": d.first})


def grid_sampler_backward(d: Draw) -> Case:
    given, shape = _sampled(d)
    mask = d.one(([True, True], [True, True], [True, False], [False, True], [False, False]))
    given |= {"gradOutput": d.array(shape, None, "tame"), "outputMask": mask}
    asked = zip(("inputGrad", "gridGrad"), given["outputMask"], ("input", "grid"), strict=True)
    room = {name: given[of].shape for name, is_asked, of in asked if not is_asked and d.flag()}
    outputs = {"inputGrad": d.first, "gridGrad": d.first}
    return Case(given, "double", outputs, room=room)
