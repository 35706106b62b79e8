# SPDX-License-Identifier: Apache-2.0
"""Native Sparse Attention of inference, in NumPy: one row of each batch, keys in blocks of a cache."""

import numpy as np

from attentions import _weights
from bounded import Bounded
from inference import _heads, _listed
from selected import _best


def paged_compress_attention(
    q, k, v, table, counts, heads, served, size, count, compressed, stride, scale, layout
):
    rows, k, v = _rows(q, heads), _cache(k, served), _cache(v, served)
    out = np.zeros((2, *rows.shape[:2], v.shape[-1]))  # values and errors
    chosen = np.full((len(rows), served, count), -1)
    for b, keys in enumerate(counts):
        if not keys:
            continue
        of_k, of_v = (_listed(each, _plain(table)[b], keys) for each in (k, v))
        weights, found = _attend(rows[b], of_k, of_v, scale)
        out[0, b], out[1, b] = found.value, found.error
        sums = weights.reshape(served, heads // served, 1, keys).sum(1)
        blocks = -(-((keys - 1) * stride + compressed) // size)
        places = np.arange(blocks)[None]
        always = (places == 0) | (places >= blocks - 2)
        chosen[b] = _best(sums, blocks, always, compressed // stride, size // stride, count)[0]
    lead = (1,) if layout == "BSND" else ()
    return _laid(Bounded(out[0], q.format, out[1]), layout), chosen.reshape(
        (len(rows), *lead, served, count))  # fmt: skip


def paged_selected_attention(q, k, v, chosen, table, counts, heads, served, size, scale, layout):
    rows, k, v = _rows(q, heads), _cache(k, served), _cache(v, served)
    out = np.zeros((2, *rows.shape[:2], v.shape[-1]))  # values and errors
    group = heads // served
    for b, keys in enumerate(counts):
        of_k, of_v = (_listed(each, _plain(table)[b], keys) for each in (k, v))
        for h in range(served):
            blocks = _plain(chosen).reshape((len(rows), served, -1))[b, h]
            places = [n * size + i for n in blocks if n >= 0 for i in range(size)]
            places = [int(place) for place in places if place < keys]
            if not places:
                continue
            own = slice(h * group, (h + 1) * group)
            _, found = _attend(rows[b, own], of_k[h : h + 1, places], of_v[h : h + 1, places], scale)
            out[0, b, own], out[1, b, own] = found.value, found.error
    return _laid(Bounded(out[0], q.format, out[1]), layout)


def paged_compress(x, weight, slots, lengths, table, size, stride, cache):
    """The last keys of batches that fill a block; rows of the cache that no batch fills stay."""
    out, errors = np.array(cache.value), np.zeros(cache.shape)
    for b, keys in enumerate(lengths):
        if keys < size or (keys - size) % stride:
            continue
        last = _listed(_cache(x, x.shape[2]), _plain(table)[b], keys)[:, keys - size :]
        found = np.sum(last * np.transpose(weight, (1, 0)).reshape((-1, size, 1)), axis=1)
        out[_plain(slots)[b]], errors[_plain(slots)[b]] = found.value, found.error
    return Bounded(out, x.format, errors)


def _attend(rows, k, v, scale):
    """(head, key) and (head, element): the weights of a row of each head, and its result."""
    group = rows.shape[0] // k.shape[0]
    of_k, of_v = (np.repeat(each, group, 0)[None] for each in (k, v))
    weights, _, _ = _weights(rows.reshape((1, rows.shape[0], 1, -1)), of_k, None, scale, 0, 0, 1)
    return weights.value[0, :, 0], np.matmul(weights, of_v)[0, :, 0]


def _plain(tensor):
    return np.asarray(getattr(tensor, "value", tensor)).astype(np.int64)


def _rows(q, heads: int):
    """(batch, head, element)."""
    return q.reshape((q.shape[0], heads, -1))


def _cache(x, heads: int):
    """(block, head, row, element)."""
    return _heads(x, "BSH" if x.ndim == 3 else "BSND", heads)


def _laid(out, layout: str):
    """From (batch, head, element)."""
    if layout == "TND":
        return out
    batches, heads, width = out.shape
    return out.reshape((batches, 1, heads, width) if layout == "BSND" else (batches, 1, heads * width))
