# SPDX-License-Identifier: Apache-2.0
"""The site's formulas of single elements give what their records' NumPy expressions give, of which
test_numpy.py tests the libraries."""

from functools import cache

import driver
import latex_value
import numpy as np
import pytest
import record_formulas
import records
from pairs import any_complex

OPERATORS = {each.name: each for topic in records.read_topics() for each in topic.operators}
RECORDS = {each.name: each for each in records.load(by_page=False)}
DOUBLE = np.dtype(np.float64)
LEAST = 240  # of 505 operators; the others' formulas have sums, places or words


@cache
def pairs(name: str) -> list | None:
    """What the formula gives and what the expression gives, for each output that is written; None
    of a formula that is of more than single elements."""
    record = RECORDS[name]
    if DOUBLE not in record.types:
        return None
    first = record.types.index(DOUBLE)  # without edges
    cases = (driver.prepare(record, first + k * len(record.types)) for k in range(9))
    prepared = next(each for each in cases if not any_complex(each.case.arguments.values()))
    arguments, expected = prepared.case.arguments, prepared.expected
    try:
        if not any(each.kind == "out[]" for each in record.parameters):
            return _compared(name, arguments, expected)
        members = len(expected[record.outputs[0].name])
        return [pair for k in range(members) for pair in
                _compared(name, *(_member(each, k) for each in (arguments, expected)))]  # fmt: skip
    except latex_value.NotElementwise:
        return None


def _member(values: dict, k: int) -> dict:
    """The k-th members of lists, and the k-th scalar of a tensor beside them."""

    def member(each):
        return each.reshape(-1)[k] if isinstance(each, np.ndarray) else each[k]

    many = list | np.ndarray
    given = {name: each for name, each in values.items() if not isinstance(each, list) or each}
    return {name: member(each) if isinstance(each, many) else each for name, each in given.items()}


def _compared(name: str, arguments: dict, expected: dict) -> list:
    given = {each: _double(value) for each, value in arguments.items() if value is not None}
    with np.errstate(all="ignore"):
        found = latex_value.outputs(record_formulas.latex(OPERATORS[name]), given)
    written = {each: value for each, value in expected.items() if value is not None}
    return [(found[each], getattr(value, "value", value)) for each, value in written.items()]


def _double(value):
    return value if isinstance(value, list | str) else np.asarray(value).astype(np.float64)


@pytest.mark.parametrize("name", [name for name in RECORDS if pairs(name) is not None])
def test_a_formula_gives_what_its_expression_gives(name):
    for got, expected in pairs(name):
        got, expected = (np.asarray(each, np.float64) for each in (got, expected))
        got = np.broadcast_to(got, expected.shape)
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-9)


def test_most_formulas_of_single_elements_are_compared():
    assert sum(pairs(name) is not None for name in RECORDS) >= LEAST
