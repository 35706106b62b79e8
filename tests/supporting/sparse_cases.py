# SPDX-License-Identifier: Apache-2.0
"""Arguments of DeepSeek Sparse Attention: layouts, lengths in device memory, caches, chosen keys."""

import numpy as np

from bounded import DOUBLE, Bounded
from cases import Case, Draw
from inference_cases import _cache
from records import REALS
from selected_cases import INDEX
from sparse import sparse_attention as _forward

_NO_LIMIT = 2**63 - 1
_STORED = ("sparseIndices", "blockTable", "actualSeqLengthsQuery", "actualSeqLengthsKey", "actualSeqLengthsKv",
           "actualSeqQlen", "actualSeqKvlen")  # fmt: skip


def index_keys(d: Draw) -> Case:
    """Of small integers, whose sums are exact, so that no rounding says which is larger."""
    given, shape, _ = _operands(d, "Key", d.whole(1, 5, walk=16), d.whole(1, 9, walk=128))

    def whole(of: tuple[int, ...], dtype):
        return d.random.integers(-3, 4, of).astype(dtype)

    count = d.one((d.whole(1, 4), d.whole(1, 40)), walk=64)
    given |= {
        "query": whole(given["query"], d.first), "key": whole(given["key"], d.first),
        "weights": whole(given["query"][:-1], d.one((d.first, np.dtype(np.float32)))),
        "sparseCount": count, "returnValue": given["layoutKey"] != "PA_BSND" and _asks(d),
    }  # fmt: skip
    outputs = {"sparseIndicesOut": INDEX, "sparseValuesOut": d.first}
    of_values = {"sparseValuesOut": (*shape, 1, count)}
    room = {} if given["returnValue"] else of_values
    return Case(given, "float", outputs, stored=_STORED, shapes=of_values, room=room)


def index_whole_keys(d: Draw) -> Case:
    """Of small integers and powers of 2, whose sums are exact."""
    given, _, _ = _operands(d, "Key", d.whole(1, 5, walk=16), d.whole(1, 9, walk=128))

    def whole(of: tuple[int, ...], dtype):
        return d.random.integers(-3, 4, of).astype(dtype)

    def powers(of: tuple[int, ...]):
        return (2.0 ** d.random.integers(-2, 3, of)).astype(d.one((np.float16, np.float32)))

    given |= {
        "query": whole(given["query"], np.int8), "key": whole(given["key"], np.int8),
        "weights": whole(given["query"][:-1], d.first), "queryDequantScale": powers(given["query"][:-1]),
        "keyDequantScale": powers(given["key"][:-1]), "queryQuantMode": 0, "keyQuantMode": 0,
        "sparseCount": d.one((d.whole(1, 4), d.whole(1, 40)), walk=64),
    }  # fmt: skip
    return Case(given, "float", {"sparseIndicesOut": INDEX}, stored=_STORED)


def index_softmax(d: Draw) -> Case:
    batches, rows, heads, width = (
        d.whole(1, 3, walk=2), d.whole(1, 4, walk=64), d.whole(1, 5, walk=16), d.whole(1, 9, walk=128))  # fmt: skip
    most = 150 if d.style == "long" else d.whole(1, 40, walk=512)
    d.first = d.type(REALS[:3])
    packed = d.flag(walk=False)
    row_counts = [d.whole(0, rows) for _ in range(batches)]
    key_counts = [d.whole(0, most) for _ in range(batches)]
    shape = (sum(row_counts) + d.whole(0, 1),) if packed else (batches, rows)
    key = (sum(key_counts) + d.whole(0, 1),) if packed else (batches, most)

    def tame(of: tuple[int, ...], dtype=None):
        return d.random.uniform(-1, 1, of).astype(dtype or d.first)

    given = {
        "queryIndex": tame((*shape, heads, width)), "keyIndex": tame((*key, 1, width)),
        "weights": tame((*shape, heads), d.one((d.first, np.dtype(np.float32)))),
        "actualSeqQLenOptional": np.cumsum(row_counts).tolist() if packed else None,
        "actualSeqKLenOptional": np.cumsum(key_counts).tolist() if packed else None,
        "layout": "TND" if packed else "BSND", "sparseMode": 3, "preTokens": _NO_LIMIT,
        "nextTokens": _NO_LIMIT,
    }  # fmt: skip
    names = ("softmaxMaxOut", "softmaxSumOut")
    return Case(given, "float", dict.fromkeys(names, np.dtype(np.float32)))


