# SPDX-License-Identifier: Apache-2.0
"""Attention of inference, in NumPy: each batch alone, with the rows and keys of it that count."""

import numpy as np

from bounded import Bounded
from attentions import _weights, hidden_by
from scaled import Scales, halves, quantised


def infer_attention(
    q, k, v, shift, mask, row_counts, key_counts, table, scale, before, after, heads, layout,
    served, mode, asked, row_padding=None, key_padding=None, of_scores=None, of_weights=None,
    of_values=None, of_out=None, out_offset=None, both=None, both_offset=None, both_mode=0,
    front_k=None, front_v=None, front_count=None, k_scale=None, k_offset=None, v_scale=None,
    v_offset=None, k_mode=0, v_mode=0, q_rope=None, k_rope=None, sink=None, q_scale=None,
):  # fmt: skip
    letters, result = (layout.split("_") * 2)[:2]
    packed, served = "T" in letters, served or heads
    cached = letters if table is None else "BSH" if k[0].ndim == 3 else "BNSD"
    if q_scale is not None:  # of all products, each with one number of keys and of values
        of_scores, of_weights, k_scale, v_scale = k_scale, v_scale, None, None
        q_scale = _by_row(q_scale, letters)
    elif k_scale is None:
        (k_scale, v_scale), (k_offset, v_offset), k_mode, v_mode = (
            halves(both), halves(both_offset), both_mode, both_mode)  # fmt: skip
    q, k, v = _heads(q, letters, heads), *_lists((k, v), cached, served)
    scale_k, scale_v = (
        Scales(*each, served, table) for each in ((k_scale, k_offset, k_mode), (v_scale, v_offset, v_mode))
    )
    scale = scale if of_scores is None else scale * of_scores.reshape(())
    front_k, front_v = _fronts((front_k, front_v), front_count, letters, served, (scale_k, scale_v))
    if q_rope is not None:
        q = _joined(q, _heads(q_rope, letters, heads), -1)
        k = [_joined(k[0], _heads(k_rope, cached, served), -1)]
    if q.shape[2] == 1 and not packed:
        row_counts = None
        mode = mode if q_rope is not None else 1
    mask, table = (None if each is None else getattr(each, "value", each) for each in (mask, table))
    mask = None if mask is None or mode > 1 else _by_batch(mask, q)
    row_padding, key_padding = _size(row_padding, row_counts), _size(key_padding, key_counts)
    out = np.zeros((2, *q.shape[:3], v[0].shape[-1]))  # values and errors
    sums = np.zeros((2, *q.shape[:3], 1))
    sums[0] = -np.inf if sink is None else sink.value.reshape((1, -1, 1, 1))
    for b in range(len(row_counts) if packed else q.shape[0]):
        rows = _part(row_counts, b, q.shape[2], packed, row_padding)
        own = k[b if len(k) > 1 else 0]
        keys = _part(key_counts, b, own.shape[2], packed and table is None, key_padding)
        of_q = 0 if packed else b
        first = keys.start if table is None else 0
        from_k, from_v = (
            of(_keys_of(each, b, of_q, table, keys), b, first) for of, each in ((scale_k, k), (scale_v, v))
        )
        if front_k is not None:
            from_k, from_v = _joined(front_k, from_k, 1), _joined(front_v, from_v, 1)
            keys = slice(0, from_k.shape[1])
        if rows.stop == rows.start or keys.stop == keys.start:
            continue
        padded = row_padding is not None or key_padding is not None
        hidden = _hidden(mask, b, rows, keys, mode, before, after, q.shape[2] == 1 or padded)
        moved = None if shift is None else _of(shift, b)[:, rows, keys]
        by_row = scale if q_scale is None else scale * q_scale[of_q][:, rows][None]
        found, logs = _attended(
            q[of_q][:, rows], from_k, from_v, hidden, by_row, moved, sink, (of_weights, of_values)
        )
        out[0, of_q][:, rows], out[1, of_q][:, rows] = found.value, found.error
        sums[0, of_q][:, rows], sums[1, of_q][:, rows] = logs
    out, sums = Bounded(out[0], q.format, out[1]), Bounded(sums[0], q.format, sums[1])
    out = quantised(out, of_out, out_offset)
    return _laid(out, result), _laid(sums, "TND" if packed else "BNSD") if asked else None


