# SPDX-License-Identifier: Apache-2.0
"""Arguments of BlockSparseAttention and its gradient."""

import numpy as np

from blocks import block_attention as _forward
from bounded import DOUBLE, Bounded
from cases import Case, Draw
from records import REALS

FLOAT = np.dtype(np.float32)


def block_attention(d: Draw) -> Case:
    given = _operands(d) | {
        "blockTableOptional": None, "innerPrecise": d.whole(0, 1), "blockSize": 0,
        "softmaxLseFlag": d.whole(0, 1, walk=0),
    }  # fmt: skip
    outputs = {"attentionOut": d.first, "softmaxLseOptional": FLOAT}
    return Case(given, "double", outputs, stored=("blockSparseMask",))


def block_backward(d: Draw) -> Case:
    """With what the forward leaves."""
    given = _operands(d)
    exact = [Bounded(DOUBLE.exact(given[name]), DOUBLE) for name in ("query", "key", "value")]
    settings = [given[name] for name in ("blockSparseMask", "blockShape", "actualSeqLengthsOptional",
                                         "actualSeqLengthsKvOptional", "qInputLayout")]  # fmt: skip
    out, sums = _forward(*exact, *settings, given["scaleValue"], True)
    given |= {"dout": d.array(out.shape, None, "tame"), "attentionOut": out.value.astype(d.first),
              "softmaxLse": sums.value.astype(FLOAT)}  # fmt: skip
    return Case(given, "double", {each.name: d.first for each in d.record.outputs}, stored=("blockSparseMask",))


def _operands(d: Draw) -> dict:
    d.first = d.type(tuple(each for each in REALS[:3] if each in d.record.first_types))
    packed, batches = d.flag(), 0 if d.style == "empty" else d.whole(1, 2, walk=2)
    served, group = d.whole(1, 2, walk=2), d.whole(1, 2, walk=2)
    width, narrow = (d.whole(1, 6, walk=64) for _ in range(2))
    most = 300 if d.style == "long" else 5
    rows, keys = ([d.whole(0, n, walk=512) for _ in range(batches)] for n in (5, most))
    tall, wide = (max(each, default=0) for each in (rows, keys))
    if packed:
        q, k = (sum(rows) + d.whole(0, 1), served * group), (sum(keys) + d.whole(0, 1), served)
    else:
        tall, wide = tall + d.whole(0, 1), wide + d.whole(0, 1)
        q, k = (batches, served * group, tall), (batches, served, wide)
    counts = packed or d.flag()
    shape = [d.whole(1, 3, walk=128), 128]
    blocks = batches, served * group, -(-tall // shape[0]), -(-wide // shape[1])
    return {
        "query": d.array((*q, width), None, "tame"), "key": d.array((*k, width), None, "tame"),
        "value": d.array((*k, narrow), None, "tame"),
        "blockSparseMask": d.random.integers(0, 2, blocks).astype(np.int8), "attenMaskOptional": None,
        "blockShape": shape, "actualSeqLengthsOptional": rows if counts else None,
        "actualSeqLengthsKvOptional": keys if counts else None,
        "qInputLayout": "TND" if packed else "BNSD", "kvInputLayout": "TND" if packed else "BNSD",
        "numKeyValueHeads": served, "maskType": 0, "scaleValue": 0.5, "preTokens": 2**31 - 1,
        "nextTokens": 2**31 - 1,
    }  # fmt: skip
