# SPDX-License-Identifier: Apache-2.0
"""Grouped products as records name them, in NumPy."""

import math

import numpy as np

from bounded import DOUBLE, FLOAT, Bounded
from experts import rounded_byte


def sizes_of(numbers, kind: int):
    """(group, begin, size) of running totals, of sizes, or of pairs of a group and its size."""
    numbers = np.asarray(numbers).astype(np.int64)
    groups = numbers[:, 0] if kind == 2 else np.arange(len(numbers))
    sizes = numbers[:, 1] if kind == 2 else numbers if kind == 1 else np.diff(numbers, prepend=0)
    ends = np.cumsum(sizes)
    return [(int(g), int(end - n), int(n)) for g, end, n in zip(groups, ends, sizes, strict=True)]


def _slice(pieces, group: int, rank: int):
    """The member of a group, or its slice of one tensor."""
    if not pieces:
        return None
    if len(pieces) > 1:
        return pieces[group]
    return pieces[0][group] if pieces[0].ndim > rank else pieces[0]


def _bounded(x):
    return Bounded(np.asarray(x).astype(np.float64), FLOAT)


def activated(x, kind: int):
    """Of Bounded numbers: relu, gelu by tanh, fast gelu, silu."""
    if kind == 1:
        return np.maximum(x, 0)
    if kind == 2:
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    if kind == 4:
        return x / (1 + np.exp(-1.702 * np.abs(x))) * np.exp(0.851 * (x - np.abs(x)))
    return x / (1 + np.exp(-x)) if kind == 5 else x


def _packed(scale):
    """FLOAT factors in the lower halves of 64 bits, and offsets in nine bits from bit 37 on."""
    bits = scale.view(np.uint64)
    nine = (bits >> np.uint64(37) & np.uint64(0x1FF)).astype(np.int64)
    floats = (bits & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32)
    return floats, (nine ^ 0x100) - 0x100


def _of_integers(x, weight, bias, scale, tokens, act: int, out):
    sums = x.astype(np.int64) @ weight.astype(np.int64)
    whole = bias is not None and bias.dtype == np.int32
    sums = sums + (bias.astype(np.int64) if whole else 0)
    if out.dtype == np.int32:
        return sums.astype(np.uint64).astype(np.uint32).view(np.int32).astype(np.int64)
    shift = 0
    if scale.dtype.kind in "iu":
        scale, shift = _packed(scale)
    y = Bounded(sums.astype(np.float64), FLOAT, np.abs(sums) * FLOAT.unit) * _bounded(scale)
    y = y if tokens is None else y * _bounded(tokens)[:, None]
    y = activated(y if whole or bias is None else y + _bounded(bias), act)
    return rounded_byte(y + shift) if out.dtype == np.int8 else y


def _product(x, weight, bias, scale, offset):
    weight = _bounded(weight)
    if scale is not None:
        weight = (weight if offset is None else weight + _bounded(offset)) * _bounded(scale)
    y = np.matmul(_bounded(x), weight)
    return y if bias is None else y + _bounded(bias)


def grouped(x, weight, bias, scale, anti_scale, anti_offset, tokens, groups, split, by, kind, act, out):
    """Rows that no group has, and so groups that no row has, are left alone."""
    if by == 2:
        return _of_terms(x[0], weight[0], groups, kind, out)
    given = groups is not None and len(groups) > 0
    if given:
        parts = sizes_of(groups, kind)
    else:
        counts = [math.prod(each.shape[:-1]) for each in x]
        parts = sizes_of(counts, 1)
    made = [_start(each) for each in out]
    for g, begin, size in parts:
        rows = x[g] if len(x) > 1 else x[0].reshape(math.prod(x[0].shape[:-1]), x[0].shape[-1])[begin : begin + size]
        flat = rows.reshape(math.prod(rows.shape[:-1]), rows.shape[-1])
        factor = _slice(weight, g, 2)
        own = out[g] if len(out) > 1 else out[0]
        if x[0].dtype == np.int8:
            token = tokens and (tokens[g] if len(tokens) > 1 else tokens[0][begin : begin + size])
            token = token if tokens else None
            y = _of_integers(flat, factor, _slice(bias, g, 1), _slice(scale, g, 1), token, act, own)
        else:
            y = _product(flat, factor, _slice(bias, g, 1), _slice(anti_scale, g, 1), _slice(anti_offset, g, 1))
        target = made[g] if len(out) > 1 else made[0]
        at = slice(None) if len(out) > 1 else slice(begin, begin + size)
        _put(target, at, y)
    return [each.reshape(*start.shape) for each, start in zip(made, out, strict=True)]


def _start(out):
    """What stands there, as rows that a product may replace."""
    flat = out.reshape(math.prod(out.shape[:-1]), out.shape[-1])
    if flat.dtype == np.int32:
        return flat.astype(np.int64)
    return Bounded(flat.astype(np.float64), FLOAT)


def _put(target, at, y):
    if isinstance(target, Bounded):
        target.value[at], target.error[at] = y.value, y.error
    else:
        target[at] = y