def _hidden(mask, batch: int, rows: slice, keys: slice, mode: int, before: int, after: int, open_: bool):
    """Mode 0 hides by tokens where a mask is given and the window is not open."""
    sees_all = mode == 0 and (mask is None or open_)
    n, m = rows.stop - rows.start, keys.stop - keys.start
    hidden = hidden_by(1 if sees_all else mode, n, m, before, after)[np.newaxis]
    return hidden if mask is None else hidden | (_of(mask, batch)[:, rows, keys] != 0)


def _keys_of(tensors, batch: int, of_query: int, table, keys: slice):
    """Of a batch: (head, key, element)."""
    if table is not None:
        return _listed(tensors[0], table[batch], keys.stop)
    return (tensors[batch][0] if len(tensors) > 1 else tensors[0][of_query])[:, keys]


def _attended(q, k, v, hidden, scale, shift, sink, factors):
    """The result of some rows, and the values and errors of the logarithms of their sums."""
    group = q.shape[0] // k.shape[0]
    weights, top, total = _weights(
        q[None], np.repeat(k, group, 0)[None], hidden[None], scale, 0, 0, 1,
        None if shift is None else shift[None], sink,
    )  # fmt: skip
    found = np.matmul(weights, np.repeat(v, group, 0)[None])[0]
    for factor in factors:
        found = found if factor is None else found * factor.reshape(())
    none = total.value == 0
    logs = top + np.log(np.where(none, 1.0, total))
    return found, (np.where(none, -np.inf, logs.value)[0], np.where(none, 0, logs.error)[0])


def prompt_attention(
    q, k, v, shift, mask, rows, keys, scale, before, after, heads, layout, served, mode, of_scores,
    of_weights, of_values, of_out, out_offset,
):  # fmt: skip
    return infer_attention(q, [k], [v], shift, mask, rows, keys, None, scale, before, after, heads,
                           layout, served, mode, False, None, None, of_scores, of_weights, of_values,
                           of_out, out_offset)[0]  # fmt: skip


def prompt_rows_attention(q, k, v, shift, mask, rows, scale, before, after, heads, layout, served):
    """The first version: all keys count."""
    return prompt_attention(q, k, v, shift, mask, rows, None, scale, before, after, heads, layout, served, 0,
                            None, None, None, None, None)  # fmt: skip


def incremental_attention(q, k, v, shift, mask, keys, table, scale, heads, layout, served, of_out, out_offset,
                          both, both_offset, padding=None):  # fmt: skip
    """Of one row."""
    return infer_attention(q, k, v, shift, mask, None, keys, table, scale, 0, 0, heads, layout,
                           served, 1, False, None, padding, None, None, None, of_out, out_offset,
                           both, both_offset)[0]  # fmt: skip


def incremental_dense_attention(q, k, v, shift, mask, keys, scale, heads, layout, served, of_out=None,
                                out_offset=None):  # fmt: skip
    """Of one row, without a cache in blocks."""
    return incremental_attention(q, k, v, shift, mask, keys, None, scale, heads, layout, served,
                                 of_out, out_offset, None, None)  # fmt: skip


