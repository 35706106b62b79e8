# SPDX-License-Identifier: Apache-2.0
"""Arguments of operators on caches of keys and values in blocks."""

import numpy as np

from cached import grouped
from cases import Case, Draw

INTEGERS = (np.int32, np.int64)


def scatter_cache(d: Draw) -> Case:
    """Rows that are free, none, or taken twice."""
    given, rows, pairs = _caches(d, "key value", "keyCacheRef valueCacheRef", "cacheModeOptional")
    tokens = 0 if d.style == "empty" else d.whole(1, 9, walk=4096)
    slots = d.random.integers(-1, rows, tokens) if rows else np.full(tokens, -1)
    given |= {"slotMapping": slots.astype(d.one(INTEGERS))}
    given |= {name: d.array((tokens, *each)) for name, each in pairs.items()}
    return _case(d, given)


def gather_cache(d: Draw) -> Case:
    """Some entries of the table name no block, and some rows have no entry."""
    given, _, pairs = _caches(d, "keyRef valueRef", "keyCache valueCache", "cacheMode")
    grouping = given["cacheMode"] == "PA_NZ"
    size = max(given["keyCache"].shape[-2 if grouping else 1], 1)
    batches = 0 if d.style == "empty" else d.whole(1, 3, walk=8)
    lengths = [d.whole(0, 9, walk=512) for _ in range(batches)]
    ends, index = d.flag(), d.one(INTEGERS)
    wide = -(-max(lengths, default=0) // size) + d.whole(-1, 1)
    table = d.random.integers(-1, len(given["keyCache"]) + 1, (batches, max(wide, 0)))
    given |= {
        "seqLens": np.array([0, *np.cumsum(lengths)] if ends else lengths, index),
        "isSeqLensCumsum": ends, "blockTables": table.astype(index),
        "seqOffsetOptional": d.one((None, (size * d.random.integers(0, 3, batches)).astype(index))),
    }  # fmt: skip
    tokens = sum(lengths) + d.whole(0, 1)
    return _case(d, given | {name: d.array((tokens, *each)) for name, each in pairs.items()})


def _caches(d: Draw, tokens: str, caches: str, mode: str):
    """The caches, how many rows they have, and the heads and the width of the tokens of each."""
    names = [each.name for each in d.record.parameters]
    d.first = d.type_of(caches.split()[0])
    given = {each.name: None for each in d.record.parameters if each.optional}
    given |= {name: d.one(modes, walk=modes[0]) for name, modes in d.record.modes.items()}
    grouping = given[mode] == "PA_NZ"
    blocks, rows, heads = d.whole(1, 4, walk=64), d.whole(1, 5, walk=128), d.whole(1, 3, walk=8)
    pairs, rank = {}, d.one((4, 5))
    for name, cache in zip(tokens.split(), caches.split(), strict=True):
        if cache not in names:
            continue
        width = 32 // d.first.itemsize * d.whole(1, 2) if grouping else d.whole(1, 9, walk=128)
        array = d.array((blocks, rows, heads, width))
        given[cache] = np.ascontiguousarray(grouped(array, rank)) if grouping else array
        pairs[name] = heads, width
    return given, blocks * rows, pairs


def _case(d: Draw, given: dict) -> Case:
    outputs = {each.name: d.first for each in d.record.outputs}
    return Case(given, "stored", outputs)
