# SPDX-License-Identifier: Apache-2.0
"""The functions that the records of operators by their graph names use in `cases` and `numpy`."""

import math

import numpy as np
from graph_driver import Host
from graph_steps import *  # noqa: F403  for the records

generator = np.random.default_rng(0)


class Drawn:
    """An output of random numbers: its shape, its type, and whether an array may be it."""

    def __init__(self, shape, check, dtype=np.float32):
        self.shape, self.check, self.dtype = tuple(map(int, shape)), check, np.dtype(dtype)


# --- operands -----------------------------------------------------------------------------------


def f32(values):
    return np.array(values, np.float32)


def i32(values):
    return np.array(values, np.int32)


def i64(values):
    return np.array(values, np.int64)


def host(values, dtype=np.int64):
    return Host(values, dtype)


def normal(*shape):
    return f32(generator.standard_normal(shape))


def positive(*shape):
    return f32(generator.uniform(0.5, 2, shape))


def apart(*shape):
    """Numbers of both signs, none near 0."""
    return f32(generator.uniform(0.5, 2, shape) * generator.choice([-1, 1], shape))


def unit(*shape):
    """Numbers between -1 and 1."""
    return f32(generator.uniform(-0.9, 0.9, shape))


def flags(*shape):
    return generator.integers(0, 2, shape).astype(bool)


def integers(*shape, below=9, least=-9):
    return generator.integers(least, below, shape).astype(np.int32)


def shuffled(*shape):
    """Numbers that are all different."""
    return f32(generator.permutation(int(np.prod(shape))).reshape(shape) / 4 - 3)


def distances(rows, columns, width):
    """Operands of CdistGrad, which torch-npu copies to (P, R, M)."""
    x1, x2, by = normal(rows, width), normal(columns, width), normal(rows, columns)
    shape = (rows, columns, width)
    apart_by = np.sqrt(((x1[:, None] - x2[None]) ** 2).sum(-1))
    return {
        "grad": f32(np.broadcast_to(by[..., None], shape)),
        "x1": f32(np.broadcast_to(x1[:, None], shape)),
        "x2": f32(np.broadcast_to(x2[None], shape)),
        "cdist": f32(np.broadcast_to(apart_by[..., None], shape)),
    }


# --- formulas -----------------------------------------------------------------------------------


def cdist_gradient(grad, x1, x2, cdist):
    return (grad * (x1 - x2) / cdist).sum(1)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def erf(x):
    return np.vectorize(math.erf)(x)


def erf_inverse(y):
    """By Newton's steps."""
    x = np.zeros_like(y)
    for _ in range(60):
        x = x - (erf(x) - y) / (2 / math.sqrt(math.pi) * np.exp(-x * x))
    return x


def gelu(x):
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def running_sum(x, axis, exclusive, reverse):
    turned = np.flip(x, axis) if reverse else x
    made = turned.cumsum(axis) - (turned if exclusive else 0)
    return np.flip(made, axis) if reverse else made


def sort_pairs(x, axis, descending):
    order = np.argsort(-x if descending else x, axis, kind="stable")
    return np.take_along_axis(x, order, axis), order.astype(np.int32)


def top(x, k, axis, largest):
    return tuple(np.take(each, range(k), axis) for each in sort_pairs(x, axis, largest))


def windows(x, kernel, steps=(1, 1)):
    """(N, C, rows, columns, height, width)"""
    view = np.lib.stride_tricks.sliding_window_view(x, kernel, (2, 3))
    return view[:, :, :: steps[0], :: steps[1]]


def bordered(x, pads):
    pairs = list(zip(pads[::2], pads[1::2], strict=True)) or [(0, 0)] * (x.ndim - 2)
    return np.pad(x, [(0, 0), (0, 0), *pairs])


def steps_of(strides, rank):
    return tuple(strides[2:]) or (1,) * (rank - 2)


def all_windows(x, kernel, strides):
    """(N, C, places, kernel); and the letters of places and of the kernel"""
    rank = x.ndim
    view = np.lib.stride_tricks.sliding_window_view(x, tuple(kernel), tuple(range(2, rank)))
    cut = tuple(slice(None, None, step) for step in steps_of(strides, rank))
    return view[(slice(None), slice(None), *cut)], "xyz"[: rank - 2], "ijk"[: rank - 2]


def convolve(x, w, strides, pads):
    view, at, of = all_windows(bordered(x, pads), w.shape[2:], strides)
    return np.einsum(f"nc{at}{of},oc{of}->no{at}", view, w)


