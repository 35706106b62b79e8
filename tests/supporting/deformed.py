# SPDX-License-Identifier: Apache-2.0
"""Convolutions that read where offsets say, or steps before, and their gradients, in NumPy. The first
are sums over all elements of a plane with the weights of linear interpolation."""

import numpy as np

from bounded import Bounded

ERROR = 2.0**-38  # of the size of a sum's terms


def _weights(place, n: int):
    """The weights of the n elements along a dimension, and how they change with the place."""
    below = np.floor(place)[..., None]
    far, at = place[..., None] - below, np.arange(n)
    weights = np.where(at == below, 1 - far, np.where(at == below + 1, far, 0.0))
    slopes = np.where(at == below, -1.0, np.where(at == below + 1, 1.0, 0.0))
    return weights, np.where(place[..., None] > -1, slopes, 0.0)  # -1 is outside


def _places(shape, weight, offset, stride, padding, dilation, parts: int, masked: bool):
    """y, x and the factors: (N, parts, rows, columns, high, wide)."""
    (rows, columns), (high, wide) = weight.shape[2:], offset.shape[2:]
    given = offset.reshape(shape[0], 3 if masked else 2, parts, rows, columns, high, wide)
    y = np.arange(high)[:, None] * stride[2] - padding[0]
    x = np.arange(wide) * stride[3] - padding[2]
    y = y + (np.arange(rows) * dilation[2])[:, None, None, None]
    x = x + (np.arange(columns) * dilation[3])[None, :, None, None]
    return given[:, 1] + y, given[:, 0] + x, given[:, 2] if masked else np.ones(given[:, 0].shape)


def _read(x, by_y, by_x, factor):
    """(N, parts, C / parts, rows, columns, high, wide)"""
    planes = x.reshape(x.shape[0], factor.shape[1], -1, *x.shape[2:])
    return np.einsum("ngijhwu,ngijhwv,ngcuv->ngcijhw", by_y, by_x, planes) * factor[:, :, None]


def _spread(read):
    """Taps between places."""
    n, parts, channels, rows, columns, high, wide = read.shape
    moved = read.transpose(0, 1, 2, 5, 3, 6, 4)
    return moved.reshape(n, parts * channels, high * rows, wide * columns)


def _gathered(spread, rows: int, columns: int):
    n, channels, tall, broad = spread.shape
    moved = spread.reshape(n, channels, tall // rows, rows, broad // columns, columns)
    return moved.transpose(0, 1, 3, 5, 2, 4)


def _bounded(like, value, size):
    return Bounded(value, like.format, ERROR * size)


def _multiplied(weight, read, groups: int):
    n, high, wide = len(read), *read.shape[-2:]
    own = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
    parts = read.reshape(n, groups, -1, *read.shape[-4:])
    return np.einsum("gocij,ngcijhw->ngohw", own, parts).reshape(n, -1, high, wide)


def deformable(x, weight, offset, bias, stride, padding, dilation, groups: int, parts: int,
               masked: bool):  # fmt: skip
    setting = (stride, padding, dilation, parts, masked)
    y_at, x_at, factor = _places(x.shape, weight.value, offset.value, *setting)
    (by_y, _), (by_x, _) = _weights(y_at, x.shape[2]), _weights(x_at, x.shape[3])
    results = []
    for size in (False, True):
        a, w, f = (np.abs(each) if size else each for each in (x.value, weight.value, factor))
        read = _read(a, by_y, by_x, f)
        b = 0.0 if bias is None else (np.abs(bias.value) if size else bias.value)[:, None, None]
        results.append((_multiplied(w, read.reshape(len(read), -1, *read.shape[3:]), groups) + b, _spread(read)))
    (out, spread), (out_size, spread_size) = results
    return _bounded(x, out, out_size), _bounded(x, spread, spread_size)


def _gradients(x, dy, spread, weight, by_y, by_x, factor, slopes, groups: int, masked: bool):
    n, parts = factor.shape[:2]
    rows, columns = weight.shape[2:]
    read = _gathered(spread, rows, columns).reshape(n, groups, -1, rows, columns, *dy.shape[2:])
    own = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
    outer = dy.reshape(n, groups, -1, *dy.shape[2:])
    by_weight = np.einsum("ngohw,ngcijhw->gocij", outer, read).reshape(weight.shape)
    by_read = np.einsum("gocij,ngohw->ngcijhw", own, outer).reshape(n, parts, -1, rows, columns, *dy.shape[2:])
    planes = x.reshape(n, parts, -1, *x.shape[2:])
    by_x_tensor = np.einsum("ngijhwu,ngijhwv,ngcijhw->ngcuv", by_y, by_x,
                            by_read * factor[:, :, None]).reshape(x.shape)
    slope_y, slope_x = slopes
    by = [np.einsum("ngijhwu,ngijhwv,ngcuv,ngcijhw->ngijhw", a, b, planes, by_read)
          for a, b in ((by_y, slope_x), (slope_y, by_x), (by_y, by_x))]  # fmt: skip
    by = [by[0] * factor, by[1] * factor, by[2]][: 3 if masked else 2]
    by_offset = np.stack(by, 1).reshape(n, -1, *dy.shape[2:])
    return by_x_tensor, by_weight, by_offset, dy.sum((0, 2, 3))


def deformable_backward(x, dy, spread, weight, offset, stride, padding, dilation, groups: int,
                        parts: int, masked: bool):  # fmt: skip
    setting = (stride, padding, dilation, parts, masked)
    y_at, x_at, factor = _places(x.shape, weight.value, offset.value, *setting)
    (by_y, slope_y), (by_x, slope_x) = _weights(y_at, x.shape[2]), _weights(x_at, x.shape[3])
    tensors = [each.value for each in (x, dy, spread, weight)]
    values = _gradients(*tensors, by_y, by_x, factor, (slope_y, slope_x), groups, masked)
    sizes = _gradients(*map(np.abs, tensors), by_y, by_x, np.abs(factor),
                       (np.abs(slope_y), np.abs(slope_x)), groups, masked)
    return tuple(_bounded(x, *pair) for pair in zip(values, sizes, strict=True))


# Sequences.


def _moved(x, by: int):
    """Steps later, or earlier where negative, and 0 where there are none."""
    result = np.zeros_like(x)
    if abs(by) < len(x):
        to, since = max(by, 0), max(-by, 0)
        result[to : len(x) - since] = x[since : len(x) - to]
    return result


def _counted(x, mask):
    return x if mask is None else np.where(mask.T[..., None], x, 0.0)


def causal_conv(x, weight, mask):
    taps = len(weight)

    def make(x, weight):
        return _counted(sum(_moved(x, taps - 1 - k) * weight[k] for k in range(taps)), mask)

    return _bounded(x, make(x.value, weight.value), make(np.abs(x.value), np.abs(weight.value)))


def causal_conv_backward(g, x, weight, mask):
    taps = len(weight)

    def make(g, x, weight):
        g = _counted(g, mask)
        by_x = sum(_moved(g, -(taps - 1 - k)) * weight[k] for k in range(taps))
        return by_x, np.stack([np.sum(g * _moved(x, taps - 1 - k), (0, 1)) for k in range(taps)])

    values = make(g.value, x.value, weight.value)
    sizes = make(*(np.abs(each.value) for each in (g, x, weight)))
    return tuple(_bounded(x, *pair) for pair in zip(values, sizes, strict=True))
