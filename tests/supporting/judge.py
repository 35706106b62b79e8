# SPDX-License-Identifier: Apache-2.0
"""Whether what an operator wrote is what its expression says.

| result | bound |
|---|---|
| integers, truth values, elements moved | exact |
| floats | the expression's own (bounded.py), then one rounding to the output's type |
| the same in 16-bit types | one more rounding, to FLOAT on the way |
| NaN that is computed | the canonical one of the type |
| floats in integer outputs | the bound's ends, toward zero; at most 64 bits, then the low ones |
"""

import numpy as np

from bounded import Bounded

from openaclnn.dtypes import FLOAT_FORMATS

HALVES = {np.dtype(np.float16), *(each for each in FLOAT_FORMATS if each.name == "bfloat16")}


def stored(value: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Exact values as a type stores them."""
    value = np.asarray(value)
    if dtype == bool:
        return value != 0
    if dtype.kind in "iu":
        return whole(value).astype(dtype)
    if dtype in FLOAT_FORMATS and value.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return FLOAT_FORMATS[dtype].round(value.astype(np.float64)).astype(dtype)
    with np.errstate(all="ignore"):
        wide = value.astype(np.float32 if dtype in HALVES and value.dtype.kind == "i" else dtype)
        return wide.astype(dtype)


def whole(value: np.ndarray) -> np.ndarray:
    """Toward zero; the ends of 64 bits for what is beyond, 0 for NaN."""
    if value.dtype.kind in "iub":
        return value.astype(np.int64)
    value = np.where(np.isnan(value), 0, np.trunc(value))
    low, high = value < -(2.0**63), value >= 2.0**63
    inside = np.where(low | high, 0, value).astype(np.int64)
    ends = np.iinfo(np.int64)
    return np.where(high, ends.max, np.where(low, ends.min, inside))


def wrong(got: np.ndarray, expected) -> np.ndarray:
    """Where `got` is not a result that is allowed."""
    if not isinstance(expected, Bounded):
        expected = np.asarray(expected)
        same_type = expected.dtype == got.dtype
        want = expected if same_type else stored(expected, got.dtype)
        return ~_same(got, np.broadcast_to(want, got.shape))
    value, error = (np.broadcast_to(each, got.shape) for each in (expected.value, expected.error))
    if value.dtype == bool:
        return (got != stored(value, got.dtype)) & ~(error > 0)
    error = error.astype(np.float64)
    if got.dtype in HALVES:
        error = error + 2.0**-24 * np.abs(np.where(np.isfinite(value), value, 0))
    with np.errstate(all="ignore"):
        low = np.where(np.isfinite(value), value - error, value)
        high = np.where(np.isfinite(value), value + error, value)
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
