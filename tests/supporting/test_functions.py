# SPDX-License-Identifier: Apache-2.0
"""Every supporting operator is a function of `openaclnn.ops`, which makes its results."""

import math

import driver
import functions
import numpy as np
import pytest
import records
from judge import wrong

from openaclnn import ops
from openaclnn.errors import AclError

CASES = 6
RECORDS = records.load()


def faults(record, number: int) -> list[str]:
    prepared = driver.prepare(record, number)
    if prepared.refused or prepared.room:
        return []
    given = functions.named(record, prepared)
    got = getattr(ops, ops._snake(record.name))(**given)
    made = [each for each in record.outputs if not each.optional or given.get(each.name) is not None]
    got = got if len(made) > 1 else (got,)
    said = []
    for each, result in zip(made, got, strict=True):
        want = prepared.expected[each.name]
        if _in_double(result) != _in_double(prepared.problem.outputs[each.name]):
            continue  # which products compute otherwise
        if want is None:
            continue
        pairs = list(zip(result, want, strict=True)) if each.kind == "out[]" else [(result, want)]
        of_members = each.kind == "out[]" and len(prepared.case.rounded_to) == len(pairs)
        through = prepared.case.rounded_to if of_members else [None] * len(pairs)
        for pair, dtype in zip(pairs, through, strict=True):
            said += _compared(each.name, *pair, dtype) if pair[1] is not None else []
    return said


def _in_double(result) -> bool:
    array = getattr(result, "array", result)
    return isinstance(array, np.ndarray) and array.dtype == np.float64


def _compared(name: str, got, expected, through=None) -> list[str]:
    """Where any shape of so many elements is taken it may be another one."""
    shape = got.shape if type(expected) is int else driver._shape(expected)  # one number for all
    if got.size != math.prod(shape):
        return [f"{name} shape is {got.shape}, expected {shape}"]
    if np.any(wrong(got.reshape(shape), expected, through=through)):
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
