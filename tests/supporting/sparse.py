# SPDX-License-Identifier: Apache-2.0
"""DeepSeek Sparse Attention in NumPy: an indexer chooses keys of each row, attention sees these."""

import numpy as np

from bounded import Bounded
from inference import _listed


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
