# SPDX-License-Identifier: Apache-2.0
"""Mixtures of experts as records name them, in NumPy: gates, routing and sums."""

import numpy as np

from bounded import DOUBLE, FLOAT, Bounded


def _wide(x):
    return None if x is None else np.asarray(x).astype(np.float64)


def _softmax(x):
    with np.errstate(all="ignore"):
        powers = np.exp(x - x.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)


def _computed(value, size=None):
    """A result of some operations in double: far below what any output shows."""
    value = np.asarray(value)
    size = np.abs(value) if size is None else size
    return Bounded(value, DOUBLE, np.where(np.isfinite(size), size, 0) * 2.0**-44 + 2.0**-1000)


def largest(x, k: int):
    """The places of the k largest along the last dimension; of equal ones the first, NaN before all."""
    keys = np.where(np.isnan(x), np.inf, x)
    numbers = np.where(np.isnan(x), 0, 1)
    order = np.lexsort((np.broadcast_to(np.arange(x.shape[-1]), x.shape), numbers, -keys), axis=-1)
    return order[..., :k]


def _chosen(x, finished, k: int, renorm: int):
    x = _wide(x)
    places, scores = largest(x, k), _softmax(x)
    y = _softmax(np.take_along_axis(x, places, -1)) if renorm else np.take_along_axis(scores, places, -1)
    experts = places if finished is None else np.where(finished[..., None], x.shape[-1], places)
    return _computed(y), experts.astype(np.int32), scores


def gating_softmax(x, finished, k: int):
    """Scores, experts, and the numbers of the choices: the first ones of all tokens first."""
    y, experts, _ = _chosen(x, finished, k, 0)
    rows = experts.size // k
    numbers = np.arange(k) * rows + np.arange(rows)[:, None]
    return y, experts, numbers.reshape(experts.shape).astype(np.int32)


def gating_softmax_v2(x, finished, k: int, renorm: int, whole: bool):
    """Scores, experts, and the softmax of all scores."""
    y, experts, scores = _chosen(x, finished, k, renorm)
    return y, experts, _computed(scores) if whole and not renorm else None


def _scores(x, kind: int):
    with np.errstate(all="ignore"):
        return 1 / (1 + np.exp(-x)) if kind else _softmax(x)


