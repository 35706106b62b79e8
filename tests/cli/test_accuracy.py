# SPDX-License-Identifier: Apache-2.0
"""The accuracy bound and its report, against cases computed by hand."""

import json

import numpy as np
import pytest

from openaclnn import accuracy
from openaclnn.tool import report
from openaclnn.dtypes import BFLOAT16
from openaclnn.operators.operator import Reference

TINY = 2.0**-126


def reference(values, magnitudes=None, terms=1) -> Reference:
    values = np.asarray(values, np.float64)
    magnitudes = np.abs(values) if magnitudes is None else np.asarray(magnitudes, np.float64)
    return Reference(values, magnitudes, np.broadcast_to(np.asarray(terms), values.shape))


def compare(got, dtype, *expected, **named):
    return accuracy.compare("out", np.asarray(got, dtype), reference(*expected, **named))


def max_ulp(result) -> float:
    return result.ulp_percentiles["max"]


@pytest.mark.parametrize(
    "terms, factor",
    [(0, 8), (1, 8 + 1), (2, 8 + 2 + 1), (64, 8 + 64 + 6), (1024, 8 + 64 + 10)],
)
def test_bound(terms, factor):
    expected = factor * 2.0**-24 * 3 + TINY
    assert accuracy.bound(reference([3.0], terms=terms)) == pytest.approx(expected, rel=1e-15)


def test_rounded_arguments_widen_the_bound():
    def with_roundings(roundings):
        one = np.ones((2, 2))
        return Reference(3 * one, 3 * one, 2 * one.astype(int), roundings)

    assert (accuracy.bound(with_roundings(0.0)) == 11 * 2.0**-24 * 3 + TINY).all()
    rows = accuracy.bound(with_roundings(np.array([[0.0], [5.0]])))
    assert rows.tolist() == [[11 * 2.0**-24 * 3 + TINY] * 2, [16 * 2.0**-24 * 3 + TINY] * 2]
    got = np.full((2, 2), 3 + 14 * 2.0**-24 * 3, np.float32)
    result = accuracy.compare("out", got, with_roundings(np.array([[0.0], [5.0]])))
    assert result.outside == 2 and {each.coordinates[0] for each in result.worst[:2]} == {0}


def test_copies_must_be_exact():
    copy = Reference(np.array([1.0, 2.0]), np.zeros(2), np.zeros((), np.int64))
    assert accuracy.compare("out", np.array([1, 2], np.float32), copy).ok
    assert accuracy.compare("out", np.array([1, 2 + 2.0**-22], np.float32), copy).outside == 1


def test_float32_result_within_and_outside():
    # One term of 1: b = 9 * 2^-24, that is 4.5 spacings of float32.
    within = compare([1 + 4 * 2.0**-23], np.float32, [1.0])
    assert within.ok and within.bound_ratio == pytest.approx(8 / 9) and max_ulp(within) == 4
    outside = compare([1 + 5 * 2.0**-23], np.float32, [1.0])
    assert outside.outside == 1 and outside.bound_ratio == pytest.approx(10 / 9)
    assert outside.max_error == 5 * 2.0**-23


def test_cancellation_is_judged_by_the_magnitude():
    # 1e6 - 1e6 + 1: an error of 0.25 is far outside the spacing at 1, within b of the terms.
    result = compare([1.25], np.float32, [1.0], [2e6 + 1], 3)
    assert result.ok and result.worst[0].ulp == 0.25 / 2.0**-23
    assert result.ulp_elements == 0 and max_ulp(result) == 0, "an ulp says nothing here"
    assert not compare([1.25], np.float32, [1.0], [1.0], 3).ok


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=["float16", "bfloat16"])
def test_correctly_rounded_results_have_ratio_zero(dtype):
    values = np.random.default_rng(3).standard_normal(20000) * 1e-3
    rounded = accuracy.FLOAT_FORMATS[np.dtype(dtype)].round(values)
    result = compare(rounded, dtype, values)
    assert result.ok and result.bound_ratio == 0 and 0.45 < max_ulp(result) <= 0.5


