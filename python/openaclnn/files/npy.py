# SPDX-License-Identifier: Apache-2.0
"""Reads .npy files strictly and writes them atomically."""

import io
import math
from pathlib import Path
from tokenize import TokenError

import numpy as np

from .. import dtypes
from ..errors import InputError, quoted
from . import input_files, output_files

_MOST_HEADER = 12 + 10_000  # with what is in front of it; NumPy reads no longer ones
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}

# A header is an expression of Python: what its parser raises comes through.
_NO_HEADER = (
    ValueError, KeyError, TypeError, SyntaxError, TokenError, RecursionError, MemoryError,
)  # fmt: skip


def load(path: Path, operand: str, allowed: list[str]) -> np.ndarray:
    """The array in `path`, which must be a whole .npy file of one of the `allowed` dtypes.

    NumPy writes bfloat16 as two bytes without a type; such a file is read as bfloat16.
    """
    expected = " or ".join([", ".join(allowed[:-1]), allowed[-1]] if allowed[1:] else allowed)
    with input_files.opened(path, f"a .npy file of {expected} for {operand}") as file:
        shape, fortran_order, dtype = _read_header(file, path, expected)
        if dtype.name not in allowed:
            raise InputError(f"{path}: {operand} dtype is {quoted(dtype)}, expected {expected}")
        return _read_data(file, path, shape, fortran_order, dtype)


def _read_header(file, path: Path, expected: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    head = io.BytesIO(file.read(_MOST_HEADER))  # NumPy would first read all that a header claims
    try:
        read = _HEADERS[np.lib.format.read_magic(head)]
        shape, fortran_order, dtype = read(head)
    except _NO_HEADER:
        raise InputError(f"{path}: not a .npy file, expected one of {expected}") from None
    if dtype.kind == "V" and dtype.itemsize == 2 and dtype.names is None:
        dtype = dtypes.parse("bfloat16")
    file.seek(head.tell())
    return shape, fortran_order, dtype


def _read_data(file, path: Path, shape, fortran_order: bool, dtype: np.dtype) -> np.ndarray:
    if not dtypes.is_shape(shape):
        raise InputError(f"{path}: shape is {quoted(shape)}, expected one of an array")
    wanted = dtype.itemsize * math.prod(shape)
    held = input_files.size(file) - file.tell()
    if held == wanted:
        # Read as bytes: fromfile does not know bfloat16. Big-endian files become native ones.
        values = np.fromfile(file, np.uint8, wanted)
        held = values.size  # another process may have cut the file
    if held != wanted:
        problem = "truncated" if held < wanted else "too long"
        raise InputError(
            f"{path}: {problem}, {held} bytes of data, expected {wanted} for {dtype} {quoted(shape)}"
        )
    try:
        array = values.view(dtype).reshape(shape, order="F" if fortran_order else "C")
    except (ValueError, OverflowError):  # more than NumPy has
        raise InputError(f"{path}: shape is {quoted(shape)}, expected one of an array") from None
    return array.astype(dtype.newbyteorder("="), copy=False)


def save(path: Path, array: np.ndarray) -> None:
    """Writes `array` to `path`, which is either the whole file or as it was before."""
    output_files.replace(path, lambda file: np.save(file, array, allow_pickle=False))
