# SPDX-License-Identifier: Apache-2.0
"""Arguments of losses of sequences and of several classes at once."""

import numpy as np

from cases import PLACES, Case, Draw
from records import REALS


def _real(d: Draw) -> np.dtype:
    d.first = d.first if d.first in REALS else d.one(REALS)
    return d.first


def multilabel_margin(d: Draw) -> Case:
    dtype, classes = _real(d), d.whole(1, 6)
    lead = () if d.style == "rank 0" else (0 if d.style == "empty" else d.whole(1, 4),)
    shape = (*lead, classes)
    target = d.random.integers(0, classes, shape)
    target = np.where(d.random.random(shape) < 0.3, -1, target).astype(d.one(PLACES))
    given = {"self": d.array(shape, None, "tame"), "target": target, "reduction": d.whole(0, 2)}
    return Case(given, "double", {"out": dtype, "isTarget": dtype}, ("target",))
