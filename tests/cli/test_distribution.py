# SPDX-License-Identifier: Apache-2.0
"""How errors are distributed: the bins of their sizes, and their places in the map."""

import numpy as np
import pytest

from openaclnn import accuracy
from openaclnn.accuracy import compare
from openaclnn.distribution import NOT_FINITE, Distribution, bin_names
from openaclnn.dtypes import BFLOAT16
from openaclnn.operators.operator import Reference


def compared(got, value, dtype=np.float32, magnitude=None):
    value = np.asarray(value, np.float64)
    magnitude = np.abs(value) if magnitude is None else np.asarray(magnitude, np.float64)
    seen = Distribution(value.shape)
    reference = Reference(value, magnitude, np.ones(value.shape))
    result = compare("out", np.asarray(got, dtype), reference, distribution=seen)
    return result, seen


def test_the_bins():
    ulp = 2.0**-23
    errors = [0, 0.2, 0.25, 0.26, 0.5, 1, 1.5, 2, 3, 2.0**16, 2.0**17, np.inf]
    expected = ["0", "1/4", "1/4", "1/2", "1/2", "1", "2", "2", "4", "65536", "> 65536", "not finite"]
    value = 1 - ulp * np.array(errors[:-1]) / 2  # below 1 the spacing is half as wide
    result, seen = compared([*np.ones(11), np.nan], [*value, 1])
    counts = {name: count for name, count in zip(bin_names(), seen.bins, strict=True) if count}
    assert counts == {name: expected.count(name) for name in expected}
    assert seen.bins.sum() == result.ulp_elements and bin_names()[NOT_FINITE] == "not finite"


def test_what_cancels_is_in_no_bin():
    result, seen = compared([1, 1], [1, 1], magnitude=[1, 100])
    assert result.ulp_elements == seen.bins.sum() == 1


@pytest.mark.parametrize(
    "shape, sides, size, axes",
    [
        ((), (1, 1), (1, 1), ("element / 1", "element mod 1")),
        ((96,), (1, 96), (1, 96), ("element / 96", "element mod 96")),
        ((97,), (10, 10), (10, 10), ("element / 10", "element mod 10")),
        ((3, 200), (3, 200), (3, 96), ("dimension 0", "dimension 1")),
        ((40, 5, 7), (200, 7), (96, 7), ("dimensions 0 to 1", "dimension 2")),
        ((0, 7), (0, 7), (0, 7), ("dimension 0", "dimension 1")),
        ((0,), (0, 0), (0, 0), ("element / 0", "element mod 0")),
    ],
)
def test_the_projection(shape, sides, size, axes):
    seen = Distribution(shape)
    assert ((seen.rows, seen.columns), seen.ratio.shape, seen.axes) == (sides, size, axes)
    result, seen = compared(np.ones(shape), np.ones(shape))
    assert result.ok and seen.bins.sum() == result.elements


@pytest.mark.parametrize("chunk", [7, 1 << 20])
def test_the_map_has_each_error_in_its_place(monkeypatch, chunk):
    monkeypatch.setattr(accuracy, "_CHUNK", chunk)
    value = np.ones((40, 5, 7))
    got = value.astype(np.float32)
    got[39, 4, 6] += 2.0**-22  # within
    got[20, 0, 3] = 2  # outside
    result, seen = compared(got, value)
    row, column = seen.place((20, 0, 3))
    assert (row, column) == (100, 3) and result.worst[0].coordinates == (20, 0, 3)
    assert list(zip(*seen.outside.nonzero(), strict=True)) == [(100 * 96 // 200, 3)]
    assert {each[1] for each in zip(*seen.ratio.nonzero(), strict=True)} == {3, 6}
    assert seen.ratio[95, 6] == result.worst[1].bound_ratio
    assert seen.ratio.max() == result.bound_ratio


def test_rounding_alone_is_no_error_of_the_map():
    result, seen = compared([1, 2], [1 + 2.0**-10, 2], BFLOAT16)
    assert result.bound_ratio == 0 and seen.bins.sum() == 2 and not seen.ratio.any()
