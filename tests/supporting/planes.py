# SPDX-License-Identifier: Apache-2.0
"""Planes of other sizes and means of windows with their gradients, from their formulas."""

import math

import numpy as np

from bounded import Bounded
from windows import _axis, out_length, windows


def _step(n: int, out: int, factor: float, taps: int) -> float:
    """In the input for one in the result; a factor counts if it makes one length of the other."""
    simple = (0 < taps < 4 and out == n) or (taps == 1 and out == 2 * n)
    return 1 / factor if not simple and factor > 0 and math.floor(n * factor) == out else n / out


def _nearest(n: int, out: int, factor: float, exact: bool) -> np.ndarray:
    """Where the target begins, or if exact its middle, in float."""
    step = np.float32(_step(n, out, factor, 0 if exact else 1))
    place = np.arange(out, dtype=np.float32) + np.float32(0.5 if exact else 0)
    return np.minimum((place * step).astype(np.int64), n - 1)


def upsample_nearest(x, size, factors, exact: bool = False):
    for axis, factor in enumerate(factors):
        axis -= len(factors)
        x = np.take(x, _nearest(x.shape[axis], _axis(size, axis), factor, exact), axis)
    return x


def _kernel(distance: float, taps: int) -> float:
    """Of linear or cubic interpolation."""
    x = abs(distance)
    if taps == 2:
        return max(0.0, 1 - x)
    if x < 1:
        return 1.25 * x**3 - 2.25 * x**2 + 1
    return -0.75 * (x**3 - 5 * x**2 + 8 * x - 4) if x < 2 else 0.0


def _interpolation(n: int, out: int, taps: int, align: bool, factor: float) -> np.ndarray:
    """(out, n) weights."""
    weights = np.zeros((out, n))
    if taps <= 1:  # 0: exact
        weights[np.arange(out), _nearest(n, out, factor, taps == 0)] = 1
        return weights
    for i in range(out):
        place = _step(n, out, factor, taps) * (i + 0.5) - 0.5
        if align:
            place = i * (n - 1) / (out - 1) if out > 1 else 0.0
        place = min(max(place, 0.0), n - 1.0) if taps == 2 else place
        for at in range(math.floor(place) - 2, math.floor(place) + 4):
            weights[i, min(max(at, 0), n - 1)] += _kernel(place - at, taps)
    return weights


def _shares(n: int, out: int) -> np.ndarray:
    """(out, n) weights of means."""
    weights = np.zeros((out, n))
    for i in range(out):
        begin, end = i * n // out, -(-(i + 1) * n // out)
        weights[i, begin:end] = 1 / (end - begin)
    return weights


def _weighted(x, matrices):
    """Each of the last dimensions times a matrix; a weight near 0 has the error of one near 1."""
    value, size = x.value, np.abs(x.value)
    for i, matrix in enumerate(matrices):
        axis = x.ndim - len(matrices) + i
        value, size = (np.moveaxis(np.tensordot(m, each, (1, axis)), 0, axis)
                       for m, each in ((matrix, value), (np.abs(matrix) + 1, size)))  # fmt: skip
    terms = math.prod(matrix.shape[1] for matrix in matrices)
    return Bounded(value, x.format, size * 2.0**-52 * (terms + 8))


def _matrices(lengths, size, make):
    return [make(n, _axis(size, i), i) for i, n in enumerate(lengths)]


def upsample(x, size, taps: int, align: bool, factors):
    lengths = x.shape[x.ndim - len(factors) :]
    return _weighted(x, _matrices(lengths, size, lambda n, out, i: _interpolation(
        n, out, taps, align, factors[i])))  # fmt: skip


def upsample_backward(gradient, input_size, taps: int, align: bool, factors):
    dims = len(factors)
    return _weighted(gradient, [each.T for each in _matrices(
        input_size[-dims:], gradient.shape[-dims:],
        lambda n, out, i: _interpolation(n, out, taps, align, factors[i]))])  # fmt: skip


