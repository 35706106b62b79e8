# SPDX-License-Identifier: Apache-2.0
"""Arguments of what mixtures of experts consist of."""

import numpy as np

import experts
from cases import Case, Draw
from openaclnn.dtypes import BFLOAT16

HALVES = (np.dtype(np.float16), BFLOAT16)
FLOATS = (np.dtype(np.float32), *HALVES)
INT32, INT64, FLOAT = np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.float32)


def _rows(d: Draw, least: int = 0, walk: int = 256) -> int:
    return d.whole(least, 9, walk=walk) if d.style != "empty" else least


def _told(d: Draw, name: str, shape) -> dict:
    """The shape of an output, which a walk cannot guess."""
    return {name: shape} if d.one((False,), walk=True) else {}


def _scores(d: Draw, shape, dtype=None):
    """Floats of which each row's order is sure: no two are near each other."""
    dtype = dtype or d.first
    count = shape[-1]
    steps = np.stack([d.random.permutation(count) for _ in range(int(np.prod(shape[:-1], dtype=int)))] or
                     [np.zeros(count)])[: int(np.prod(shape[:-1], dtype=int))]  # fmt: skip
    return ((steps.reshape(shape) - count / 2) / 8).astype(dtype)


def gating_softmax(d: Draw) -> Case:
    d.first = d.one(d.record.types_of("x"))
    experts, rows = d.whole(1, 12, walk=64), _rows(d, walk=4096)
    shape = (d.whole(1, 3, walk=1), rows, experts) if d.flag() else (rows, experts)
    given = {"x": _scores(d, shape), "k": d.whole(1, experts, walk=8),
             "finishedOptional": d.one((None, d.random.integers(0, 2, shape[:-1]).astype(bool)))}  # fmt: skip
    return Case(given, "stored", {"yOut": d.first, "expertIdxOut": INT32, "rowIdxOut": INT32})


def gating_softmax_v2(d: Draw) -> Case:
    case = gating_softmax(d)
    case.arguments |= {"renorm": d.whole(0, 1), "softmaxResultFlag": d.flag()}
    case.outputs["softmaxResultOptional"] = FLOAT
    return case


def gating(d: Draw) -> Case:
    d.first = d.one(d.record.types_of("x")[:3])
    groups = d.one((1, 1, 2, 4), walk=4)
    size = d.whole(3, 6, walk=32) if groups > 1 else d.whole(1, 12)
    rows, experts, chosen = _rows(d, walk=4096), groups * size, d.whole(1, groups)
    given = {"x": _scores(d, (rows, experts)), "k": d.whole(1, chosen * size, walk=8),
             "biasOptional": d.one((None, np.zeros(experts, d.first))), "kGroup": chosen,
             "groupCount": groups, "groupSelectMode": d.whole(0, 1), "renorm": 0,
             "normType": d.whole(0, 1), "outFlag": d.flag(), "routedScalingFactor": 2.5,
             "eps": 1e-20}  # fmt: skip
    return Case(given, "stored", {"yOut": d.first, "expertIdxOut": INT32, "normOut": FLOAT})


def gating_v2(d: Draw) -> Case:
    d.first = d.one(FLOATS)
    case = gating(d)
    x, k = case.arguments["x"], case.arguments["k"]
    ids = d.whole(1, 5)
    table = np.stack([d.random.permutation(x.shape[1])[:k] for _ in range(ids)])
    hashed = d.flag()
    case.arguments |= {
        "inputIdsOptional": d.random.integers(0, ids, len(x)).astype(d.one((INT32, INT64))) if hashed else None,
        "tid2eidOptional": table.astype(d.one((INT32, INT64))) if hashed else None,
    }
    return case


def gating_backward(d: Draw) -> Case:
    experts, rows = d.whole(1, 9, walk=64), _rows(d, walk=4096)
    k, dtype = d.whole(1, experts, walk=8), d.one(FLOATS)
    x = d.random.uniform(0.01, 1, (rows, experts)).astype(np.float32)
    chosen = [d.random.permutation(experts)[:k] for _ in range(rows)]
    given = {"xNorm": x, "gradY": d.array((rows, k), dtype, "tame"), "renorm": 0,
             "expertIdx": np.array(chosen, np.int32).reshape(rows, k), "normType": d.whole(0, 1),
             "routedScalingFactor": 2.5, "eps": 1e-20}  # fmt: skip
    return Case(given, "stored", {"out": dtype})


