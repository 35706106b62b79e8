# SPDX-License-Identifier: Apache-2.0
"""A program to be captured: the name of what it does is its argument; it prints what it got."""

import ctypes
import sys

import numpy as np

from openaclnn.native import libraries, meta, runtime
from openaclnn.native.runtime import DeviceArray, Stream

started = runtime.start()
kit = started.kit
stream = Stream(started)


def tensor(array, shape, strides, offset=0):
    """A view of a device array of float32."""
    return meta.create_tensor(
        kit,
        shape=shape,
        strides=strides,
        offset=offset,
        storage_shape=array.shape,
        dtype=0,
        address=array.address.value,
    )


def make(name, *arguments):
    handle = kit.function(f"aclCreate{name}", ctypes.c_void_p)(*arguments)
    return ctypes.c_void_p(handle)


def plan(api, *arguments):
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    kit.call(f"{api}GetWorkspaceSize", *arguments, ctypes.byref(size), ctypes.byref(executor))
    assert size.value == 0
    return executor


def run(api, executor):
    kit.call(api, ctypes.c_void_p(), ctypes.c_uint64(0), executor, stream.handle)


def views():
    """In place on every other column, backwards read from the same memory: one piece of memory."""
    array = DeviceArray.upload(started, np.arange(24, dtype=np.float32).reshape(4, 6))
    half = ctypes.c_float(0.5)
    alpha = make("Scalar", ctypes.byref(half), ctypes.c_int(0))
    executor = plan(
        "aclnnInplaceAdd", tensor(array, (4, 3), (6, 2)), tensor(array, (4, 3), (6, 2), 1), alpha
    )
    run("aclnnInplaceAdd", executor)
    stream.synchronize()
    print(array.download().tolist())


def lists():
    """Lists of tensors and of scalars, destroyed before the call is over."""
    arrays = [DeviceArray.upload(started, np.full(n, n, np.float32)) for n in (2, 3)]
    results = [DeviceArray(started, (n,), np.float32) for n in (2, 3)]
    factors = [ctypes.c_float(each) for each in (10, 100)]

    def many(kind, handles):
        pointers = (ctypes.c_void_p * len(handles))(*(each.value for each in handles))
        return make(f"{kind}List", pointers, ctypes.c_uint64(len(handles)))

    x, out = (many("Tensor", [tensor(a, a.shape, (1,)) for a in each]) for each in (arrays, results))
    scalars = [make("Scalar", ctypes.byref(each), ctypes.c_int(0)) for each in factors]
    executor = plan("aclnnForeachMulScalarList", x, many("Scalar", scalars), out)
    for each in (x, out):
        kit.call("aclDestroyTensorList", each)
    run("aclnnForeachMulScalarList", executor)
    stream.synchronize()
    print([each.download().tolist() for each in results])


def again():
    """One executor, three runs, each with another input."""
    arrays = [DeviceArray.upload(started, np.full(4, -each, np.float32)) for each in (1, 2, 3)]
    result = DeviceArray(started, (4,), np.float32)
    x = tensor(arrays[0], (4,), (1,))
    executor = plan("aclnnAbs", x, tensor(result, (4,), (1,)))
    kit.call("aclSetAclOpExecutorRepeatable", executor)
    for array in arrays:
        kit.call("AclSetTensorAddr", executor, ctypes.c_size_t(0), x, array.address)
        run("aclnnAbs", executor)
        stream.synchronize()
        print(result.download().tolist())
    kit.call("aclDestroyAclOpExecutor", executor)


def message():
    """What a refusal says is still there for the program, once."""
    array = DeviceArray.upload(started, np.ones(4, np.float32))
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    code = kit.function("aclnnAbsGetWorkspaceSize")(
        tensor(array, (4,), (1,)), ctypes.c_void_p(), ctypes.byref(size), ctypes.byref(executor)
    )
    print(code, kit.recent_message(), repr(kit.recent_message()))


def symbols():
    """What the libraries lack is not there, whatever stands in front of them."""
    library = ctypes.CDLL(str(libraries.find() / "lib64/libascendcl.so"))
    everything = ctypes.CDLL(None)
    print(hasattr(library, "aclnnAbs"), hasattr(everything, "aclnnNothing"))
    print(hasattr(library, "aclrtMalloc"), hasattr(everything, "strlen"))


globals()[sys.argv[1]]()
