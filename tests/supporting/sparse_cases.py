# SPDX-License-Identifier: Apache-2.0
"""Arguments of DeepSeek Sparse Attention: layouts, lengths in device memory, caches, chosen keys."""

import numpy as np

from cases import Case, Draw
from inference_cases import _cache
from records import REALS
from selected_cases import INDEX

_NO_LIMIT = 2**63 - 1
_STORED = ("sparseIndices", "blockTable", "actualSeqLengthsQuery", "actualSeqLengthsKey", "actualSeqLengthsKv")


def index_keys(d: Draw) -> Case:
    """Of small integers, whose sums are exact, so that no rounding says which is larger."""
    given, shape, _ = _operands(d, "Key", d.whole(1, 5), d.whole(1, 9))

    def whole(of: tuple[int, ...], dtype):
        return d.random.integers(-3, 4, of).astype(dtype)

    count = d.one((d.whole(1, 4), d.whole(1, 40)), walk=64)
    given |= {
        "query": whole(given["query"], d.first), "key": whole(given["key"], d.first),
        "weights": whole(given["query"][:-1], d.one((d.first, np.dtype(np.float32)))),
        "sparseCount": count, "returnValue": given["layoutKey"] != "PA_BSND" and d.flag(walk=False),
    }  # fmt: skip
    outputs = {"sparseIndicesOut": INDEX, "sparseValuesOut": d.first}
    return Case(given, "float", outputs, stored=_STORED, shapes={"sparseValuesOut": (*shape, 1, count)})


def _operands(d: Draw, keys_name: str, heads: int, width: int):
    """Arguments that have shapes in the places of query and key; those of rows; the most keys."""
    batches, rows = d.whole(1, 3, walk=2), d.whole(1, 4, walk=64)
    most = 150 if d.style == "long" else d.whole(1, 40, walk=512)
    d.first = d.type(REALS[:3])
    packed, paged = d.flag(walk=False), d.flag(walk=False)
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