def _of_terms(x, weight, groups, kind: int, out):
    made = []
    for _, begin, size in sizes_of(groups, kind):
        made.append(np.matmul(_bounded(x[:, begin : begin + size]), _bounded(weight[begin : begin + size])))
    if len(out) > 1 or not made:
        return made or [Bounded(np.zeros(out[0].shape), FLOAT)]
    values, errors = np.stack([y.value for y in made]), np.stack([y.error for y in made])
    return [Bounded(values, FLOAT, errors)]


def grouped_add(x, weight, groups, y, turned: bool, kind: int):
    x = x.T if turned else x
    made = y.reshape(len(groups), x.shape[0], -1).astype(np.float64)
    result = Bounded(made.copy(), FLOAT)
    for g, begin, size in sizes_of(groups, kind):
        if size:
            product = np.matmul(_bounded(x[:, begin : begin + size]), _bounded(weight[begin : begin + size]))
            total = product + _bounded(made[g])
            result.value[g], result.error[g] = total.value, total.error
    return result.reshape(*y.shape)


def grouped_swiglu_quant(x, weight, scale, tokens, smooth, groups, kind: int, out, out_scale):
    """Rows that no group has are left alone."""
    weight, scale = (each[0] if isinstance(each, list) else each for each in (weight, scale))
    made = Bounded(out.astype(np.float64), DOUBLE)
    scales = Bounded(out_scale.astype(np.float64), FLOAT)
    half = weight.shape[2] // 2
    for g, begin, size in sizes_of(groups, kind):
        if not size:
            continue
        at = slice(begin, begin + size)
        sums = x[at].astype(np.int64) @ weight[g].astype(np.int64)
        c = Bounded(sums.astype(np.float64), FLOAT, np.abs(sums) * FLOAT.unit)
        c = c * _bounded(scale[g]) * _bounded(tokens[at])[:, None]
        left = c[:, :half]
        s = left / (1 + np.exp(-left)) * c[:, half:]
        if smooth is not None:
            s = s * _bounded(smooth[g])
        top, reach = (np.abs(s.value).max(-1), s.error.max(-1)) if half else (np.zeros(size),) * 2
        factor = top / 127
        scales.value[at], scales.error[at] = factor, reach / 127 + factor * 2.0**-22
        with np.errstate(all="ignore"):
            quotient = np.where(factor[:, None] > 0, s.value / factor[:, None], 0)
            error = (s.error + reach[:, None]) / np.maximum(factor[:, None], 1e-300) + 2.0**-14
        rounded = rounded_byte(Bounded(quotient, FLOAT, np.where(factor[:, None] > 0, error, 0)))
        made.value[at], made.error[at] = rounded.value, rounded.error
    return made, scales


def finalize_product(x, weight, scale, bias, tokens, groups, shared, logit, index, factor, offset, kind, out):
    rows = weight.shape[2]
    total, error = np.zeros((out.shape[0], rows)), np.zeros((out.shape[0], rows))
    if shared is not None:
        at = slice(offset, offset + len(shared))
        total[at] += np.float64(factor) * shared.astype(np.float64)
        error[at] += np.abs(total[at]) * FLOAT.unit
    for g, begin, size in sizes_of(groups, kind):
        at = slice(begin, begin + size)
        sums = x[at].astype(np.int64) @ weight[g].astype(np.int64)
        y = Bounded(sums.astype(np.float64), FLOAT, np.abs(sums) * FLOAT.unit) * _bounded(scale[g])
        y = y if bias is None else y + _bounded(bias[g])
        y = y if tokens is None else y * _bounded(tokens[at])[:, None]
        y = y if logit is None else y * _bounded(logit[at])[:, None]
        np.add.at(total, index[at], y.value)
        np.add.at(error, index[at], y.error)
    return Bounded(total, FLOAT, error + np.abs(total) * FLOAT.unit)


def ffn(x, weight1, weight2, counts, bias1, bias2, activation: str, totals: bool):
    """Hidden rows are rounded to x's type."""
    flat = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
    kinds = {"relu": 1, "fastgelu": 4, "silu": 5}
    made = np.zeros((len(flat), weight2.shape[-1]))
    errors = np.zeros(made.shape)
    parts = sizes_of(counts, 0 if totals else 1) if weight1.ndim == 3 else [(0, 0, len(flat))]
    unit = 2.0**-11 if x.dtype == np.float16 else 2.0**-8
    for g, begin, size in parts:
        at = slice(begin, begin + size)
        hidden = _product(flat[at], _slice([weight1], g, 2), _slice(_given(bias1), g, 1), None, None)
        hidden = _gelu(hidden) if activation == "gelu" else activated(hidden, kinds[activation])
        rounded = Bounded(hidden.value, FLOAT, hidden.error + np.abs(hidden.value) * unit + 2.0**-24)
        y = np.matmul(rounded, _bounded(_slice([weight2], g, 2)))
        second = _slice(_given(bias2), g, 1)
        y = y if second is None else y + _bounded(second)
        made[at], errors[at] = y.value, y.error
    shape = (*x.shape[:-1], weight2.shape[-1])
    return Bounded(made.reshape(shape), FLOAT, errors.reshape(shape))


def _given(tensor):
    return [] if tensor is None else [tensor]


def _gelu(x):
    erf = np.vectorize(math.erf, otypes=[float])
    value = 0.5 * x.value * (1 + erf(x.value / math.sqrt(2)))
    return Bounded(value, FLOAT, 1.2 * x.error + 8 * FLOAT.unit * np.abs(x.value))
