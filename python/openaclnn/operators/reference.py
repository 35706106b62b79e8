# SPDX-License-Identifier: Apache-2.0
"""Calls the float64 references, which are C functions."""

import ctypes

import numpy as np

from ..errors import Error
from ..native.libraries import Toolkit


def compute(kit: Toolkit, operator: str, *arguments: np.ndarray | float | None) -> None:
    """Calls the reference of an operator: arrays go by address, whole numbers as int64.

    The arrays must be contiguous and of the types that the function wants; None is a null pointer.
    """
    status = kit.function(f"openaclnn_reference_{operator}")(*map(_argument, arguments))
    if status != 0:
        raise Error(f"the reference of {operator} returned {status}, expected 0; is memory short?")


def _argument(value):
    if value is None:
        return ctypes.c_void_p()
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    if isinstance(value, float):
        return ctypes.c_double(value)
    return ctypes.c_int64(value)


def doubles(array: np.ndarray) -> np.ndarray:
    """The values as the references take them."""
    return np.require(array, np.float64, "C")


def whole(array: np.ndarray) -> np.ndarray:
    """Positions as the references take them, truncated as the operators do."""
    return np.require(array, np.int64, "C")


def empty(shape: tuple[int, ...]) -> np.ndarray:
    """Memory for a reference's output."""
    return np.empty(shape, np.float64)
