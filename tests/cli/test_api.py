# SPDX-License-Identifier: Apache-2.0
"""The Python functions."""

import threading

import ml_dtypes
import numpy as np
import pytest

import openaclnn


def expected_gradient(grad, indices, rows):
    out = np.zeros((rows, grad.shape[-1]))
    np.add.at(out, indices.reshape(-1), grad.reshape(-1, grad.shape[-1]).astype(np.float64))
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(), (7,), (5, 3), (2, 3, 4)], ids=str)
def test_embedding_dense_backward(dtype, shape):
    rng = np.random.default_rng(7)
    grad = rng.integers(-4, 5, (*shape, 6)).astype(dtype)
    indices = rng.integers(0, 9, shape)
    out = openaclnn.embedding_dense_backward(grad, indices, 9)
    assert out.dtype == np.dtype(dtype)
    assert np.array_equal(out.astype(np.float64), expected_gradient(grad, np.asarray(indices), 9))


def test_output_dtype_padding_and_scale():
    grad = np.array([[1.0], [2.0], [5.0]], np.float32)
    indices = np.array([0, 1, 1], np.int32)
    call = openaclnn.embedding_dense_backward
    out = call(grad, indices, 2, out_dtype=ml_dtypes.bfloat16)
    assert out.dtype == ml_dtypes.bfloat16 and out.astype(float).tolist() == [[1], [7]]
    assert call(grad, indices, 2, padding_idx=1).tolist() == [[1], [0]]
    assert call(grad, indices, 2, scale_grad_by_freq=True).tolist() == [[1], [3.5]]


def test_strided_arrays():
    grad = np.arange(24, dtype=np.float32).reshape(4, 6)[::2, ::-1]
    indices = np.arange(8)[::4]
    out = openaclnn.embedding_dense_backward(grad, indices, 5)
    assert np.array_equal(out, expected_gradient(grad, indices, 5))


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.int8, np.int64, np.bool_])
def test_embedding(dtype):
    weight = np.random.default_rng(8).integers(0, 100, (11, 5)).astype(dtype)
    indices = np.array([[3, 0], [10, 3]])
    out = openaclnn.embedding(weight, indices)
    assert out.dtype == weight.dtype and np.array_equal(out, weight[indices])


def test_the_gradient_is_the_adjoint():
    rng = np.random.default_rng(9)
    weight = rng.integers(-8, 9, (13, 4)).astype(np.float32)
    indices = rng.integers(0, 13, 50)
    grad = rng.integers(-8, 9, (50, 4)).astype(np.float32)
    forward = (openaclnn.embedding(weight, indices) * grad).sum()
    assert forward == (weight * openaclnn.embedding_dense_backward(grad, indices, 13)).sum()


def test_errors():
    grad = np.ones((2, 3), np.float32)
    with pytest.raises(openaclnn.AclError, match=r"indices .*9") as caught:
        openaclnn.embedding_dense_backward(grad, np.array([0, 9]), 4)
    assert caught.value.code == 507035
    with pytest.raises(ValueError, match="grad shape"):
        openaclnn.embedding_dense_backward(grad, np.array([0]), 4)
    with pytest.raises(openaclnn.AclError, match="grad dtype") as caught:
        openaclnn.embedding_dense_backward(grad.astype(np.int32), np.array([0, 1]), 4)
    assert caught.value.code == 161002
    # The process goes on.
    assert openaclnn.embedding_dense_backward(grad, np.array([0, 1]), 2).sum() == 6


def test_threads():
    grad = np.ones((1000, 8), np.float32)
    indices = np.arange(1000) % 10
    sums = []

    def work():
        for _ in range(20):
            sums.append(openaclnn.embedding_dense_backward(grad, indices, 10).sum())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == [8000] * 80


def test_repeated_calls_give_memory_back():
    import resource

    grad = np.ones((1 << 18, 8), np.float32)
    indices = np.zeros(1 << 18, np.int64)
    openaclnn.embedding_dense_backward(grad, indices, 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(50):
        openaclnn.embedding_dense_backward(grad, indices, 1)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + (64 << 10)  # KiB