@pytest.mark.parametrize(
    "value, allowed",
    [
        # BF16 between 1 and 1 + 2^-7, tie at 1 + 2^-8, b = 9 * 2^-24.
        (1 + 2.0**-8 - 8 * 2.0**-24, {1, 1 + 2.0**-7}),
        (1 + 2.0**-8 + 8 * 2.0**-24, {1, 1 + 2.0**-7}),
        (1 + 2.0**-8 - 10 * 2.0**-24, {1}),
        (1 + 2.0**-8 + 10 * 2.0**-24, {1 + 2.0**-7}),
    ],
)
def test_bfloat16_near_a_tie(value, allowed):
    for got in (1 - 2.0**-8, 1, 1 + 2.0**-7, 1 + 2.0**-6):
        result = compare([got], BFLOAT16, [value], [1.0])
        assert result.ok == (got in allowed), got
        assert (result.bound_ratio <= 1) == result.ok


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=["float16", "bfloat16"])
def test_ratio_and_interval_agree(dtype):
    """Two statements of one bound: the rounded interval, and the distance beyond rounding."""
    rng = np.random.default_rng(4)
    form = accuracy.FLOAT_FORMATS[np.dtype(dtype)]
    values = np.ldexp(rng.standard_normal(50000), rng.integers(-20, 12, 50000))
    got = form.round(values) + form.ulp(values) * rng.integers(-2, 3, 50000)
    got = form.round(got)
    magnitudes = np.abs(values) * np.ldexp(1.0, rng.integers(0, 16, 50000))
    inside = 0
    for each in range(0, 50000, 50):
        one = slice(each, each + 1)
        result = compare(got[one], dtype, values[one], magnitudes[one])
        assert result.ok == (result.bound_ratio <= 1)
        inside += result.ok
    assert 200 < inside < 900


@pytest.mark.parametrize(
    "got, value, expected",
    [
        # What rounds to 1 in BF16: from 1 - 2^-9, half the spacing below 1, to 1 + 2^-8.
        (1, 1 + 2.0**-8, 0),
        (1, 1 - 2.0**-9, 0),
        (1, 1 - 2.0**-9 - 2.0**-20, 2.0**-20),
        (1, 1 + 2.0**-8 + 2.0**-20, 2.0**-20),
        (-1, -1 + 2.0**-9 + 2.0**-20, 2.0**-20),
        (1, -1, 2 - 2.0**-9),
        (0, 2.0**-133, 2.0**-134),
        (0, -(2.0**-133), 2.0**-134),
        (2.0**-126, 2.0**-126 - 2.0**-133, 2.0**-134),
        (np.inf, 2.0**128, 0),
        (np.inf, 2.0**128 - 2.0**119, 0),
        (np.inf, 2.0**128 - 2.0**120, 2.0**119),
        (np.nan, 1, np.inf),
    ],
)
def test_distance_beyond_rounding(got, value, expected):
    form = accuracy.FLOAT_FORMATS[BFLOAT16]
    with np.errstate(invalid="ignore"):
        assert accuracy.beyond_rounding(np.float64(got), np.float64(value), form) == expected


def test_float16_overflow():
    assert compare([np.inf], np.float16, [65520.0]).ok
    assert compare([65504], np.float16, [65519.0]).ok
    assert compare([np.inf], np.float16, [65519.98]).ok  # within b of the threshold
    assert not compare([np.inf], np.float16, [65000.0]).ok
    assert not compare([65504], np.float16, [70000.0]).ok
    assert not compare([-np.inf], np.float16, [70000.0]).ok


def test_nan_and_infinity_must_be_the_reference_s():
    same = compare([np.nan, np.inf, -np.inf], np.float32, [np.nan, np.inf, -np.inf])
    assert same.ok and same.max_error == 0 and max_ulp(same) == 0
    for got, expected in [
        (0, np.nan),
        (np.nan, 0),
        (np.inf, -np.inf),
        (1, np.inf),
        (np.nan, np.inf),
    ]:
        result = compare([got], np.float32, [expected], [1.0])
        assert result.outside == 1 and result.max_error == np.inf, (got, expected)


def test_sums_that_leave_the_float32_range_are_not_judged():
    result = compare([np.inf, np.nan, 5.0], np.float32, [1.0, 1.0, 1.0], [1e39, 1e39, 1.0])
    assert result.not_judged == 2 and result.outside == 1


def test_rows_without_terms_must_be_zero():
    assert compare([0.0, -0.0], np.float32, [0.0, 0.0], terms=0).ok
    result = compare([0.0, 1e-30], np.float32, [0.0, 0.0], terms=0)
    assert result.outside == 1 and result.worst[0].coordinates == (1,)
    assert compare([TINY], np.float32, [0.0], terms=0).ok
    assert not compare([2 * TINY], np.float32, [0.0], terms=0).ok


def test_percentiles_are_elements():
    got = 1 + np.arange(1000) * 2.0**-23
    result = compare(got, np.float32, np.ones(1000))
    assert result.ulp_percentiles == {"50": 500, "90": 900, "99": 990, "99.9": 999, "max": 999}
    assert result.max_error == 999 * 2.0**-23
    assert result.mean_error == pytest.approx(499.5 * 2.0**-23)


