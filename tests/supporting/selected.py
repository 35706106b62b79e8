# SPDX-License-Identifier: Apache-2.0
"""Native Sparse Attention in NumPy: compressed keys, and selected ones with their gradient."""

import numpy as np

from bounded import Bounded
from attentions import _weights


def selected_attention(q, k, v, chosen, row_ends, key_ends, scale, mode, size):
    group = q.shape[1] // k.shape[1]
    out = np.zeros((2, *q.shape[:2], v.shape[-1]))  # values and errors
    tops, sums = (np.zeros((2, *q.shape[:2], 1)) for _ in range(2))
    for t, h, keys in _seen(chosen, row_ends, key_ends, mode, size):
        served = slice(h * group, (h + 1) * group)
        of_k, of_v = (np.repeat(x[keys, h][None], group, 0)[None] for x in (k, v))
        weights, top, total = _weights(q[t, served][None, :, None], of_k, None, scale, 0, 0, 1)
        found = np.matmul(weights, of_v)
        for to, what in ((out, found), (tops, top), (sums, total)):
            to[0, t, served], to[1, t, served] = what.value[0, :, 0], what.error[0, :, 0]
    return *(np.repeat(Bounded(x[0], q.format, x[1]), 8, axis=-1) for x in (tops, sums)), Bounded(
        out[0], q.format, out[1])  # fmt: skip


def selected_attention_backward(
    q, k, v, out, dy, tops, sums, chosen, row_ends, key_ends, scale, mode, size
):
    """From what the forward left, as it is given."""
    group = q.shape[1] // k.shape[1]
    dq, dk, dv = (np.zeros((2, *x.shape)) for x in (q, k, v))
    means = np.sum(dy * out, axis=-1, keepdims=True)
    for t, h, keys in _seen(chosen, row_ends, key_ends, mode, size):
        served = slice(h * group, (h + 1) * group)
        of_q, of_k, of_v, of_dy = q[t, served], k[keys, h], v[keys, h], dy[t, served]
        scores = np.matmul(of_q, np.swapaxes(of_k, 0, 1)) * scale
        weights = np.exp(scores - tops[t, served, :1]) / sums[t, served, :1]
        slopes = np.matmul(of_dy, np.swapaxes(of_v, 0, 1)) - means[t, served]
        slopes = weights * slopes * scale
        _add(dq, (t, served), np.matmul(slopes, of_k))
        for i, key in enumerate(keys):  # one key may come more than once
            _add(dk, (key, h), np.matmul(slopes[:, i][None], of_q)[0])
            _add(dv, (key, h), np.matmul(weights[:, i][None], of_dy)[0])
    return tuple(Bounded(x[0], q.format, x[1]) for x in (dq, dk, dv))


def compress_attention(
    q, k, v, mask, always, row_ends, key_ends, block_ends, scale, compressed, stride, size, count
):
    """Sequence by sequence. What is left of the rows has all of its first head first."""
    group = q.shape[1] // k.shape[1]
    out = np.zeros((2, *q.shape[:2], v.shape[-1]))  # values and errors
    tops, sums = (np.zeros((2, *q.shape[:2], 1)) for _ in range(2))
    chosen = np.full((q.shape[0], k.shape[1], count), -1)
    for b, ends in enumerate(zip(row_ends, key_ends, block_ends, strict=True)):
        first = [each[b - 1] if b else 0 for each in (row_ends, key_ends, block_ends)]
        rows, keys = slice(first[0], ends[0]), slice(first[1], ends[1])
        n, m, blocks = (end - begin for begin, end in zip(first, ends, strict=True))
        if not n:
            continue
        weights = np.zeros((k.shape[1], n, m))
        if m:
            of_q, of_k, of_v = (
                np.transpose(x, (1, 0, 2)) for x in (q[rows], k[keys], v[keys])
            )
            hides = None if mask is None else np.asarray(mask)[:n, :m]
            found, top, total = _weights(
                of_q[None], np.repeat(of_k, group, 0)[None], hides, scale, 0, 0, 1
            )
            result = np.matmul(found, np.repeat(of_v, group, 0)[None])
            for part, each in enumerate(("value", "error")):
                out[part, rows] = np.transpose(getattr(result, each)[0], (1, 0, 2))
                for to, what in ((tops, top), (sums, total)):
                    to[part, rows] = getattr(what, each)[0].reshape(n, -1, 1)
            weights = found.value[0].reshape(k.shape[1], group, n, m).sum(1)
        picks = None if always is None else np.asarray(always)[:n, :blocks] != 0
        chosen[rows] = _best(weights, blocks, picks, compressed // stride, size // stride, count)
    results = (Bounded(x[0], q.format, x[1]) for x in (tops, sums, out))
    tops, sums, out = results
    return *(np.repeat(x, 8, axis=-1) for x in (tops, sums)), out, chosen


def _best(weights, blocks: int, picks, apart: int, wide: int, count: int):
    """(row, head, place): the blocks of the largest scores, the first ones of equal scores."""
    heads, rows, keys = weights.shape
    scores = np.zeros((heads, rows, blocks))
    for block in range(blocks):
        for m in range(wide):
            for n in range(apart):
                key = wide * (block + 1) - m - n
                if 0 <= key < keys:
                    scores[..., block] += weights[..., key]
    if picks is not None:
        scores = np.where(picks, np.inf, scores)
    order = np.argsort(-scores, axis=-1, kind="stable")[..., :count]
    best = np.full((heads, rows, count), -1)
    best[..., : order.shape[-1]] = order
    return np.transpose(best, (1, 0, 2))


def _seen(chosen, row_ends, key_ends, mode: int, size: int):
    """(row, head of k, keys) of those that see some: the keys that a row's blocks have for it."""
    chosen = np.asarray(getattr(chosen, "value", chosen)).astype(np.int64)
    for b, (end, key_end) in enumerate(zip(row_ends, key_ends, strict=True)):
        first, key_first = (ends[b - 1] if b else 0 for ends in (row_ends, key_ends))
        for t in range(first, end):
            last = key_end - key_first
            if mode == 2:
                last = min(last, t - first + 1)
            for h in range(chosen.shape[1]):
                places = (n * size + i for n in chosen[t, h] if n >= 0 for i in range(size))
                keys = [key_first + int(place) for place in places if place < last]
                if keys:
                    yield t, h, keys


def _add(to, where, what):
    to[(0, *where)] += what.value
    to[(1, *where)] += what.error
