# SPDX-License-Identifier: Apache-2.0
"""Attention of packed sequences in NumPy: that of all rows and all keys, whose scores are hidden
between sequences."""

import numpy as np
from attentions import _gradients, _weights, hidden_by
from chance import kept_bits


def blocks_of(row_ends, key_ends, rows: int, keys: int) -> list[tuple[slice, slice]]:
    """The rows and the keys of each sequence; what is behind them all, as two of its own."""
    def bounds(ends):
        found = [0]
        for end in ends:
            found.append(end or found[-1])
        return found

    row_bounds, key_bounds = bounds(row_ends), bounds(key_ends)
    row_bounds += [rows, rows]
    key_bounds += [key_bounds[-1], keys]
    return [
        (slice(*ends[:2]), slice(*ends[2:]))
        for ends in zip(row_bounds, row_bounds[1:], key_bounds, key_bounds[1:], strict=False)
    ]


def hidden_of(mask, mode: int, rows: int, keys: int, before, after, prefix: int, cut: bool):
    """Of a sequence in a call with a mask."""
    of_cut = {7: 4 if cut else 3, 8: 4 if cut else 2}
    hidden = hidden_by(of_cut.get(mode, mode), rows, keys, before, after, prefix)
    return hidden | (mask[:rows, :keys] != 0) if mode < 2 else hidden


def _hidden(shape, blocks, count: int, mask, mode: int, before, after, prefix):
    hidden = np.ones(shape, bool)
    with_rows = [i for i in range(count) if blocks[i][0].stop > blocks[i][0].start]
    ends = {7: with_rows[-1:], 8: with_rows[:1]}.get(mode, [])
    for number, (rows, keys) in enumerate(blocks[:count]):
        of = (rows.stop - rows.start, keys.stop - keys.start)
        own = np.zeros(of, bool)
        if mask is not None:
            first = prefix[number] if mode == 6 else 0
            own = hidden_of(mask, mode, *of, before, after, first, number in ends)
        hidden[rows, keys] = own
    return hidden


def _packed_kept(drops, blocks, shape, keep: float):
    """The bits of a sequence follow those of the one before it."""
    if keep >= 1 or drops is None:
        return 1.0
    kept, first = np.zeros(shape), 0
    bits = kept_bits(drops, (8 * drops.size,))
    for rows, keys in blocks:
        of = (shape[1], rows.stop - rows.start, keys.stop - keys.start)
        count = int(np.prod(of))
        kept[0, :, rows, keys] = bits[first : first + count].reshape(of) / keep
        first += count
    return kept


def _by_heads(numbers, blocks):
    """8 copies of a number of each row of each head, a sequence head after head."""
    heads, rows = numbers.shape[1:3]
    places = np.arange(heads * rows).reshape(heads, rows)
    order = np.concatenate([places[:, each].reshape(-1) for each, _ in blocks])
    return np.repeat(numbers.reshape(heads * rows, 1)[order].reshape(rows, heads, 1), 8, axis=-1)


def _slope_shift(slopes, kind: int, starts, blocks, count: int, rows: int, keys: int):
    """Distances in each sequence times its slopes, or those of all."""
    if slopes is None or kind < 2:
        return None
    distances, of_row = np.zeros((rows, keys)), np.zeros(rows, int)
    row, key = (start[0] if start else 0 for start in starts)
    for number, (own, seen) in enumerate(blocks[:count]):
        i, j = np.ogrid[: own.stop - own.start, : seen.stop - seen.start]
        distances[own, seen] = np.abs(i + row - j - key)
        of_row[own] = number if slopes.ndim == 2 else 0
    each = slopes.reshape(-1, slopes.shape[-1])[of_row]
    return np.transpose(each.reshape(1, rows, slopes.shape[-1], 1), (0, 2, 1, 3)) * -(
        np.sqrt(distances) if kind == 3 else distances
    )


def _parts(q, k, v, drops, mask, prefix, row_ends, key_ends, scale, keep, before, after, mode,
           slopes, kind, row_start, key_start, sink=None):  # fmt: skip
    """The operands as (1, head, row, element), and what is made of their scores."""
    count, served = len(row_ends), q.shape[1] // k.shape[1]
    blocks = blocks_of(row_ends, key_ends, len(q), len(k))
    hidden = _hidden((len(q), len(k)), blocks, count, mask, mode, before, after, prefix)
    q, k, v = (np.transpose(each.reshape(1, *each.shape), (0, 2, 1, 3)) for each in (q, k, v))
    k, v = np.repeat(k, served, 1), np.repeat(v, served, 1)
    starts = (row_start, key_start)
    shift = _slope_shift(slopes, kind, starts, blocks, count, q.shape[2], k.shape[2])
    made = _weights(q, k, hidden, scale, 0, 0, 1, shift, sink)
    kept = _packed_kept(drops, blocks[:count], made[0].shape, keep)
    return (q, k, v), blocks, served, made, kept


def _of_rows(x):
    """(1, head, row, element) as (row, head, element)."""
    return np.transpose(x, (0, 2, 1, 3)).reshape(x.shape[2], x.shape[1], x.shape[3])