def test_worst_elements_come_with_coordinates():
    values = np.ones((30, 7, 5))
    got = values.astype(np.float32)
    got[4, 6, 2] += 1
    got[29, 0, 4] = np.nan
    result = accuracy.compare("out", got, reference(values))
    assert [each.coordinates for each in result.worst] == [(29, 0, 4), (4, 6, 2)]
    assert result.worst[1].got == 2 and result.worst[1].error == 1 and result.outside == 2


def test_no_ulp_beside_zero():
    result = accuracy.compare("out", np.float32([1e-7, 1.5]), reference([0, 1], [1, 1]))
    (_, by_one), (_, by_zero) = [(row[0], row[4]) for row in report.worst_rows(result)]
    assert (by_one, by_zero) == ("4.19e+06", "-")


def test_parts_are_added_up(monkeypatch):
    rng = np.random.default_rng(5)
    values = rng.standard_normal((101, 13))
    got = (values * (1 + 1e-6 * rng.standard_normal(values.shape))).astype(np.float32)
    expected = Reference(values, np.abs(values), rng.integers(1, 99, (101, 1)))
    whole = accuracy.compare("out", got, expected)
    monkeypatch.setattr(accuracy, "_CHUNK", 64)
    parts = accuracy.compare("out", got, expected)
    assert parts.mean_error == pytest.approx(whole.mean_error, rel=1e-12)
    assert parts.worst == whole.worst and len(parts.worst) == 5
    assert parts.outside == whole.outside > 0
    assert parts.ulp_percentiles == whole.ulp_percentiles


def test_vendor_standard():
    # Correctly rounded FP16 results with tiny references fail it, and pass the bound.
    tiny = compare([1e-7], np.float16, [1e-7 * 0.9])
    assert tiny.ok and not tiny.vendor.met
    fine = compare([1.0, 2.0], np.float16, [1.0, 2.0])
    assert fine.vendor.met and fine.vendor.threshold == 2.0**-10


def test_what_is_said_of_the_vendor_standard():
    tiny = compare([1e-7], np.float16, [1e-7 * 0.9])
    told = dict(report.accuracy_facts(tiny))
    assert told["vendor's standard"] == "below 0.00977 / 0.000977: not met"
    assert "exit code is 0" in report.vendor_note(tiny)
    fine = compare([1.0, 2.0], np.float16, [1.0, 2.0])
    assert dict(report.accuracy_facts(fine))["vendor's standard"].endswith(": met")
    wrong = compare([1.5, 2.0], np.float16, [1.0, 2.0])
    assert not wrong.ok and not wrong.vendor.met
    assert report.vendor_note(fine) == report.vendor_note(wrong) == ""


def test_ulps_are_of_elements_that_do_not_cancel():
    got = np.array([1 + 3 * 2.0**-23, 1 + 2.0**-23], np.float32)
    result = accuracy.compare("out", got, reference([1.0, 1.0], [8.5, 8.0], 8))
    assert (result.elements, result.ulp_elements, max_ulp(result)) == (2, 1, 1.0)


@pytest.mark.parametrize(
    "got, value",
    [
        (1e30, 0.0),  # 2^149 ulps for each unit
        (1e-30, 0.0),
        (1e30, 2.0**-149),  # more ulps than a float holds
        (np.nan, 1.0),
        (1.0, np.inf),
    ],
)
def test_an_error_that_is_no_number_of_ulps(got, value):
    result = compare([1.0, 1.0, got], np.float32, [1.0, 1.0, value])
    assert result.outside == 1 and result.worst[0].ulp is None
    assert result.ulp_percentiles == {"50": 0, "90": None, "99": None, "99.9": None, "max": None}
    told = dict(report.accuracy_facts(result))
    assert told["ulp, 50 %"] == "0" and told["ulp, 90 %"] == told["ulp, max"] == "no digit is right"
    assert report.worst_rows(result)[0][4] == "-"
    written = json.loads(report.json_text(result))
    assert written["ulp_percentiles"]["90"] is None and written["worst"][0]["ulp"] is None
    assert report.Run(None, None, [result], None).ulp == "none right"


def test_empty_result():
    nothing = np.empty((0, 3))
    result = accuracy.compare(
        "out", nothing.astype(np.float32), Reference(nothing, nothing, np.empty((0, 1)))
    )
    assert result.ok and result.elements == 0 and max_ulp(result) == 0
