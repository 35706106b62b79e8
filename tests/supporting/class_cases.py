# SPDX-License-Identifier: Apache-2.0
"""Arguments of losses by class."""

import numpy as np

from cases import PLACES, Case, Draw, fill
from records import REALS


def _classes(d: Draw, scores: str) -> dict:
    """Some targets are ignored."""
    rows = 0 if d.style == "empty" else d.whole(1, 6, walk=1024)
    classes = 5000 if d.style == "long" else d.whole(1, 9, walk=2048)
    d.first = d.type_of(scores, REALS)
    ignored = d.one((-100, 0, 1))
    target = d.random.integers(0, classes, rows).astype(d.one(PLACES))
    target = np.where(d.random.random(rows) < 0.2, ignored, target).astype(target.dtype)
    weight = None if d.flag() else d.array((classes,), np.float32, "positive")
    return {scores: d.array((rows, classes), d.first, "tame"), "target": target, "weightOptional": weight,
            "ignoreIndex": ignored, "labelSmoothing": d.one((0.0, 0.25)),
            "reductionOptional": d.one(("mean", "sum", "none", "")),
            "lseSquareScaleForZloss": 0.0}  # fmt: skip


def cross_entropy(d: Draw) -> Case:
    given = _classes(d, "input") | {"returnZloss": False}
    outputs = {each.name: d.type_of(each.name, REALS) for each in d.record.outputs}
    return Case(fill(d, given), "wide", outputs)


def cross_entropy_backward(d: Draw) -> Case:
    given = _classes(d, "logProb")
    given["logProb"] = (-np.abs(given["logProb"].astype(np.float64))).astype(d.first)
    shape = given["target"].shape if given["reductionOptional"] == "none" else (1,)
    given["gradLoss"] = d.array(shape, d.type_of("gradLoss", REALS), "tame")
    given |= dict.fromkeys(("gradZlossOptional", "lseForZlossOptional"))
    return Case(fill(d, given), "wide", {"out": d.type_of("out", REALS)})
