# SPDX-License-Identifier: Apache-2.0
"""Operators one by one and their gradients, against NumPy in float64."""

import mindspore
import numpy as np
import pytest
from mindspore import Tensor, mint, nn, ops

FLOATS = (mindspore.float32, mindspore.float16, mindspore.bfloat16)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_arithmetic(draw, near, dtype):
    (x, a), (y, b) = draw(3, 4, dtype=dtype), draw(4, dtype=dtype)
    near(x + y, a + b)
    near(x - 2.0, a - 2)
    near(x * y, a * b)
    near(x / (mint.abs(y) + 1.0), a / (np.abs(b) + 1))
    near(mint.exp(x), np.exp(a))
    assert np.array_equal((x > y).asnumpy(), a > b)


@pytest.mark.parametrize("dtype", (mindspore.int32, mindspore.int64), ids=str)
def test_integers(dtype):
    x = Tensor([[1, -2], [3, 4]], dtype)
    assert (x * 3 + 1).asnumpy().tolist() == [[4, -5], [10, 13]]
    assert int(x.sum()) == 6


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_products(draw, near, dtype):
    (x, a), (y, b) = draw(2, 3, 5, dtype=dtype), draw(2, 5, 4, dtype=dtype)
    near(mint.matmul(x, y), a @ b)
    near(mint.sum(x, -1), a.sum(-1))


def weighted_part(cut, size, part, scale):
    def loss(t):
        return mint.sum(cut(t, size, 1)[part] * scale)

    return loss


# From the second call of a shape on MindSpore runs an executor again, with other addresses.
@pytest.mark.parametrize("call", range(3))
def test_parts_and_their_gradients(draw, near, call):
    (x, a), (scale, c) = draw(4, 6), draw(4, 2)
    near(mint.cat((x, scale), 1), np.concatenate((a, c), 1))
    for part in range(3):
        near(mint.chunk(x, 3, 1)[part], a[:, 2 * part : 2 * part + 2])
        wanted = np.zeros_like(a)
        wanted[:, 2 * part : 2 * part + 2] = c
        for cut, size in ((mint.chunk, 3), (mint.split, 2)):
            loss = weighted_part(cut, size, part, scale)
            near(mindspore.grad(loss)(x), wanted)


