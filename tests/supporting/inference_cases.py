# SPDX-License-Identifier: Apache-2.0
"""Arguments of attention of inference: layouts, lengths, caches in blocks, ropes, masks."""

from dataclasses import dataclass

import numpy as np

from cases import Case, Draw
from network_cases import BYTES, _laid
from records import REALS
from scaled_cases import Sizes, numbers, result_type, rows_without_keys, scaling, whole_numbers

from openaclnn.dtypes import BFLOAT16

_LAYOUTS = ("BNSD", "BSND", "BSH", "BNSD_BSND")
_MORE_LAYOUTS = ("BSH_BNSD", "BSND_BNSD", "BSH_NBSD", "BSND_NBSD", "BNSD_NBSD", "TND", "TND_NTD", "NTD_TND")


# What a call has beside its query, keys and values; the operator's parameters say which it may have.
_EXTRAS = {
    "table": "blockTable", "rope": "queryRope", "list": "softmaxLse", "padding": "kvPaddingSize",
    "front": "keySharedPrefix", "sink": "learnableSink",
}  # fmt: skip


def infer_attention(d: Draw) -> Case:
    extra = _extra(d)
    newer = any(each.name == "queryRopeOptional" for each in d.record.parameters)
    scaled = scaling(d, extra)
    more = () if extra in ("list", "padding", "front") or not newer or scaled else _MORE_LAYOUTS
    layout = d.one(("TND", "NTD_TND") if extra == "sink" else _LAYOUTS + more, walk="BNSD")
    return _case(d, layout, d.whole(1 + (scaled == "all"), 6, walk=512), extra, scaled)


def fused_attention(d: Draw) -> Case:
    """By the names of the first version."""
    extra = _extra(d)
    scaled = scaling(d, extra)
    rows = d.whole(1 + (scaled == "all"), 6, walk=512)
    return _renamed(d, _case(d, d.one(_LAYOUTS), rows, extra, scaled))


def prompt_attention(d: Draw) -> Case:
    """All operands, by the names that the operator has for some of them."""
    scaled = scaling(d, "")
    rows = d.whole(1 + (scaled == "all"), 6, walk=512)
    return _renamed(d, _case(d, d.one(_LAYOUTS), rows, "", scaled))


def _extra(d: Draw) -> str:
    names = {each.name.removesuffix("Optional") for each in d.record.parameters}
    found = [extra for extra, name in _EXTRAS.items() if name in names]
    return d.one(("", "", *found), walk="")


def incremental_attention(d: Draw) -> Case:
    """Of one row; its lengths are those of keys."""
    names = {each.name for each in d.record.parameters}
    extras = [extra for extra, name in (("table", "blocktable"), ("padding", "kvPaddingSize")) if name in names]
    extra = d.one(("", "list", *extras), walk="")
    case = _case(d, d.one(_LAYOUTS[:3]), 1, extra, scaling(d, extra))
    case.arguments["actualSeqLengthsOptional"] = case.arguments.pop("actualSeqLengthsKvOptional")
    case.arguments["blocktableOptional"] = case.arguments.pop("blockTableOptional", None)
    return _renamed(d, case)


def attention_update(d: Draw) -> Case:
    rows, width = 0 if d.style == "empty" else d.whole(1, 5, walk=65536), 8 * d.whole(1, 3, walk=8)
    d.first = d.type(REALS[:3])
    parts = d.whole(1, 4, walk=4)
    lse = [d.array((rows,), np.float32, "tame") for _ in range(parts)]
    for each in lse:
        each[d.random.random(rows) < 0.2] = -np.inf
    given = {
        "lse": lse, "localOut": [d.array((rows, width), None, "tame") for _ in range(parts)],
        "updateType": d.whole(0, 1, walk=1),
    }  # fmt: skip
    shapes = {"out": (rows, width), "lseOut": (rows,)}
    return Case(given, "double", {"out": d.first, "lseOut": np.dtype(np.float32)}, shapes=shapes)


def _renamed(d: Draw, case: Case) -> Case:
    """Without Optional, and without what the operator does not have."""
    given = {name.removesuffix("Optional"): value for name, value in case.arguments.items()}
    case.arguments = {name: given[name] for name in (each.name for each in d.record.parameters) if name in given}
    if not isinstance(given["key"], list) or d.record.parameters[1].kind == "in[]":
        return case
    case.arguments |= {name: case.arguments[name][0] for name in ("key", "value")}
    return case


