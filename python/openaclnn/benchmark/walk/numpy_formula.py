# SPDX-License-Identifier: Apache-2.0
"""A record's formula in NumPy, on plain arrays."""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from ...operators.operator import View
from .source import Walked


def formula(walked: Walked) -> Callable:
    """The function that computes the results; the first call finds out whether it does."""
    import driver  # of the tests, which have the functions that formulas name

    record, given = walked.record, walked.arguments
    names = dict(driver.NAMES)
    for name, value in given.items():
        names["from_" if name == "from" else name] = value
    for name, value in described(walked).items():
        names.setdefault(name, value)
    if record.in_place and "selfRef" in names:
        names["self"] = names["selfRef"]
    code = compile(record.numpy or "None", record.name, "eval")

    def run():
        with np.errstate(all="ignore"):
            return eval(code, names)

    return run


def described(walked: Walked) -> dict:
    """The expected outputs, as formulas see them."""
    return {name: _described(value) for name, value in walked.problem.outputs.items()}


def _described(value):
    if isinstance(value, list):
        return list(map(_described, value))
    if isinstance(value, View):
        return SimpleNamespace(shape=value.array.shape, dtype=value.array.dtype)
    return SimpleNamespace(shape=value[0], dtype=value[1])
