# SPDX-License-Identifier: Apache-2.0
"""The aclnn objects that describe operands: tensors and arrays of integers."""

import ctypes

from . import dtypes
from .errors import Error
from .libraries import Toolkit
from .runtime import DeviceArray

_FORMAT_ND = 2


class Tensor:
    """An aclTensor over a whole device array."""

    def __init__(self, kit: Toolkit, array: DeviceArray):
        self._kit = kit
        rank = len(array.shape)
        dims = (ctypes.c_int64 * rank)(*array.shape)
        strides = (ctypes.c_int64 * rank)(*_contiguous_strides(array.shape))
        create = kit.function("aclCreateTensor", ctypes.c_void_p)
        handle = create(
            dims,
            ctypes.c_uint64(rank),
            ctypes.c_int(dtypes.of(array.dtype).number),
            strides,
            ctypes.c_int64(0),
            ctypes.c_int(_FORMAT_ND),
            dims,
            ctypes.c_uint64(rank),
            array.address,
        )
        if not handle:
            raise Error(kit.recent_message() or "aclCreateTensor returned null")
        self.handle = ctypes.c_void_p(handle)

    def close(self) -> None:
        if self.handle:
            self._kit.function("aclDestroyTensor")(self.handle)
            self.handle = ctypes.c_void_p()


class IntArray:
    """An aclIntArray of the given values."""

    def __init__(self, kit: Toolkit, values: list[int]):
        self._kit = kit
        create = kit.function("aclCreateIntArray", ctypes.c_void_p)
        handle = create((ctypes.c_int64 * len(values))(*values), ctypes.c_uint64(len(values)))
        if not handle:
            raise Error(kit.recent_message() or "aclCreateIntArray returned null")
        self.handle = ctypes.c_void_p(handle)

    def close(self) -> None:
        if self.handle:
            self._kit.function("aclDestroyIntArray")(self.handle)
            self.handle = ctypes.c_void_p()


def _contiguous_strides(shape: tuple[int, ...]) -> list[int]:
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return strides
