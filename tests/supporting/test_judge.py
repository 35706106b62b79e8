# SPDX-License-Identifier: Apache-2.0
"""The judge of the other tests can say no: every kind of result that is almost right is told."""

import bits
import driver
import numpy as np
import pytest
import records
from bounded import DOUBLE, FLOAT, Bounded
from draw import every_edge
from judge import odd_nans, stored, wrong

from openaclnn.dtypes import BFLOAT16

ONES = np.ones(3)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, BFLOAT16, np.float64])
def test_floats_two_neighbours_away(dtype):
    """One rounding of a function of libm is allowed, the next but two neighbour is not."""
    format = DOUBLE if dtype == np.float64 else FLOAT
    third = Bounded(format.exact(ONES / 3), format)
    expected, exact = third * third, stored((third * third).value, np.dtype(dtype))
    step = np.array(np.spacing(exact[0].astype(np.float32 if dtype is BFLOAT16 else dtype)))
    if dtype is BFLOAT16:
        step = step * 2.0**16
    near = (exact.astype(np.float64) + 4 * float(step)).astype(dtype)
    assert not wrong(exact, expected).any()
    assert wrong(near, expected).all()


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite(special):
    with np.errstate(invalid="ignore"):
        expected = Bounded(np.array([special, 1.0]), FLOAT) + 1.0
    good = np.array([special, 2.0], np.float32)
    assert not wrong(good, expected).any()
    for other in (0.0, np.nan, np.inf, -np.inf):
        bad = np.array([other, 2.0], np.float32)
        assert wrong(bad, expected)[0] == (repr(other) != repr(float(special)))


@pytest.mark.parametrize("dtype", records.REALS, ids=lambda dtype: dtype.name)
def test_nans_that_are_not_canonical(dtype):
    nan = np.full(2, np.nan).astype(dtype)
    assert not odd_nans(nan)
    assert odd_nans(-nan)
    assert not odd_nans(np.ones(2).astype(dtype))


def test_integers_are_exact():
    got = np.array([2**60, 2**60 + 1], np.int64)
    assert list(wrong(got, np.array([2**60, 2**60], np.int64))) == [False, True]


@pytest.mark.parametrize(
    "value, dtype, want",
    [(3.9, "int8", 3), (-3.9, "int8", -3), (300.0, "uint8", 44), (np.nan, "int32", 0),
     (1e30, "int64", 2**63 - 1), (-1e30, "int64", -(2**63)), (0.5, "bool", True)],
)  # fmt: skip
def test_floats_as_integers(value, dtype, want):
    """As `StoreRow` says."""
    assert stored(np.array(value), np.dtype(dtype)) == want


def test_cancellation_widens_the_bound():
    """What the expression loses is allowed, and no more."""
    one = Bounded(FLOAT.exact(1 + np.array([1e-3])), FLOAT)
    lost = np.log(one * one) - 2 * np.log(one)
    assert lost.error[0] > 1e-8 > abs(lost.value[0])
    assert lost.error[0] < 1e-6
    assert (np.maximum(one, 0) * 1).error[0] < 1e-7


def test_decisions_near_a_threshold_may_go_either_way():
    third = Bounded(FLOAT.exact(ONES / 3), FLOAT)
    chosen = np.where(third * 3 > 1, 5.0, 7.0)
    assert chosen.error.min() >= 2
    assert np.where(third * 3 > 1.1, 5.0, 7.0).error.max() == 0


def test_every_record_says_what_it_computes():
    loaded = records.load()
    assert len(loaded) >= 414
    assert not [each.name for each in loaded if not each.numpy]


def test_cases_are_the_same_every_time():
    record = next(each for each in records.load() if each.name == "Add")
    one, two = (driver.prepare(record, 3) for _ in range(2))
    pairs = zip(one.problem.inputs.values(), two.problem.inputs.values(), strict=True)
    assert all(a.storage.tobytes() == b.storage.tobytes() for a, b in pairs)


@pytest.mark.parametrize("dtype", records.TYPES["numeric"], ids=lambda dtype: dtype.name)
def test_edges_are_of_the_type(dtype):
    edges = every_edge(dtype)
    assert edges.dtype == dtype
    assert dtype not in records.REALS or np.isnan(edges.astype(np.float64)).sum() == 1


def test_bits_that_differ_are_named():
    before = {"Add": ["a", "b"], "Sub": ["c"], "Gone": ["d"]}
    after = {"Add": ["a", "x"], "Sub": ["c"], "New": ["e"]}
    assert bits.differences(before, after) == {"Add": [1], "Gone": [0]}
