# SPDX-License-Identifier: Apache-2.0
"""Planes at the coordinates of a grid, and the gradients, from their formulas."""

import itertools
import math

import numpy as np

from bounded import Bounded

A = -0.75  # of cubic convolution


def _kernel(distance):
    x = np.abs(distance)
    near = ((A + 2) * x - (A + 3)) * x * x + 1
    far = ((A * x - 5 * A) * x + 8 * A) * x - 4 * A
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _kernel_slope(distance):
    x = np.abs(distance)
    near = (3 * (A + 2) * x - 2 * (A + 3)) * x
    far = (3 * A * x - 10 * A) * x + 8 * A
    return np.sign(distance) * np.where(x < 1, near, np.where(x < 2, far, 0))


def _inside(place, n: int, outside: int, align: bool):
    """Where a place is that has to be inside, and the slope of that."""
    slope = np.ones(place.shape)
    if outside == 0:
        return place, slope
    if outside == 2:
        low, span = (0.0, n - 1.0) if align else (-0.5, float(n))
        if span == 0:
            place, slope = 0 * place, 0 * slope
        else:
            distance, slope = np.abs(place - low), np.where(place < low, -1.0, 1.0)
            rest, back = np.fmod(distance, span), np.fmod(np.floor(distance / span), 2) != 0
            place = np.where(back, span - rest + low, rest + low)
            slope = np.where(back, -slope, slope)
    free = (place > 0) & (place < n - 1)
    return np.where(place > 0, np.minimum(place, n - 1), 0.0), np.where(free, slope, 0.0)


def _taps(x, n: int, mode: int, outside: int, align: bool):
    """Of each tap: numbers of elements, -1 for none, weights, and their slopes."""
    place = (x + 1) / 2 * (n - 1) if align else ((x + 1) * n - 1) / 2
    factor = (n - 1) / 2 if align else n / 2
    taps = []
    if mode == 2:
        first = np.floor(place)
        for k in range(-1, 3):
            at, _ = _inside(first + k, n, outside, align)
            away = place - first - k
            taps.append((at, _kernel(away), factor * _kernel_slope(away)))
    else:
        place, bent = _inside(place, n, outside, align)
        if mode == 1:
            taps.append((np.rint(place), np.ones(place.shape), np.zeros(place.shape)))
        else:
            first, slope = np.floor(place), factor * bent
            taps.append((first, first + 1 - place, -slope))
            taps.append((first + 1, place - first, slope))
    return [(np.where((at >= 0) & (at < n), at, -1).astype(np.int64), *rest) for at, *rest in taps]


def _combinations(lengths, grid, *setting):
    """Of every tap of all dimensions: numbers of elements, (N, P), weights, slopes by each axis."""
    flat = grid.reshape(grid.shape[0], math.prod(grid.shape[1:-1]), grid.shape[-1])
    axes = [_taps(flat[..., len(lengths) - 1 - i], n, *setting) for i, n in enumerate(lengths)]
    for chosen in itertools.product(*axes):
        number, is_there = 0, True
        for (at, _, _), n in zip(chosen, lengths, strict=True):
            number, is_there = number * n + at, is_there & (at >= 0)
        weights = [weight for _, weight, _ in chosen]
        slopes = [np.prod([*weights[:i], slope, *weights[i + 1 :]], axis=0)
                  for i, (_, _, slope) in enumerate(chosen)]  # fmt: skip
        yield np.where(is_there, number, -1), np.prod(weights, axis=0), slopes


def _seen(planes, number):
    """(N, C, P) elements, 0 where there is none."""
    batch, channels = planes.shape[:2]
    rows = np.broadcast_to(number[:, None], (batch, channels, number.shape[1]))
    return np.where(rows >= 0, np.take_along_axis(planes, np.maximum(rows, 0), -1), 0.0)


def grid_sampler(x, grid, *setting):
    lengths, places = x.shape[2:], grid.shape[1:-1]
    planes = x.value.reshape(*x.shape[:2], math.prod(lengths))
    total = size = np.zeros((*x.shape[:2], math.prod(places)))
    for number, weight, _ in _combinations(lengths, grid.value, *setting):
        seen = _seen(planes, number)
        weight = weight[:, None]
        total, size = total + seen * weight, size + np.abs(seen) * (1 + np.abs(weight))
    shape = (*x.shape[:2], *places)
    return Bounded(total.reshape(shape), x.format, size.reshape(shape) * 2.0**-46)


def grid_sampler_backward(gradient, x, grid, mode, outside, align, mask):
    lengths = x.shape[2:]
    planes = x.value.reshape(*x.shape[:2], math.prod(lengths))
    above = gradient.value.reshape(*x.shape[:2], math.prod(grid.shape[1:-1]))
    by_x, size = np.zeros(planes.shape), np.zeros(planes.shape)
    by_grid = np.zeros((*above[:, 0].shape, len(lengths)))
    extent = np.zeros(by_grid.shape)
    batch, channel = np.indices(x.shape[:2])[:, :, :, None]
    for number, weight, slopes in _combinations(lengths, grid.value, mode, outside, align):
        there = np.broadcast_to(number[:, None] >= 0, above.shape)
        where = tuple(np.broadcast_to(each, above.shape)[there]
                      for each in (batch, channel, number[:, None]))  # fmt: skip
        parts = above * weight[:, None]
        np.add.at(by_x, where, parts[there])
        np.add.at(size, where, (np.abs(parts) + np.abs(above))[there])
        seen = _seen(planes, number) * above
        for i, slope in enumerate(slopes):
            along = len(lengths) - 1 - i
            by_grid[..., along] += seen.sum(1) * slope
            extent[..., along] += np.abs(seen).sum(1) * (np.abs(slope) + max(lengths))
    made = [(by_x, size, x.shape), (by_grid, extent, grid.shape)]
    return tuple(
        Bounded(value.reshape(shape), x.format, error.reshape(shape) * 2.0**-42) if asked else None
        for asked, (value, error, shape) in zip(mask, made, strict=True)
    )
