# SPDX-License-Identifier: Apache-2.0
"""Parts, slices and other shapes of tensors as records name them, in NumPy."""

import numpy as np

from bounded import DOUBLE, Bounded


def _rows(x, dim: int, chunks: int):
    """Chunks along a dimension as rows, zeros behind the last elements."""
    each = -(-x.shape[dim] // chunks)
    grown = np.zeros((*x.shape[:dim], each * chunks, *x.shape[dim + 1:]))
    grown[(slice(None),) * dim + (slice(x.shape[dim]),)] = x
    inner = int(np.prod(x.shape[dim + 1:], dtype=int))
    return grown.reshape(*x.shape[:dim], chunks, each * inner)


def chunk_cat(tensors, dim: int, chunks: int):
    dim %= tensors[0].ndim
    rows = [_rows(each.value, dim, chunks) for each in tensors]
    return Bounded(np.concatenate(rows, -1), DOUBLE)


def split_with_size(x, sizes, dim: int):
    return np.split(x, np.cumsum(sizes)[:-1], dim)


def split_tensor(x, part: int, dim: int):
    return np.split(x, range(part, x.shape[dim], part), dim)


def strided_slice(x, begin, end, strides, no_begin, no_end, ellipsis, new_axis, shrink):
    """Bit i of a mask is about entry i."""

    def has(mask, i):
        return mask >> i & 1

    place = []
    for i, entry in enumerate(zip(begin, end, strides, strict=True)):
        first, last, step = entry
        place.append(
            ... if has(ellipsis, i) else None if has(new_axis, i) else first if has(shrink, i)
            else slice(None if has(no_begin, i) else first, None if has(no_end, i) else last, step)
        )
    return x[tuple(place)]


def confusion_transpose(x, perm, shape, transpose_first: bool):
    if transpose_first:
        return np.transpose(x, perm).reshape(shape)
    return np.transpose(x.reshape(shape), perm)


def unfold(x, dim: int, size: int, step: int):
    """Windows along a dimension in its place, and what is in them as the last one."""
    windows = np.lib.stride_tricks.sliding_window_view(x, size, dim)
    return np.take(windows, range(0, x.shape[dim] - size + 1, step), dim % x.ndim)


def unfold_backward(gradient, shape, dim: int, size: int, step: int):
    """Each element's gradient is the sum over the windows that hold it."""
    total, magnitude = np.zeros(shape), np.zeros(shape)
    dim %= len(shape)
    windows = gradient.shape[dim]
    for i in range(size):
        place = [slice(None)] * len(shape)
        place[dim] = slice(i, i + windows * step, step)
        terms = gradient.value[..., i]
        total[tuple(place)] += terms
        magnitude[tuple(place)] += np.abs(terms)
    return Bounded(total, DOUBLE, 64 * DOUBLE.unit * np.nan_to_num(magnitude))


def _coordinates(length: int, align: bool):
    """From -1 to 1: centres of pixels, or the outermost of them at the ends."""
    if align:
        return np.linspace(-1, 1, length) if length > 1 else np.zeros(1)
    return (2 * np.arange(length) + 1) / length - 1


def affine_grid(theta, size, align: bool):
    """x, which is along the last dimension, comes first."""
    axes = np.meshgrid(*(_coordinates(n, align) for n in size[2:]), indexing="ij")
    points = np.stack([*axes[::-1], np.ones(size[2:])], -1).reshape(-1, len(size) - 1)
    flat = points @ Bounded(np.swapaxes(theta.value, -1, -2), DOUBLE)
    return flat.reshape(size[0], *size[2:], len(size) - 2)