def gating(x, bias, ids, table, k, chosen_groups, groups, pairs, kind, whole, factor, eps):
    """Scores of the chosen experts, the experts, and all scores."""
    scores = _scores(_wide(x), kind)
    biased = scores if bias is None else scores + _wide(bias)
    if groups > 1:
        parts = biased.reshape(len(x), groups, biased.shape[1] // groups)
        best = np.take_along_axis(parts, largest(parts, 2 if pairs else 1), -1).sum(-1)
        stays = np.zeros((len(x), groups), bool)
        np.put_along_axis(stays, largest(best, chosen_groups), True, -1)
        biased = np.where(stays[..., None], parts, -np.inf).reshape(biased.shape)
    places = largest(biased, k) if ids is None else table[ids]
    y = np.take_along_axis(scores, places.astype(np.int64), -1)
    y = (y / (y.sum(-1, keepdims=True) + eps) if kind else y) * factor
    return _computed(y), places.astype(np.int32), _computed(scores) if whole else None


def gating_backward(scores, grad, experts, kind: int, factor: float, eps: float):
    """By complex steps there is nothing better than the formula: dy/ds, then ds/dx."""
    scores, grad = _wide(scores), _wide(grad)
    chosen = np.take_along_axis(scores, experts.astype(np.int64), -1)
    if kind:
        total = chosen.sum(-1, keepdims=True) + eps
        part = factor * (grad / total - (grad * chosen).sum(-1, keepdims=True) / total**2)
    else:
        part = factor * grad
    ds, sizes = np.zeros(scores.shape), np.zeros(scores.shape)
    for row in range(len(scores)):
        np.add.at(ds[row], experts[row], part[row])
        np.add.at(sizes[row], experts[row], np.abs(part[row]))
    if kind:
        return _computed(ds * scores * (1 - scores), 8 * sizes * (1 + np.abs(scores)) ** 2)
    dot = (ds * scores).sum(-1, keepdims=True)
    reach = np.abs(scores) * (sizes + (sizes * np.abs(scores)).sum(-1, keepdims=True))
    return _computed(scores * (ds - dot), 8 * reach)


# Routing.


def init_routing(x, rows, experts, active: int):
    order = np.argsort(experts.reshape(-1), kind="stable")
    sources = rows.reshape(-1)[order]
    places = np.zeros(sources.size, np.int32)
    places[sources] = np.arange(sources.size)
    kept = min(active, len(x)) * experts.shape[1]
    return x[sources[:kept] % max(len(x), 1)], places, experts.reshape(-1)[order]


def _routed(experts, first: int, end: int, capacity: int, count: int, rows: int):
    """The choice of each row, -1 for none; the row of each choice; the order; the counts."""
    keys = experts.reshape(-1).astype(np.int64)
    taking = (keys >= first) & (keys < end)
    order = np.argsort(np.where(keys < first, 2**40, keys), kind="stable")
    counts = np.bincount(keys[taking] - first, minlength=end - first)[: end - first]
    sources, places = np.full(rows, -1), np.full(keys.size, -1)
    slots = dict.fromkeys(range(first, end), 0) if capacity else {}
    for i, choice in enumerate(order[: int(taking.sum())]):
        row = i
        if capacity:
            expert = int(keys[choice])
            slot, slots[expert] = slots[expert], slots[expert] + 1
            if slot >= capacity:
                continue
            row = expert * capacity + slot
        places[choice] = row
        if row < rows:
            sources[row] = choice
    return sources, places.astype(np.int32), order.astype(np.int32), counts


def _nearest_byte(values):
    return np.clip(np.rint(values), -128, 127)


def _divided(x):
    """Rows as INT8 and their factors; a quotient that is near a half may go either way."""
    top = np.abs(x).max(-1, keepdims=True) if x.shape[-1] else np.zeros((*x.shape[:-1], 1))
    scale = (top.astype(np.float32) / np.float32(127)).astype(np.float64)
    quotient = np.divide(x, scale, out=np.zeros_like(x), where=scale != 0)
    return Bounded(np.clip(quotient, -128, 127), FLOAT, np.abs(quotient) * 2.0**-22), scale[..., 0]


def rounded_byte(bounded):
    """What INT8 holds of numbers: either neighbour where the error leaves that open."""
    low, high = (_nearest_byte(bounded.value + sign * bounded.error) for sign in (-1, 1))
    middle = _nearest_byte(bounded.value)
    return Bounded(middle, DOUBLE, np.maximum(np.abs(high - middle), np.abs(middle - low)))


def _totals(counts, kind: int):
    return np.cumsum(counts) if kind == 1 else counts


def init_routing_v2(x, experts, active, capacity, number, drops, counting, before):
    rows = number * capacity if drops else min(active, experts.size) if active > 0 else experts.size
    end = number if number > 0 else 2**31 - 1
    small = int(experts.max(initial=0)) + 1 if number <= 0 else end
    sources, places, _, counts = _routed(experts, 0, small, capacity if drops else 0, number, rows)
    moved = _moved(x, sources, experts.shape[1])
    moved = moved.reshape(number, capacity, -1) if drops else moved
    return (moved, places, _totals(counts, counting) if counting and not drops else None,
            counts if before and drops else None)  # fmt: skip


def _moved(x, sources, choices: int):
    tokens = np.where(sources < 0, 0, sources) // max(choices, 1)
    return np.where((sources < 0)[:, None], np.zeros((), x.dtype), x[tokens] if len(x) else x[:0])


def init_routing_quant(x, experts, scale, offset, active, capacity, number, drops, counting, before, mode):
    _, places, counts, early = init_routing_v2(x, experts, active, capacity, number, drops, counting, before)
    rows = number * capacity if drops else min(active, experts.size) if active > 0 else experts.size
    end = number if number > 0 else int(experts.max(initial=0)) + 1
    sources, *_ = _routed(experts, 0, end, capacity if drops else 0, number, rows)
    values, scales = _quantised(x, experts, sources, scale, offset, 0, mode)
    shape = (number, capacity, x.shape[1]) if drops else values.shape
    return values.reshape(*shape), places, counts, early, scales


def _quantised(x, experts, sources, scale, offset, first: int, mode: int):
    """The rows as INT8, and their factors."""
    floats = _moved(_wide(x), sources, experts.shape[1])
    if mode == 0:
        values = floats * np.float64(scale[0]) + np.float64(offset[0])
        size = np.abs(floats * np.float64(scale[0])) + np.abs(np.float64(offset[0]))
        bounded = Bounded(np.where((sources < 0)[:, None], 0, values), FLOAT, size * 2.0**-22)
        return rounded_byte(bounded), None
    if scale is not None:
        keys = experts.reshape(-1)[np.where(sources < 0, 0, sources)] - first if experts.size else sources
        rows = np.zeros(len(sources), int) if len(scale) == 1 else np.clip(keys, 0, len(scale) - 1)
        floats = (floats * _wide(scale)[rows]).astype(np.float32).astype(np.float64)
    quotients, factors = _divided(floats)
    return rounded_byte(quotients), Bounded(factors, FLOAT, factors * 2.0**-23)


def init_routing_v3(
    x, experts, scale, offset, active, capacity, number, drops, counting, counts_asked, mode, span, by_row, out,
    scales_out,
):  # fmt: skip
    first, end = span or (0, number)
    rows = number * capacity if drops else min(active, experts.size) if active > 0 else experts.size
    sources, places, order, counts = _routed(experts, first, end, capacity if drops else 0, number, rows)
    there = (sources >= 0)[:, None]
    start = out.reshape(rows, x.shape[1])
    factors = None
    if mode < 0:
        values = _moved(x, sources, experts.shape[1])
        kept = values if drops else np.where(there, values, start)
        if scale is not None:
            moved = _moved(scale[:, None], sources, experts.shape[1])[:, 0]
            factors = moved if drops else np.where(sources >= 0, moved, scales_out)
    else:
        values, scales = _quantised(x, experts, sources, scale, offset, first, mode)
        values = values if drops else np.where(there, values, start.astype(np.float64))
        kept = values
        if scales is not None:
            gone = np.zeros(rows) if drops else scales_out.astype(np.float64)
            factors = np.where(sources >= 0, scales, gone)
    shape = (number, capacity, x.shape[1]) if drops else (rows, x.shape[1])
    if counting == 2:
        pairs = np.zeros((number, 2), np.int64)
        found = [(i + first, n) for i, n in enumerate(counts) if n]
        pairs[: len(found)] = np.array(found, np.int64).reshape(-1, 2)
        counts = pairs
    counted = (np.cumsum(counts) if counting == 0 else counts) if counts_asked else None
    return kept.reshape(*shape), order if by_row else places, counted, factors


def re_routing(tokens, counts, scales):
    """From rank by rank to expert by expert."""
    first = np.concatenate([[0], np.cumsum(counts.reshape(-1))]).astype(np.int64)
    ranks, experts = counts.shape
    order = [
        row
        for expert in range(experts)
        for rank in range(ranks)
        for row in range(first[rank * experts + expert], first[rank * experts + expert + 1])
    ]
    order = np.array(order, np.int64)
    return (tokens[order], None if scales is None else scales[order], order.astype(np.int32),
            counts.sum(0).astype(counts.dtype))  # fmt: skip


def update_expert(ids, table, scales, least, active, rank: int, world: int, mode: int):
    copies = table[ids][..., 0].astype(np.int64)
    rows = np.arange(len(ids))[:, None]
    which = rank // -(-world // copies) if mode == 0 else rows % copies
    chosen = np.take_along_axis(table[ids], which[..., None] + 1, -1)[..., 0]
    mask = None
    if scales is not None:
        scales = np.asarray(scales).astype(np.float32)
        sums = np.zeros(len(ids), np.float32)
        for column in range(ids.shape[1]):
            sums = sums + scales[:, column]
        mask = scales >= sums[:, None] * least.reshape(-1)
        if active is not None:
            mask = mask & active[:, None]
    return chosen.astype(ids.dtype), mask


# Sums.


def finalize(rows, places, x1, x2, bias, scales, experts, mode: int, out):
    """Places of the first choices come first, or with mode 2 and 3 those of a token."""
    tokens, width = (out.shape if scales is None else (len(scales), rows.shape[-1]))[-2:]
    rows = _wide(rows).reshape(-1, width)
    choices = scales.shape[1] if scales is not None else places.size // max(tokens, 1)
    at = places.reshape(tokens, choices) if mode >= 2 else places.reshape(choices, tokens).T
    rows = rows if len(rows) else np.zeros((1, width))
    taken = np.where((at >= 0)[..., None], rows[np.maximum(at, 0)], 0.0)
    if bias is not None:
        taken = taken + _wide(bias)[experts]
    weights = np.ones((tokens, choices)) if scales is None else _wide(scales)
    terms = weights[..., None] * taken
    total, size = terms.sum(1), np.abs(terms).sum(1)
    for each in (x1, x2):
        if each is not None:
            total, size = total + _wide(each), size + np.abs(_wide(each))
    return _computed(total, size)


def token_permute(tokens, indices, kept: int):
    flat = indices.reshape(-1)
    choices = indices.shape[1] if indices.ndim == 2 else 1
    order = np.argsort(flat, kind="stable")
    kept = min(kept, flat.size) if kept > 0 else flat.size + kept
    return tokens[order[:kept] // choices], np.argsort(order).astype(np.int32)


def token_unpermute(rows, places, probs, choices: int, out):
    rows = _wide(rows)
    choices = probs.shape[1] if probs is not None else choices
    at = places.reshape(places.size // choices, choices)
    there = at < len(rows)
    rows = rows if len(rows) else np.zeros((1, rows.shape[1]))
    taken = np.where(there[..., None], rows[np.where(there, at, 0)], 0.0)
    terms = taken if probs is None else taken * _wide(probs)[..., None]
    return _computed(terms.sum(1), np.abs(terms).sum(1))


def token_unpermute_backward(rows, grad, places, probs, out):
    grad = _wide(grad)
    choices = probs.shape[1] if probs is not None else 1
    made, count = np.zeros(out.shape), out.shape[0]
    products, sizes = np.zeros(places.size), np.zeros(places.size)
    for i, place in enumerate(places):
        if place >= count:
            continue
        dy = grad[i // choices]
        made[place] = dy * (1 if probs is None else _wide(probs).reshape(-1)[i])
        if probs is not None:
            products[i] = dy @ _wide(rows)[place]
            sizes[i] = np.abs(dy) @ np.abs(_wide(rows)[place])
    if probs is None:
        return _computed(made), None
    return _computed(made), _computed(products.reshape(probs.shape), sizes.reshape(probs.shape))


def _entries(chosen, capacity: int | None):
    """(token, expert) of each row, expert by expert; with a capacity others fill it up."""
    listed = []
    for expert in range(chosen.shape[1]):
        column = chosen[:, expert] != 0
        tokens = np.nonzero(column)[0]
        if capacity is not None:
            tokens = np.concatenate([tokens, np.nonzero(~column)[0]])[:capacity]
        listed += [(token, expert) for token in tokens]
    return np.array(listed, np.int64).reshape(-1, 2)


def map_permute(tokens, chosen, probs, count: int, pads: bool):
    rows, experts = chosen.shape
    entries = _entries(chosen, count // max(experts, 1) if pads else None)
    listed = entries[:, 0]
    places = listed if pads else np.argsort(listed, kind="stable")
    weights = None if probs is None else probs[entries[:, 0], entries[:, 1]]
    return tokens[listed], weights, places.astype(np.int32)


def _tokens_of(places, tokens: int, pads: bool):
    """The token of each row."""
    if pads:
        return places.astype(np.int64)
    token_of = np.zeros(places.size, np.int64)
    token_of[places] = np.arange(places.size) // max(places.size // max(tokens, 1), 1)
    return token_of


def _added(rows, token_of, tokens: int, weights=None):
    terms = _wide(rows) * (1 if weights is None else weights[:, None])
    total, size = (np.zeros((tokens, rows.shape[1])) for _ in range(2))
    np.add.at(total, token_of, terms)
    np.add.at(size, token_of, np.abs(terms))
    return _computed(total, size)


def _expert_entries(token_of, chosen, experts: int, pads: bool):
    if pads:
        capacity = max(token_of.size // max(experts, 1), 1)
        return np.stack([token_of, np.arange(token_of.size) // capacity], 1)
    return _entries(chosen, None)


def map_permute_backward(grad, weight_grad, places, chosen, experts: int, tokens: int, pads: bool):
    token_of = _tokens_of(places, tokens, pads)
    spread = None
    if weight_grad is not None:
        entries = _expert_entries(token_of, chosen, experts, pads)
        spread = np.zeros((tokens, experts))
        np.add.at(spread, (entries[:, 0], entries[:, 1]), _wide(weight_grad))
        spread = _computed(spread)
    return _added(grad, token_of, tokens), spread


def map_unpermute(rows, places, chosen, probs, pads: bool, out):
    tokens = out.shape[0]
    token_of = _tokens_of(places, tokens, pads)
    weights = None
    if probs is not None:
        entries = _expert_entries(token_of, chosen, probs.shape[1], pads)
        weights = _wide(probs)[entries[:, 0], entries[:, 1]]
    order = np.argsort(places, kind="stable")
    return (_added(rows, token_of, tokens, weights), order.astype(np.int32) if pads else None,
            places[order] if pads else None, weights)  # fmt: skip


def map_unpermute_backward(grad, index, ids, chosen, rows, probs, pads: bool):
    tokens = grad.shape[0]
    token_of = np.zeros(index.size, np.int64)
    token_of[index] = ids if pads else np.arange(index.size) // max(index.size // max(tokens, 1), 1)
    dy = _wide(grad)[token_of]
    if probs is None:
        return _computed(dy), None
    entries = _expert_entries(token_of, chosen, probs.shape[1], pads)
    weights = _wide(probs)[entries[:, 0], entries[:, 1]]
    spread, size = (np.zeros(probs.shape) for _ in range(2))
    at = (entries[:, 0], entries[:, 1])
    np.add.at(spread, at, (dy * _wide(rows)).sum(1))
    np.add.at(size, at, np.abs(dy * _wide(rows)).sum(1))
    return _computed(dy * weights[:, None]), _computed(spread, size)


def top_k_top_p(logits, p, k):
    """Row by row, from the lowest score up."""
    out = _wide(logits).copy()
    for row in range(len(out)):
        order = np.argsort(out[row], kind="stable")
        values = out[row][order]
        if k is not None:
            values = np.where(values < values[values.size - k[row]], -np.inf, values)
        if p is not None:
            with np.errstate(all="ignore"):
                powers = np.exp(values - values[-1])
            gone = np.cumsum(powers / powers.sum()) <= 1 - _wide(p)[row]
            gone[-1] = False
            values = np.where(gone, -np.inf, values)
        out[row][order] = values
    return Bounded(out, DOUBLE)
