# SPDX-License-Identifier: Apache-2.0
"""Arguments of rotations of queries and keys, and of those that write caches."""

import numpy as np

from cases import Case, Draw, fill
from network_cases import _eps, rotary
from records import REALS

FLOAT, INT8 = np.dtype(np.float32), np.dtype(np.int8)
INDICES = tuple(map(np.dtype, (np.int32, np.int64)))
_LAYOUTS = {1: "BSND", 2: "SBND", 3: "BNSD", 4: "TND"}


def _floats(d: Draw, name: str) -> np.dtype:
    """A type of up to 32 bits that a tensor may have."""
    return d.type(tuple(each for each in REALS[:3] if each in d.record.types_of(name)))


def apply_rotary(d: Draw) -> Case:
    d.first = _floats(d, "queryRef")
    layout = d.whole(1, 4, walk=1)
    letters = _LAYOUTS[layout]
    sizes = {"B": d.whole(1, 3, walk=2), "S": d.whole(1, 5, walk=512), "T": d.whole(1, 9, walk=512)}
    if d.style == "empty":
        sizes[d.one(letters.replace("N", "").replace("D", ""))] = 0
    width = 4 * d.whole(1, 20, walk=32)

    def shape(heads: int, batches: int = sizes["B"]):
        return tuple((sizes | {"N": heads, "D": width, "B": batches})[each] for each in letters)

    one = 1 if letters != "TND" and sizes["B"] and d.flag() else sizes["B"]
    given = {"queryRef": d.array(shape(d.whole(1, 3, walk=8)), None, "tame"),
             "keyRef": d.array(shape(d.whole(1, 3, walk=8)), None, "tame"), "layout": layout}  # fmt: skip
    given |= {name: d.array(shape(1, one), None, "unit") for name in ("cos", "sin")}
    return Case(fill(d, given), "double")


def rotary_by(d: Draw) -> Case:
    case = rotary(d)
    width = case.arguments["x"].shape[-1]
    matrix = d.array((width, width), d.real(), "tame") if d.flag() else None
    case.arguments["rotateOptional"] = matrix
    return case


def sin_cos_rope(d: Draw) -> Case:
    d.first = _floats(d, "queryIn")
    tokens = 0 if d.style == "empty" else d.whole(1, 5, walk=512)
    kinds = d.one((1, 1, 3, 4), walk=1)
    mode = d.whole(0, 1 if kinds == 3 else 0, walk=0)
    half = d.whole(1, 9, walk=64)
    cuts = sorted(d.whole(0, half) for _ in range(kinds - 1))
    sections = [int(n) for n in np.diff([0, *cuts, half])]
    size, positions = 2 * half + d.one((0, d.whole(1, 4)), walk=0), d.whole(1, 7, walk=4096)
    places = d.random.integers(0, positions, (tokens,) if kinds == 1 else (kinds, tokens))
    given = {
        "positions": places.astype(d.one(INDICES)), "headSize": size, "isNeoxStyle": d.flag(),
        "cosSinCache": d.array((positions, 2 * half), None, "unit"),
        "mropeSection": sections if kinds > 1 else d.one((None, [0, 0, 0])), "cacheMode": mode,
    }  # fmt: skip
    for name in ("queryIn", "keyIn"):
        given[name] = d.array((tokens, d.whole(1, 3, walk=8) * size), None, "tame")
    given = {name: given[name] for name in given if name in {each.name for each in d.record.parameters}}
    outputs = {"queryOut": d.first, "keyOut": d.first}
    return Case(given, "double", outputs, stored=("positions",))


