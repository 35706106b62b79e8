# SPDX-License-Identifier: Apache-2.0
"""Arguments of Native Sparse Attention of inference: caches in blocks, and blocks that are selected."""

import numpy as np

from cases import Case, Draw
from inference_cases import _cache
from selected_cases import INDEX


def paged_compress_attention(d: Draw) -> Case:
    given, counts = _operands(d, ("TND", "BSND"), 40, 1024)
    count = d.whole(1, 12, walk=16)
    given |= {
        "actualCmpKvSeqLenOptional": counts, "selectBlockSize": d.one((64, 32)),
        "selectBlockCount": count, "compressBlockSize": d.one((32, 16)), "compressBlockStride": 16,
    }  # fmt: skip
    return Case(given, "float", {"output": d.first, "topKOutput": INDEX}, stored=("blockTableOptional",))


def paged_selected_attention(d: Draw) -> Case:
    given, counts = _operands(d, ("TND", "BSND", "BSH"), 70, 4096)
    size, count = d.one((16, 48, 64), walk=64), d.whole(1, 3, walk=16)
    chosen = np.full((len(counts), given["numKeyValueHeads"], count), -1, INDEX)
    for of, keys in zip(chosen, counts, strict=True):
        of[...] = d.random.integers(-1, max(-(-keys // size), 0), of.shape)
    if given["layoutOptional"] != "TND" and d.flag():
        chosen = chosen[:, np.newaxis]
    given |= {
        "actualKvSeqLenOptional": counts, "selectBlockSize": size, "selectBlockCount": count,
        "topkIndices": chosen,
    }  # fmt: skip
    return Case(given, "float", {"output": d.first}, stored=("topkIndices", "blockTableOptional"))


def paged_compress(d: Draw) -> Case:
    batches, heads, width = d.whole(1, 4, walk=16), d.whole(1, 3, walk=4), d.whole(1, 9, walk=192)
    d.first = d.type()
    size, stride = d.one((16, 32, 64), walk=32), 16
    lengths = [d.one((d.whole(0, 100), size + stride * d.whole(0, 4))) for _ in range(batches)]
    (blocks, rows, _), table, page = _cache(d, batches, max(*lengths, 1))
    slots = d.random.integers(0, batches + 2, (batches,)).astype(INDEX)
    given = {
        "input": d.array((blocks, rows, heads, width), None, "tame"),
        "weight": d.array((size, heads), None, "tame"), "slotMapping": slots,
        "actSeqLenOptional": lengths, "blockTableOptional": table, "layoutOptional": "TND",
        "compressBlockSize": size, "compressStride": stride, "actSeqLenType": 1,
        "pageBlockSize": page, "outputCache": d.array((batches + 2, heads, width), None, "tame"),
    }  # fmt: skip
    return Case(given, "double", {"outputCache": d.first}, stored=("slotMapping", "blockTableOptional"))


def _operands(d: Draw, layouts, most: int, walk: int):
    """And how many keys each batch has."""
    batches, heads, served = d.whole(1, 3, walk=8), d.whole(1, 2, walk=2), d.whole(1, 3, walk=4)
    width = d.whole(2, 8, walk=64)
    narrow = d.one((width, d.whole(1, width)), walk=width)
    d.first = d.type()
    counts = [d.whole(0, most, walk=walk) for _ in range(batches)]
    (blocks, rows, _), table, size = _cache(d, batches, max(*counts, 1))
    layout, apart = d.one(layouts), d.flag()

    def numbers(*shape: int):
        """Whose weights are not equal to each other, so that no rounding says which is larger."""
        return d.random.standard_normal(shape).astype(d.first)

    def cache(elements: int):
        return numbers(blocks, rows, *((heads, elements) if apart else (heads * elements,)))

    all_heads = heads * served
    shape = {"TND": (all_heads, width), "BSND": (1, all_heads, width), "BSH": (1, all_heads * width)}
    left_out = {each.name: None for each in d.record.parameters if each.optional}
    return left_out | {
        "query": numbers(batches, *shape[layout]), "key": cache(width), "value": cache(narrow),
        "blockTableOptional": table, "numHeads": all_heads, "numKeyValueHeads": heads,
        "scaleValue": 1.0, "layoutOptional": layout, "pageBlockSize": size, "sparseMode": 0,
        "actualQSeqLenOptional": [1] * batches if d.flag() else None,
    }, counts  # fmt: skip
