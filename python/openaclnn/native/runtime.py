# SPDX-License-Identifier: Apache-2.0
"""The device as Python sees it: initialisation, a stream, and arrays in device memory."""

import atexit
import ctypes
import threading
from functools import lru_cache

import numpy as np

from ..errors import AclError
from . import libraries

_REPEAT_INITIALIZE = 100002
_MALLOC_HUGE_FIRST = 0
_HOST_TO_DEVICE = 1
_DEVICE_TO_HOST = 2
_MOST_BYTES = 2**63 - 1
_DEVICE = ctypes.c_int32(0)


class Runtime:
    """The initialised libraries and device 0."""

    def __init__(self, kit: libraries.Toolkit):
        self.kit = kit
        self._thread = threading.local()
        self._owner = True
        try:
            kit.call("aclInit", None)
        except AclError as error:
            if error.code != _REPEAT_INITIALIZE:
                raise
            self._owner = False
        self.use_device()
        atexit.register(self._finish)

    def use_device(self) -> None:
        """Makes device 0 the calling thread's device."""
        if not getattr(self._thread, "has_device", False):
            self.kit.call("aclrtSetDevice", _DEVICE)
            self._thread.has_device = True

    def _finish(self) -> None:
        if self._owner:
            self.kit.function("aclFinalize")()


_STARTING = threading.Lock()


def start() -> Runtime:
    """The runtime of this process, which any thread may be the first to ask for."""
    with _STARTING:
        return _only()


@lru_cache(maxsize=1)
def _only() -> Runtime:
    return Runtime(libraries.load())


class Stream:
    """A queue of device work."""

    def __init__(self, runtime: Runtime):
        self._kit = runtime.kit
        self.handle = ctypes.c_void_p()
        runtime.use_device()
        self._kit.call("aclrtCreateStream", ctypes.byref(self.handle))

    def synchronize(self) -> None:
        """Waits for all queued work; raises the error of the first task that failed."""
        self._kit.call("aclrtSynchronizeStream", self.handle)

    def close(self) -> None:
        if self.handle:
            self._kit.function("aclrtDestroyStream")(self.handle)
            self.handle = ctypes.c_void_p()


class DeviceArray:
    """A contiguous array in device memory."""

    def __init__(self, runtime: Runtime, shape: tuple[int, ...], dtype: np.dtype):
        self._kit = runtime.kit
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self.nbytes = int(np.prod(shape, dtype=object)) * self.dtype.itemsize
        self.address = ctypes.c_void_p()
        if self.nbytes > _MOST_BYTES:
            raise MemoryError
        if self.nbytes:
            size = ctypes.c_size_t(self.nbytes)
            policy = ctypes.c_int(_MALLOC_HUGE_FIRST)
            self._kit.call("aclrtMalloc", ctypes.byref(self.address), size, policy)

    @classmethod
    def upload(cls, runtime: Runtime, array: np.ndarray) -> "DeviceArray":
        device = cls(runtime, array.shape, array.dtype)
        source = np.require(array, requirements="C")
        device._copy(device.address, _host_address(source), _HOST_TO_DEVICE)
        return device

    def download(self) -> np.ndarray:
        array = np.empty(self.shape, self.dtype)
        self._copy(_host_address(array), self.address, _DEVICE_TO_HOST)
        return array

    def fill_bytes(self, value: int) -> None:
        """Sets every byte to `value`."""
        if self.nbytes:
            size = ctypes.c_size_t(self.nbytes)
            self._kit.call("aclrtMemset", self.address, size, ctypes.c_int32(value), size)

    def close(self) -> None:
        if self.address:
            self._kit.function("aclrtFree")(self.address)
            self.address = ctypes.c_void_p()

    def _copy(self, target: ctypes.c_void_p, source: ctypes.c_void_p, kind: int) -> None:
        if self.nbytes:
            size = ctypes.c_size_t(self.nbytes)
            self._kit.call("aclrtMemcpy", target, size, source, size, ctypes.c_int(kind))


def _host_address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
