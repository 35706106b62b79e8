# SPDX-License-Identifier: Apache-2.0
"""Rotations of queries and keys on their way into caches, in NumPy."""

import numpy as np

from bounded import DOUBLE, Bounded
from networks import rms_norm, rotary

_MODES = {"half": 0, "interleave": 1, "quarter": 2}


def apply_rotary(query, key, cos, sin, mode):
    return tuple(rotary(x, cos, sin, _MODES[mode]) for x in (query, key))


def rotary_by(x, cos, sin, mode, rotate):
    """Where a matrix is given, it makes the turned numbers."""
    return rotary(x, cos, sin, mode) if rotate is None else x * cos + np.matmul(x, rotate) * sin


def sin_cos_rope(positions, query, key, cache, sections, size, halves, mode=0):
    half = cache.shape[1] // 2
    kinds = np.zeros(half, int)  # which position of a token each angle has
    if positions.ndim == 2:
        turns = np.where(np.arange(half) < 3 * sections[1], np.arange(half) % 3, 0)
        kinds = turns if mode == 1 else np.repeat(np.arange(len(sections)), sections)
    places = np.atleast_2d(positions)[kinds].T  # (token, angle)
    cos, sin = (_each(cache, places, first + np.arange(half)) for first in (0, half))
    pairs = (np.arange(2 * half) % half) if halves else np.arange(2 * half) // 2
    return tuple(_turned_first(x, cos[:, pairs], sin[:, pairs], size, halves) for x in (query, key))


def _each(cache, rows, columns):
    return Bounded(cache.value[rows, columns], cache.format, cache.error[rows, columns])


