# SPDX-License-Identifier: Apache-2.0
"""acl.util: addresses of Python data, and threads that serve callbacks."""

import ctypes
import threading
import warnings

from . import _call, _lookup
from ._constants import ACL_ERROR_INVALID_PARAM

_threads = {}  # those of start_thread, by their numbers


def bytes_to_ptr(data):
    """ptr = bytes_to_ptr(data)

    The address is valid while `data` lives.
    """
    if not isinstance(data, bytes):
        raise TypeError(f"acl.util.bytes_to_ptr: data is {type(data).__name__}, expected bytes")
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value


def ptr_to_bytes(ptr, size):
    """data = ptr_to_bytes(ptr, size)

    Copies host memory. Device memory must be copied to the host before.
    """
    address = _host_memory("acl.util.ptr_to_bytes", ptr, size)
    return ctypes.string_at(address, size)


def numpy_to_ptr(data):
    """ptr = numpy_to_ptr(data)

    The address is valid while the array lives.
    """
    array = _array("acl.util.numpy_to_ptr", data)
    if not array.flags.c_contiguous:
        warnings.warn(
            "The input ndarray is discontiguous. Please use acl.util.numpy_contiguous_to_ptr instead.",
            stacklevel=2,
        )
    return array.ctypes.data


def ptr_to_numpy(ptr, shape, type):
    """array = ptr_to_numpy(ptr, shape, type)

    The array is a view of the memory; `type` is a number of NumPy's C API, such as 11 for float32.
    """
    import numpy

    name = "acl.util.ptr_to_numpy"
    dtypes = {numpy.dtype(code).num: numpy.dtype(code) for code in "?bBhHiIlLqQefdFD"}
    if type not in dtypes:
        raise ValueError(f"{name}: type is {type}, expected one of {sorted(dtypes)}")
    sizes = [_call.number(name, "shape", "size", each).value for each in shape]
    count = 1
    for each in sizes:
        count *= each
    size = count * dtypes[type].itemsize
    memory = (ctypes.c_uint8 * size).from_address(_host_memory(name, ptr, size))
    return numpy.frombuffer(memory, dtypes[type]).reshape(sizes)


def start_thread(func, args_list):
    """thread_id, ret = start_thread(func, args_list)

    Runs `func(args_list)` in a thread. Its number is the one that subscribe_report takes.
    """
    if not callable(func):
        raise TypeError(
            f"acl.util.start_thread: func is {type(func).__name__}, expected a function"
        )
    thread = threading.Thread(target=func, args=(args_list,), daemon=True)
    thread.start()
    _threads[thread.ident] = thread
    return thread.ident, 0


def stop_thread(thread_id):
    """ret = stop_thread(thread_id)

    Waits until the function of the thread has returned.
    """
    thread = _threads.pop(thread_id, None)
    if thread is None:
        return ACL_ERROR_INVALID_PARAM
    thread.join()
    return 0


def _array(name, data):
    import numpy

    if not isinstance(data, numpy.ndarray):
        raise TypeError(f"{name}: data is {type(data).__name__}, expected numpy.ndarray")
    return data


def _host_memory(name, ptr, size):
    address = _call.number(name, "ptr", "ptr", ptr).value
    if not address and _call.number(name, "size", "size", size).value:
        raise ValueError(f"{name}: ptr is 0, expected the address of {size} bytes")
    return address or 0


__getattr__, __dir__ = _lookup.functions(globals(), [])
