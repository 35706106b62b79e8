# SPDX-License-Identifier: Apache-2.0
"""Arguments of grouped products, and of what they are fused with."""

import numpy as np

from cases import Case, Draw
from expert_cases import FLOAT, FLOATS, HALVES, INT32, INT64, _rows

def _sizes(d: Draw, groups: int, rows: int, whole: bool = False):
    """Sizes that sum up to rows, or to less."""
    rows = rows if whole or d.flag() else d.whole(0, rows)
    ends = np.sort(d.random.integers(0, rows + 1, max(groups - 1, 0)))
    return np.diff(np.concatenate([[0], ends, [rows]]))[:groups]


def _list_of(sizes, kind: int, d: Draw):
    if kind == 2:
        order = d.random.permutation(len(sizes))
        return np.stack([order, sizes[order]], 1).astype(np.int64), sizes[order]
    return (np.cumsum(sizes) if kind == 0 else sizes).astype(np.int64), sizes


def _operands(d: Draw, kind: str, groups: int, terms: int, columns: int, many: bool):
    """weight, bias, scale, antiquant scale and offset; the types of x and of the result."""
    def each(make, *shape):
        return [make(*shape) for _ in range(groups)] if many else [make(groups, *shape)]

    dtype = d.first if d.first in (FLOATS if kind == "floats" else HALVES) else d.one(HALVES)
    floats = lambda *shape: d.array(shape, dtype, "tame")
    if kind == "floats":
        added = d.one((dtype, FLOAT))
        bias = each(lambda *shape: d.array(shape, added, "tame"), columns) if d.flag() else None
        return each(floats, terms, columns), bias, None, None, None, dtype, dtype
    weight = each(lambda *shape: d.array(shape, np.int8, "any"), terms, columns)
    if kind == "widened":
        scale = each(lambda *shape: d.array(shape, dtype, "positive"), columns)
        offset = each(lambda *shape: d.array(shape, dtype, "small"), columns) if d.flag() or d.flag() else None
        bias = each(floats, columns) if d.flag() else None
        return weight, bias, None, scale, offset, dtype, dtype
    out = d.one((np.dtype(np.int8), INT32, *HALVES))
    whole = out == INT32 or d.flag()
    bias = each(lambda *shape: d.array(shape, INT32 if whole else FLOAT, "small"), columns) if d.flag() else None
    scale = None
    if out != INT32:
        made = lambda *shape: (d.array(shape, FLOAT, "positive") / np.float32(256)).astype(FLOAT)
        scale = each(made, columns)
        if out == np.int8 and d.flag():
            bits = [one.view(np.uint32).astype(np.uint64) | np.uint64(1 << 46) for one in scale]
            scale = [one.view(np.int64) for one in bits]
    return weight, bias, scale, None, None, np.dtype(np.int8), out


def _grouped(d: Draw, kinds, by: int, list_kinds, has_tokens: bool) -> dict:
    kind = "integers" if d.first == np.int8 else "floats" if d.first == FLOAT else d.one(kinds)
    kind = kind if kind in kinds else d.one(kinds)
    terms, columns, groups = d.whole(0, 40, walk=256), d.whole(1, 40, walk=256), d.whole(1, 4, walk=8)
    if by == 2:
        rows, dtype = d.whole(1, 9, walk=64), d.one(FLOATS)
        sizes = _sizes(d, groups, terms)
        listed = np.cumsum(sizes)
        given = {"x": [d.array((rows, terms), dtype, "tame")], "weight": [d.array((terms, columns), dtype, "tame")],
                 "out": [np.zeros((groups, rows, columns), dtype)], "groupListOptional": listed.astype(np.int64),
                 "splitItem": d.one((2, 3)), "groupListType": 0, "actType": 0}  # fmt: skip
        return given | dict.fromkeys(("biasOptional", "scaleOptional", "antiquantScaleOptional",
                                      "antiquantOffsetOptional", "perTokenScaleOptional"))  # fmt: skip
    many = by == -1 or (d.flag() and (kind != "integers" or d.flag()))
    many_x, many_out = by == -1 or (many and d.flag()), by == -1
    rows = d.whole(0 if d.style == "empty" else 1, 70, walk=1024)
    sizes = _sizes(d, groups, rows, whole=many_x)
    number = 0
    if not many_x:
        number = d.one(list_kinds)
        listed, _ = _list_of(sizes, number, d)
    weight, bias, scale, anti, shift, dtype, out = _operands(d, kind, groups, terms, columns, many)
    sample = "any" if dtype == np.int8 else "tame"
    x = [d.array((n, terms), dtype, sample) for n in sizes] if many_x else [d.array((rows, terms), dtype, sample)]
    start = lambda n: np.full((n, columns), 3, out)
    tokens = None
    if kind == "integers" and out in HALVES and has_tokens and (d.flag() or d.flag()):
        tokens = [d.array((len(one),), FLOAT, "positive") for one in x]
    acts = d.one((0, 1, 2, 4, 5)) if tokens else 0
    total = sum(len(one) for one in x)
    return {"x": x, "weight": weight, "biasOptional": bias, "scaleOptional": scale,
            "antiquantScaleOptional": anti, "antiquantOffsetOptional": shift, "perTokenScaleOptional": tokens,
            "out": [start(n) for n in sizes] if many_out else [start(total)],
            "groupListOptional": None if many_x else listed, "splitItem": 0 if many_out else d.one((2, 3)),
            "groupListType": number, "actType": acts}  # fmt: skip


