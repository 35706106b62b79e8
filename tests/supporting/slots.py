# SPDX-License-Identifier: Apache-2.0
"""Operators on lists of places: slices of batches, sparse tensors, decoding steps, in NumPy."""

import numpy as np

from places import _placed


def gather_batches(x, dim: int, index, batches: int):
    dim %= x.ndim
    if batches == 0:
        return np.take(x, index, dim)
    each = [gather_batches(a, dim - 1, i, batches - 1) for a, i in zip(x, index, strict=True)]
    return np.stack(each) if each else np.take(x, index.reshape(-1)[:0], dim)


def scatter_list(targets, places, updates, mask, axis: int):
    result = [each.copy() for each in targets]
    for b, target in enumerate(result):
        if mask is None or mask[b] != 0:
            along = np.moveaxis(target, axis, 0)
            part = np.moveaxis(updates[b], axis, 0)
            along[places[b]: places[b] + len(part)] = part
    return result


def coalesce(left, rows, indices, values):
    new_indices = np.zeros((len(left), *indices.shape[1:]), indices.dtype)
    new_indices[rows] = indices
    zeros = np.zeros((len(left), *values.shape[1:]), values.dtype)
    return new_indices, _placed(zeros, lambda a, b, at: at(a, (rows,), b), values, 1)


def _slots(tables, rows, positions, size: int):
    return tables[rows, positions // size] * size + positions % size


def advance_step(sampled, lengths, tables, count: int, queries: int, size: int):
    tokens, positions = np.zeros((2, count), np.int64)
    slots, lengths = np.full(count, -1), lengths.copy()
    rows = np.arange(queries)
    tokens[rows], positions[rows] = sampled[:, 0], lengths[rows]
    slots[rows] = _slots(tables, rows, lengths[rows], size)
    lengths[rows] += 1
    return tokens, positions, lengths, slots


def advance_step_guessed(sampled, positions, lengths, tables, guesses, accepted, count: int,
                         queries: int, size: int):  # fmt: skip
    if guesses is None:
        return advance_step(sampled, lengths, tables, count, queries, size)
    width = sampled.shape[1]
    ends = np.argmin(np.c_[sampled, np.full(count, -1)], 1)
    last = np.where(ends > 0, sampled[np.arange(count), ends - 1], -1)
    positions = positions + accepted.repeat(width) + 1
    slots = _slots(tables, np.arange(count).repeat(width), positions, size)
    return np.c_[last, guesses].reshape(-1), positions, positions + 1, slots
