# SPDX-License-Identifier: Apache-2.0
"""Arguments of operators that know channels, a tensor's dimension 1."""

import numpy as np

from cases import Case, Draw


def _weight(d: Draw, shape) -> np.ndarray:
    """One number, or one for each channel, in some shape."""
    count = shape[1] if len(shape) > 1 and d.flag() else 1
    lead, behind = (1,) * d.whole(0, 1), (1,) * d.whole(0, 2)
    return d.array(() if count == 1 and d.flag() else (*lead, count, *behind), d.type(), "tame")


def prelu(d: Draw) -> Case:
    shape = d.shape(0, 4)
    given = {"self": d.array(shape), "weight": _weight(d, shape)}
    return Case(given, "float", {"out": d.type()})


def prelu_backward(d: Draw) -> Case:
    shape = d.shape(0, 4)
    weight = _weight(d, shape).astype(d.first)
    given = {"gradOutput": d.array(d.within(shape)), "self": d.array(shape), "weight": weight}
    return Case(given, "double", {"gradInput": d.first, "gradWeight": d.first})
