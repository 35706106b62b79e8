# SPDX-License-Identifier: Apache-2.0
"""DeepSeek Sparse Attention in NumPy: an indexer chooses keys of each row, attention sees these."""

import numpy as np

from attentions import _weights
from bounded import Bounded
from inference import _joined, _listed


def index_keys(
    q, k, weights, row_counts, key_counts, table, q_layout, k_layout, count, mode, asked
):
    shape = (*q.shape[:-2], 1, count)
    chosen, values = np.full(shape, -1), np.full(shape, -np.inf)
    errors = np.zeros(shape)
    for at, keys, seen in _rows(q, k, row_counts, key_counts, table, q_layout, k_layout, mode):
        products = np.matmul(q[at], np.swapaxes(keys(k), 0, 1))  # (head, key)
        positive = np.where(products.value < 0, 0, products)
        sums = np.sum(weights[at].reshape((-1, 1)) * positive, axis=0)[:seen]
        order = np.argsort(-sums.value, kind="stable")[:count]
        chosen[at][0, : len(order)] = order
        values[at][0, : len(order)], errors[at][0, : len(order)] = sums.value[order], sums.error[order]
    return chosen, Bounded(values, q.format, errors) if asked else None


def index_whole_keys(q, k, weights, q_scale, k_scale, row_counts, key_counts, table, q_layout, k_layout, count,
                     mode):  # fmt: skip
    """Of INT8, with a factor for each row and head of q and for each key."""
    q, k = q * q_scale.reshape((*q_scale.shape, 1)), k * k_scale.reshape((*k_scale.shape, 1))
    return index_keys(q, k, weights, row_counts, key_counts, table, q_layout, k_layout, count, mode, False)[0]


def index_softmax(q, k, weights, row_ends, key_ends, layout):
    """Of each row the largest sum and the sum of exponentials; 0 if it sees no key."""
    packed = layout == "TND"
    lists = [np.array(each, np.int64) if packed else None for each in (row_ends, key_ends)]
    tops, sums = (np.zeros((2, *q.shape[:-2])) for _ in range(2))  # values and errors
    for at, keys, seen in _rows(q, k, *lists, None, layout, layout, 3):
        if seen <= 0:
            continue
        products = np.matmul(q[at], np.swapaxes(keys(k), 0, 1))  # (head, key)
        found = np.sum(weights[at].reshape((-1, 1)) * np.maximum(products, 0.0), axis=0)[:seen]
        top = np.max(found.value)
        total = np.sum(np.exp(found - top))
        tops[0][at], tops[1][at] = top, np.max(found.error)
        sums[0][at], sums[1][at] = total.value, total.error + 2 * total.value * np.max(found.error)
    shape = (1, -1) if packed else (q.shape[0], 1, q.shape[1])
    return tuple(Bounded(each[0].reshape(shape), q.format, each[1].reshape(shape)) for each in (tops, sums))


def index_keys_backward(q, k, dy, chosen, weights, row_counts, key_counts, layout, mode):
    dq, dk, dw = (np.zeros((2, *x.shape)) for x in (q, k, weights))  # values and errors
    chosen = _plain(chosen)
    for at, keys, seen in _rows(q, k, row_counts, key_counts, None, layout, layout, mode):
        of_k, first = keys(k), _first(key_counts, at, row_counts, layout)
        for entry, place in enumerate(chosen[at].reshape(-1)):
            if not 0 <= place < seen:
                continue
            slope = dy[at].reshape(-1)[entry]
            products = np.matmul(q[at], of_k[place].reshape((-1, 1)))  # (head, 1)
            positive = products.value > 0
            _add(dw, at, np.where(positive, slope * products, 0).reshape(-1))
            slopes = np.where(positive, slope * weights[at].reshape((-1, 1)), 0)
            _add(dq, at, slopes * of_k[place])
            key = (first + place, 0) if layout == "TND" else (at[0], place, 0)
            _add(dk, key, np.sum(slopes * q[at], axis=0))
    return tuple(Bounded(x[0], q.format, x[1]) for x in (dq, dk, dw))


def sparse_attention(
    q, k, v, chosen, table, row_counts, key_counts, q_rope, k_rope, scale, size, q_layout,
    k_layout, mode, asked, sinks=None,
):  # fmt: skip
    heads = q.shape[-2]
    out = np.zeros((2, *q.shape[:-1], v.shape[-1]))  # values and errors
    tops, sums = (np.zeros((2, *q.shape[:-1])) for _ in range(2))
    if sinks is not None:  # of rows that see no key
        tops[0], sums[0] = sinks.value, 1
    chosen, both = _plain(chosen), _joined(q, q_rope, -1)
    for at, keys, seen in _rows(q, k, row_counts, key_counts, table, q_layout, k_layout, mode):
        places = [n * size + i for n in chosen[at][0] if n >= 0 for i in range(size)]
        places = [int(place) for place in places if place < seen]
        if not places:
            continue
        of_k, of_v = _joined(keys(k), keys(k_rope), -1)[places], keys(v)[places]
        of_k, of_v = (np.repeat(x[None], heads, 0)[None] for x in (of_k, of_v))
        rows = both[at].reshape((1, heads, 1, -1))
        found, top, total = _weights(rows, of_k, None, scale, 0, 0, 1, None, sinks)
        result = np.matmul(found, of_v)
        for to, what in ((out, result[0, :, 0]), (tops, top[0, :, 0, 0]), (sums, total[0, :, 0, 0])):
            to[(0, *at)], to[(1, *at)] = what.value, what.error
    out, tops, sums = (Bounded(x[0], q.format, x[1]) for x in (out, tops, sums))
    # With the head of the keys before the rows.
    tops, sums = (np.expand_dims(x, -3) for x in (tops, sums))
    return out, tops if asked else None, sums if asked else None


