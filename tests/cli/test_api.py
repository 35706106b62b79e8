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


def doubles(*arrays):
    return [np.asarray(each).astype(np.float64) for each in arrays]


def within(got, expected, relative=0.02):
    """Near enough that another formula would be seen; the bound itself is `openaclnn check`'s."""
    expected = np.asarray(expected)
    scale = np.abs(expected).max(initial=1e-30)
    return (
        got.shape == expected.shape
        and np.abs(got.astype(float) - expected).max() < relative * scale
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_grouped_bias_add_grad(dtype):
    rows = np.random.default_rng(1).integers(-4, 5, (20, 7)).astype(dtype)
    ends = np.array([0, 6, 6, 20], np.int32)
    expected = np.stack(
        [
            rows[begin:end].astype(float).sum(axis=0)
            for begin, end in zip([0, *ends], ends, strict=False)
        ]
    )
    call = openaclnn.grouped_bias_add_grad
    assert call(rows, ends).dtype == np.dtype(dtype)
    assert np.array_equal(call(rows, ends).astype(float), expected)
    assert np.array_equal(call(rows, ends, "ends").astype(float), expected)
    sizes = np.array([0, 6, 0, 14])
    assert np.array_equal(call(rows, sizes, "sizes").astype(float), expected)
    cube = rows.reshape(4, 5, 7)
    assert np.array_equal(call(cube).astype(float), cube.astype(float).sum(axis=1))


def windows(ends, block, stride):
    return [
        start
        for begin, end in zip([0, *ends], ends, strict=False)
        for start in range(begin, end - block + 1, stride)
    ]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("ends", [None, [20, 100], [0, 70, 70, 100]], ids=str)
def test_nsa_compress_and_its_gradient(dtype, ends):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((100, 3, 16)).astype(dtype)
    w = rng.standard_normal((48, 3)).astype(dtype)
    starts = windows(ends or [100], 48, 16)
    wide_x, wide_w = doubles(x, w)
    expected = [np.einsum("rn,rnd->nd", wide_w, wide_x[s : s + 48]) for s in starts]
    y = openaclnn.nsa_compress(x, w, ends, 48, 16)
    assert y.dtype == np.dtype(dtype) and within(y, np.stack(expected))

    g = rng.standard_normal(y.shape).astype(dtype)
    (wide_g,) = doubles(g)
    dx, dw = np.zeros(x.shape), np.zeros(w.shape)
    for window, start in enumerate(starts):
        dx[start : start + 48] += wide_w[..., np.newaxis] * wide_g[window]
        dw += np.einsum("rnd,nd->rn", wide_x[start : start + 48], wide_g[window])
    got = openaclnn.nsa_compress_grad(g, x, w, ends, 48, 16)
    assert within(got[0], dx) and within(got[1], dw)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("mask_shape", [(2, 3), (2, 1), (1, 3), (1, 1)], ids=str)
def test_scaled_masked_softmax_and_its_gradient(dtype, mask_shape):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((2, 3, 4, 21)).astype(dtype)
    mask = rng.random((*mask_shape, 4, 21)) < 0.3
    z = np.where(mask, -10000, 0.7 * x.astype(float))
    expected = np.exp(z - z.max(axis=-1, keepdims=True))
    expected /= expected.sum(axis=-1, keepdims=True)
    y = openaclnn.scaled_masked_softmax(x, mask, 0.7)
    assert y.dtype == np.dtype(dtype) and within(y, expected)

    g = rng.standard_normal(y.shape).astype(dtype)
    wide_y, wide_g = doubles(y, g)
    product = wide_g * wide_y
    t = product - wide_y * product.sum(axis=-1, keepdims=True)
    got = openaclnn.scaled_masked_softmax_backward(g, y, mask, 0.7)
    assert within(got, np.where(mask, 0, 0.7 * t))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("pad", [0, 1, 3])
def test_conv_tbc_and_its_gradient(dtype, pad):
    rng = np.random.default_rng(4)
    x = rng.standard_normal((9, 2, 5)).astype(dtype)
    w = rng.standard_normal((3, 5, 4)).astype(dtype)
    b = rng.standard_normal(4).astype(dtype)
    wide_x, wide_w, wide_b = doubles(x, w, b)
    padded = np.pad(wide_x, ((pad, pad), (0, 0), (0, 0)))
    times = 9 + 2 * pad + 1 - 3
    expected = wide_b + sum(padded[k : k + times] @ wide_w[k] for k in range(3))
    y = openaclnn.conv_tbc(x, w, b, pad)
    assert y.dtype == np.dtype(dtype) and within(y, expected)

    g = rng.standard_normal(y.shape).astype(dtype)
    (wide_g,) = doubles(g)
    dx = np.zeros(padded.shape)
    for k in range(3):
        dx[k : k + times] += wide_g @ wide_w[k].T
    dw = [np.einsum("tbc,tbo->co", padded[k : k + times], wide_g) for k in range(3)]
    got = openaclnn.conv_tbc_backward(g, x, w, b, pad)
    assert within(got[0], dx[pad : pad + 9]) and within(got[1], np.stack(dw))
    assert within(got[2], wide_g.sum(axis=(0, 1)))


def test_conv_tbc_in_float16():
    one = np.ones((1, 1, 1), np.float32)
    call = openaclnn.conv_tbc
    assert call(one * 70000, one, np.zeros(1, np.float32)).item() == 70000
    assert call(one * 70000, one, np.zeros(1, np.float32), cube_math_type=2).item() == np.inf


def test_shapes_that_give_no_result():
    half = np.float16
    for call, arguments, message in [
        (openaclnn.grouped_bias_add_grad, (np.ones(3, np.float32),), "gradY shape"),
        (openaclnn.grouped_bias_add_grad, (np.ones((2, 3)), [1, 2], "starts"), "starts"),
        (openaclnn.nsa_compress, (np.ones((9, 2), half), np.ones((4, 2), half)), "input shape"),
        (openaclnn.conv_tbc, (np.ones((2, 1, 1)), np.ones((4, 1, 1)), np.ones(1)), "pad is 0"),
        (openaclnn.conv_tbc, (np.ones((2, 1, 1)), np.ones((1, 2, 1)), np.ones(1)), "weight shape"),
    ]:
        with pytest.raises(ValueError, match=message):
            call(*arguments)


def test_refusals_have_the_operator_s_words():
    mask, x = np.zeros((3, 1, 2, 2), bool), np.zeros((1, 1, 2, 2), np.float32)
    with pytest.raises(openaclnn.AclError, match="mask shape") as caught:
        openaclnn.scaled_masked_softmax(x, mask)
    assert caught.value.code == 161002
    with pytest.raises(openaclnn.AclError, match="groupIdxOptional value 1") as caught:
        openaclnn.grouped_bias_add_grad(np.ones((4, 2), np.float32), np.array([3, 2, 4]))
    assert caught.value.code == 507035
