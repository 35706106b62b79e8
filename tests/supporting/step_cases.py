# SPDX-License-Identifier: Apache-2.0
"""Arguments of steps of optimisers whose numbers are tensors."""

import numpy as np

from cases import Case, Draw, fill

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