def index_keys_backward(d: Draw) -> Case:
    """Of small integers, whose products are exact, so that no rounding says which are positive."""
    heads, width = d.whole(1, 5, walk=16), d.whole(1, 9, walk=128)
    given, shape, most = _operands(d, "Key", heads, width, paged=False)
    count = d.whole(1, 7, walk=64)
    chosen = np.full((*shape, 1, count), -1, INDEX)
    for at, keys in _counted(given | {"actualSeqLengthsKv": given["actualSeqLengthsKey"],
                                      "layoutKv": given["layoutKey"]}, shape, most):  # fmt: skip
        chosen[at][...] = d.random.integers(-1, max(keys, 1) if keys else 0, (1, count))
    layout = given.pop("layoutQuery")
    del given["layoutKey"], given["blockTable"]

    def whole(of: tuple[int, ...], dtype):
        return d.random.integers(-3, 4, of).astype(dtype)

    dy = d.array(chosen.shape, None, "tame")
    if d.flag():
        chosen, dy = chosen[..., 0, :], dy[..., 0, :]
    of_weights = d.one((d.first, np.dtype(np.float32)))
    given |= {
        "query": whole(given["query"], d.first), "key": whole(given["key"], d.first), "dy": dy,
        "sparseIndices": chosen, "weights": whole(given["query"][:-1], of_weights), "headNum": 0,
        "layout": layout, "deterministic": d.flag(),
    }  # fmt: skip
    outputs = {"dQuery": d.first, "dKey": d.first, "dWeights": of_weights}
    return Case(given, "double", outputs, stored=_STORED)


