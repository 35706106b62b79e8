# SPDX-License-Identifier: Apache-2.0
"""A client that knows nothing but the C interface: ctypes on bare library names."""

import ctypes
from ctypes import POINTER, byref, c_bool, c_char_p, c_int, c_int64, c_uint64, c_void_p
from types import SimpleNamespace

import numpy as np
import pytest

TYPES = {np.float32: 0, np.int64: 9}  # aclDataType
TO_DEVICE, TO_HOST = 1, 2  # aclrtMemcpyKind


@pytest.fixture(scope="module")
def acl():
    """Both libraries, a stream of device 0, and what has to be known about some functions."""
    runtime, operators = ctypes.CDLL("libascendcl.so"), ctypes.CDLL("libopapi.so")
    runtime.aclGetRecentErrMsg.restype = c_char_p
    # dlsym on libopapi.so finds what the libraries that it depends on define.
    operators.aclCreateTensor.restype = c_void_p
    operators.aclCreateScalar.restype = c_void_p
    stream = c_void_p()
    assert runtime.aclInit(None) == 0
    assert runtime.aclrtSetDevice(c_int(0)) == 0
    assert runtime.aclrtCreateStream(byref(stream)) == 0
    yield SimpleNamespace(runtime=runtime, operators=operators, stream=stream)
    assert runtime.aclrtDestroyStream(stream) == 0
    assert runtime.aclrtResetDevice(c_int(0)) == 0
    assert runtime.aclFinalize() == 0


class Tensor:
    """An array in device memory, and its description."""

    def __init__(self, acl, array):
        self._acl, self._shape, self._dtype = acl, array.shape, array.dtype
        self.memory = c_void_p()
        size = c_uint64(array.nbytes)
        assert acl.runtime.aclrtMalloc(byref(self.memory), size, c_int(0)) == 0
        host = array.ctypes.data_as(c_void_p)
        copied = acl.runtime.aclrtMemcpy(self.memory, size, host, size, c_int(TO_DEVICE))
        assert copied == 0
        dims, rank = (c_int64 * array.ndim)(*array.shape), c_uint64(array.ndim)
        kind, layout = c_int(TYPES[array.dtype.type]), c_int(2)  # ACL_FORMAT_ND
        self.handle = c_void_p(
            acl.operators.aclCreateTensor(
                dims, rank, kind, None, c_int64(0), layout, dims, rank, self.memory
            )
        )
        assert self.handle

    def read(self):
        host = np.empty(self._shape, self._dtype)
        size, address = c_uint64(host.nbytes), host.ctypes.data_as(c_void_p)
        assert self._acl.runtime.aclrtMemcpy(address, size, self.memory, size, c_int(TO_HOST)) == 0
        return host

    def free(self):
        assert self._acl.operators.aclDestroyTensor(self.handle) == 0
        assert self._acl.runtime.aclrtFree(self.memory) == 0


@pytest.fixture
def tensor(acl):
    made = []

    def make(array):
        made.append(Tensor(acl, np.ascontiguousarray(array)))
        return made[-1]

    yield make
    for one in made:
        one.free()


def run(acl, name, *arguments):
    """Both phases: the first code that is not 0, or that of waiting for the result."""
    phase1 = getattr(acl.operators, f"{name}GetWorkspaceSize")
    size, executor, workspace = c_uint64(), c_void_p(), c_void_p()
    code = phase1(*arguments, byref(size), byref(executor))
    if code != 0:
        return code
    if size.value > 0:
        assert acl.runtime.aclrtMalloc(byref(workspace), size, c_int(0)) == 0
    code = getattr(acl.operators, name)(workspace, size, executor, acl.stream)
    code = code or acl.runtime.aclrtSynchronizeStream(acl.stream)
    if workspace:
        assert acl.runtime.aclrtFree(workspace) == 0
    return code


def message(acl):
    return (acl.runtime.aclGetRecentErrMsg() or b"").decode()


def embedding_gradient(acl, grad, indices, rows, out):
    padding, scale = c_uint64(2), c_bool(True)
    arguments = (grad.handle, indices.handle, c_uint64(rows), padding, scale, out.handle)
    return run(acl, "aclnnEmbeddingDenseBackward", *arguments)


def test_a_gradient(acl, tensor):
    random = np.random.default_rng(1)
    grad = random.standard_normal((300, 17), np.float32)
    indices = random.integers(0, 20, 300)
    out = tensor(np.full((20, 17), np.nan, np.float32))
    assert embedding_gradient(acl, tensor(grad), tensor(indices), 20, out) == 0, message(acl)
    wanted, terms = np.zeros((2, 20, 17))
    np.add.at(wanted, indices, grad.astype(np.float64))
    np.add.at(terms, indices, np.abs(grad))
    # Each row by how often its index comes; the padding's row is none of them.
    counts = np.maximum(np.bincount(indices, minlength=20), 1)[:, None]
    wanted[2] = 0
    assert np.all(np.abs(out.read() - wanted / counts) <= (counts + 2) * 2**-24 * terms / counts)


def test_a_supporting_operator(acl, tensor):
    x, row = np.arange(12, dtype=np.float32).reshape(3, 4), np.arange(4, dtype=np.float32)
    factor = ctypes.c_float(2)
    alpha = c_void_p(acl.operators.aclCreateScalar(byref(factor), c_int(TYPES[np.float32])))
    out = tensor(np.zeros((3, 4), np.float32))
    code = run(acl, "aclnnAdd", tensor(x).handle, tensor(row).handle, alpha, out.handle)
    assert code == 0, message(acl)
    assert acl.operators.aclDestroyScalar(alpha) == 0
    assert np.array_equal(out.read(), x + 2 * row)


def test_what_a_call_makes_is_read_back(acl, tensor):
    """aclGetViewShape gives memory that the caller frees with C++'s delete[]."""
    dims, rank = POINTER(c_int64)(), c_uint64()
    handle = tensor(np.zeros((3, 4), np.float32)).handle
    assert acl.operators.aclGetViewShape(handle, byref(dims), byref(rank)) == 0
    assert dims[: rank.value] == [3, 4]
    ctypes.CDLL("libstdc++.so.6")._ZdaPv(dims)


def test_a_refusal(acl, tensor):
    grad, indices = tensor(np.ones((2, 3), np.float32)), tensor(np.array([1, 2]))
    out = tensor(np.zeros((4, 5), np.float32))
    assert embedding_gradient(acl, grad, indices, 4, out) == 161002
    assert message(acl) == (
        "EZ1001: aclnnEmbeddingDenseBackward: out shape is (4, 5), "
        "expected (4, 3), numWeights by the last dimension of grad"
    )
    assert message(acl) == ""


def test_an_index_out_of_range(acl, tensor):
    grad, indices = tensor(np.ones((2, 3), np.float32)), tensor(np.array([1, 7]))
    out = tensor(np.full((4, 3), 9, np.float32))
    assert embedding_gradient(acl, grad, indices, 4, out) == 507035
    assert message(acl) == (
        "EZ2001: aclnnEmbeddingDenseBackward: indices value 1 is 7, expected 0 <= value < 4"
    )
    assert np.all(out.read() == 9)