def kv_rope_cache(d: Draw) -> Case:
    d.first = _floats(d, "kv")
    apart = any(each.name == "vOptional" for each in d.record.parameters) and d.flag()
    mode = d.one(d.record.modes["cacheModeOptional"], walk="PA_BNSD")
    scaled, asked = d.flag(), d.flag(walk=True)
    unit = 32 if "NZ" in mode else 2
    turned, normal = unit * d.whole(1, 2, walk=32), unit * d.whole(2, 3, walk=256)
    key_width, value_width = (normal, unit * d.whole(1, 2)) if apart else (turned, normal)
    batches = 0 if d.style == "empty" else d.whole(1, 3, walk=8)
    rows = d.whole(1, 5, walk=64)
    of_block = d.whole(rows, rows + 2) if mode == "Norm" else d.whole(1, 4, walk=128)
    pages = -(-rows // of_block)
    blocks = batches * pages + d.whole(0, 1)
    of_cache = INT8 if scaled else d.first
    if mode == "Norm":
        shape = batches, 1, of_block
        index = np.array([d.random.permutation(of_block)[:rows] for _ in range(batches)]).reshape((batches, rows))
    else:
        shape = blocks, of_block, 1
        count = batches * (pages if "BLK" in mode else rows)
        step = of_block if "BLK" in mode else 1
        index = d.random.permutation(blocks * of_block // step)[:count] * step
    index = np.where(d.random.random(index.shape) < 0.2, -1, index)
    tokens = batches, 1, rows
    angles = d.one((tokens, (*tokens[:2], 1), (1, 1, rows)), walk=tokens)
    given = {
        "kv": d.array((*tokens, normal + (0 if apart else turned)), None, "tame"),
        "gamma": d.array((normal,), None, "tame"), "index": index.astype(np.int64), "epsilon": _eps(d),
        "cos": d.array((*angles, turned), None, "tame"), "sin": d.array((*angles, turned), None, "tame"),
        "kCacheRef": d.array((*shape, key_width), of_cache, "tame"),
        "ckvCacheRef": d.array((*shape, value_width), of_cache, "tame"),
        "kRopeScaleOptional": d.array((key_width,), FLOAT, "tame") if scaled else None,
        "ckvScaleOptional": d.array((value_width,), FLOAT, "tame") if scaled else None,
        "kRopeOffsetOptional": None, "cKvOffsetOptional": None, "cacheModeOptional": mode, "isOutputKv": asked,
    }  # fmt: skip
    if any(each.name == "vOptional" for each in d.record.parameters):
        given["vOptional"] = d.array((*tokens, value_width), None, "tame") if apart else None
    outputs = {"kRopeOut": d.first, "cKvOut": d.first}
    return Case(given, "double", outputs, stored=("index", "kCacheRef", "ckvCacheRef"))


def qkv_rope_cache(d: Draw) -> Case:
    d.first = _floats(d, "qkv")
    batches, rows = 0 if d.style == "empty" else d.whole(1, 2, walk=4), d.whole(1, 4, walk=128)
    tokens, width = batches * rows, 2 * d.whole(1, 8, walk=64)
    heads = [d.whole(1, 3, walk=8), *[d.whole(1, 2, walk=8)] * 2]
    group = d.one([n for n in range(1, width + 1) if width % n == 0], walk=16)
    blocks, of_block = d.whole(1, 4, walk=64), d.whole(1, 5, walk=128)
    index = d.random.integers(-1, blocks * of_block, tokens)
    given = {
        "qkv": d.array((tokens, sum(heads) * width), None, "tame"),
        "index": index.astype(np.int64), "epsilon": _eps(d), "cacheModeOptional": "PA_NZ",
        "qkvSize": [batches, rows, sum(heads), width], "headNums": heads,
    }  # fmt: skip
    given |= {name: d.array((width,), None, "tame") for name in ("qGamma", "kGamma")}
    given |= {name: d.array((tokens, width), None, "tame") for name in ("cos", "sin")}
    for letter in "kv":
        scaled = d.flag()
        shape = blocks, heads[1] * width // group, of_block, group
        given[f"{letter}CacheRef"] = d.array(shape, INT8 if scaled else d.first, "tame")
        given[f"{letter}ScaleOptional"] = d.array((heads[1], width), FLOAT, "positive") if scaled else None
        offset = scaled and d.flag()
        given[f"{letter}OffsetOptional"] = d.array((heads[1], width), FLOAT, "tame") if offset else None
    outputs = {name: d.first for name in ("qOut", *(f"{each}OutBeforeQuantOptional" for each in "qkv"))}
    return Case(given, "double", outputs, stored=("index", "kCacheRef", "vCacheRef"))


def dequant_rope_cache(d: Draw) -> Case:
    d.first = _floats(d, "cos")
    batches, rows = 0 if d.style == "empty" else d.whole(1, 3, walk=8), d.one((None, d.whole(1, 4)), walk=64)
    count, width = rows or 1, 2 * d.whole(1, 9, walk=64)
    queries, heads = d.whole(0, 3, walk=8), d.whole(1, 2, walk=8)
    lead = (batches,) if rows is None else (batches, rows)
    total, tokens = (queries + 2 * heads) * width, batches * count
    mode = d.one(d.record.modes["cacheModeOptional"], walk="contiguous")
    of_block = count + d.whole(0, 3)
    blocks = d.whole(1, 4) if mode == "page" else batches
    limit = blocks * of_block if mode == "page" else of_block - count + 1
    index = d.random.integers(0, limit, tokens if mode == "page" else batches).astype(np.int32)
    whole, ints = d.flag(), np.dtype(np.int32)
    given = {
        "x": d.random.integers(-99, 100, (*lead, total)).astype(ints) if whole else d.array((*lead, total), None, "tame"),
        "indices": index, "sizeSplits": [queries * width, heads * width, heads * width],
        "quantModeOptional": d.one(("static", "")), "layoutOptional": d.one(("BSND", "")),
        "kvOutput": d.flag(walk=True), "cacheModeOptional": mode,
        "weightScaleOptional": d.array((total,), FLOAT, "tame") if whole else None,
        "activationScaleOptional": d.array((tokens,), FLOAT, "tame") if whole and d.flag() else None,
        "biasOptional": d.array((total,), d.one((ints, FLOAT, d.first)), "tame") if whole and (d.flag() or d.flag()) else None,
    }  # fmt: skip
    given |= {name: d.array((*lead, 1, width), None, "tame") for name in ("cos", "sin")}
    for letter, name in (("k", "K"), ("v", "V")):
        shape = d.one(((width,), (heads, width)))
        given[f"{letter}CacheRef"] = d.array((blocks, of_block, heads, width), INT8, "tame")
        given[f"scale{name}"] = d.array(shape, FLOAT, "tame")
        given[f"offset{name}Optional"] = d.one((None, d.array(shape, FLOAT, "tame")))
    outputs = {name: d.first for name in ("qOut", "kOut", "vOut")}
    room = {} if given["kvOutput"] else {"kOut": (0,), "vOut": (0,)}
    return Case(given, "double", outputs, room=room,
                stored=("indices", "kCacheRef", "vCacheRef", "biasOptional"))  # fmt: skip