def _heads(x, letters: str, count: int):
    """As (batch, head, row, element)."""
    if x.ndim == 5:  # a cache in groups
        x = np.transpose(x, (0, 1, 3, 2, 4))
        return x.reshape((*x.shape[:3], x.shape[3] * x.shape[4]))
    if "H" in letters:
        x = x.reshape((*x.shape[:2], count, x.shape[2] // count))
        letters = letters.replace("H", "ND")
    if "B" not in letters:
        x, letters = x.reshape((1, *x.shape)), "B" + letters.replace("T", "S")
    return np.transpose(x, tuple(letters.index(each) for each in "BNSD"))


def _by_row(numbers, letters: str):
    """As (batch, head, row, 1), of letters without the elements of heads."""
    letters = letters.replace("H", "N").replace("D", "").replace("T", "S")
    if "B" not in letters:
        numbers, letters = numbers.reshape((1, *numbers.shape)), "B" + letters
    return np.transpose(numbers, tuple(letters.index(each) for each in "BNS")).reshape(
        (*(numbers.shape[letters.index(each)] for each in "BNS"), 1))  # fmt: skip


def _laid(x, letters: str):
    """And in another order."""
    order = letters.replace("H", "ND").replace("T", "S")
    if "B" not in order:
        x, order = x[0], order
        return np.transpose(x, tuple("NSD".index(each) for each in order))
    x = np.transpose(x, tuple("BNSD".index(each) for each in order))
    return x.reshape((*x.shape[:2], x.shape[2] * x.shape[3])) if "H" in letters else x


def _lists(lists, letters: str, count: int):
    """The members of each list as (batch, head, row, element)."""
    return [[_heads(each, letters, count) for each in members] for members in lists]


def _fronts(tensors, counts, letters: str, served: int, scales):
    """The first rows of one batch as (head, row, element), or nothing."""
    if tensors[0] is None:
        return tensors
    heads = [_heads(each, letters, served)[0] for each in tensors]
    rows = [each[:, : counts[0] if counts else each.shape[1]] for each in heads]
    return [of(each, 0, 0) for of, each in zip(scales, rows, strict=True)]


def _joined(a, b, axis: int):
    """One tensor, then the other along an axis."""
    value, error = (
        np.concatenate((getattr(a, part), getattr(b, part)), axis) for part in ("value", "error")
    )
    return Bounded(value, a.format, error)


def _size(padding, counts):
    """The number of padding rows at the end; nothing without lengths. One below 0 is 0."""
    if padding is None or not counts:
        return None
    return max(int(getattr(padding, "value", padding)[0]), 0)


def _part(counts, batch: int, every: int, ends: bool, padding: int | None = None) -> slice:
    """The rows of a batch that count: up to its length, before the padding, or from the end of the
    batch before to its own end. Rows that do not fit are none."""
    if ends:
        return slice(counts[batch - 1] if batch else 0, counts[batch])
    if counts is None or not len(counts):
        return slice(0, every)
    count = counts[0 if len(counts) == 1 else batch]
    if padding is None:
        return slice(0, count)
    end = every - padding
    return slice(end - count, end) if end >= count else slice(0, 0)


def _listed(cache, entries, count: int):
    """The first keys of the blocks of a cache that a row of its table names: (head, key, element)."""
    blocks = cache[entries[: -(-count // cache.shape[2])].astype(np.int64)]
    keys = np.transpose(blocks, (1, 0, 2, 3))
    return keys.reshape((keys.shape[0], keys.shape[1] * keys.shape[2], keys.shape[3]))[:, :count]


def _by_batch(mask, q):
    """With four dimensions."""
    if mask.ndim == 3 or (mask.ndim == 2 and q.shape[2] == 1):
        return mask.reshape((mask.shape[0], 1, -1, mask.shape[-1]))
    return mask.reshape((1,) * (4 - mask.ndim) + mask.shape)


def _of(x, batch: int):
    """What a tensor that is broadcast to the scores has for a batch."""
    x = x.reshape((1,) * (4 - x.ndim) + tuple(x.shape))
    return x[batch if x.shape[0] > 1 else 0]


def attention_update(lse, parts, kind: int):
    """Rows that no part sees a key of become 0."""
    logs = [each.reshape((-1, 1)) for each in lse]
    top = np.max([each.value for each in logs], axis=0)
    top = np.where(top == -np.inf, 0, top)
    weights = [np.where(each.value == -np.inf, 0, np.exp(each - top)) for each in logs]
    total = sum(weights)
    none = total.value == 0
    total = np.where(none, 1.0, total)
    out = sum(weight * part for weight, part in zip(weights, parts, strict=True)) / total
    log = np.log(total) + top
    return out, np.where(none, -np.inf, log).reshape(-1) if kind == 1 else None