def filter_gradient(x, size, dy, strides, pads):
    view, at, of = all_windows(bordered(x, pads), size[2:], strides)
    return np.einsum(f"nc{at}{of},no{at}->oc{of}", view, dy)


def input_gradient(size, w, dy, strides, pads):
    wide = np.zeros_like(bordered(np.zeros(size), pads))
    steps = steps_of(strides, wide.ndim)
    for place in np.ndindex(*w.shape[2:]):
        part = np.einsum("no...,oc->nc...", dy, w[(slice(None), slice(None), *place)])
        at = tuple(slice(p, p + s * (n - 1) + 1, s)
                   for p, s, n in zip(place, steps, dy.shape[2:], strict=True))  # fmt: skip
        wide[(slice(None), slice(None), *at)] += part
    before = pads[::2] or [0] * (len(size) - 2)
    inside = tuple(slice(p, p + n) for p, n in zip(before, size[2:], strict=True))
    return wide[(slice(None), slice(None), *inside)]


def reduced(values, reduction):
    if reduction == "batchmean":
        return values.sum() / len(values)
    return {"none": lambda: values, "mean": values.mean, "sum": values.sum}[reduction]()


def scatter_nd(x, indices, updates, add):
    made = x.copy()
    at = tuple(np.moveaxis(indices, -1, 0))
    np.add.at(made, at, updates) if add else made.__setitem__(at, updates)
    return made


