# SPDX-License-Identifier: Apache-2.0
"""Arguments of Native Sparse Attention: packed sequences, and the blocks that each row sees."""

import numpy as np

from bounded import DOUBLE, Bounded
from cases import Case, Draw
from selected import selected_attention as _forward

INDEX = np.dtype(np.int32)


def selected_attention(d: Draw) -> Case:
    given = _operands(d)
    numbers = np.dtype(np.float32)
    outputs = {"softmaxMaxOut": numbers, "softmaxSumOut": numbers, "attentionOut": d.first}
    return Case(given, "float", outputs, stored=("topkIndices",))


def selected_attention_backward(d: Draw) -> Case:
    given = _operands(d)
    exact = {name: Bounded(np.asarray(given[name], np.float64), DOUBLE) for name in ("query", "key", "value")}
    tops, sums, out = _forward(
        *exact.values(), given["topkIndices"], given["actualSeqQLenOptional"],
        given["actualSeqKvLenOptional"], given["scaleValue"], given["sparseMode"],
        given["selectedBlockSize"],
    )  # fmt: skip
    given |= {
        "attentionOut": out.value.astype(d.first),
        "attentionOutGrad": d.array(out.shape, None, "tame"),
        "softmaxMax": tops.value.astype(np.float32), "softmaxSum": sums.value.astype(np.float32),
    }  # fmt: skip
    outputs = {"dqOut": d.first, "dkOut": d.first, "dvOut": d.first}
    return Case(given, "float", outputs, stored=("topkIndices",))


def compress_attention(d: Draw) -> Case:
    heads, served, width = d.whole(1, 2, walk=2), d.whole(1, 3, walk=4), d.whole(2, 8, walk=64)
    narrow = d.one((width, d.whole(1, width)), walk=width)
    d.first = d.type()
    batches = d.whole(1, 2, walk=2)
    rows, keys, blocks = (_ends(d, batches, *each) for each in ((4, 512), (40, 1024), (9, 128)))
    lengths = [np.diff(each, prepend=0).max() for each in (rows, keys, blocks)]
    mask = d.array((lengths[0] + 1, lengths[1]), np.uint8, "mask")
    always = (d.random.random((lengths[0], lengths[2] + 1)) < 0.1).astype(np.uint8)

    def numbers(*shape: int):
        """Whose weights are not equal to each other, so that no rounding says which is larger."""
        return d.random.standard_normal(shape).astype(d.first)

    given = {
        "query": numbers(rows[-1] + d.whole(0, 1, walk=0), heads * served, width),
        "key": numbers(keys[-1] + d.whole(0, 1, walk=0), heads, width),
        "attenMaskOptional": None if d.flag(walk=True) else mask,
        "topkMaskOptional": None if d.flag(walk=True) else always,
        "actualSeqQLenOptional": rows, "actualCmpSeqKvLenOptional": keys,
        "actualSelSeqKvLenOptional": blocks, "scaleValue": 1.0, "headNum": heads * served,
        "inputLayout": "TND", "sparseMode": d.whole(0, 1), "compressBlockSize": d.one((32, 16)),
        "compressStride": 16, "selectBlockSize": d.one((64, 32)), "selectBlockCount": d.whole(1, 12),
    }  # fmt: skip
    given["value"] = numbers(len(given["key"]), heads, narrow)
    float32 = np.dtype(np.float32)
    outputs = {"softmaxMaxOut": float32, "softmaxSumOut": float32, "attentionOutOut": d.first,
               "topkIndicesOut": INDEX}  # fmt: skip
    return Case(given, "float", outputs, stored=("attenMaskOptional", "topkMaskOptional"))


def _operands(d: Draw) -> dict:
    heads, served = d.whole(1, 2, walk=2), d.whole(1, 3, walk=4)
    width = d.whole(1, 8, walk=64)
    narrow = d.one((width, d.whole(1, width)), walk=width)
    size, count = d.one((16, 32, 128), walk=64), d.whole(1, 3, walk=8)
    d.first = d.type()
    batches = d.whole(1, 2, walk=2)
    rows, keys = (_ends(d, batches, *each) for each in ((3, 512), (70, 1024)))
    all_rows, all_keys = rows[-1] + d.whole(0, 1, walk=0), keys[-1] + d.whole(0, 20, walk=0)
    blocks = [-(-(end - (keys[i - 1] if i else 0)) // size) for i, end in enumerate(keys)]
    chosen = np.full((all_rows, heads, count), -1, INDEX)
    for b, end in enumerate(rows):
        of = (end - (rows[b - 1] if b else 0), heads, count)
        some = d.random.integers(-1, max(blocks[b], 0), of)
        chosen[end - of[0] : end] = some
    return {
        "query": d.array((all_rows, heads * served, width), None, "tame"),
        "key": d.array((all_keys, heads, width), None, "tame"),
        "value": d.array((all_keys, heads, narrow), None, "tame"),
        "topkIndices": chosen, "attenMaskOptional": None, "actualSeqQLenOptional": rows,
        "actualSeqKvLenOptional": keys, "scaleValue": 0.5, "headNum": heads * served,
        "inputLayout": "TND", "sparseMode": d.one((0, 2)), "selectedBlockSize": size,
        "selectedBlockCount": count,
    }  # fmt: skip


def _ends(d: Draw, batches: int, most: int, walk: int) -> list[int]:
    return np.cumsum([d.whole(0, most, walk=walk) for _ in range(batches)]).tolist()