# Routing.


def _tokens(d: Draw, least: int = 0):
    """A type, tokens and choices of experts."""
    rows, width, choices = _rows(d, least), d.whole(0 if d.style == "empty" else 1, 7, walk=1024), d.whole(1, 4, walk=8)
    return rows, width, choices


def init_routing(d: Draw) -> Case:
    rows, width, choices = _tokens(d)
    numbers = d.random.permutation(rows * choices).reshape(rows, choices)
    given = {"x": d.array((rows, width), None, "any"), "rowIdx": numbers.astype(np.int32),
             "expertIdx": d.random.integers(0, d.one((1, 4, 100000)), (rows, choices)).astype(np.int32),
             "activeNum": d.whole(0, rows + 2, walk=rows)}  # fmt: skip
    outputs = {"expandedXOut": d.first, "expandedRowIdxOut": INT32, "expandedExpertIdxOut": INT32}
    return Case(given, "stored", outputs)


def _routing(d: Draw, dtype):
    rows, width, choices = _tokens(d)
    number, drops = d.whole(1, 6, walk=64), int(d.flag() and rows > 0)
    given = {"x": d.array((rows, width), dtype, "any" if dtype == np.int8 else "tame"),
             "expertIdx": d.random.integers(0, number, (rows, choices)).astype(np.int32),
             "activeNum": d.whole(0, rows * choices + 2, walk=0) if not drops else 0,
             "expertCapacity": d.whole(1, max(rows, 1)), "expertNum": number, "dropPadMode": drops}  # fmt: skip
    return given, (number, given["expertCapacity"], width) if drops else None


def init_routing_v2(d: Draw) -> Case:
    d.first = d.one(d.record.types_of("x"))
    given, _ = _routing(d, d.first)
    given |= {"expertTokensCountOrCumsumFlag": d.whole(0, 2), "expertTokensBeforeCapacityFlag": d.flag()}
    if not given["dropPadMode"] and given["expertTokensCountOrCumsumFlag"] == 0 and d.flag():
        given["expertNum"] = 0
    outputs = {"expandedXOut": d.first, "expandedRowIdxOut": INT32,
               "expertTokensCountOrCumsumOut": d.one((INT32, INT64)), "expertTokensBeforeCapacityOut": INT32}  # fmt: skip
    return Case(given, "stored", outputs)


def init_routing_quant(d: Draw) -> Case:
    d.first = d.one(d.record.types_of("x"))
    given, _ = _routing(d, d.first)
    mode, width = d.whole(0, 1), given["x"].shape[1]
    scale = offset = None
    if mode == 0:
        scale, offset = (d.array((1,), FLOAT, "positive") for _ in range(2))
    elif d.flag():
        scale = d.array((d.one((1, given["expertNum"])), width), FLOAT, "positive")
    given |= {"scaleOptional": scale, "offsetOptional": offset, "quantMode": mode,
              "expertTokensCountOrCumsumFlag": d.whole(0, 2), "expertTokensBeforeCapacityFlag": d.flag()}  # fmt: skip
    outputs = {"expandedXOut": np.dtype(np.int8), "expandedRowIdxOut": INT32,
               "expertTokensCountOrCumsumOut": INT32, "expertTokensBeforeCapacityOut": INT32,
               "dynamicQuantScaleOut": FLOAT}  # fmt: skip
    return Case(given, "stored", outputs)


