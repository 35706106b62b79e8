# SPDX-License-Identifier: Apache-2.0
"""The data types: their names in C and in NumPy, and how the floating ones round."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from .errors import InputError, quoted

try:
    from ml_dtypes import bfloat16
except ModuleNotFoundError:  # the library works with NumPy alone, which has no bfloat16
    BFLOAT16 = None
else:
    BFLOAT16 = np.dtype(bfloat16)


@dataclass(frozen=True)
class DataType:
    """One aclDataType."""

    acl_name: str
    number: int
    numpy: np.dtype


_TABLE = tuple(
    DataType(acl_name, number, np.dtype(numpy))
    for acl_name, number, numpy in (
        ("FLOAT", 0, np.float32),
        ("FLOAT16", 1, np.float16),
        ("INT8", 2, np.int8),
        ("INT32", 3, np.int32),
        ("UINT8", 4, np.uint8),
        ("INT16", 6, np.int16),
        ("UINT16", 7, np.uint16),
        ("UINT32", 8, np.uint32),
        ("INT64", 9, np.int64),
        ("UINT64", 10, np.uint64),
        ("DOUBLE", 11, np.float64),
        ("BOOL", 12, np.bool_),
        ("COMPLEX64", 16, np.complex64),
        ("COMPLEX128", 17, np.complex128),
        *([("BFLOAT16", 27, BFLOAT16)] if BFLOAT16 is not None else []),
    )
)
MOST_DIMENSIONS = 64  # of an array of NumPy
FLOATS = ("FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE")  # of real numbers
_BY_NUMPY = {entry.numpy: entry for entry in _TABLE}
_BY_ACL_NAME = {entry.acl_name: entry for entry in _TABLE}
_BY_NUMBER = {entry.number: entry for entry in _TABLE}


def is_shape(shape) -> bool:
    """Whether an array can have it, but for its size; a product of more may take hours."""
    held = all(type(each) is int and 0 <= each < 2**63 for each in shape)
    return held and len(shape) <= MOST_DIMENSIONS


def of(dtype: np.dtype) -> DataType:
    """The aclDataType of a NumPy dtype."""
    try:
        return _BY_NUMPY[np.dtype(dtype)]
    except KeyError:
        raise InputError(f"dtype {quoted(dtype)} has no aclDataType") from None


def of_number(number: int) -> np.dtype | None:
    """The NumPy dtype of an aclDataType, or None where NumPy has none."""
    entry = _BY_NUMBER.get(number)
    return entry.numpy if entry else None


def all_types() -> tuple[DataType, ...]:
    """Those that NumPy has here."""
    return _TABLE


@cache  # NumPy makes the name anew each time; the table of support asks 29,505 times
def name_of(acl_name: str) -> str:
    """The NumPy name of a type that the libraries call `acl_name`."""
    entry = _BY_ACL_NAME.get(acl_name)
    return entry.numpy.name if entry else acl_name.lower()


def of_acl_name(acl_name: str) -> np.dtype | None:
    """The NumPy dtype of a type that the libraries call `acl_name`, or None where NumPy has none."""
    entry = _BY_ACL_NAME.get(acl_name)
    return entry.numpy if entry else None


def parse(name: str) -> np.dtype:
    """The NumPy dtype called `name`, bfloat16 included."""
    if name != "bfloat16":
        return np.dtype(name)
    if BFLOAT16 is None:
        raise InputError("dtype bfloat16 needs the Python package ml_dtypes, which is not here")
    return BFLOAT16


@dataclass(frozen=True)
class FloatFormat:
    """A binary floating-point format; `precision` counts the implicit bit."""

    precision: int
    min_exponent: int
    max_exponent: int

    @property
    def largest(self) -> float:
        return float(np.ldexp(2.0 - np.ldexp(1.0, 1 - self.precision), self.max_exponent))

    def ulp(self, x: np.ndarray) -> np.ndarray:
        """The distance between neighbours of this format at the real numbers `x`."""
        _, exponent = np.frexp(np.where(np.isfinite(x), x, 0.0))
        exponent = np.where(x == 0, self.min_exponent, exponent - 1)
        exponent = np.clip(exponent, self.min_exponent, self.max_exponent)
        return np.ldexp(1.0, exponent - (self.precision - 1))

    def round(self, x: np.ndarray) -> np.ndarray:
        """`x` rounded to this format, to nearest, ties to even; too large becomes infinite.

        NumPy's own conversion of float64 to bfloat16 rounds twice, by way of float32.
        """
        ulp = self.ulp(x)
        rounded = np.rint(x / ulp) * ulp
        return np.where(np.abs(rounded) > self.largest, np.copysign(np.inf, x), rounded)


FLOAT_FORMATS = {
    np.dtype(np.float32): FloatFormat(24, -126, 127),
    np.dtype(np.float16): FloatFormat(11, -14, 15),
    **({BFLOAT16: FloatFormat(8, -126, 127)} if BFLOAT16 is not None else {}),
}
