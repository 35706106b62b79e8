# SPDX-License-Identifier: Apache-2.0
"""Arguments of steps of optimisers whose numbers are tensors."""

import numpy as np

from cases import Case, Draw, fill
from records import REALS

# Between what values a number of a step lies.
_RANGES = {
    "beta1Power": (0.1, 0.9), "beta2Power": (0.1, 0.9), "lr": (0.001, 0.1), "weightDecay": (0.0, 0.1),
    "beta1": (0.5, 0.9), "beta2": (0.5, 0.9), "eps": (0.001, 0.1), "epsilon": (0.001, 0.1),
}  # fmt: skip


def apply_adam(d: Draw) -> Case:
    shape, given = d.shape(), {}
    tensors = ("varRef", "mRef", "grad", "vRef", "maxGradNormOptional")
    for each in d.record.parameters:
        if each.name in tensors:
            sample = "positive" if each.name in ("vRef", "maxGradNormOptional") else "tame"
            given[each.name] = d.array(shape, d.type_of(each.name), sample)
        elif each.name in _RANGES:
            value = d.random.uniform(*_RANGES[each.name], d.one(((), (1,), (1, 1))))
            given[each.name] = np.asarray(value).astype(d.type_of(each.name))
    given = fill(d, given)
    if not given.get("amsgrad", True) and d.flag():
        given["maxGradNormOptional"] = None
    return Case(given, "double")


def all_finite(d: Draw) -> Case:
    d.style = "edges" if d.whole(0, 2, walk=1) == 0 else "plain"
    types = tuple(each for each in d.record.types if each in REALS)
    tensors = [d.array(d.shape(), d.one(types)) for _ in range(d.whole(1, 3, walk=2))]
    return Case({"gradient": tensors, "out": np.array([d.flag()])}, "stored")


def fused_sgd(d: Draw) -> Case:
    """Gradients and sums of a type of their own."""
    shapes = [d.shape() for _ in range(d.whole(1, 3, walk=2))]
    lists = {name: [d.array(shape, d.first if name == "paramsRef" else d.real(), "tame")
                    for shape in shapes]
             for name in ("paramsRef", "grads", "momentumBufferListRef")}  # fmt: skip
    scale = d.array(d.one(((), (1,))), d.real(), "positive") if d.flag() else None
    rates = {"weightDecay": d.one((0.0, 0.1)), "momentum": d.one((0.0, 0.9)), "lr": 0.05,
             "dampening": d.one((0.0, 0.25))}  # fmt: skip
    return Case(fill(d, lists | {"gradScale": scale} | rates), "double")


def fused_adam(d: Draw) -> Case:
    shapes = [d.shape() for _ in range(d.whole(1, 3, walk=2))]
    samples = {"paramsRef": "tame", "grads": "tame", "expAvgsRef": "tame", "expAvgSqsRef": "positive",
               "maxExpAvgSqsRef": "positive"}  # fmt: skip
    given = {name: [d.array(shape, d.first if name == "paramsRef" else d.real(), sample) for shape in shapes]
             for name, sample in samples.items()}  # fmt: skip
    given["stateSteps"] = [np.full((), d.whole(0, 9), np.float32) for _ in shapes]
    given["gradScale"] = d.array((1,), d.real(), "positive") if d.flag() else None
    given["foundInf"] = np.array([d.whole(0, 3) == 0], np.float32) if d.flag() else None
    rates = {"lr": 0.05, "beta1": 0.75, "beta2": 0.9, "weightDecay": d.one((0.0, 0.1)), "eps": 0.01}
    return Case(fill(d, given | rates), "double")