def init_routing_v3(d: Draw) -> Case:
    d.first = d.one(d.record.types_of("x"))
    mode = d.whole(-1, 1) if d.first != np.int8 else -1
    given, padded = _routing(d, d.first)
    rows, width = given["x"].shape
    number, count = given["expertNum"], given["expertIdx"].size
    first = 0 if padded else d.whole(0, number - 1)
    end = number if padded else d.whole(first + 1, number)
    span = None if d.flag() and padded else [first, end]
    kept = min(given["activeNum"], count) if given["activeNum"] > 0 else count
    shape = padded or (kept, width)
    scale = offset = scales = None
    if mode == 0:
        scale, offset = (d.array((1,), FLOAT, "positive") for _ in range(2))
    elif mode == 1 and d.flag():
        scale = d.array((d.one((1, end - first)), width), FLOAT, "positive")
    elif mode == -1 and d.flag():
        scale = d.array((rows,), FLOAT, "positive")
    lines = int(np.prod(shape[:-1]))
    if mode == 1 or (mode == -1 and scale is not None):
        scales = np.full(lines, 7, np.float32)
    counting = 1 if padded else d.whole(0, 2)
    given |= {"scaleOptional": scale, "offsetOptional": offset, "quantMode": mode,
              "expertTokensNumType": counting, "expertTokensNumFlag": d.flag(),
              "activeExpertRangeOptional": span, "rowIdxType": 0 if padded else d.whole(0, 1),
              "expandedXOut": np.full(shape, 3, np.int8 if mode >= 0 else d.first),
              "expandedScaleOut": scales}  # fmt: skip
    outputs = {"expandedXOut": given["expandedXOut"].dtype, "expandedRowIdxOut": INT32,
               "expertTokensCountOrCumsumOut": d.one((INT32, INT64)), "expandedScaleOut": FLOAT}  # fmt: skip
    return Case(given, "stored", outputs)


def expert_tokens(d: Draw) -> Case:
    experts = d.whole(1, 9, walk=64)
    choices = np.sort(d.random.integers(0, experts, d.whole(0, 20, walk=2**20)))
    return Case({"sortedExperts": choices.astype(np.int32), "numExperts": experts}, "stored", {"out": INT32})


def re_routing(d: Draw) -> Case:
    dtype, integer = d.one((*HALVES, np.dtype(np.int8))), d.one((INT32, INT64))
    ranks, experts = d.whole(1, 4, walk=4), d.whole(1, 5, walk=16)
    counts = d.random.integers(0, 1 if d.style == "empty" else d.whole(4, 4, walk=64), (ranks, experts)).astype(integer)
    rows, width = int(counts.sum()), d.whole(1, 7, walk=1024)
    scales = d.array(d.one(((rows,), (rows, 3))), FLOAT, "tame") if d.flag() else None
    given = {"tokens": d.array((rows, width), dtype, "any"), "expertTokenNumPerRank": counts,
             "perTokenScalesOptional": scales, "expertTokenNumType": 1, "idxType": 0}  # fmt: skip
    outputs = {"permuteTokens": dtype, "permutePerTokenScales": FLOAT, "permuteTokenIdx": INT32,
               "expertTokenNum": integer}  # fmt: skip
    return Case(given, "stored", outputs)


def update_expert(d: Draw) -> Case:
    rows, choices = _rows(d, 1, walk=2**16), d.whole(1, 4, walk=8)
    experts, columns = d.whole(1, 6, walk=64), d.whole(2, 5)
    integer, world = d.one((INT32, INT64)), d.whole(2, 8)
    table = d.random.integers(0, 9, (experts, columns)).astype(np.int32)
    table[:, 0] = d.random.integers(1, columns, experts)
    mode = 1 if columns - 1 > world else d.whole(0, 1)
    prunes = d.flag()
    given = {"expertIds": d.random.integers(0, experts, (rows, choices)).astype(integer), "eplbTable": table,
             "expertScalesOptional": d.array((rows, choices), d.one(FLOATS), "positive") if prunes else None,
             "pruningThresholdOptional": d.array(d.one(((choices,), (1, choices))), FLOAT, "probability")
             if prunes else None,
             "activeMaskOptional": d.random.integers(0, 2, rows).astype(bool) if prunes and d.flag() else None,
             "localRankId": d.whole(0, world - 1), "worldSize": world, "balanceMode": mode,
             "balancedActiveMask": np.ones((rows, choices), bool)}  # fmt: skip
    if mode == 0:  # as many copies as ranks share them
        table[:, 0] = np.minimum(table[:, 0], world)
    outputs = {"balancedExpertIds": integer, "balancedActiveMask": np.dtype(bool)}
    return Case(given, "stored", outputs)


# Sums.


