# SPDX-License-Identifier: Apache-2.0
"""The divergence of an indexer's softmax from the weights of attention, and its gradients, in NumPy."""

import numpy as np

from bounded import Bounded
from sparse import _joined


def index_loss(q, k, q_index, k_index, weights, tops, totals, index_tops, index_totals, q_rope, k_rope, row_ends,
               key_ends, scale, layout):  # fmt: skip
    """Of all keys that a row sees."""
    return _loss(q, k, q_index, k_index, weights, None, tops, totals, (index_tops, index_totals), q_rope, k_rope,
                 row_ends, key_ends, scale, layout)  # fmt: skip


def chosen_index_loss(q, k, q_index, k_index, weights, chosen, tops, totals, q_rope, k_rope, row_ends, key_ends,
                      scale, layout):  # fmt: skip
    """Of the chosen keys."""
    return _loss(q, k, q_index, k_index, weights, chosen, tops, totals, None, q_rope, k_rope, row_ends, key_ends,
                 scale, layout)  # fmt: skip


def _loss(q, k, q_index, k_index, weights, chosen, tops, totals, index_sums, q_rope, k_rope, row_ends, key_ends,
          scale, layout):  # fmt: skip
    dq, dk, dw = (np.zeros((2, *x.shape)) for x in (q_index, k_index, weights))  # values and errors
    loss = np.zeros(2)
    packed = layout == "TND"
    if q_rope is not None:
        q, k = _joined(q, q_rope, -1), _joined(k, k_rope, -1)
    for at, first, seen in _rows(q, k, row_ends, key_ends, packed):
        keys = list(range(seen)) if chosen is None else [j for j in chosen[at][0] if 0 <= j < seen]
        if not keys:
            continue
        places = [first + j if packed else (at[0], first + j) for j in keys]
        target = _target(q[at], _taken(k, places), *(_numbers(x, at, packed) for x in (tops, totals)), scale)
        products = np.maximum(np.matmul(q_index[at], np.swapaxes(_taken(k_index, places)[:, 0], 0, 1)), 0.0)
        sums = np.sum(weights[at].reshape((-1, 1)) * products, axis=0)
        if index_sums is None:
            top = np.max(sums.value)
            log = sums - top - np.log(np.sum(np.exp(sums - top)))
        else:
            top, total = (_numbers(x, at, packed).reshape((1,)) for x in index_sums)
            log = sums - top - np.log(total)
        parts = np.where(target.value == 0, 0.0, target * (np.log(target) - log))
        loss += [np.sum(parts).value, np.sum(parts).error]
        slopes = np.exp(log) - target
        _add(dw, at, np.sum(slopes * products, axis=1))
        by_product = np.where(products.value > 0, weights[at].reshape((-1, 1)) * slopes, 0.0)
        _add(dq, at, np.matmul(by_product, _taken(k_index, places)[:, 0]))
        by_key = np.matmul(np.swapaxes(by_product, 0, 1), q_index[at])
        for i, place in enumerate(places):  # one key may come more than once
            _add(dk, (place, 0) if packed else (*place, 0), by_key[i])
    dq, dk, dw = (Bounded(x[0], q.format, x[1]) for x in (dq, dk, dw))
    return dq, dk, dw, Bounded(loss[:1], q.format, loss[1:])


def _target(row, keys, tops, totals, scale):
    """The weights of attention, summed over heads, divided by their sum."""
    heads, group = row.shape[0], row.shape[0] // keys.shape[1]
    own = np.repeat(np.transpose(keys, (1, 0, 2)), group, 0)  # (head, key, element)
    scores = np.matmul(row.reshape((heads, 1, -1)), np.swapaxes(own, -1, -2)) * scale
    powers = np.exp(scores - tops.reshape((heads, 1, 1))) / totals.reshape((heads, 1, 1))
    sums = np.sum(powers[:, 0], axis=0)
    return sums / np.sum(sums)


def _numbers(x, at, packed: bool):
    """Those of a row, of a tensor with heads before the rows."""
    return x[:, at[0]] if packed else x[at[0]][:, at[1]]


def _taken(x, places):
    index = (np.array(places),) if x.ndim == 3 else tuple(np.array(places).T)
    return Bounded(x.value[index], x.format, x.error[index])


def _add(to, where, what):
    to[(0, *where)] += what.value
    to[(1, *where)] += what.error


def _rows(q, k, row_ends, key_ends, packed: bool):
    """(place in q, the first key, how many keys it sees) of each row that counts."""
    for b in range(len(row_ends) if packed else q.shape[0]):
        first, end = ((row_ends[b - 1] if b else 0), row_ends[b]) if packed else (0, q.shape[1])
        first_key, last = ((key_ends[b - 1] if b else 0), key_ends[b]) if packed else (0, k.shape[1])
        rows, keys = end - first, last - first_key
        for i in range(rows):
            seen = min(max(keys - rows + i + 1, 0), keys)
            yield (first + i,) if packed else (b, i), first_key, seen