def _forward(q, k, v, *settings, sink=None, softmax_layout=""):
    (_, _, v), blocks, _, (weights, top, total), kept = _parts(q, k, v, *settings, sink=sink)
    if softmax_layout == "same_as_input":
        sums = (np.repeat(_of_rows(each), 8, axis=-1) for each in (top, total))
    else:
        sums = (_by_heads(each, blocks) for each in (top, total))
    return *sums, None, _of_rows(np.matmul(weights * kept, v))


def _backward(q, k, v, dy, scale, *settings, sink=None):
    (q, k, v), _, served, (weights, _, _), kept = _parts(q, k, v, *settings, sink=sink)
    dy = np.transpose(dy.reshape(1, *dy.shape), (0, 2, 1, 3))
    *gradients, _, dsink = _gradients(q, k, v, dy, weights, kept, scale, served)
    return *map(_of_rows, gradients), dsink


def packed_attention(q, k, v, drops, mask, prefix, row_ends, key_ends, scale, keep, before, after,
                     mode, slopes=None, kind=1, row_start=None, key_start=None):  # fmt: skip
    return _forward(q, k, v, drops, mask, prefix, row_ends, key_ends, scale, keep, before, after,
                    mode, slopes, kind, row_start, key_start)  # fmt: skip


def laid_packed_attention(q, k, v, drops, mask, prefix, row_ends, key_ends, scale, keep, before,
                          after, mode, softmax_layout):  # fmt: skip
    return _forward(q, k, v, drops, mask, prefix, row_ends, key_ends, scale, keep, before, after,
                    mode, None, 1, None, None, softmax_layout=softmax_layout)  # fmt: skip


def packed_attention_backward(q, k, v, dy, drops, mask, prefix, row_ends, key_ends, scale, keep,
                              before, after, mode, slopes=None, kind=1, row_start=None,
                              key_start=None):  # fmt: skip
    return _backward(q, k, v, dy, scale, drops, mask, prefix, row_ends, key_ends, scale, keep,
                     before, after, mode, slopes, kind, row_start, key_start)[:3]  # fmt: skip


def _joined(x, rope):
    """Rows with those of their rope behind them."""
    return x if rope is None else np.concatenate((x, rope), axis=-1)


def rope_attention(q, q_rope, k, k_rope, v, drops, mask, prefix, row_ends, key_ends, scale, keep,
                   before, after, mode, slopes, kind, row_start, key_start, sink=None,
                   softmax_layout=""):  # fmt: skip
    q, k = _joined(q, q_rope), _joined(k, k_rope)
    return _forward(q, k, v, drops, mask, prefix, row_ends, key_ends, scale, keep, before, after,
                    mode, slopes, kind, row_start, key_start, sink=sink,
                    softmax_layout=softmax_layout)  # fmt: skip


def rope_attention_backward(q, q_rope, k, k_rope, v, dy, drops, mask, prefix, row_ends, key_ends,
                            scale, keep, before, after, mode, slopes, kind, row_start, key_start,
                            sink=None):  # fmt: skip
    width = q.shape[-1]
    q, k = _joined(q, q_rope), _joined(k, k_rope)
    dq, dk, dv, dsink = _backward(
        q, k, v, dy, scale, drops, mask, prefix, row_ends, key_ends, scale, keep, before, after,
        mode, slopes, kind, row_start, key_start, sink=sink)  # fmt: skip
    ropes = (None, None) if q_rope is None else (dq[..., width:], dk[..., width:])
    made = (dq[..., :width], ropes[0], dk[..., :width], ropes[1], dv)
    return made if sink is None else (*made, None, dsink)


def ring_update(prev, prev_max, prev_sum, cur, cur_max, cur_sum, ends, layout, softmax_layout=""):
    """Results over two parts of the keys as that over both; 0 where neither part sees one."""
    parts = ((prev_max, prev_sum), (cur_max, cur_sum))
    none, other = (each.value == 0 for _, each in parts)
    # The largest score of a part without keys says nothing.
    top = np.where(none & ~other, cur_max, np.where(other & ~none, prev_max, np.maximum(prev_max, cur_max)))
    weights = [total * np.exp(np.where(total.value == 0, 0, most - top)) for most, total in parts]
    total = sum(weights)
    none = total.value == 0
    factors = [each / np.where(none, 1.0, total) for each in weights]
    if layout == "SBH":
        heads = prev_max.shape[1]
        shape = (*prev.shape[:2], heads, prev.shape[2] // heads)
        factors = [np.transpose(each, (2, 0, 1, 3)) for each in factors]
    else:
        shape = prev.shape
        if softmax_layout != "TND":
            factors = [_by_rows(each, np.asarray(getattr(ends, "value", ends))) for each in factors]
    out = sum(factor[..., :1] * of.reshape(shape) for factor, of in zip(factors, (prev, cur), strict=True))
    return out.reshape(prev.shape), top, total


def _by_rows(numbers, ends):
    """(row, head, copy), of which a sequence has those of its first head, of row after row, then
    those of its second one."""
    rows, heads, copies = numbers.shape
    places = np.zeros((rows, heads), int)
    bounds = [0, *(int(end) for end in ends), rows]
    for first, end in zip(bounds, bounds[1:], strict=False):
        own = np.arange(first * heads, end * heads).reshape(heads, end - first)
        places[first:end] = own.T
    return numbers.reshape((rows * heads, copies))[places]