def finalize(d: Draw) -> Case:
    d.first = d.one(d.record.types_of("expandedX"))
    rows, width, choices = _tokens(d)
    experts = d.whole(1, 5)
    tensor = lambda *shape: d.array(shape, d.first, "tame")
    given = {"expandedX": tensor(rows * choices, width), "x1": tensor(rows, width),
             "x2Optional": d.one((None, tensor(rows, width))), "bias": tensor(experts, width),
             "scales": tensor(rows, choices),
             "expandedRowIdx": d.random.permutation(rows * choices).astype(np.int32),
             "expandedExpertIdx": d.random.integers(0, experts, (rows, choices)).astype(np.int32)}  # fmt: skip
    return Case(given, "stored", {"out": d.first}, shapes=_told(d, "out", (rows, width)))


def finalize_v2(d: Draw) -> Case:
    case, mode = finalize(d), d.whole(0, 3, walk=0)
    old = case.arguments
    rows, choices = old["scales"].shape
    experts, width = old["bias"].shape
    x1 = d.one((None, old["x1"]))
    given = {"expandedX": old["expandedX"], "expandedRowIdx": old["expandedRowIdx"], "x1Optional": x1,
             "x2Optional": old["x2Optional"] if x1 is not None else None,
             "biasOptional": d.one((None, old["bias"])), "scalesOptional": old["scales"],
             "expertIdxOptional": old["expandedExpertIdx"], "dropPadMode": mode}  # fmt: skip
    if mode in (1, 3):
        capacity = d.whole(1, 4)
        given["expandedX"] = d.array((experts, capacity, width), d.first, "tame")
        given["expandedRowIdx"] = d.random.integers(-1, experts * capacity, rows * choices).astype(np.int32)
    return Case(given, "stored", {"out": d.first}, shapes=case.shapes)


def token_permute(d: Draw) -> Case:
    rows, width, choices = _tokens(d)
    dtype, all_rows = d.one(FLOATS), rows * choices
    one = d.flag()
    shape, all_rows = ((rows,), rows) if one else ((rows, choices), all_rows)
    given = {"tokens": d.array((rows, width), dtype, "any"),
             "indices": d.random.integers(0, d.one((1, 4, 10**6)), shape).astype(d.one((INT32, INT64))),
             "numOutTokens": d.whole(-min(all_rows, 2), all_rows + 2, walk=0), "paddedMode": False}  # fmt: skip
    return Case(given, "stored", {"permuteTokensOut": dtype, "sortedIndicesOut": INT32})


def _permuted(d: Draw):
    """Rows, of which the last may be missing, and a place for each choice."""
    rows, width, choices = _tokens(d)
    dtype = d.one(FLOATS)
    count = rows * choices
    kept = d.whole(max(count - 2, 0), count, walk=count)
    return dtype, rows, choices, d.array((kept, width), dtype, "tame"), d.random.permutation(count).astype(np.int32)


def token_permute_backward(d: Draw) -> Case:
    dtype, rows, choices, grad, places = _permuted(d)
    given = {"permutedOutputGrad": grad, "sortedIndices": places, "numTopk": choices, "paddedMode": False}
    return Case(given, "stored", {"out": dtype}, shapes={"out": (rows, grad.shape[1])})


def token_unpermute(d: Draw) -> Case:
    dtype, rows, choices, tokens, places = _permuted(d)
    probs = d.array((rows, choices), d.one(FLOATS), "tame") if d.flag() else None
    given = {"permutedTokens": tokens, "sortedIndices": places, "probsOptional": probs, "paddedMode": False,
             "restoreShapeOptional": None}  # fmt: skip
    return Case(given, "stored", {"out": dtype})


def token_unpermute_backward(d: Draw) -> Case:
    dtype, rows, choices, tokens, places = _permuted(d)
    probs = d.array((rows, choices), d.one(FLOATS), "tame") if d.flag() else None
    rows = rows if probs is not None else rows * choices
    given = {"permuteTokens": d.one((tokens, None)) if probs is None else tokens,
             "unpermutedTokensGrad": d.array((rows, tokens.shape[1]), d.one(FLOATS), "tame"),
             "sortedIndices": places, "probsOptional": probs, "paddedMode": False,
             "restoreShapeOptional": None}  # fmt: skip
    outputs = {"permutedTokensGradOut": dtype, "probsGradOut": d.one(FLOATS)}
    return Case(given, "stored", outputs, shapes={"permutedTokensGradOut": tokens.shape})