def _version(given: dict, by: int, result: str, array: bool, more=()) -> Case:
    outputs = {result: given["out"][0].dtype}
    listed = given.pop("groupListOptional")
    given["groupListOptional"] = None if listed is None else [int(n) for n in listed] if array else listed
    given[result] = given.pop("out")
    empty = ("offsetOptional", "activationInputOptional", "activationQuantScaleOptional",
             "activationQuantOffsetOptional", "tuningConfigOptional", *more)  # fmt: skip
    given |= dict.fromkeys(empty)
    given |= {"groupType": by, "quantGroupSize": 0}
    given |= {"activationFeatureOutOptional": [], "dynQuantScaleOutOptional": []}  # reserved
    return Case(given, "stored", outputs)


KINDS = ("floats", "widened", "widened", "integers")


def _by(d: Draw) -> int:
    """Which dimension the groups part: terms, of numbers alone."""
    return d.one((0, 0, -1) if d.first == np.int8 else (0, 0, -1, 2))


def grouped_v1(d: Draw) -> Case:
    by = d.one((0, -1))
    return _version(_grouped(d, KINDS, by, (0,), False), by, "y", True)


def grouped_v2(d: Draw) -> Case:
    by = _by(d)
    return _version(_grouped(d, KINDS, by, (0,), False), by, "y", True)


def grouped_v3(d: Draw) -> Case:
    by = _by(d)
    return _version(_grouped(d, KINDS, by, (0,), False), by, "y", False)


def grouped_v4(d: Draw) -> Case:
    by = _by(d)
    return _version(_grouped(d, KINDS, by, (0, 1), True), by, "out", False)


def grouped_v5(d: Draw) -> Case:
    by = _by(d)
    return _version(_grouped(d, KINDS, by, (0, 1, 2), True), by, "out", False)


def grouped_add(d: Draw) -> Case:
    rows, terms = d.whole(1, 9, walk=128), d.whole(0, 60, walk=2048)
    columns, groups = d.whole(1, 20, walk=256), d.whole(1, 4, walk=8)
    dtype, turned = d.one(HALVES), d.flag()
    kind = d.whole(0, 1) if d.record.name.endswith("V2") else 0
    listed, _ = _list_of(_sizes(d, groups, terms), kind, d)
    shape = (groups, rows, columns) if d.flag() else (groups * rows, columns)
    given = {"x": d.array((terms, rows) if turned else (rows, terms), dtype, "tame"),
             "weight": d.array((terms, columns), dtype, "tame"), "groupList": listed,
             "yRef": d.array(shape, FLOAT, "tame"), "transposeX": turned, "transposeWeight": False,
             "groupType": 2, "groupListType": kind}  # fmt: skip
    return Case(given, "stored", {"yRef": FLOAT})


def _integers(d: Draw):
    rows, terms = _rows(d, walk=1024), d.whole(1, 40, walk=256)
    half, groups = d.whole(1, 20, walk=128), d.whole(1, 4, walk=8)
    x, weight = d.array((rows, terms), np.int8, "any"), d.array((groups, terms, 2 * half), np.int8, "any")
    scale = (d.array((groups, 2 * half), FLOAT, "positive") / np.float32(4096)).astype(FLOAT)
    return x, weight, scale, d.array((rows,), FLOAT, "positive"), _sizes(d, groups, rows)