def nearest_gradient(grads, size):
    made = np.zeros((*grads.shape[:2], *size))
    for i, j in np.ndindex(*grads.shape[2:]):
        at = (i * size[0] // grads.shape[2], j * size[1] // grads.shape[3])
        made[:, :, at[0], at[1]] += grads[:, :, i, j]
    return made


def instance_norm(x, gamma, beta, epsilon):
    mean, variance = x.mean((2, 3), keepdims=True), x.var((2, 3), keepdims=True)
    made = (x - mean) / np.sqrt(variance + epsilon) * channel(gamma) + channel(beta)
    return made, mean.reshape(-1), variance.reshape(-1)


def max_pool3d(x, kernel, strides):
    view = all_windows(x, kernel, (1, 1, *strides))[0]
    flat = view.reshape(*view.shape[:5], -1)
    places = all_windows(np.arange(np.prod(x.shape[2:])).reshape(1, 1, *x.shape[2:]), kernel, (1, 1, *strides))[0]
    places = np.broadcast_to(places.reshape(1, 1, *view.shape[2:5], -1), flat.shape)
    at = flat.argmax(-1)[..., None]
    return flat.max(-1), np.take_along_axis(places, at, -1)[..., 0].astype(np.int64)


def max_pool3d_operands():
    x = shuffled(2, 2, 3, 4, 5)
    kernel, strides = [2, 2, 3], [1, 2, 1]
    y, argmax = max_pool3d(x, kernel, strides)
    return {"x": x, "grads": normal(*y.shape), "argmax": argmax, "ksize": kernel, "strides": strides,
            "pads": [0, 0, 0], "dilation": [1, 1, 1]}  # fmt: skip


def max_pool3d_gradient(x, grads, kernel, strides):
    made, at = np.zeros((*x.shape[:2], x[0, 0].size)), max_pool3d(x, kernel, strides)[1]
    for n, c in np.ndindex(*x.shape[:2]):
        np.add.at(made[n, c], at[n, c].reshape(-1), grads[n, c].reshape(-1))
    return made.reshape(x.shape)


def channel(values):
    return values[:, None, None]


def normalised(x, mean, variance, epsilon, scale=None, offset=None):
    made = (x - channel(mean)) / np.sqrt(channel(variance) + epsilon)
    return made if scale is None else made * channel(scale) + channel(offset)


def batch_norm_step(x, scale, offset, mean, variance, factor, epsilon):
    axes, count = (0, 2, 3), x.size // x.shape[1]
    own_mean, own_variance = x.mean(axes), x.var(axes)
    return {
        "y": normalised(x, own_mean, own_variance, epsilon, scale, offset),
        "mean": mean + factor * (own_mean - mean),
        "variance": variance + factor * (own_variance * count / (count - 1) - variance),
        "batch_mean": own_mean,
        "batch_variance": own_variance,
    }


def layer_norm(x, gamma, beta, axis, epsilon, inverse=False):
    axes = tuple(range(axis % x.ndim, x.ndim))
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    rstd = 1 / np.sqrt(variance + epsilon)
    return (x - mean) * rstd * gamma + beta, mean, rstd if inverse else variance


def layer_norm_gradient(dy, x, variance, mean, gamma, epsilon):
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    rstd = 1 / np.sqrt(variance + epsilon)
    hat, by = (x - mean) * rstd, dy * gamma
    dx = rstd * (by - by.mean(axes, keepdims=True) - hat * (by * hat).mean(axes, keepdims=True))
    rows = tuple(range(x.ndim - gamma.ndim))
    return dx, (dy * hat).sum(rows), dy.sum(rows)


def border_of(shape, kernel, steps, padding):
    made = [(0, 0), (0, 0)]
    for size, width, step in zip(shape[2:], kernel, steps, strict=True):
        more = max((-(-size // step) - 1) * step + width - size, 0) if padding == "SAME" else 0
        made.append((more // 2, more - more // 2))
    return made


def pool(x, ksize, strides, padding, function, outside):
    border = border_of(x.shape, ksize[2:], strides[2:], padding)
    bordered = np.pad(x, border, constant_values=outside)
    return function(windows(bordered, ksize[2:], strides[2:]), (4, 5))


def pool_gradient(x, grad, ksize, strides, padding, outside, weights):
    """weights(part) is the gradient of one window's result by its elements."""
    border = border_of(x.shape, ksize[2:], strides[2:], padding)
    bordered = np.pad(x, border, constant_values=outside)
    made = np.zeros_like(bordered)
    for n, c, i, j in np.ndindex(grad.shape):
        at = (n, c, slice(i * strides[2], i * strides[2] + ksize[2]),
              slice(j * strides[3], j * strides[3] + ksize[3]))  # fmt: skip
        made[at] += grad[n, c, i, j] * weights(bordered[at])
    (top, below), (left, right) = border[2:]
    return made[:, :, top : made.shape[2] - below, left : made.shape[3] - right]


def max_pool_gradient(x, grad, ksize, strides, padding):
    return pool_gradient(x, grad, ksize, strides, padding, -np.inf, lambda part: part == part.max())


def average_pool_gradient(shape, grad, ksize, strides, padding):
    return pool_gradient(np.ones(shape), grad, ksize, strides, padding, 0, lambda part: part / part.sum())


def adaptive_parts(shape, size):
    for i, j in np.ndindex(*size):
        yield i, j, slice(None), slice(None), *(
            slice(at * n // m, -(-(at + 1) * n // m))
            for at, n, m in zip((i, j), shape[-2:], size, strict=True)
        )


def adaptive_pool(x, size):
    made = np.zeros((*x.shape[:-2], *size))
    for i, j, *part in adaptive_parts(x.shape, size):
        made[..., i, j] = x[tuple(part)].mean((-2, -1))
    return made


def adaptive_pool_gradient(grad, shape):
    made = np.zeros(shape)
    for i, j, *part in adaptive_parts(shape, grad.shape[-2:]):
        view = made[tuple(part)]
        view += grad[..., i, j][..., None, None] / (view.shape[-2] * view.shape[-1])
    return made


def bilinear_weights(size, result, align_corners):
    """(result, size)"""
    at = np.arange(result)
    if align_corners:
        at = at * (size - 1) / max(result - 1, 1)
    else:
        at = np.clip((at + 0.5) * size / result - 0.5, 0, size - 1)
    return np.maximum(1 - np.abs(at[:, None] - np.arange(size)), 0)


def bilinear(x, size, align_corners):
    rows = bilinear_weights(x.shape[2], size[0], align_corners)
    columns = bilinear_weights(x.shape[3], size[1], align_corners)
    return np.einsum("nchw,ih,jw->ncij", x, rows, columns)


def bilinear_gradient(grads, original, align_corners):
    rows = bilinear_weights(original.shape[2], grads.shape[2], align_corners)
    columns = bilinear_weights(original.shape[3], grads.shape[3], align_corners)
    return np.einsum("ncij,ih,jw->nchw", grads, rows, columns)


def segment_sums(x, segments, count):
    out = np.zeros((int(count), *x.shape[segments.ndim :]))
    np.add.at(out, segments, x)
    return out


def lstm(x, w, b, h, c, forget_bias):
    width = w.shape[1] // 4
    h = np.zeros((x.shape[1], width)) if h is None else h[0]
    c = np.zeros((x.shape[1], width)) if c is None else c[0]
    made = []
    for each in x:
        i, j, f, o = np.split(np.concatenate((each, h), 1) @ w + b, 4, 1)
        i, j, f, o = sigmoid(i), np.tanh(j), sigmoid(f + forget_bias), sigmoid(o)
        c = f * c + i * j
        h = o * np.tanh(c)
        made.append((h, h, c, i, j, f, o, np.tanh(c)))
    return tuple(map(np.stack, zip(*made, strict=True)))


def reordered(w, order):
    """Gates in the order ijfo."""
    i, second, third, o = np.split(w, 4, -1)
    return np.concatenate((i, second, third, o) if order == "ijfo" else (i, third, second, o), -1)


def lstm_operands(steps, rows, size, width, order=""):
    """Of DynamicRNNGrad, or with an order of DynamicRNNV2Grad."""
    x, w, b = normal(steps, rows, size), normal(size + width, 4 * width), normal(4 * width)
    h, c = normal(1, rows, width), normal(1, rows, width)
    if order:
        b *= 0
    wide = (each.astype(np.float64) for each in (x, reordered(w, order or "ijfo"), b, h, c))
    names = ("y", "h", "c", "i", "j", "f", "o", "tanhct")
    made = dict(zip(names, map(f32, lstm(*wide, 0)), strict=True))
    made |= {"dy": normal(steps, rows, width), "dh": normal(rows, width), "dc": normal(rows, width)}
    made |= {"x": x, "init_h": h, "init_c": c}
    if not order:
        return made | {"w": w, "b": b}
    return made | {"w_x": w[:size], "w_h": w[size:], "gate_order": order}


def differences(loss, given):
    """The gradients of a loss by these arrays."""
    made = []
    for each in given:
        grad = np.zeros_like(each)
        for at in np.ndindex(*each.shape):
            kept, sides = each[at], []
            for step in (1e-5, -1e-5):
                each[at] = kept + step
                sides.append(loss())
            each[at], grad[at] = kept, (sides[0] - sides[1]) / 2e-5
        made.append(grad)
    return made


def lstm_gradient(x, w, b, h, c, dy, dh, dc):
    w, b, x, h, c = given = [each.copy() for each in (w, b, x, h, c)]

    def loss():
        y, _, cells, *_ = lstm(x, w, b, h, c, 0)
        return (y * dy).sum() + (y[-1] * dh).sum() + (cells[-1] * dc).sum()

    return tuple(differences(loss, given))


def lstm_gradient_v2(x, w_x, w_h, h, c, dy, dh, dc, order):
    w, b = reordered(np.concatenate((w_x, w_h)), order), np.zeros(w_x.shape[1])
    dw, db, *rest = lstm_gradient(x, w, b, h, c, dy, dh, dc)
    dw, db = reordered(dw, order), reordered(db, order)
    return dw[: len(w_x)], dw[len(w_x) :], db, *rest


def gru(x, w_x, w_h, b_x, b_h, h, order):
    width = len(w_h)
    h = np.zeros((x.shape[1], width)) if h is None else h[0]
    made = []
    for each in x:
        by_x = np.split(each @ w_x + (0 if b_x is None else b_x), 3, 1)
        by_h = np.split(h @ w_h + (0 if b_h is None else b_h), 3, 1)
        first, second = (sigmoid(p + q) for p, q in zip(by_x[:2], by_h[:2], strict=True))
        z, r = (first, second) if order == "zrh" else (second, first)
        n = np.tanh(by_x[2] + r * by_h[2])
        h = (1 - z) * n + z * h
        made.append((h, h, z, r, n, by_h[2]))
    return tuple(map(np.stack, zip(*made, strict=True)))


def gru_operands(steps, rows, size, width):
    x, w_x, w_h = normal(steps, rows, size), normal(size, 3 * width), normal(width, 3 * width)
    h = normal(1, rows, width)
    names = ("y", "h", "update", "reset", "new_", "hidden_new")
    wide = [each.astype(np.float64) for each in (x, w_x, w_h, h)]
    made = dict(zip(names, map(f32, gru(*wide[:3], None, None, wide[3], "rzh")), strict=True))
    made |= {"x": x, "weight_input": w_x, "weight_hidden": w_h, "init_h": h, "gate_order": "rzh"}
    return made | {"dy": normal(steps, rows, width), "dh": normal(rows, width)}


def gru_gradient(x, w_x, w_h, h, dy, dh, order):
    x, w_x, w_h, h = (each.copy() for each in (x, w_x, w_h, h))
    b_x, b_h = np.zeros(w_x.shape[1]), np.zeros(w_h.shape[1])

    def loss():
        y = gru(x, w_x, w_h, b_x, b_h, h, order)[0]
        return (y * dy).sum() + (y[-1] * dh).sum()

    return tuple(differences(loss, (w_x, w_h, b_x, b_h, x, h)))