def _antialias(n: int, out: int, taps: int, align: bool, factor: float) -> np.ndarray:
    """(out, n) weights of a kernel that is as much wider as the result is smaller."""
    step = (n - 1) / (out - 1) if out > 1 else 0.0
    if not align:
        fits = factor > 0 and math.floor(n * factor) == out
        step = 1 / factor if fits else n / out
    wide, weights = max(step, 1.0), np.zeros((out, n))
    for i in range(out):
        middle, reach = step * (i + 0.5), taps / 2 * wide
        begin, end = max(int(middle - reach + 0.5), 0), min(int(middle + reach + 0.5), n)
        x = np.abs(np.arange(begin, end) + 0.5 - middle) / wide
        own = np.maximum(1 - x, 0)
        if taps == 4:
            outer = np.where(x < 2, -0.5 * (x**3 - 5 * x**2 + 8 * x - 4), 0)
            own = np.where(x < 1, 1.5 * x**3 - 2.5 * x**2 + 1, outer)
        weights[i, begin:end] = own / own.sum() if own.sum() != 0 else own
    return weights


def upsample_aa(x, size, taps: int, align: bool, factors):
    return _weighted(x, _matrices(x.shape[2:], size, lambda n, out, i: _antialias(
        n, out, taps, align, factors[i])))  # fmt: skip


def upsample_aa_backward(gradient, input_size, taps: int, align: bool, factors):
    return _weighted(gradient, [each.T for each in _matrices(
        input_size[2:], gradient.shape[2:],
        lambda n, out, i: _antialias(n, out, taps, align, factors[i]))])  # fmt: skip


def _region_axis(begin, end, scale, bins: int, samples: int, mode: int):
    """Where the samples of each bin are."""
    begin, end = begin * scale, (end + mode) * scale
    length = max(end - begin, 1.0) / bins
    count = samples or math.ceil(length)
    return begin + length * (np.arange(bins)[:, None] + (np.arange(count) + 0.5) / count)


def _hat(places, n: int) -> np.ndarray:
    """(bins, n): the mean over samples of the weights of linear interpolation."""
    outside = (places < -1) | (places > n)
    at = np.clip(places, 0, n - 1)
    weights = np.maximum(1 - np.abs(at[..., None] - np.arange(n)), 0)
    return np.where(outside[..., None], 0, weights).mean(1)


def _region_weights(rois, shape, scale, high: int, wide: int, samples: int, mode: int):
    for image, left, top, right, bottom in rois:
        rows = _hat(_region_axis(top, bottom, scale, high, samples, mode), shape[2])
        columns = _hat(_region_axis(left, right, scale, wide, samples, mode), shape[3])
        yield int(image), rows, columns


def _samples_error(size) -> np.ndarray:
    return size * 2.0**-40


def roi_align(x, rois, scale, high: int, wide: int, samples: int, mode: int):
    value = np.zeros((len(rois.value), x.shape[1], high, wide))
    size = np.zeros_like(value)
    setting = (x.shape, float(np.float32(scale)), high, wide, samples, mode)
    for i, (image, rows, columns) in enumerate(_region_weights(rois.value, *setting)):
        value[i] = np.einsum("ih,jw,chw->cij", rows, columns, x.value[image])
        size[i] = np.einsum("ih,jw,chw->cij", rows, columns, np.abs(x.value[image]))
    return Bounded(value, x.format, _samples_error(size))


def roi_align_backward(gradient, rois, shape, scale, high: int, wide: int, samples: int, mode: int):
    value = np.zeros(shape)
    size = np.zeros(shape)
    setting = (shape, float(np.float32(scale)), high, wide, samples, mode)
    for i, (image, rows, columns) in enumerate(_region_weights(rois.value, *setting)):
        value[image] += np.einsum("ih,jw,cij->chw", rows, columns, gradient.value[i])
        size[image] += np.einsum("ih,jw,cij->chw", rows, columns, np.abs(gradient.value[i]))
    return Bounded(value, gradient.format, _samples_error(size))


def adaptive_pool(x, size):
    lengths = x.shape[-len(size) :]
    return _weighted(x, _matrices(lengths, size, lambda n, out, _: _shares(n, out)))


def adaptive_pool_backward(gradient, x, dims: int):
    lengths, size = x.shape[-dims:], gradient.shape[-dims:]
    return _weighted(gradient, [_shares(n, out).T for n, out in zip(lengths, size, strict=True)])