def kv_quant_sparse_attention(q, key, chosen, table, row_counts, key_counts, scale, size, q_layout, k_layout, mode,
                              rope, out):  # fmt: skip
    """Keys are rows of bytes: numbers, a rope of the result's type, factors of 128 numbers each."""
    own = q.shape[-1] - rope
    key = np.ascontiguousarray(key)
    bytes_of_rope = rope * np.dtype(out.dtype).itemsize
    numbers = key[..., :own].astype(np.float64)
    factors = np.ascontiguousarray(key[..., own + bytes_of_rope :]).view(np.float32).astype(np.float64)
    values = Bounded(numbers * np.repeat(factors, 128, -1)[..., :own], q.format)
    ropes = np.ascontiguousarray(key[..., own : own + bytes_of_rope]).view(out.dtype).astype(np.float64)
    return sparse_attention(q[..., :own], values, values, chosen, table, row_counts, key_counts, q[..., own:],
                            Bounded(ropes, q.format), scale, size, q_layout, k_layout, mode, False)[0]  # fmt: skip


def sparse_attention_backward(
    q, k, v, chosen, dy, out, tops, sums, row_counts, key_counts, q_rope, k_rope, scale, size,
    layout, mode,
):  # fmt: skip
    """From what the forward left, as it is given."""
    width, chosen = q.shape[-1], _plain(chosen)
    both_q, both_k = _joined(q, q_rope, -1), _joined(k, k_rope, -1)
    dq, dk, dv = (np.zeros((2, *x.shape)) for x in (both_q, both_k, v))  # values and errors
    means = np.sum(dy * out, axis=-1, keepdims=True)
    tops, sums = (x.reshape((*q.shape[:-1], 1)) for x in (tops, sums))
    for at, keys, seen in _rows(q, k, row_counts, key_counts, None, layout, layout, mode):
        places = [n * size + i for n in chosen[at][0] if n >= 0 for i in range(size)]
        places = [int(place) for place in places if place < seen]
        if not places:
            continue
        of_k, of_v = keys(both_k)[places], keys(v)[places]
        scores = np.matmul(both_q[at], np.swapaxes(of_k, 0, 1)) * scale
        weights = np.exp(scores - tops[at]) / sums[at]
        slopes = np.matmul(dy[at], np.swapaxes(of_v, 0, 1)) - means[at]
        slopes = weights * slopes * scale
        _add(dq, at, np.matmul(slopes, of_k))
        first = _first(key_counts, at, row_counts, layout)
        for i, place in enumerate(places):  # one key may come more than once
            key = (first + place, 0) if layout == "TND" else (at[0], place, 0)
            _add(dk, key, np.matmul(slopes[:, i][None], both_q[at])[0])
            _add(dv, key, np.matmul(weights[:, i][None], dy[at])[0])
    dq, dk, dv = (Bounded(x[0], q.format, x[1]) for x in (dq, dk, dv))
    return dq[..., :width], dk[..., :width], dv, dq[..., width:], dk[..., width:]


def _first(key_counts, at, row_counts, layout: str) -> int:
    """Where the keys of a packed row's sequence begin."""
    if layout != "TND":
        return 0
    batch = int(np.searchsorted(_plain(row_counts), at[0], side="right"))
    return int(_plain(key_counts)[batch - 1]) if batch else 0


def _add(to, where, what):
    to[(0, *where)] += what.value
    to[(1, *where)] += what.error


def _rows(q, k, row_counts, key_counts, table, q_layout, k_layout, mode: int):
    """(place in q, keys of a tensor like k, how many of them it sees) of each row that counts."""
    packed, row_counts, key_counts = q_layout == "TND", _plain(row_counts), _plain(key_counts)
    for b in range(len(row_counts) if packed else q.shape[0]):
        rows = _span(row_counts, b, q.shape[0 if packed else 1], packed)
        keys = _span(key_counts, b, k.shape[0 if k_layout == "TND" else 1], k_layout == "TND")
        n, m = rows.stop - rows.start, keys.stop - keys.start
        for i in range(n):
            row = rows.start + i
            seen = m if mode == 0 else min(max(m - n + i + 1, 0), m)
            yield (row,) if packed else (b, row), _reader(table, b, keys, k_layout), seen


def _reader(table, batch: int, keys: slice, layout: str):
    """(key, element) of a tensor like k, of the keys of a batch."""

    def read(x):
        if layout == "PA_BSND":
            return _listed(np.transpose(x, (0, 2, 1, 3)), _plain(table)[batch], keys.stop)[0]
        return (x if layout == "TND" else x[batch])[keys, 0]

    return read


def _span(counts, batch: int, every: int, ends: bool) -> slice:
    if counts is None:
        return slice(0, every)
    return slice(int(counts[batch - 1]) if ends and batch else 0, int(counts[batch]))


def _plain(tensor):
    return None if tensor is None else np.asarray(getattr(tensor, "value", tensor)).astype(np.int64)
