# SPDX-License-Identifier: Apache-2.0
"""Caches of keys and values in blocks, in NumPy: tokens that become rows of them, and sequences that are
gathered from them."""

import numpy as np


def scatter_cache(key, key_cache, slots, value, value_cache, mode):
    """Of tokens with the same row the last one stays; a negative row is none."""
    return tuple(_scattered(tokens, cache, slots, mode) for tokens, cache in ((key, key_cache), (value, value_cache)))


def scatter_one_cache(key, cache, slots):
    return _scattered(key, cache, slots, "Norm")


def gather_cache(key_cache, value_cache, table, lengths, key, value, offsets, mode, ends):
    """A row whose block the table does not have, or the cache, is 0."""
    counts = np.diff(lengths) if ends else lengths
    return tuple(_gathered(of, cache, table, counts, offsets, mode)
                 for of, cache in ((key, key_cache), (value, value_cache)))  # fmt: skip


def grouped(rows, rank: int):
    """A cache (block, row, head, element) in groups of 32 bytes, of four or five dimensions."""
    blocks, count, heads, width = rows.shape
    group = 32 // rows.dtype.itemsize
    apart = rows.reshape((blocks, count, heads, width // group, group)).transpose(0, 2, 3, 1, 4)
    return apart if rank == 5 else apart.reshape((blocks, heads * (width // group), count, group))


def _rows(cache, heads: int):
    """The cache (block, row, head, element) that is in groups, as a copy."""
    apart = cache.reshape((cache.shape[0], heads, -1, *cache.shape[-2:])).transpose(0, 3, 1, 2, 4)
    return apart.reshape((*apart.shape[:3], -1)).copy()


def _scattered(tokens, cache, slots, mode):
    rows = _rows(cache, tokens.shape[1]) if mode == "PA_NZ" else cache.copy()
    for token, slot in zip(tokens, slots, strict=True):
        if slot >= 0:
            rows[slot // rows.shape[1], slot % rows.shape[1]] = token
    return grouped(rows, cache.ndim) if mode == "PA_NZ" else rows


def _gathered(out, cache, table, counts, offsets, mode):
    rows = _rows(cache, out.shape[1]) if mode == "PA_NZ" else cache
    out, size = out.copy(), rows.shape[1]
    places = [(b, j) for b, n in enumerate(counts) for j in range(n)]
    for token, (b, j) in enumerate(places):
        entry = (0 if offsets is None else offsets[b] // size) + j // size
        block = table[b, entry] if entry < table.shape[1] else -1
        out[token] = rows[block, j % size] if 0 <= block < len(rows) else 0
    return out
