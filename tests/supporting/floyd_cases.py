# SPDX-License-Identifier: Apache-2.0
"""Arguments of FusedFloydAttention and its gradient."""

import numpy as np

from bounded import DOUBLE, Bounded
from cases import Case, Draw
from floyd import floyd_attention as _forward
from records import REALS

FLOAT = np.dtype(np.float32)


def floyd_attention(d: Draw) -> Case:
    given, _ = _operands(d)
    outputs = {"softmaxMaxOut": FLOAT, "softmaxSumOut": FLOAT, "attentionOut": d.first}
    return Case(given, "double", outputs)


def floyd_backward(d: Draw) -> Case:
    """With what the forward leaves; of rows that see no key a sum of 1."""
    given, names = _operands(d)
    exact = [Bounded(DOUBLE.exact(given[name]), DOUBLE) for name in names]
    mask = given["attenMaskOptional"]
    mask = None if mask is None else Bounded(DOUBLE.exact(mask), DOUBLE)
    tops, totals, out = _forward(*exact, mask, given["scaleValue"])
    given |= {"dy": d.array(out.shape, None, "tame"), "softmaxMax": tops.value.astype(FLOAT),
              "softmaxSum": np.where(totals.value == 0, 1, totals.value).astype(FLOAT),
              "attentionIn": out.value.astype(d.first)}  # fmt: skip
    return Case(given, "double", {each.name: d.first for each in d.record.outputs})


def _operands(d: Draw):
    d.first = d.type(tuple(each for each in REALS[:3] if each in d.record.first_types))
    batches, heads = d.whole(1, 2, walk=1), d.whole(1, 2, walk=2)
    firsts, seconds = d.whole(1, 4, walk=16), d.whole(1, 4, walk=128)
    keys, width = 70 if d.style == "long" else d.whole(1, 5, walk=128), d.whole(1, 6, walk=32)
    if d.style == "empty":
        batches = 0
    shapes = {
        "queryIk": (firsts, seconds), "keyIj": (firsts, keys), "valueIj": (firsts, keys),
        "keyJk": (keys, seconds), "valueJk": (keys, seconds),
    }  # fmt: skip
    given = {name: d.array((batches, heads, *shape, width), None, "tame") for name, shape in shapes.items()}
    mask = d.array((batches, 1, firsts, 1, keys), d.one((bool, np.uint8)), "mask") if d.flag() else None
    return given | {"attenMaskOptional": mask, "scaleValue": 0.5}, list(shapes)