def sparse_attention(d: Draw) -> Case:
    heads, width, rope = d.whole(1, 4, walk=32), 64, d.whole(1, 8, walk=64)
    given, shape, most = _operands(d, "Kv", heads, width)
    size, count = d.one((1, 1, 2, 16), walk=1), d.whole(1, 5, walk=256)
    if given["layoutKv"] == "PA_BSND":
        size = d.one([n for n in (1, 2, 16) if given["key"][1] % n == 0])
    chosen = np.full((*shape, 1, count), -1, INDEX)
    for at, keys in _counted(given, shape, most):
        chosen[at][...] = d.random.integers(-1, max(-(-keys // size), 0), (1, count))
    of_key = given["key"]

    def tame(of: tuple[int, ...]):
        return d.array(of, None, "tame")

    asked = given["layoutKv"] != "PA_BSND" and _asks(d)
    given |= {
        "query": tame(given["query"]), "key": tame(of_key), "value": tame(of_key),
        "queryRope": tame((*shape, heads, rope)), "keyRope": tame((*of_key[:-1], rope)),
        "sparseIndices": chosen, "scaleValue": 0.25, "sparseBlockSize": size,
        "attentionMode": 2, "returnSoftmaxLse": asked,
    }  # fmt: skip
    if any(each.name == "sinks" for each in d.record.parameters):
        given["sinks"] = d.one((None, d.array((heads,), np.float32, "tame")))
    single, sums = np.dtype(np.float32), (*shape[:-1], 1, shape[-1], heads)
    if len(shape) == 1:
        sums = (1, *shape, heads)
    outputs = {"attentionOutOut": d.first, "softmaxMaxOut": single, "softmaxSumOut": single}
    shapes = {"softmaxMaxOut": sums, "softmaxSumOut": sums}
    return Case(given, "float", outputs, stored=_STORED, shapes=shapes, room={} if asked else shapes)


def kv_quant_sparse_attention(d: Draw) -> Case:
    """Keys are rows of bytes: numbers, ropes and factors of 128 numbers each."""
    heads, own, rope = d.whole(1, 3, walk=32), d.one((d.whole(1, 9), 130), walk=512), d.whole(0, 4, walk=64)
    given, shape, most = _operands(d, "Kv", heads, own + rope)
    size, count = d.one((1, 1, 2, 16), walk=1), d.whole(1, 5, walk=256)
    if given["layoutKv"] == "PA_BSND":
        size = d.one([n for n in (1, 2, 16) if given["key"][1] % n == 0])
    chosen = np.full((*shape, 1, count), -1, INDEX)
    for at, keys in _counted(given, shape, most):
        chosen[at][...] = d.random.integers(-1, max(-(-keys // size), 0), (1, count))
    of_key = given["key"][:-1]
    parts = (d.random.integers(-128, 128, (*of_key, own)).astype(np.int8), d.array((*of_key, rope), None, "tame"),
             d.random.uniform(0.01, 0.03, (*of_key, -(-own // 128))).astype(np.float32))  # fmt: skip
    key = np.concatenate([np.ascontiguousarray(each).view(np.int8) for each in parts], -1)
    given |= {"query": d.array(given["query"], None, "tame"), "key": key, "value": key,
              "sparseIndices": chosen, "scaleValue": 0.25, "sparseBlockSize": size, "attentionMode": 2,
              "keyQuantMode": 2, "valueQuantMode": 2, "quantScaleRepoMode": 1, "tileSize": 128,
              "ropeHeadDim": rope}  # fmt: skip
    names = {each.name for each in d.record.parameters}
    given = {name if name in names else f"{name}Optional": value for name, value in given.items()}
    given |= {"keyDequantScaleOptional": None, "valueDequantScaleOptional": None}
    stored = (*(f"{each}Optional" for each in _STORED), *_STORED, "key", "value")
    return Case(given, "double", {"attentionOut": d.first}, stored=stored)


def sparse_attention_backward(d: Draw) -> Case:
    heads, width, rope = d.whole(1, 4, walk=32), 64, d.whole(1, 8, walk=64)
    given, shape, most = _operands(d, "Kv", heads, width, paged=False)
    size, count = d.one((1, 1, 2, 16), walk=1), d.whole(1, 5, walk=256)
    chosen = np.full((*shape, 1, count), -1, INDEX)
    for at, keys in _counted(given, shape, most):
        chosen[at][...] = d.random.integers(-1, max(-(-keys // size), 0), (1, count))
    tensors = {
        name: d.array(of, None, "tame")
        for name, of in {
            "query": given["query"], "key": given["key"], "value": given["key"],
            "queryRope": (*shape, heads, rope), "keyRope": (*given["key"][:-1], rope),
        }.items()
    }  # fmt: skip
    exact = [Bounded(np.asarray(each, np.float64), DOUBLE) for each in tensors.values()]
    lengths = given.pop("actualSeqLengthsQuery"), given.pop("actualSeqLengthsKv")
    layout = given.pop("layoutQuery")
    out, tops, sums = _forward(
        *exact[:3], chosen, None, *lengths, *exact[3:], 0.25, size, layout, layout,
        given["sparseMode"], True,
    )  # fmt: skip
    del given["layoutKv"], given["blockTable"]
    given |= tensors | {
        "sparseIndices": chosen, "dOut": d.array(out.shape, None, "tame"),
        "out": out.value.astype(d.first), "softmaxMax": tops.value.astype(np.float32),
        "softmaxSum": sums.value.astype(np.float32), "actualSeqQlen": lengths[0],
        "actualSeqKvlen": lengths[1], "scaleValue": 0.25, "sparseBlockSize": size,
        "layout": layout, "deterministic": d.flag(),
    }  # fmt: skip
    names = ("dQuery", "dKey", "dValue", "dQueryRope", "dKeyRope")
    return Case(given, "float", dict.fromkeys(names, d.first), stored=_STORED)


def _asks(d: Draw) -> bool:
    """Examples show all results."""
    return d.flag() or d.style == "plain"


def _operands(d: Draw, keys_name: str, heads: int, width: int, paged: bool | None = None):
    """Arguments that have shapes in the places of query and key; those of rows; the most keys."""
    batches, rows = d.whole(1, 3, walk=2), d.whole(1, 4, walk=64)
    most = 150 if d.style == "long" else d.whole(1, 40, walk=512)
    d.first = d.type(REALS[:3])
    packed = d.flag(walk=False)
    paged = d.flag() and d.style != "plain" if paged is None else paged
    row_counts = [d.whole(0, rows) for _ in range(batches)]
    key_counts = [d.whole(0, most) for _ in range(batches)]
    table = None
    shape = (sum(row_counts) + d.whole(0, 1),) if packed else (batches, rows)
    if paged:
        (blocks, size, _), table, _ = _cache(d, batches, max(*key_counts, 1))
        key, layout = (blocks, size, 1, width), "PA_BSND"
    else:
        key = (sum(key_counts) + d.whole(0, 1), 1, width) if packed else (batches, most, 1, width)
        layout = "TND" if packed else "BSND"

    def lengths(counts, ends: bool):
        return np.array(np.cumsum(counts) if ends else counts, INDEX)

    optional = not packed and d.flag()
    given = {
        "query": (*shape, heads, width), "key": key, "blockTable": table,
        "actualSeqLengthsQuery": None if optional else lengths(row_counts, packed),
        f"actualSeqLengths{keys_name}":
            None if optional and not paged else lengths(key_counts, packed and not paged),
        "layoutQuery": "TND" if packed else "BSND", f"layout{keys_name}": layout,
        "sparseMode": d.one((0, 3)), "preTokens": _NO_LIMIT, "nextTokens": _NO_LIMIT,
    }  # fmt: skip
    return given, shape, most


def _counted(given: dict, shape: tuple[int, ...], most: int):
    """(place, keys of its batch) of each row that counts."""
    counts, keys = given["actualSeqLengthsQuery"], given["actualSeqLengthsKv"]
    ends = given["layoutKv"] == "TND"
    if len(shape) == 1:
        batch = 0
        for row in range(counts[-1]):
            while row >= counts[batch]:
                batch += 1
            yield (row,), int(keys[batch] - (keys[batch - 1] if ends and batch else 0))
        return
    for batch in range(shape[0]):
        for row in range(shape[1] if counts is None else counts[batch]):
            yield (batch, row), most if keys is None else int(keys[batch])
