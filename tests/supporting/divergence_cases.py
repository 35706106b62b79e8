# SPDX-License-Identifier: Apache-2.0
"""Arguments of the divergence of an indexer from attention."""

import numpy as np

from cases import Case, Draw
from records import REALS

FLOAT = np.dtype(np.float32)
_FAR = 2**63 - 1


def index_loss(d: Draw) -> Case:
    """Sums and largest scores are near those of the operands, which need not be right."""
    dense = any(each.name == "softmaxMaxIndex" for each in d.record.parameters)
    d.first = d.type(REALS[:3])
    packed = d.flag()
    batches = 0 if d.style == "empty" and not packed else d.whole(1, 2, walk=1)
    rows, keys = (70 if d.style == "long" and n else d.whole(1, 4, walk=512) for n in (0, 1))
    served, group = d.whole(1, 2, walk=1), d.whole(1, 2, walk=8)
    width, narrow, index_heads = d.whole(1, 5, walk=64), d.whole(1, 5, walk=64), d.whole(1, 3, walk=8)
    heads, row_ends, key_ends = served * group, None, None
    if packed:
        row_ends, key_ends = (
            [int(n) for n in np.cumsum([d.whole(0, each) for _ in range(batches)])] for each in (rows, keys)
        )
        lead, of_keys = ((ends[-1] if ends else 0) + d.whole(0, 1) for ends in (row_ends, key_ends))
        lead, of_keys, before = (lead,), (of_keys,), lambda n: (n, lead[0])
    else:
        lead, of_keys, before = (batches, rows), (batches, keys), lambda n: (batches, n, rows)
    given = {
        "query": d.array((*lead, heads, width), None, "tame"), "key": d.array((*of_keys, served, width), None, "tame"),
        "queryIndex": d.array((*lead, index_heads, narrow), None, "tame"),
        "keyIndex": d.array((*of_keys, 1, narrow), None, "tame"),
        "weights": d.array((*lead, index_heads), d.one((d.first, FLOAT)), "unit"),
        "softmaxMax": d.random.uniform(0, 1, (*before(served), group)).astype(FLOAT),
        "softmaxSum": d.random.uniform(1, 2, (*before(served), group)).astype(FLOAT),
        "queryRopeOptional": None, "keyRopeOptional": None, "actualSeqQLenOptional": row_ends,
        "actualSeqKLenOptional": key_ends, "scaleValue": 0.25, "layout": "TND" if packed else "BSND",
        "sparseMode": 3, "preTokens": _FAR, "nextTokens": _FAR,
    }  # fmt: skip
    given["weights"] = (d.random.uniform(-1, 1, given["weights"].shape)).astype(given["weights"].dtype)
    if d.flag():
        rope = d.whole(1, 3, walk=64)
        given |= {"queryRopeOptional": d.array((*lead, heads, rope), None, "tame"),
                  "keyRopeOptional": d.array((*of_keys, served, rope), None, "tame")}  # fmt: skip
    if dense:
        given |= {"softmaxMaxIndex": d.random.uniform(0, 1, before(1)).astype(FLOAT),
                  "softmaxSumIndex": d.random.uniform(1, 2, before(1)).astype(FLOAT)}  # fmt: skip
    else:
        count = d.whole(1, 6, walk=64)
        given |= {"sparseIndices": d.random.integers(-1, max(keys, 1), (*lead, 1, count)).astype(np.int32),
                  "deterministic": d.flag()}  # fmt: skip
    outputs = {"dQueryIndex": d.first, "dKeyIndex": d.first, "dWeights": given["weights"].dtype, "loss": FLOAT}
    return Case(given, "double", outputs, stored=("sparseIndices",))