def adaptive_max_pool(x, size):
    """The largest elements, and the number that the first of each has in its plane."""
    lengths, lead = x.shape[-len(size) :], x.shape[: x.ndim - len(size)]
    numbers = np.arange(math.prod(lengths)).reshape(lengths)
    found, places = np.empty((*lead, *size), x.dtype), np.empty((*lead, *size), np.int64)
    for at in np.ndindex(*size):
        share = tuple(slice(i * n // out, -(-(i + 1) * n // out))
                      for i, n, out in zip(at, lengths, size, strict=True))  # fmt: skip
        own = x[(..., *share)].reshape(*lead, numbers[share].size)
        first = np.argmax(own, -1)[..., None]
        found[(..., *at)] = np.take_along_axis(own, first, -1)[..., 0]
        places[(..., *at)] = numbers[share].reshape(-1)[first[..., 0]]
    return found, places


def adaptive_max_pool_backward(gradient, x, indices, dims: int):
    planes, count = math.prod(x.shape[:-dims]), math.prod(x.shape[-dims:])
    at = indices.astype(np.int64).reshape(planes, math.prod(indices.shape[-dims:]))
    rows = np.broadcast_to(np.arange(planes)[:, None], at.shape)
    value, size = np.zeros((planes, count)), np.zeros((planes, count))
    np.add.at(value, (rows, at), gradient.value.reshape(at.shape))
    np.add.at(size, (rows, at), np.abs(gradient.value).reshape(at.shape))
    value, size = value.reshape(x.shape), size.reshape(x.shape)
    return Bounded(value, gradient.format, size * 2.0**-52 * at.shape[1])


def avg_pool_backward(gradient, x, taps, strides, pads, up: bool, count_pad: bool, divisor: int):
    """Each window gives its elements equal parts."""
    strides, plane = strides or taps, x.shape[-2:]
    n, m = (_axis(pads, 0), _axis(pads, 1))
    counted = np.pad(np.ones(plane), ((n, n), (m, m)), constant_values=float(count_pad))
    # Taps behind the padding, as windows that are rounded up have, count nowhere.
    counts = windows(counted, taps, strides, [0], [1], up, 0.0).sum((-1, -2))
    numbers = windows(np.arange(x[..., 0, 0].size * math.prod(plane)).reshape(x.shape), taps,
                      strides, pads, [1], up, -1)  # fmt: skip
    counts = counts[: gradient.shape[-2], : gradient.shape[-1]]
    parts = gradient.value / (divisor or counts)
    parts = np.broadcast_to(parts[..., None, None], numbers.shape)
    value, size = np.zeros(x.size + 1), np.zeros(x.size + 1)
    np.add.at(value, numbers, parts)  # padding is the last one
    np.add.at(size, numbers, np.abs(parts))
    value, size = (each[:-1].reshape(x.shape) for each in (value, size))
    return Bounded(value, gradient.format, size * 2.0**-52 * (math.prod(numbers.shape[-2:]) + 8))


def _means(n: int, taps: int, stride: int, pad: int, up: bool, count_pad: bool) -> np.ndarray:
    """(out, n) weights of the means of windows."""
    weights = np.zeros((out_length(n, taps, stride, pad, 1, up), n))
    for i, row in enumerate(weights):
        begin, end = i * stride - pad, min(i * stride - pad + taps, n + pad)
        inside = row[max(begin, 0) : min(end, n)]
        inside[:] = 1 / (end - begin if count_pad else inside.size)
    return weights


def _pooling(x, taps, strides, pads, up: bool, count_pad: bool, divisor: int):
    matrices = [_means(n, _axis(taps, i), _axis(strides or taps, i), _axis(pads, i), up, count_pad)
                for i, n in enumerate(x.shape[-3:])]  # fmt: skip
    if divisor:
        matrices = [(each > 0).astype(float) for each in matrices]
        matrices[0] /= divisor
    return matrices


def avg_pool3d(x, *setting):
    return _weighted(x, _pooling(x, *setting))


def avg_pool3d_backward(gradient, x, *setting):
    return _weighted(gradient, [each.T for each in _pooling(x, *setting)])


def max_unpool(x, indices, size):
    lead, dims = x.shape[: x.ndim - len(size)], len(size)
    out = np.zeros((math.prod(lead), math.prod(size)), x.dtype)
    rows = (len(out), math.prod(x.shape[-dims:]))
    np.put_along_axis(out, indices.reshape(rows).astype(np.int64), x.reshape(rows), 1)
    return out.reshape(*lead, *size)