def softmax(a):
    e = np.exp(a - a.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_softmax_and_its_gradient(draw, near, dtype):
    (x, a), (weights, w) = draw(3, 7, dtype=dtype), draw(3, 7, dtype=dtype)
    near(ops.softmax(x), softmax(a))
    grad = mindspore.grad(lambda t: mint.sum(ops.softmax(t) * weights))(x)
    p = softmax(a)
    near(grad, p * (w - (p * w).sum(-1, keepdims=True)))


def embedding_gradient(indices, grad, rows, padding, by_frequency):
    wanted = np.zeros((rows, grad.shape[-1]))
    flat = indices.reshape(-1)
    counts = np.bincount(flat, minlength=rows)
    for token, row in zip(flat, grad.reshape(-1, grad.shape[-1]), strict=True):
        if token != padding:
            wanted[token] += row / (counts[token] if by_frequency else 1)
    return wanted


@pytest.mark.parametrize("padding", (None, 2))
@pytest.mark.parametrize("by_frequency", (False, True))
def test_embedding_and_its_gradient(draw, near, padding, by_frequency):
    (table, t), (weights, w) = draw(7, 5), draw(2, 3, 5)
    indices = np.array([[1, 2, 1], [0, 6, 2]])
    tokens = Tensor(indices, mindspore.int32)

    def look_up(rows):
        return mint.nn.functional.embedding(
            tokens, rows, padding_idx=padding, scale_grad_by_freq=by_frequency
        )

    near(look_up(table), t[indices])
    grad = mindspore.grad(lambda rows: mint.sum(look_up(rows) * weights))(table)
    near(grad, embedding_gradient(indices, w, 7, padding, by_frequency))


@pytest.mark.parametrize("dtype", FLOATS[1:], ids=str)
def test_nsa_compress_and_its_gradients(draw, near, dtype):
    block, stride, lengths = 32, 16, [48, 112]
    (x, a), (weight, w) = draw(112, 4, 16, dtype=dtype), draw(block, 4, dtype=dtype)

    def compress(tokens, weights):
        return ops.nsa_compress(tokens, weights, block, stride, actual_seq_len=lengths)

    starts, begin = [], 0
    for end in lengths:
        starts += range(begin, end - block + 1, stride)
        begin = end
    near(compress(x, weight), [np.einsum("tnd,tn->nd", a[s : s + block], w) for s in starts])
    (scale, c) = draw(len(starts), 4, 16, dtype=dtype)
    dx, dw = mindspore.grad(lambda *given: mint.sum(compress(*given) * scale), (0, 1))(x, weight)
    wanted_x, wanted_w = np.zeros_like(a), np.zeros_like(w)
    for row, s in zip(c, starts, strict=True):
        wanted_x[s : s + block] += np.einsum("nd,tn->tnd", row, w)
        wanted_w += np.einsum("nd,tnd->tn", row, a[s : s + block])
    near(dx, wanted_x)
    near(dw, wanted_w)


def convolve(a, w):
    """Of images, without a border."""
    height, width = (n - k + 1 for n, k in zip(a.shape[2:], w.shape[2:], strict=True))
    out = np.zeros((a.shape[0], w.shape[0], height, width))
    for i, j in np.ndindex(height, width):
        part = a[:, :, i : i + w.shape[2], j : j + w.shape[3]]
        out[:, :, i, j] = np.einsum("nchw,ochw->no", part, w)
    return out


# mint's allow HF32, which rounds operands to 11 bits of mantissa.
@pytest.mark.parametrize(
    "convolution, bits", ((mint.nn.functional.conv2d, 7), (ops.conv2d, 20)), ids=("mint", "ops")
)
def test_convolution_and_its_gradients(draw, near, convolution, bits):
    (x, a), (weight, w), (scale, c) = draw(2, 3, 6, 7), draw(4, 3, 3, 2), draw(2, 4, 4, 6)
    near(convolution(x, weight), convolve(a, w), bits)
    dx, dw = mindspore.grad(lambda *given: mint.sum(convolution(*given) * scale), (0, 1))(x, weight)
    wanted_x, wanted_w = np.zeros_like(a), np.zeros_like(w)
    for i, j in np.ndindex(4, 6):
        wanted_x[:, :, i : i + 3, j : j + 2] += np.einsum("no,ochw->nchw", c[:, :, i, j], w)
        wanted_w += np.einsum("no,nchw->ochw", c[:, :, i, j], a[:, :, i : i + 3, j : j + 2])
    near(dx, wanted_x, bits)
    near(dw, wanted_w, bits)


def test_convolution_over_time(draw, near):
    (x, a), (weight, w) = draw(2, 3, 9), draw(4, 3, 3)
    wanted = np.stack([np.einsum("nct,oct->no", a[:, :, i : i + 3], w) for i in range(7)], -1)
    near(ops.conv1d(x, weight), wanted)


def test_dense_and_its_gradients(draw, near):
    (x, a), (scale, c), layer = draw(5, 4), draw(5, 3), nn.Dense(4, 3)
    w, b = (each.asnumpy().astype(np.float64) for each in (layer.weight, layer.bias))
    near(layer(x), a @ w.T + b)
    grads = mindspore.grad(lambda t: mint.sum(layer(t) * scale), 0, layer.trainable_params())(x)
    near(grads[0], c @ w)
    near(grads[1][0], c.T @ a)
    near(grads[1][1], c.sum(0))


def test_a_refusal_has_our_words(draw):
    x, _ = draw(64, 4, 16, dtype=mindspore.float16)
    weight, _ = draw(16, 4, dtype=mindspore.float16)
    with pytest.raises(RuntimeError, match="compressBlockSize value is 16, expected at least 17"):
        mindspore.grad(lambda t: mint.sum(ops.nsa_compress(t, weight, 16, 16, actual_seq_len=[64])))(
            x
        ).asnumpy()


def test_graphs_are_refused_with_words(draw):
    x, _ = draw(3)

    @mindspore.jit(backend="GE")
    def twice(t):
        return t * 2

    with pytest.raises(RuntimeError, match="is not supported by openaclnn, which compiles no graphs"):
        twice(x).asnumpy()