def grouped_swiglu_quant(d: Draw) -> Case:
    x, weight, scale, tokens, sizes = _integers(d)
    listed, _ = _list_of(sizes, 0, d)
    given = {"x": x, "weight": weight, "biasOptional": None, "offsetOptional": None, "weightScale": scale,
             "xScale": tokens, "groupList": listed, "output": np.full((len(x), weight.shape[2] // 2), 3, np.int8),
             "outputScale": np.full(len(x), 3, np.float32)}  # fmt: skip
    return Case(given, "stored", {"output": np.dtype(np.int8), "outputScale": FLOAT})


def grouped_swiglu_quant_v2(d: Draw) -> Case:
    case, kind = grouped_swiglu_quant(d), d.whole(0, 1)
    given = case.arguments
    groups, _, columns = given["weight"].shape
    if kind:
        given["groupList"] = np.diff(given["groupList"], prepend=0)
    smooth = d.one((None, d.array((groups,), FLOAT, "positive"), d.array((groups, columns // 2), FLOAT, "positive")))
    given |= {"weight": [given["weight"]], "weightScale": [given["weightScale"]], "groupListType": kind,
              "weightAssistMatrixOptional": None, "smoothScaleOptional": smooth, "dequantMode": 0,
              "dequantDtype": 0, "quantMode": 0, "tuningConfigOptional": None}  # fmt: skip
    return case


def finalize_product(d: Draw) -> Case:
    x, weight, scale, tokens, sizes = _integers(d)
    kind, batch, columns = d.whole(0, 1), d.whole(1, 5), weight.shape[2]
    listed, _ = _list_of(sizes, kind, d)
    shared = d.whole(0, batch)
    given = {"x1": x, "x2": weight, "scale": scale, "groupList": listed,
             "biasOptional": d.one((None, d.array(scale.shape, FLOAT, "tame"))),
             "pertokenScaleOptional": d.one((None, tokens)),
             "sharedInputOptional": d.array((shared, columns), d.one(FLOATS), "tame") if d.flag() else None,
             "logitOptional": d.one((None, d.array((len(x),), FLOAT, "tame"))),
             "rowIndexOptional": d.random.integers(0, batch, len(x)).astype(d.one((INT32, INT64))),
             "dtype": 0, "sharedInputWeight": 0.5, "sharedInputOffset": batch - shared, "transposeX1": False,
             "transposeX2": False, "groupListType": kind, "tuningConfigOptional": None, "offsetOptional": None,
             "antiquantScaleOptional": None, "antiquantOffsetOptional": None}  # fmt: skip
    if given["sharedInputOptional"] is None:
        given["sharedInputOffset"] = 0
    return Case(given, "stored", {"out": FLOAT}, shapes={"out": (batch, columns)})


def ffn(d: Draw) -> Case:
    d.first = d.one(d.record.types_of("x"))
    terms, hidden, columns = (d.whole(1, 30, walk=256) for _ in range(3))
    experts, rows = d.whole(0, 3), _rows(d, walk=1024)
    shape = d.one(((rows, terms), (1, rows, terms), (rows, 1, terms)))
    count = int(np.prod(shape[:-1]))
    lead = (experts,) if experts else ()
    bias = d.one((np.dtype(np.float16), FLOAT))
    sizes = _sizes(d, experts, count, whole=True) if experts else []
    given = {"x": d.array(shape, d.first, "tame"), "weight1": d.array((*lead, terms, hidden), d.first, "tame"),
             "weight2": d.array((*lead, hidden, columns), d.first, "tame"),
             "expertTokens": [int(n) for n in sizes] if experts else None,
             "bias1": d.one((None, d.array((*lead, hidden), bias, "tame"))),
             "bias2": d.one((None, d.array((*lead, columns), bias, "tame"))),
             "activation": d.one(("fastgelu", "gelu", "relu", "silu")), "innerPrecise": d.whole(0, 1)}  # fmt: skip
    names = [f"{name}{i}" for name in ("deqScale", "antiquantScale", "antiquantOffset") for i in (1, 2)]
    return Case(given | dict.fromkeys(("scale", "offset", *names)), "stored", {"y": d.first})


def ffn_v2(d: Draw) -> Case:
    case, totals = ffn(d), d.flag()
    case.arguments["tokensIndexFlag"] = totals
    if totals and case.arguments["expertTokens"] is not None:
        case.arguments["expertTokens"] = [int(n) for n in np.cumsum(case.arguments["expertTokens"])]
    return case
