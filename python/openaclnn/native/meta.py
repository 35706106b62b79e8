# SPDX-License-Identifier: Apache-2.0
"""The aclnn objects that describe operands: tensors, scalars, arrays and lists."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .. import dtypes
from ..errors import Error
from .libraries import Toolkit
from .runtime import DeviceArray

FORMAT_ND = 2
_SCALAR_BYTES = 16  # as much as the libraries may read of any type


@dataclass(frozen=True)
class Layout:
    """A view of a device array: strides and the offset of its first element, in elements."""

    shape: tuple[int, ...]
    strides: Sequence[int]
    offset: int


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
    """An aclTensor over a device array, whole or as the strided `layout` says."""

    def __init__(self, kit: Toolkit, array: DeviceArray, layout: Layout | None = None):
        self._kit = kit
        whole = Layout(array.shape, _contiguous_strides(array.shape), 0)
        layout = layout or whole
        self.handle = create_tensor(
            kit,
            shape=layout.shape,
            strides=layout.strides,
            offset=layout.offset,
            storage_shape=array.shape,
            dtype=dtypes.of(array.dtype).number,
            address=array.address.value,
        )

    def close(self) -> None:
        _destroy(self._kit, "Tensor", self)

    @property
    def shape(self) -> tuple[int, ...]:
        """The view's shape as it is now: some operators set it when their work is done."""
        dims, rank = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_uint64()
        self._kit.call("aclGetViewShape", self.handle, ctypes.byref(dims), ctypes.byref(rank))
        shape = tuple(dims[: rank.value])
        _delete_array()(dims)
        return shape


@lru_cache(maxsize=1)
def _delete_array():
    """C++'s delete[], which aclGetViewShape asks of its callers."""
    delete = ctypes.CDLL("libstdc++.so.6")["_ZdaPv"]
    delete.restype = None
    return delete


class Scalar:
    """An aclScalar with the value and the type of a NumPy scalar."""

    def __init__(self, kit: Toolkit, value: np.generic):
        self._kit = kit
        self._contents = np.asarray(value).tobytes()
        self.handle = _created(
            kit,
            "Scalar",
            ctypes.c_char_p(self._contents.ljust(_SCALAR_BYTES, b"\0")),
            ctypes.c_int(dtypes.of(np.asarray(value).dtype).number),
        )

    def close(self) -> None:
        _destroy(self._kit, "Scalar", self)


class _Array:
    """Values, or the handles of what the array or list is made of."""

    _name: str
    _ctype: type

    def __init__(self, kit: Toolkit, values: Sequence):
        self._kit = kit
        array = (self._ctype * len(values))(*values)
        self.handle = _created(kit, self._name, array, ctypes.c_uint64(len(values)))

    def close(self) -> None:
        _destroy(self._kit, self._name, self)


class IntArray(_Array):
    """An aclIntArray of the given values."""

    _name, _ctype = "IntArray", ctypes.c_int64


class BoolArray(_Array):
    """An aclBoolArray of the given values."""

    _name, _ctype = "BoolArray", ctypes.c_bool


class _List(_Array):
    """Members, which the list owns: they die with it."""

    _ctype = ctypes.c_void_p

    def __init__(self, kit: Toolkit, members: Sequence[Tensor | Scalar]):
        super().__init__(kit, [member.handle.value for member in members])
        for member in members:
            member.handle = ctypes.c_void_p()


class TensorList(_List):
    """An aclTensorList."""

    _name = "TensorList"


class ScalarList(_List):
    """An aclScalarList."""

    _name = "ScalarList"


def _created(kit: Toolkit, name: str, *arguments) -> ctypes.c_void_p:
    handle = kit.function(f"aclCreate{name}", ctypes.c_void_p)(*arguments)
    if not handle:
        raise Error(kit.recent_message() or f"aclCreate{name} returned null")
    return ctypes.c_void_p(handle)


def _destroy(kit: Toolkit, name: str, owner) -> None:
    if owner.handle:
        kit.function(f"aclDestroy{name}")(owner.handle)
        owner.handle = ctypes.c_void_p()


def _contiguous_strides(shape: tuple[int, ...]) -> list[int]:
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return strides