def _turned_first(x, cos, sin, size, halves):
    """The first numbers of each head, as many as there are angles."""
    tokens, width = cos.shape
    heads = x.reshape((tokens, x.shape[1] // size, size))
    angles = (each.reshape((tokens, 1, width)) for each in (cos, sin))
    turned = rotary(heads[..., :width], *angles, 0 if halves else 1)
    return np.concatenate([turned, heads[..., width:]], -1).reshape(x.shape)


def kv_rope_cache(kv, gamma, cos, sin, index, keys, values, key_scale, value_scale, eps, mode, asked, v=None):
    normal = gamma.shape[0]
    rows, _ = rms_norm(kv[..., :normal], gamma, eps)
    turned = cos.shape[-1]
    if v is None:
        key, value = rotary(kv[..., normal:], cos, sin, 3), rows
    else:
        key, value = np.concatenate([rotary(rows[..., :turned], cos, sin, 3), rows[..., turned:]], -1), v
    slots = _slots(np.asarray(index), mode, kv.shape[0], kv.shape[2], keys.shape)
    caches = tuple(
        _stored(cache, _small(tokens, scale), slots, mode)
        for cache, tokens, scale in ((keys, key, key_scale), (values, value, value_scale))
    )
    return *caches, *((key, value) if asked else (None, None))


def _slots(index, mode, batches, rows, shape):
    """The row of the cache, counted through all blocks, of each token; a negative one is none."""
    found = []
    for b in range(batches):
        for row in range(rows):
            if mode == "Norm":
                slot = index[b, row]
                found.append(slot if slot < 0 else b * shape[2] + slot)
            elif "BLK" in mode:
                slot = index[b * -(-rows // shape[1]) + row // shape[1]]
                found.append(slot if slot < 0 else slot // shape[1] * shape[1] + row % shape[1])
            else:
                found.append(index[b * rows + row])
    return found


def _small(x, scale, offset=None, divides=False):
    """As INT8 has it, if there is a scale."""
    if scale is None:
        return x
    x = x / scale if divides else x * scale
    x = x if offset is None else x + offset
    return np.rint(np.minimum(np.maximum(x, -128.0), 127.0))


def _stored(cache, tokens, slots, mode):
    """(token, element) as rows of a cache (block, row, 1, element) or (batch, 1, row, element)."""
    width, rows = cache.shape[3], cache.shape[2 if mode == "Norm" else 1]
    group = 32 // cache.dtype.itemsize if "NZ" in mode else width
    return _filled(cache, (cache.shape[0], width // group, rows, group), tokens.reshape((len(slots), width)), slots)


def _filled(cache, shape, tokens, slots):
    """A cache of so many blocks of groups of rows, with tokens (token, element) in some rows."""
    blocks, groups, rows, group = shape
    out = cache.astype(np.float64).reshape((blocks, groups, rows, group))
    errors = np.zeros(out.shape)
    for token, slot in enumerate(slots):
        if slot >= 0:
            at = slot // rows, slice(None), slot % rows
            out[at] = tokens.value[token].reshape((groups, group))
            errors[at] = tokens.error[token].reshape((groups, group))
    return Bounded(out.reshape(cache.shape), tokens.format, errors.reshape(cache.shape))


def qkv_rope_cache(qkv, gamma_q, gamma_k, cos, sin, index, keys, values, scale_k, scale_v, offset_k, offset_v,
                   heads, eps):  # fmt: skip
    tokens, width = cos.shape
    all_heads = qkv.reshape((tokens, sum(heads), width))
    q, k, v = (all_heads[:, first : first + n] for first, n in zip(np.cumsum([0, *heads]), heads, strict=False))
    angles = [each.reshape((tokens, 1, width)) for each in (cos, sin)]
    q, k = (rotary(rms_norm(x, gamma, eps)[0], *angles, 0) for x, gamma in ((q, gamma_q), (k, gamma_k)))
    caches = []
    for cache, x, scale, offset in ((keys, k, scale_k, offset_k), (values, v, scale_v, offset_v)):
        rows = _small(x, scale, offset, divides=True).reshape((tokens, heads[1] * width))
        caches.append(_filled(cache, cache.shape, rows, index))
    q, k, v = (each.reshape((tokens, n * width)) for each, n in zip((q, k, v), heads, strict=True))
    return q, *caches, q, k, v


def dequant_rope_cache(x, cos, sin, keys, values, index, scale_k, scale_v, offset_k, offset_v, scale, row_scale,
                       bias, splits, asked, mode):  # fmt: skip
    width, batches = keys.shape[3], x.shape[0]
    rows = x.shape[1] if x.ndim == 3 else 1
    x = x.reshape((batches * rows, sum(splits)))
    if scale is not None:
        whole = bias is not None and bias.dtype == np.int32
        added = None if bias is None else Bounded(bias.astype(np.float64), DOUBLE)
        x = x + added if whole else x
        x = x * scale * (1.0 if row_scale is None else row_scale.reshape((batches * rows, 1)))
        x = x if whole or added is None else x + added
    q, k, v = (
        x[:, first : first + n].reshape((batches * rows, n // width, width))
        for first, n in zip(np.cumsum([0, *splits]), splits, strict=False)
    )
    angles = [each.reshape((batches * rows, 1, width)) for each in (cos, sin)]
    q, k = (rotary(each, *angles, 0) for each in (q, k))
    slots = list(index)
    if mode != "page":
        slots = [b * keys.shape[1] + index[b] + row for b in range(batches) for row in range(rows)]
    caches = []
    for cache, heads, factors, offset in ((keys, k, scale_k, offset_k), (values, v, scale_v, offset_v)):
        group = cache.shape[2] * width
        rows_of = _small(heads, factors, offset).reshape((batches * rows, group))
        caches.append(_filled(cache, (cache.shape[0], 1, cache.shape[1], group), rows_of, slots))
    lead = (batches, rows) if cos.ndim == 4 else (batches,)
    q, k, v = (each.reshape((*lead, n // width, width)) for each, n in zip((q, k, v), splits, strict=True))
    return *caches, q, *((k, v) if asked else (None, None))
