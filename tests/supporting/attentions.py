# SPDX-License-Identifier: Apache-2.0
"""Attention of batches of sequences, and its gradients, in NumPy."""

import numpy as np

from bounded import Bounded
from chance import kept_bits, philox_below

_TO_HEADS = {"BNSD": (0, 1, 2, 3), "BSND": (0, 2, 1, 3), "BSH": (0, 2, 1, 3), "SBH": (1, 2, 0, 3)}


def _heads(x, layout: str, width: int):
    """As (batch, head, row, element)."""
    if len(layout) == 3:
        x = x.reshape((*x.shape[:2], -1, width))
    return np.transpose(x, _TO_HEADS[layout])


def _layout(x, layout: str):
    """And back."""
    back = np.argsort(_TO_HEADS[layout])
    x = np.transpose(x, tuple(int(axis) for axis in back))
    return x.reshape((*x.shape[:2], -1)) if len(layout) == 3 else x


def hidden_by(mode: int, rows: int, keys: int, before: int, after: int, prefix=0):
    """(row, key): what a sparse mode hides, whatever the mask has."""
    i, j = np.ogrid[:rows, :keys]
    places = i + keys - rows  # the last row is at the last key
    if mode == 0:
        return (j < i - before) | (j > i + after)
    if mode == 2:
        return j > i
    if mode == 3:
        return j > places
    if mode == 4:
        return (j < places - before) | (j > places + after)
    if mode in (5, 6):
        return (j > places) & (j >= prefix)
    return np.zeros((rows, keys), bool)


def _weights(q, k, mask, scale, before: int, after: int, mode: int, shift=None, sink=None,
             prefix=None):  # fmt: skip
    """The softmax of the scores that are not hidden, the maxima and the sums."""
    hidden = np.zeros((1, 1, q.shape[2], k.shape[2]), bool)
    if mode == 2 or mask is not None:
        prefix = 0 if prefix is None else np.reshape(prefix, (-1, 1, 1, 1))
        hidden = hidden | hidden_by(mode, q.shape[2], k.shape[2], before, after, prefix)
    if mask is not None and mode < 2:
        hidden = hidden | (mask != 0)
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) * scale
    scores = scores if shift is None else scores + shift
    hidden = np.broadcast_to(hidden, scores.shape)
    top = np.max(np.where(hidden, -np.inf, scores.value), axis=-1, keepdims=True)
    sink = None if sink is None else sink.reshape(1, -1, 1, 1)
    top = top if sink is None else np.maximum(top, sink.value)
    empty = top == -np.inf
    top = np.where(empty, 0, top)
    powers = np.where(hidden, 0, np.exp(scores - top))
    total = np.sum(powers, axis=-1, keepdims=True)
    total = total if sink is None else total + np.exp(sink - top)
    error = np.max(scores.error, axis=-1, keepdims=True)
    return powers / np.where(empty, 1, total), Bounded(top, q.format, error), total


def _kept(drops, shape, keep: float, seed, offset):
    """1 / keep where something stays, else 0."""
    if keep >= 1:
        return 1.0
    if drops is not None:
        return kept_bits(drops, shape) / keep
    return 1.0 if seed is None else philox_below(shape, seed, offset, keep) / keep