@dataclass
class _Drawn:
    """Queries, and keys or values."""

    d: Draw
    letters: str
    batches: int
    heads: int  # of query
    served: int  # of key
    rows: int
    keys: int
    of_keys: np.dtype
    cache: tuple = ()  # its blocks and their rows
    group: int = 0  # elements of a group

    def __post_init__(self):
        self.cached = self.d.one(("BSH", "BNSD"))

    def query(self, width: int, dtype=None) -> np.ndarray:
        return self._array(_shape(self.letters, self.batches, self.heads, self.rows, width), dtype)

    def key(self, width: int, batches: int | None = None, rows: int | None = None, dtype=None):
        if self.group:
            shape = (self.cache[0], self.served, width // self.group, self.cache[1], self.group)
        elif self.cache:
            shape = _shape(self.cached, self.cache[0], self.served, self.cache[1], width)
        else:
            batches, rows = batches or self.batches, self.keys if rows is None else rows
            shape = _shape(self.letters, batches, self.served, rows, width)
        return self._array(shape, dtype or self.of_keys)

    def _array(self, shape, dtype) -> np.ndarray:
        return whole_numbers(self.d, shape) if dtype == np.int8 else self.d.array(shape, None, "tame")


def _case(d: Draw, layout: str, rows: int, extra: str, scaled: str = "") -> Case:
    letters = layout.partition("_")[0]
    packed, paged, roped = "T" in letters, extra == "table", extra == "rope"
    b, heads, served = d.whole(1, 2, walk=2), d.whole(1, 2, walk=8), d.whole(1, 2, walk=1)
    keys = 150 if d.style == "long" else d.whole(1, 6, walk=512)
    width = 64 if roped else d.whole(1, 8, walk=64)
    narrow = d.one((width, d.whole(1, width)), walk=width)
    d.first = result_type(d, scaled)
    of_keys = d.first if scaled in ("", "out") else np.dtype(np.int8)
    group = 32 // of_keys.itemsize if paged and d.flag() else 0
    if group:
        width, narrow = group * d.whole(1, 2), group
    given = {each.name: None for each in d.record.inputs}
    given |= {each.name: None for each in d.record.plain("ints")}
    given |= {each.name: 0 for each in d.record.plain("int64")}
    counts, cache = _counts(d, b, rows, keys, packed, paged), ()
    all_rows, all_keys = rows, [keys]
    if packed:
        all_rows = counts["actualSeqLengthsOptional"][-1] + d.whole(0, 1)
        all_keys = [keys if paged else counts["actualSeqLengthsKvOptional"][-1] + d.whole(0, 1)]
    if paged:
        cache, table, size = _cache(d, b, keys)
        given |= {"blockTableOptional": table, "blockSize": size}
    if extra == "list":
        all_keys = _rows_of_members(d, b, counts["actualSeqLengthsKvOptional"], keys)
    drawn = _Drawn(d, letters, b, heads * served, heads, all_rows, all_keys[0], of_keys, cache, group)

    def listed(width: int):
        return [drawn.key(width, 1, each) for each in all_keys] if extra == "list" else [drawn.key(width)]

    given |= counts | {
        "query": drawn.query(width, np.int8 if scaled in ("all", "rope") else None),
        "key": listed(width), "value": listed(narrow),
        "numHeads": heads * served, "numKeyValueHeads": d.one((heads, heads if served > 1 else 0)),
        "scaleValue": 0.5, "preTokens": d.whole(-2, 9), "nextTokens": d.whole(-2, 9),
        "inputLayout": layout,
    }  # fmt: skip
    longest = cache[2] if paged else max(all_keys)
    if extra == "front":
        front, more = _front(d, lambda n: (drawn.key(width, 1, n), drawn.key(narrow, 1, n)))
        given, longest = given | more, longest + front
    given |= _beside(d, drawn, extra, counts, rows, keys)
    given |= _masks(d, b, heads * served, all_rows, longest, packed, roped)
    of_rows = _shape(letters.replace("H", "ND"), b, heads * served, all_rows, 1)
    given |= numbers(d, scaled, extra, Sizes(heads, heads * served, width, narrow, b, longest, cache), of_rows)
    return _with_outputs(d, given, rows, extra, scaled)


def _beside(d: Draw, drawn: _Drawn, extra: str, counts: dict, rows: int, keys: int) -> dict:
    """Ropes, paddings, sinks."""
    if extra == "rope":
        rope = d.whole(1, 8)
        return {"queryRopeOptional": drawn.query(rope), "keyRopeOptional": drawn.key(rope, dtype=d.first)}
    if extra == "padding":
        return _paddings(d, counts, rows, keys)
    if extra == "sink":
        return {"learnableSinkOptional": d.array((drawn.heads,), BFLOAT16, "tame")}
    return {}


def _with_outputs(d: Draw, given: dict, rows: int, extra: str, scaled: str) -> Case:
    asks = any(each.name == "softmaxLseFlag" for each in d.record.parameters)
    given["softmaxLseFlag"] = asks and scaled != "rope" and d.flag(walk=False)
    outputs = {"attentionOut": d.first}
    if given.get("quantScale2Optional") is not None:
        outputs["attentionOut"] = np.dtype(np.int8)
        if extra == "padding" or rows_without_keys(given, rows):
            given["quantOffset2Optional"] = None
    if given["softmaxLseFlag"]:
        outputs["softmaxLse"] = np.dtype(np.float32)
    return Case(given, "float", outputs)


def _rows_of_members(d: Draw, b: int, counts, keys: int) -> list[int]:
    """At least the lengths, of which there may be one for all."""
    least = (counts * b if len(counts) == 1 else counts) if counts else [1] * b
    return [d.whole(max(n, 1), keys) for n in least[:b]]


def _front(d: Draw, tensors) -> tuple[int, dict]:
    """How many keys stand before those of each batch, and the arguments that say so."""
    rows = d.whole(1, 140 if d.style == "long" else 6)
    count = d.one((None, [d.whole(0, rows)]))
    key, value = tensors(rows)
    return rows if count is None else count[0], {
        "keySharedPrefixOptional": key, "valueSharedPrefixOptional": value,
        "actualSharedPrefixLenOptional": count,
    }  # fmt: skip


def _paddings(d: Draw, counts: dict, rows: int, keys: int) -> dict:
    """Sizes that leave room for every batch; of one row of the query also larger ones."""

    def size(name: str, most: int, beyond: int):
        count = max(counts[name] or [0])
        return np.array([d.whole(-1, most - min(count, most) + beyond)])

    return {
        "queryPaddingSizeOptional": d.one((None, size("actualSeqLengthsOptional", rows, 0))),
        "kvPaddingSizeOptional": size("actualSeqLengthsKvOptional", keys, 2 if rows == 1 else 0),
    }


def _shape(letters: str, b: int, heads: int, rows: int, width: int) -> tuple[int, ...]:
    return _laid(letters.replace("T", "S"), b, heads, rows, width)


def _counts(d: Draw, b: int, rows: int, keys: int, packed: bool, paged: bool) -> dict:
    """Lengths of some, one for all, or none; ends of packed sequences."""

    def lengths(most: int) -> list[int]:
        return [d.whole(0, most) for _ in range(b)]

    if packed:
        of_keys = lengths(keys)
        return {
            "actualSeqLengthsOptional": np.cumsum(lengths(rows)).tolist(),
            "actualSeqLengthsKvOptional": of_keys if paged else np.cumsum(of_keys).tolist(),
        }
    some = [None, lengths(keys), [d.whole(0, keys)], lengths(keys) + [1]]
    return {
        "actualSeqLengthsOptional": d.one((None, lengths(rows), [d.whole(0, rows)])),
        "actualSeqLengthsKvOptional": d.one(some[1:] if paged else some),
    }


def _cache(d: Draw, b: int, keys: int):
    """(blocks, rows of a block, keys that the table reaches), the table and the rows of a block."""
    size = d.one((1, 2, 5, 16, 160))
    wide = -(-keys // size) + d.whole(0, 1)
    blocks = b * wide + d.whole(0, 2)
    table = d.random.permutation(blocks)[: b * wide].reshape(b, wide).astype(np.int32)
    return (blocks, size, wide * size), table, size


def _masks(d: Draw, b: int, heads: int, rows: int, keys: int, packed: bool, roped: bool) -> dict:
    if packed:
        mode = d.one((0, 2, 3, 4))
        hides = np.zeros((2048, 2048), BYTES) if mode else None
        return {"sparseMode": mode, "attenMaskOptional": hides}
    mode = d.one((0, 0, 1, 1, 2, 3, 4), walk=0)
    of = (*d.within((b, heads)), rows, keys)
    shift = None if d.flag(walk=True) else d.array(of, d.real(), "tame")
    if mode > 1 and (rows > 1 or roped):
        hides = np.zeros(d.one(((2048, 2048), (1, 2048, 2048))), BYTES)
        return {"sparseMode": mode, "attenMaskOptional": hides, "pseShiftOptional": shift}
    wider = (rows, keys) if rows == 1 else (rows + d.whole(0, 1), keys + d.whole(0, 1))
    dims = (*d.one(((b, heads), (b, 1), (b,), (1,), ())), *wider)
    dims = (b, keys) if rows == 1 and d.flag() else dims
    hides = None if d.flag(walk=True) else d.array(dims, BYTES, "mask")
    return {"sparseMode": mode, "attenMaskOptional": hides, "pseShiftOptional": shift}
