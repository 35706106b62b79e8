# SPDX-License-Identifier: Apache-2.0
"""Every supporting operator is a function of `openaclnn.ops`, which makes its results."""

import math

import driver
import numpy as np
import pytest
import records
from judge import wrong

from openaclnn import dtypes, ops
from openaclnn.errors import AclError
from openaclnn.operators.operator import View

CASES = 6
# Whose results are of any length or type: nobody but the caller can say which.
SAID = {
    "Stack": "the place of the new dimension",
    "RepeatInterleaveGrad": "how long the input was",
    "NormalFloatFloat": "how many numbers",
    "Bincount": "how many values there are",
    "Linspace": "of what type",
    "LogSpace": "of what type",
    "Arange": "of what type",
    "BatchNorm": "the statistics that training alone writes",
    "EmbeddingBag": "what only some modes write",
    "CtcLoss": "how many times and labels have room",
}
RECORDS = records.load()


def named(record, prepared) -> dict:
    """The arguments of a case as the function takes them."""
    given = {}
    for each in record.parameters:
        value = prepared.case.arguments.get(each.name)
        if each.kind in ("in", "in[]"):
            value = _plain(prepared.problem.inputs.get(each.name))
        elif each.kind == "dtype":
            value = dtypes.of_number(prepared.problem.attributes[each.name])
        elif each.is_output and isinstance(value, np.ndarray | list):
            value = [np.array(one) for one in value] if isinstance(value, list) else np.array(value)
        elif each.is_output and value is None and record.name in SAID:
            view = prepared.problem.outputs[each.name]
            value = view and (view.array.shape, view.array.dtype)
        elif each.is_output and each.optional and prepared.expected.get(each.name) is not None:
            value = True
        if value is not None or not each.is_output:
            given[ops._spelled(each.name)] = value
    return given


def _plain(value):
    if isinstance(value, list):
        return list(map(_plain, value))
    return np.array(value.array) if isinstance(value, View) else value


def faults(record, number: int) -> list[str]:
    prepared = driver.prepare(record, number)
    if prepared.refused or prepared.room:
        return []
    given = named(record, prepared)
    got = getattr(ops, ops._snake(record.name))(**given)
    made = [each for each in record.outputs if not each.optional or given.get(each.name) is not None]
    got = got if len(made) > 1 else (got,)
    said = []
    for each, result in zip(made, got, strict=True):
        want = prepared.expected[each.name]
        pairs = zip(result, want, strict=True) if each.kind == "out[]" else [(result, want)]
        said += [fault for pair in pairs if want is not None for fault in _compared(each.name, *pair)]
    return said


def _compared(name: str, got, expected) -> list[str]:
    """Where any shape of so many elements is taken it may be another one."""
    shape = driver._shape(expected)
    if got.size != math.prod(shape):
        return [f"{name} shape is {got.shape}, expected {shape}"]
    if np.any(wrong(got.reshape(shape), expected)):
        return [f"{name} {got.dtype} is {got}, expected {expected}"]
    return []


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_its_results_are_as_it_wants_them(record):
    found = []
    for number in range(CASES):
        try:
            found += [f"case {number}: {each}" for each in faults(record, number)]
        except AclError as error:
            found.append(f"case {number}: {error}")
    assert not found, "\n".join(found)