def _pair(q, k, v, heads: int, layout: str):
    width = q.shape[-1] // heads if len(layout) == 3 else q.shape[-1]
    q, k = _heads(q, layout, width), _heads(k, layout, width)
    v = _heads(v, layout, v.shape[-1] // k.shape[1] if len(layout) == 3 else v.shape[-1])
    served = q.shape[1] // k.shape[1]  # heads of q for each of k
    return q, np.repeat(k, served, 1), np.repeat(v, served, 1), served


def _position_shift(shift, kind: int, starts, scale, rows: int, keys: int):
    """What is added to scores: numbers, or distances of places times slopes of heads."""
    if shift is None or kind < 2:
        return shift * scale if shift is not None and kind == 1 else shift
    row, key = (start[0] if start else 0 for start in starts)
    i, j = np.ogrid[:rows, :keys]
    distances = np.abs(i + row - j - key).astype(np.float64)
    return shift.reshape(-1, shift.shape[-1], 1, 1) * -(np.sqrt(distances) if kind == 3 else distances)


def attention(q, k, v, shift, drops, mask, prefix, scale, keep, before, after, heads, layout, mode,
              kind=1, row_start=None, key_start=None, seed=None, offset=None, sink=None):  # fmt: skip
    q, k, v, _ = _pair(q, k, v, heads, layout)
    starts = (row_start, key_start)
    shift = _position_shift(shift, kind, starts, scale, q.shape[2], k.shape[2])
    weights, top, total = _weights(q, k, mask, scale, before, after, mode, shift, sink, prefix)
    out = np.matmul(weights * _kept(drops, weights.shape, keep, seed, offset), v)
    sums = (np.repeat(each, 8, axis=-1) for each in (top, total))
    return *sums, None, _layout(out, layout)


def _backward(q, k, v, dy, shift, drops, mask, prefix, scale, keep, before, after, heads, layout, mode,
              kind, row_start, key_start, seed, offset, sink):  # fmt: skip
    q, k, v, served = _pair(q, k, v, heads, layout)
    dy = _heads(dy, layout, v.shape[-1])
    starts = (row_start, key_start)
    given, shift = shift, _position_shift(shift, kind, starts, scale, q.shape[2], k.shape[2])
    weights, _, _ = _weights(q, k, mask, scale, before, after, mode, shift, sink, prefix)
    kept = _kept(drops, weights.shape, keep, seed, offset)
    *gradients, scores, dsink = _gradients(q, k, v, dy, weights, kept, scale, served)
    dshift = None
    if given is not None and kind < 2:
        dshift = _within(scores if kind == 1 else scores / scale, given.shape)
    dsink = None if sink is None else dsink
    return *(_layout(each, layout) for each in gradients), dshift, dsink


def _within(x, shape):
    """Summed where the shape is broadcast."""
    full = (1,) * (x.ndim - len(shape)) + shape
    axes = tuple(i for i, n in enumerate(full) if n == 1)
    return np.sum(x, axis=axes, keepdims=True).reshape(shape) if axes else x.reshape(shape)


def attention_backward(q, k, v, dy, shift, drops, mask, prefix, scale, keep, before, after, heads, layout,
                       mode, kind=1, row_start=None, key_start=None):  # fmt: skip
    return _backward(q, k, v, dy, shift, drops, mask, prefix, scale, keep, before, after, heads, layout, mode,
                     kind, row_start, key_start, None, None, None)[:4]  # fmt: skip


def seeded_attention_backward(q, k, v, dy, shift, drops, mask, prefix, scale, keep, before, after, heads,
                              layout, mode, kind, row_start, key_start, seed, offset):  # fmt: skip
    *gradients, dshift, _ = _backward(
        q, k, v, dy, shift, drops, mask, prefix, scale, keep, before, after, heads, layout, mode,
        kind, row_start, key_start, seed, offset, None)  # fmt: skip
    return *gradients, None, None, dshift


def sink_attention(q, k, v, shift, drops, mask, prefix, scale, keep, before, after, heads, layout, mode,
                   kind, row_start, key_start, sink):  # fmt: skip
    return attention(q, k, v, shift, drops, mask, prefix, scale, keep, before, after, heads, layout, mode,
                     kind, row_start, key_start, sink=sink)  # fmt: skip


def sink_attention_backward(q, k, v, dy, shift, drops, mask, prefix, scale, keep, before, after, heads,
                            layout, mode, kind, row_start, key_start, sink):  # fmt: skip
    return _backward(q, k, v, dy, shift, drops, mask, prefix, scale, keep, before, after, heads, layout, mode,
                     kind, row_start, key_start, None, None, sink)  # fmt: skip


def _gradients(q, k, v, dy, weights, kept, scale, served: int):
    """Of q, k, v, the scores and the sink."""
    slopes = np.matmul(dy, np.swapaxes(v, -1, -2)) * kept
    mean = np.sum(slopes * weights, axis=-1, keepdims=True)
    scores = weights * (slopes - mean) * scale
    rest = 1 - np.sum(weights, axis=-1, keepdims=True)  # the weight of the sink

    def of_served(x):
        return np.sum(x.reshape((x.shape[0], -1, served, *x.shape[2:])), axis=2)

    dk = of_served(np.matmul(np.swapaxes(scores, -1, -2), q))
    dv = of_served(np.matmul(np.swapaxes(weights * kept, -1, -2), dy))
    return np.matmul(scores, k), dk, dv, scores, -np.sum(rest * mean, axis=(0, 2, 3))


def window_softmax(x, mask, bias, scale):
    """Of windows: a mask of each window and a bias of each head are added to scaled scores."""
    rows = x.shape[-2:]
    heads = x.shape[-3]
    windows = x.shape[1] if x.ndim == 5 else 1 if mask is None else mask.size // (rows[0] * rows[1])
    scores = x.reshape((-1, windows, heads, *rows)) * scale
    if mask is not None:
        scores = scores + mask.reshape((1, windows, 1, *rows))
    scores = scores + bias.reshape((1, 1, heads, *rows))
    powers = np.exp(scores - np.max(scores.value, axis=-1, keepdims=True))
    return (powers / np.sum(powers, axis=-1, keepdims=True)).reshape(x.shape)


def rescaled_qkv(qkv, bias, heads: int):
    batch, steps, width = qkv.shape
    total = (qkv + bias).reshape(batch, steps, 3, heads, width // 3 // heads)
    order = (0, 2, 1, 3)
    q, k, v = (
        Bounded(part.value.transpose(order), total.format, part.error.transpose(order))
        for part in (total[:, :, i] for i in range(3))
    )
    return q * (1 / np.sqrt(width // 3 // heads)), k, v
