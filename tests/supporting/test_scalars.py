# SPDX-License-Identifier: Apache-2.0
"""A scalar is converted to the type that it and the tensors meet in, before anything is computed.

No operator is named here: every record with a scalar is walked, with tensors of each type of 16
bits and of INT8. A number and what that type makes of it must give the same bits, unless the record
says that the scalar keeps its own value.
"""

import driver
import numpy as np
import pytest
import records
from draw import converted
from openaclnn.dtypes import BFLOAT16
from openaclnn.errors import AclError
from openaclnn.native.call import Call

NARROW = tuple(map(np.dtype, (np.float16, BFLOAT16, np.int8)))
# The last two are other numbers where they are rounded to FLOAT on the way.
NUMBERS = (
    np.float64(0.1), np.int64(300), np.float64(1 + 2**-11 + 2**-40),
    np.float64(1 + 2**-8 + 2**-40),
)  # fmt: skip
RECORDS = [
    record
    for record in records.load()
    if any(
        each.kind in ("scalar", "scalar[]") and each.name not in record.as_given
        for each in record.parameters
    )
]


def _scalars(record) -> list[str]:
    return [p.name for p in record.plain("scalar", "scalar[]") if p.name not in record.as_given]


def _operands(prepared) -> set:
    """The types of the tensors that scalars meet."""
    views = prepared.problem.inputs | prepared.problem.outputs
    names = [each.name for each in prepared.record.operands]
    given = [views[name] for name in names if views.get(name) is not None]
    flat = [one for each in given for one in (each if isinstance(each, list) else [each])]
    return {one.array.dtype for one in flat}


def _plant(prepared, number):
    """Puts the number among the elements, for what compares."""
    for view in prepared.problem.inputs.values():
        for one in view if isinstance(view, list) else [view]:
            if one.array.size and one.array.dtype == number.dtype:
                one.array[(0,) * one.array.ndim] = number


def _bits(device, prepared, value):
    """What the call writes where its scalars are this number; nothing where it is refused."""
    arguments = prepared.problem.attributes
    for name in _scalars(prepared.record):
        many = isinstance(arguments[name], list)
        arguments[name] = [value] * len(arguments[name]) if many else value
    try:
        with Call(device[0], prepared.record.function, prepared.problem, device[1]) as call:
            call.run()
            found = call.outputs()
    except AclError as error:
        if error.code == 507035:  # of values
            return None
        assert error.code == 161002, error
        return None
    each = [one for one in found.values() for one in (one if isinstance(one, list) else [one])]
    return [driver._plain_bits(one) for one in each]


def _type_of_scalars(prepared, dtype: np.dtype, value) -> np.dtype:
    """What the type of tensors makes of a number's, as the pages deduce it."""
    record = prepared.record
    in_list = any(each.kind == "in[]" for each in record.parameters)
    no_integers = record.cases.endswith("floats") or (
        record.cases == "division" and prepared.case.arguments["mode"] == 0
    )
    floats = value.dtype.kind == "f" or no_integers
    if (in_list and dtype == BFLOAT16) or (dtype == np.int8 and floats):
        return np.dtype(np.float32)
    return dtype


@pytest.mark.parametrize("dtype", NARROW, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_a_scalar_is_converted_first(device, record, dtype):
    compared = 0
    for number in range(2 * driver.count_of(record)):
        prepared = driver.prepare(record, number)
        if prepared.refused or _operands(prepared) != {dtype}:
            continue
        for value in NUMBERS:
            own = converted(value, _type_of_scalars(prepared, dtype, value))
            _plant(prepared, own)
            given, rounded = (_bits(device, prepared, each) for each in (value, own))
            assert given == rounded, f"{value!r} and {own!r} differ in case {number}"
            compared += given is not None
        if compared > 12:
            return
    takes = dtype != np.int8 and all(dtype in record.types_of(each.name) for each in record.operands)
    assert compared or not takes, "no case was compared"
