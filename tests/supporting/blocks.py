# SPDX-License-Identifier: Apache-2.0
"""BlockSparseAttention and its gradient in NumPy: each block of rows sees some blocks of keys."""

import numpy as np

from bounded import Bounded


def block_attention(q, k, v, seen, shape, row_counts, key_counts, layout, scale, asked):
    lse_shape = (*q.shape[:-1], 1)
    out, sums = np.zeros((2, *q.shape[:-1], v.shape[-1])), np.zeros((2, *lse_shape))
    sums[0] = -np.inf
    for at, keys in _rows(q, k, seen, shape, row_counts, key_counts, layout):
        if not keys:
            continue
        weights, lse = _softmax(q, k, at, keys, scale)
        found = np.matmul(weights, _taken(v, keys))
        for to, what in ((out, found[0]), (sums, lse)):
            to[(0, *at)], to[(1, *at)] = what.value, what.error
    return Bounded(out[0], q.format, out[1]), Bounded(sums[0], q.format, sums[1]) if asked else None


def block_backward(dy, q, k, v, out, sums, seen, shape, row_counts, key_counts, layout, scale):
    """By what the forward left, as it is given."""
    dq, dk, dv = (np.zeros((2, *x.shape)) for x in (q, k, v))  # values and errors
    for at, keys in _rows(q, k, seen, shape, row_counts, key_counts, layout):
        if not keys or sums.value[at] == -np.inf:
            continue
        of_k, of_v = _taken(k, keys), _taken(v, keys)
        row, slope = q[at].reshape((1, -1)), dy[at].reshape((1, -1))
        scores = np.matmul(row, np.swapaxes(of_k, 0, 1)) * scale
        weights = np.exp(scores - sums[at].reshape((1, 1)))
        means = np.sum(dy[at] * out[at])
        slopes = weights * (np.matmul(slope, np.swapaxes(of_v, 0, 1)) - means) * scale
        _add(dq, at, np.matmul(slopes, of_k)[0])
        for i, key in enumerate(keys):
            _add(dk, key, np.matmul(slopes[:, i].reshape((1, 1)), row)[0])
            _add(dv, key, np.matmul(weights[:, i].reshape((1, 1)), slope)[0])
    return tuple(Bounded(x[0], q.format, x[1]) for x in (dq, dk, dv))


def _softmax(q, k, at, keys, scale):
    """(1, key) weights of a row, and the logarithm of its sum."""
    scores = np.matmul(q[at].reshape((1, -1)), np.swapaxes(_taken(k, keys), 0, 1)) * scale
    top = np.max(scores.value)
    powers = np.exp(scores - top)
    total = np.sum(powers)
    return powers / total, np.log(total) + top


def _taken(x, keys):
    places = tuple(np.array(keys).T)
    return Bounded(x.value[places], x.format, x.error[places])


def _add(to, where, what):
    to[(0, *where)] += what.value
    to[(1, *where)] += what.error


def _rows(q, k, seen, shape, row_counts, key_counts, layout):
    """(place in q, places in k) of each row that counts."""
    heads = q.shape[1]
    seen, packed = np.asarray(seen), layout == "TND"
    served = k.shape[1]
    first_row = first_key = 0
    for b in range(len(row_counts) if packed else q.shape[0]):
        rows = row_counts[b] if row_counts else q.shape[2]
        keys = key_counts[b] if key_counts else k.shape[2]
        for h in range(heads):
            for i in range(rows):
                allowed = seen[b, h, i // shape[0]]
                found = [j for j in range(keys) if allowed[j // shape[1]]]
                own = h * served // heads
                yield ((first_row + i, h) if packed else (b, h, i),
                       [(first_key + j, own) if packed else (b, own, j) for j in found])  # fmt: skip
        first_row, first_key = first_row + rows, first_key + keys