def _mapped(d: Draw):
    """A map of tokens and experts, its rows, whether it is padded, and places."""
    rows, width, choices = _tokens(d, 1)
    number, pads = d.whole(choices, 6, walk=64), d.flag()
    chosen = np.zeros((rows, number), bool)
    for token in range(rows):
        chosen[token, d.random.permutation(number)[:choices]] = True
    count = number * d.whole(1, rows) if pads else rows * choices
    *_, places = experts.map_permute(np.zeros((rows, 1)), chosen, None, count, pads)
    kind = d.one((np.dtype(bool), np.dtype(np.int8)))
    return chosen.astype(kind), count, pads, places, width, d.one(FLOATS)


def map_permute(d: Draw) -> Case:
    chosen, count, pads, _, width, dtype = _mapped(d)
    probs = d.array(chosen.shape, d.one(FLOATS), "tame") if d.flag() else None
    given = {"tokens": d.array((len(chosen), width), dtype, "any"), "routingMap": chosen,
             "probsOptional": probs, "numOutTokens": count, "dropAndPad": pads}  # fmt: skip
    weights = probs.dtype if probs is not None else FLOAT
    return Case(given, "stored", {"permuteTokensOut": dtype, "permuteProbsOutOptional": weights, "sortedIndicesOut": INT32})


def map_permute_backward(d: Draw) -> Case:
    chosen, count, pads, places, width, dtype = _mapped(d)
    grad = d.array((count,), d.one(FLOATS), "tame") if d.flag() else None
    given = {"permutedTokenOutputGrad": d.array((count, width), dtype, "tame"),
             "permutedProbsOutputGradOptional": grad, "sortedIndices": places, "routingMapOptional": chosen,
             "numExperts": chosen.shape[1], "tokensNum": len(chosen), "dropAndPad": pads}  # fmt: skip
    return Case(given, "stored", {"tokensGradOut": dtype, "probsGradOutOptional": d.one(FLOATS)})


def map_unpermute(d: Draw) -> Case:
    chosen, count, pads, places, width, dtype = _mapped(d)
    probs = d.array(chosen.shape, d.one(FLOATS), "tame") if d.flag() else None
    given = {"permutedTokens": d.array((count, width), dtype, "tame"), "sortedIndices": places,
             "routingMapOptional": chosen, "probsOptional": probs, "paddedMode": pads,
             "restoreShapeOptional": [len(chosen), width]}  # fmt: skip
    weights = probs.dtype if probs is not None else FLOAT
    outputs = {"unpermutedTokens": dtype, "outIndex": INT32, "permuteTokenId": INT32, "permuteProbs": weights}
    return Case(given, "stored", outputs, shapes={"unpermutedTokens": (len(chosen), width)})


def map_unpermute_backward(d: Draw) -> Case:
    chosen, count, pads, places, width, dtype = _mapped(d)
    probs = d.array(chosen.shape, d.one(FLOATS), "tame") if d.flag() else None
    order = np.argsort(places, kind="stable")
    given = {"unpermutedTokensGrad": d.array((len(chosen), width), dtype, "tame"),
             "outIndex": order.astype(np.int32) if pads else places,
             "permuteTokenId": places[order] if pads else places, "routingMapOptional": chosen,
             "permutedTokensOptional": d.array((count, width), dtype, "tame"), "probsOptional": probs,
             "paddedMode": pads, "restoreShapeOptional": [len(chosen), width]}  # fmt: skip
    return Case(given, "stored", {"permutedTokensGradOut": dtype, "probsGradOutOptional": d.one(FLOATS)})


def top_k_top_p(d: Draw) -> Case:
    d.first = d.one(d.record.types_of("logits"))
    rows, words = _rows(d, walk=8), d.whole(1, 30, walk=32768)
    given = {"logits": _scores(d, (rows, words)),
             "p": d.one((None, (d.random.integers(0, 9, rows) / 8).astype(d.first))),
             "k": d.one((None, d.random.integers(1, words + 1, rows).astype(np.int32)))}  # fmt: skip
    return Case(given, "stored", {"out": d.first})
