# SPDX-License-Identifier: Apache-2.0
"""Complex numbers as the expressions of records see them: complex128, with the rules of the API.

NumPy's functions are C99's, and its products those of parts. What differs is here: a scalar that is
real scales both parts, and a quotient by 0 is no number.
"""

import numpy as np

UNIT = 2.0**-53
COMPLEX = tuple(map(np.dtype, (np.complex64, np.complex128)))
PARTS = {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(np.float64)}


class Pairs(np.ndarray):
    """An array of complex128."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        plain = [_plain(each) for each in inputs]
        if "out" in options:
            options["out"] = tuple(map(_plain, options["out"]))
        if ufunc is np.sign and method == "__call__":  # whose size may overflow
            (x,) = plain
            far = np.maximum(np.abs(x.real), np.abs(x.imag)) > 2.0**1000
            plain = [np.where(far, _scaled(0.5, x), x)]
        if method == "__call__" and ufunc in (np.multiply, np.true_divide):
            product = _scaled if any(map(_is_real, plain)) else _product
            result = (product if ufunc is np.multiply else _quotient)(*plain)
            for out in options.get("out", ()):
                out[...] = result
            return _as_pairs(result)
        return _as_pairs(getattr(ufunc, method)(*plain, **options))


def pairs(array) -> Pairs:
    """A tensor of any type."""
    return np.asarray(array).astype(np.complex128).view(Pairs)


def is_complex(value) -> bool:
    return getattr(getattr(value, "dtype", None), "kind", "") == "c"


def any_complex(values) -> bool:
    """Whether one of them, or of their lists, is complex."""
    return any(any_complex(each) if isinstance(each, list) else is_complex(each)
               for each in values)  # fmt: skip


def _plain(value):
    return value.view(np.ndarray) if isinstance(value, Pairs) else value


def _as_pairs(result):
    return np.asarray(result).view(Pairs) if is_complex(result) else result


def _is_real(value) -> bool:
    """Of a scalar."""
    return np.ndim(value) == 0 and not isinstance(value, np.ndarray) and np.imag(value) == 0


def _scaled(a, b):
    scalar, array = (a, np.asarray(b)) if _is_real(a) else (b, np.asarray(a))
    result = np.empty(array.shape, np.complex128)
    result.real, result.imag = array.real * np.real(scalar), array.imag * np.real(scalar)
    return result


def _product(a, b):
    """Without a fused multiplication, which does not overflow on the way."""
    a, b = (np.asarray(each, np.complex128) for each in (a, b))
    result = np.empty(np.broadcast_shapes(a.shape, b.shape), np.complex128)
    result.real = a.real * b.real - a.imag * b.imag
    result.imag = a.real * b.imag + a.imag * b.real
    return result


def _quotient(a, b):
    if _is_real(b) and b != 0:
        array = np.asarray(a, np.complex128)
        result = np.empty(array.shape, np.complex128)
        result.real, result.imag = array.real / np.real(b), array.imag / np.real(b)
        return result
    quotient = np.true_divide(a, b)
    return np.where(np.asarray(b) == 0, complex(np.nan, np.nan), quotient)


def wrong(got: np.ndarray, expected: np.ndarray, size: float, through=None) -> np.ndarray:
    """Where it is not rounded once from what lies within a few units in the last place of double of
    a number, or of the numbers of that size which it is a sum of; `through` is the type that parts
    are rounded to first."""
    expected = np.broadcast_to(_plain(expected), got.shape)
    parts = np.stack([expected.real, expected.imag], -1)
    held, through = got.real.dtype, through or np.float64
    found = np.stack([got.real, got.imag], -1).astype(np.float64)
    with np.errstate(all="ignore"):
        near = np.where(np.isfinite(parts), np.abs(parts), 0).max(-1, keepdims=True)
        error = 64 * UNIT * (near + size)
        ends = ((parts + side * error).astype(through) for side in (-1, 1))
        low, high = (each.astype(held).astype(np.float64) for each in ends)
        close = (low <= found) & (found <= high)
        same = (found == parts.astype(through).astype(held)) | (np.isnan(found) & np.isnan(parts))
    return ~np.all(close | same, -1)
