# SPDX-License-Identifier: Apache-2.0
"""Arguments of losses by class."""

import numpy as np

from cases import PLACES, Case, Draw, fill
from records import BFLOAT16, REALS


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
    room = dict.fromkeys(("zlossOut", "lseForZlossOut"), (0,)) if d.flag() else {}  # as torch-npu has them
    return Case(fill(d, given), "wide", outputs, room=room)


def cross_entropy_backward(d: Draw) -> Case:
    given = _classes(d, "logProb")
    given["logProb"] = (-np.abs(given["logProb"].astype(np.float64))).astype(d.first)
    shape = given["target"].shape if given["reductionOptional"] == "none" else (1,)
    given["gradLoss"] = d.array(shape, d.type_of("gradLoss", REALS), "tame")
    given |= dict.fromkeys(("gradZlossOptional", "lseForZlossOptional"))
    return Case(fill(d, given), "wide", {"out": d.type_of("out", REALS)})


HALVES = (np.dtype(np.float16), BFLOAT16)
FLOAT = np.dtype(np.float32)


def _layer(d: Draw):
    """Rows, classes, and the operands of the layer."""
    rows, classes, width = d.whole(1, 20, walk=256), d.whole(1, 9, walk=2048), d.whole(1, 9, walk=256)
    if d.style == "long":
        classes, width = 4500, 3
    if d.style == "empty":
        rows = 0
    d.first = d.one(HALVES)
    operands = {"input": d.array((rows, width), d.first, "tame"), "weight": d.array((classes, width), d.first, "tame")}
    return rows, classes, operands


def linear_max_sum(d: Draw) -> Case:
    rows, classes, given = _layer(d)
    start = d.whole(0, 3)
    dtype = d.one(PLACES)
    given |= {"target": d.random.integers(0, classes + 6, rows).astype(dtype), "vocabStartIndex": start,
              "vocabEndIndex": start + d.whole(0, classes - 1)}  # fmt: skip
    outputs = {"logitsMaxLocalOut": FLOAT, "sumExpLogitsLocalOut": FLOAT, "predictedLogitsLocalOut": FLOAT,
               "targetMaskOut": np.dtype(np.uint8), "maskedTargetOut": dtype}  # fmt: skip
    shapes = {"vocabParallelLogitsOutOptional": None}
    if d.flag():
        outputs["vocabParallelLogitsOutOptional"] = d.first
        shapes["vocabParallelLogitsOutOptional"] = (rows, classes)
    return Case(given, "wide", outputs, stored=("input", "weight"), shapes=shapes)


def max_sum_loss(d: Draw) -> Case:
    rows, classes = 0 if d.style == "empty" else d.whole(1, 9), d.whole(1, 9)
    given = {name: d.array((rows,), FLOAT, "positive") for name in ("logitsMax", "sumExpLogits", "predictedLogits")}
    given |= {"labelSmoothing": 0.0, "inputOptional": None, "weightOptional": None,
              "vocabParallelLogitsOptional": None}  # fmt: skip
    if d.flag():
        given["vocabParallelLogitsOptional"] = d.array((rows, classes), d.one((FLOAT, *HALVES)), "tame")
    return Case(given, "wide", {"lossOut": FLOAT, "softMaxOutOptional": FLOAT})


def linear_loss_backward(d: Draw) -> Case:
    rows, classes, given = _layer(d)
    mask = d.random.integers(0, 2, rows) != 0
    at = np.where(mask, 0, d.random.integers(0, classes, rows))
    given |= {"grad": d.array((rows,), FLOAT, "tame"), "maskedTarget": at.astype(d.one(PLACES)),
              "targetMask": np.packbits(np.concatenate([mask, np.ones(-rows % 8, bool)])),
              "labelSmoothing": 0.0, "logitsMaxOptional": None, "sumExpLogitsOptional": None,
              "softmaxOptional": None}  # fmt: skip
    if d.flag():
        given["softmaxOptional"] = d.array((rows, classes), FLOAT, "probability")
    else:
        scores = given["input"].astype(np.float64) @ given["weight"].astype(np.float64).T
        top = scores.max(1) if scores.size else np.zeros(rows)
        sums = np.exp(scores - top[:, None]).sum(1)
        given |= {"logitsMaxOptional": top.astype(np.float32), "sumExpLogitsOptional": sums.astype(np.float32)}
    outputs = {"inputGradOut": d.first, "weightGradOut": d.first}
    return Case(given, "wide", outputs, stored=("input", "weight"))
