# SPDX-License-Identifier: Apache-2.0
"""FusedFloydAttention and its gradient in NumPy: keys and values are sums of those of two places."""

import numpy as np

_SWAPPED = (0, 1, 3, 2, 4)  # the two places of a row change places


def _scores(q, k1, k2):
    """(batch, head, first, second, key): a product with the keys of each place."""
    return _by_first(q, k1) + _by_second(q, k2)


def _by_first(x, k1):
    return np.matmul(x, np.swapaxes(k1, -1, -2))


def _by_second(x, k2):
    products = np.matmul(np.transpose(x, _SWAPPED), np.transpose(k2, (0, 1, 3, 4, 2)))
    return np.transpose(products, _SWAPPED)


def _sums(weights, v1, v2):
    """The weighted sums of the values of both places."""
    second = np.matmul(np.transpose(weights, _SWAPPED), np.transpose(v2, _SWAPPED))
    return np.matmul(weights, v1) + np.transpose(second, _SWAPPED)


def floyd_attention(q, k1, v1, k2, v2, mask, scale):
    hidden = np.broadcast_to(np.zeros(1, bool) if mask is None else mask.value != 0, (*q.shape[:-1], k1.shape[3]))
    scores = _scores(q, k1, k2) * scale
    top = np.max(np.where(hidden, -np.inf, scores.value), axis=-1, keepdims=True)
    empty = top == -np.inf
    top = np.where(empty, 0.0, top)
    powers = np.where(hidden, 0.0, np.exp(scores - top))
    total = np.sum(powers, axis=-1, keepdims=True)
    out = _sums(powers / np.where(empty, 1.0, total), v1, v2)
    top = scores._like(top, np.max(scores.error, axis=-1, keepdims=True))
    return np.repeat(top, 8, axis=-1), np.repeat(total, 8, axis=-1), out


def floyd_backward(q, k1, v1, k2, v2, dy, mask, tops, totals, out, scale):
    """By what the forward left, as it is given."""
    hidden = np.broadcast_to(np.zeros(1, bool) if mask is None else mask.value != 0, (*q.shape[:-1], k1.shape[3]))
    scores = _scores(q, k1, k2) * scale
    weights = np.where(hidden, 0.0, np.exp(scores - tops[..., :1]) / totals[..., :1])
    slopes = _scores(dy, v1, v2) - np.sum(dy * out, axis=-1, keepdims=True)
    slopes = np.where(hidden, 0.0, weights * slopes * scale)
    by_keys = (_over_second(slopes, q), _over_first(slopes, q))
    by_values = (_over_second(weights, dy), _over_first(weights, dy))
    return _sums(slopes, k1, k2), by_keys[0], by_values[0], by_keys[1], by_values[1]


def _over_second(weights, x):
    """(batch, head, first, key, element): summed over the second place."""
    return np.matmul(np.swapaxes(weights, -1, -2), x)


def _over_first(weights, x):
    """(batch, head, key, second, element): summed over the first place."""
    sums = np.matmul(np.transpose(weights, (0, 1, 3, 4, 2)), np.transpose(x, _SWAPPED))
    return np.transpose(sums, _SWAPPED)
