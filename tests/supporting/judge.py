# SPDX-License-Identifier: Apache-2.0
"""Whether what an operator wrote is what its expression says.

| result | bound |
|---|---|
| integers, truth values, elements moved | exact |
| what an elementwise operator makes | one more rounding, to the type that the operands meet in |
| floats | the expression's own (bounded.py), then one rounding to the output's type |
| the same in 16-bit types | one more rounding, to FLOAT on the way |
| NaN that is computed | the canonical one of the type |
| floats in integer outputs | the bound's ends, toward zero; at most 64 bits, then the low ones |
"""

import numpy as np
import pairs

from bounded import Bounded

from openaclnn.dtypes import FLOAT_FORMATS

HALVES = {np.dtype(np.float16), *(each for each in FLOAT_FORMATS if each.name == "bfloat16")}


def stored(value: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Exact values as a type stores them."""
    value = np.asarray(value)
    if dtype == bool:
        return value != 0
    if dtype == np.uint64 and value.dtype.kind == "f":
        inside = np.where((value >= 2.0**63) & (value < 2.0**64), value, 2.0**63).astype(np.uint64)
        far = np.where(value >= 2.0**64, np.uint64(2**64 - 1), inside)
        return np.where(value >= 2.0**63, far, whole(value).astype(np.uint64))
    if dtype.kind in "iu":
        return whole(value).astype(dtype)
    if value.dtype == np.uint64 and dtype in HALVES:  # one rounding: to odd first
        low = value & np.uint64(0x7FF)
        odd = (value - low) | np.where(low != 0, np.uint64(0x800), np.uint64(0))
        value = np.where(value < 2**53, value, odd).astype(np.float64)
    if dtype in FLOAT_FORMATS and value.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return FLOAT_FORMATS[dtype].round(value.astype(np.float64)).astype(dtype)
    with np.errstate(all="ignore"):
        wide = value.astype(np.float32 if dtype in HALVES and value.dtype.kind == "i" else dtype)
        return wide.astype(dtype)


def nearest(value: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Integers as a type of floats has them, rounded once: float64 has them with an odd last bit."""
    value = np.asarray(value).astype(np.int64)
    low = value & np.int64(0x7FF)
    odd = (value - low) | np.where(low != 0, np.int64(0x800), np.int64(0))
    exact = np.abs(value.astype(np.float64)) < 2.0**53
    return stored(np.where(exact, value, odd).astype(np.float64), dtype)


def whole(value: np.ndarray) -> np.ndarray:
    """Toward zero; the ends of 64 bits for what is beyond, 0 for NaN."""
    if value.dtype.kind in "iub":
        return value.astype(np.int64)
    value = np.where(np.isnan(value), 0, np.trunc(value))
    low, high = value < -(2.0**63), value >= 2.0**63
    inside = np.where(low | high, 0, value).astype(np.int64)
    ends = np.iinfo(np.int64)
    return np.where(high, ends.max, np.where(low, ends.min, inside))


def rounded(value: np.ndarray, dtype: np.dtype | None) -> np.ndarray:
    """Values as a type holds them, to be stored in another."""
    if dtype is None or value.dtype == bool:
        return value
    held = stored(value, dtype)
    return held if dtype.kind in "iub" else held.astype(np.float64)


def wrong(got: np.ndarray, expected, size: float = 0, through: np.dtype | None = None) -> np.ndarray:
    """Where `got` is not a result that is allowed; `size` is that of a complex sum's terms, `through`
    the type that numbers are rounded to first."""
    if pairs.is_complex(expected) and not isinstance(expected, Bounded):
        if got.dtype.kind == "c":
            same = got.dtype == expected.dtype and not isinstance(expected, pairs.Pairs)
            return ~_same(got, expected) if same else pairs.wrong(got, expected, size, through)
        if got.dtype == bool:  # of either part
            return wrong(got, np.asarray(expected) != 0)
        return wrong(got, np.asarray(expected).real)
    if got.dtype.kind == "c":
        return wrong(got.real, expected, through=through) | (got.imag != 0)
    if not isinstance(expected, Bounded):
        expected = np.asarray(expected)
        expected = rounded(expected, through)
        same_type = expected.dtype == got.dtype
        want = expected if same_type else stored(expected, got.dtype)
        return ~_same(got, np.broadcast_to(want, got.shape))
    value, error = (np.broadcast_to(each, got.shape) for each in (expected.value, expected.error))
    if value.dtype == bool:
        return (got != stored(value, got.dtype)) & ~(error > 0)
    error = error.astype(np.float64)
    if got.dtype in HALVES or through in HALVES:
        error = error + 2.0**-24 * np.abs(np.where(np.isfinite(value), value, 0))
    with np.errstate(all="ignore"):
        low = np.where(np.isfinite(value), value - error, value)
        high = np.where(np.isfinite(value), value + error, value)
    low, high, value = (rounded(each, through) for each in (low, high, value))
    low, high = stored(low, got.dtype), stored(high, got.dtype)
    free = ~np.isfinite(error)
    if got.dtype.kind in "iub":
        ends = (low == got) | (high == got) | (stored(value, got.dtype) == got)
        between = (low <= got) & (got <= high) & (got.dtype != bool)
        return ~(between | ends | free)
    wide = [each.astype(np.float64) for each in (low, got, high)]
    between = (wide[0] <= wide[1]) & (wide[1] <= wide[2])
    return ~(between | _same(got, low) | free)


def odd_nans(got: np.ndarray) -> bool:
    """Whether a NaN has other bits than the positive one without a payload."""
    bits = np.dtype(f"u{got.dtype.itemsize}")
    canonical = np.array(np.nan, got.dtype).view(bits)
    return bool(np.any((got != got) & (np.array(got).view(bits) != canonical)))


def _same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Equal; NaN is NaN."""
    a, b = (each.astype(np.float64) if each.dtype in HALVES else each for each in (a, b))
    with np.errstate(invalid="ignore"):
        return (a == b) | ((a != a) & (b != b))


def difference(got: np.ndarray, expected, bad: np.ndarray) -> str:
    """The first element that is wrong, in words."""
    at = tuple(int(each[0]) for each in np.nonzero(bad)) if bad.ndim else ()
    if isinstance(expected, Bounded):
        value, error = (np.broadcast_to(x, got.shape)[at] for x in (expected.value, expected.error))
        want = f"{value!r} +- {error:.3g}"
    else:
        want = repr(np.broadcast_to(expected, got.shape)[at])
    return f"{np.count_nonzero(bad)} of {got.size}, first {list(at)}: {got[at]!r}, expected {want}"
