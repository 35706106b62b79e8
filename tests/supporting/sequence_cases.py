# SPDX-License-Identifier: Apache-2.0
"""Arguments of losses of sequences and of several classes at once."""

from types import SimpleNamespace

import numpy as np

from bounded import DOUBLE, Bounded
from cases import PLACES, Case, Draw
from judge import stored
from records import REALS
from sequences import ctc_loss as _loss


def _real(d: Draw) -> np.dtype:
    d.first = d.first if d.first in REALS else d.one(REALS)
    return d.first


def multilabel_margin(d: Draw) -> Case:
    dtype, classes = _real(d), d.whole(1, 6, walk=128)
    lead = () if d.style == "rank 0" else (0 if d.style == "empty" else d.whole(1, 4, walk=512),)
    shape = (*lead, classes) if d.style != "rank 0" or d.flag() else ()
    classes = classes if shape else 1
    target = d.random.integers(0, classes, shape)
    target = np.where(d.random.random(shape) < 0.3, -1, target).astype(d.one(PLACES))
    given = {"self": d.array(shape, None, "tame"), "target": target, "reduction": d.whole(0, 2, walk=1)}
    return Case(given, "double", {"out": dtype, "isTarget": dtype}, ("target",))


def _sequences(d: Draw) -> dict:
    """Chances, targets in rows or one after the other, and their lengths."""
    dtype, count = _real(d), 0 if d.style == "empty" else d.whole(1, 3, walk=16)
    times, classes = d.whole(1, 7, walk=128), d.whole(2, 4, walk=512)
    scores = d.random.normal(0, 1, (times, count, classes))
    chances = scores - np.log(np.exp(scores).sum(-1, keepdims=True))
    longest = d.whole(3, 3, walk=30)
    lengths = [d.whole(0, 3, walk=longest) for _ in range(count)]
    shape = (count, longest) if d.flag(walk=True) else (sum(lengths),)
    return {
        "logProbs": stored(chances, dtype),
        "targets": d.random.integers(0, classes, shape).astype(d.one(PLACES)),
        "inputLengths": [d.whole(0, times, walk=times) for _ in range(count)],
        "targetLengths": lengths,
        "blank": d.whole(0, classes - 1, walk=0),
        "zeroInfinity": d.flag(),
    }


def _alpha_shape(d: Draw, given: dict) -> tuple[int, ...]:
    times, count, _ = given["logProbs"].shape
    longest = 2 * max([3, *given["targetLengths"]]) + 1
    return (count, times + d.whole(0, 1, walk=0), longest + d.whole(0, 2, walk=0))


def ctc_loss(d: Draw) -> Case:
    given = _sequences(d)
    outputs = {"negLogLikelihoodOut": d.first, "logAlphaOut": d.first}
    shapes = {"logAlphaOut": _alpha_shape(d, given)}
    return Case(given, "double", outputs, stored=("targets",), shapes=shapes)


def ctc_loss_backward(d: Draw) -> Case:
    given = _sequences(d)
    alpha = SimpleNamespace(shape=_alpha_shape(d, given))
    setting = (given[name] for name in ("targets", "inputLengths", "targetLengths", "blank"))
    chances = Bounded(given["logProbs"].astype(np.float64), DOUBLE)
    losses, alpha = (stored(each.value, d.first) for each in _loss(chances, *setting, False, alpha))
    given |= {"gradOut": d.array(losses.shape, None, "tame"), "negLogLikelihood": losses,
              "logAlpha": alpha}  # fmt: skip
    return Case(given, "double", {"out": d.first}, stored=("targets",))
