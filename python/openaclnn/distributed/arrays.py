# SPDX-License-Identifier: Apache-2.0
"""The arrays that splits work on: of NumPy here, of torch in tensors.py; both run the operators."""

from collections.abc import Sequence

import numpy as np

from .. import dtypes


def of(array):
    """The functions for arrays of this kind: NumpyArrays, or TensorArrays of a device."""
    if isinstance(array, np.ndarray):
        return _NUMPY
    from . import tensors  # needs torch, which only its users have

    return tensors.TensorArrays(array.device)


class NumpyArrays:
    """NumPy arrays; an operator is called through ctypes, with copies to the device and back."""

    float32 = np.dtype(np.float32)
    bfloat16 = dtypes.BFLOAT16

    @staticmethod
    def concatenate(parts: Sequence[np.ndarray], axis: int) -> np.ndarray:
        return np.concatenate(parts, axis)

    @staticmethod
    def zeros(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
        return np.zeros(shape, dtype)

    @staticmethod
    def cast(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """Rounded to nearest, ties to even; from FP32 once."""
        return array.astype(dtype)

    @staticmethod
    def copy(array: np.ndarray) -> np.ndarray:
        return array.copy()

    @staticmethod
    def take(array: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return array[rows]

    @staticmethod
    def from_host(array: np.ndarray) -> np.ndarray:
        return array

    @staticmethod
    def to_host(array: np.ndarray) -> np.ndarray:
        return array

    @staticmethod
    def run(operator: str, *operands, **attributes):
        """openaclnn.<operator>."""
        import openaclnn

        return getattr(openaclnn, operator)(*operands, **attributes)


_NUMPY = NumpyArrays()

