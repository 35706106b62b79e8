# SPDX-License-Identifier: Apache-2.0
"""The aclnn objects that describe operands: tensors and arrays of integers."""

import ctypes
from collections.abc import Sequence

from . import dtypes
from .errors import Error
from .libraries import Toolkit
from .runtime import DeviceArray

FORMAT_ND = 2


def create_tensor(
    kit: Toolkit,
    *,
    shape: Sequence[int],
    strides: Sequence[int],
    offset: int,
    storage_shape: Sequence[int],
    dtype: int,
    address: int | None,
    format: int = FORMAT_ND,
) -> ctypes.c_void_p:
    """A new aclTensor; `dtype` is an aclDataType, `format` an aclFormat."""
    handle = kit.function("aclCreateTensor", ctypes.c_void_p)(
        (ctypes.c_int64 * len(shape))(*shape),
        ctypes.c_uint64(len(shape)),
        ctypes.c_int(dtype),
        (ctypes.c_int64 * len(strides))(*strides),
        ctypes.c_int64(offset),
        ctypes.c_int(format),
        (ctypes.c_int64 * len(storage_shape))(*storage_shape),
        ctypes.c_uint64(len(storage_shape)),
        ctypes.c_void_p(address),
    )
    if not handle:
        raise Error(kit.recent_message() or "aclCreateTensor returned null")
    return ctypes.c_void_p(handle)


class Tensor:
    """An aclTensor over a whole device array."""

    def __init__(self, kit: Toolkit, array: DeviceArray):
        self._kit = kit
        self.handle = create_tensor(
            kit,
            shape=array.shape,
            strides=_contiguous_strides(array.shape),
            offset=0,
            storage_shape=array.shape,
            dtype=dtypes.of(array.dtype).number,
            address=array.address.value,
        )

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
