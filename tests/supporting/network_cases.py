# SPDX-License-Identifier: Apache-2.0
"""Arguments of losses by class, normalisations, attention, products, dropout, steps of training."""

import math

import numpy as np

from cases import Case, Draw, fill
from more_cases import _seeds
from records import BFLOAT16, INTEGERS, REALS

BYTES = np.dtype(np.uint8)


def _nll(d: Draw, planes: bool, gradient: bool) -> Case:
    size = (32, 2, 181) if planes else (1024, 2048, 0)
    classes, rows = d.whole(1, 5, walk=size[0]), 0 if d.style == "empty" else d.whole(1, 6, walk=size[1])
    d.first = d.real()
    if planes:
        area = (d.whole(1, 3, walk=size[2]), d.whole(1, 3, walk=size[2]))
        shape, of = (rows, classes, *area), (rows, *area)
    else:
        shape, of = ((classes,), (1,)) if d.style == "rank 0" else ((rows, classes), (rows,))
    ignored = d.one((-100, 0, 1))
    target = d.random.integers(0, classes, of).astype(d.one(INTEGERS[:2], walk=INTEGERS[1]))
    target = np.where(d.random.random(of) < 0.2, ignored, target).astype(target.dtype)
    reduction = d.whole(0, 2, walk=1)
    given = {"self": d.array(shape, None, "tame"), "target": target, "reduction": reduction,
             "weight": d.array((classes,), d.real(), "positive"),
             "ignoreIndex": ignored}  # fmt: skip
    outputs = {each.name: d.real() for each in d.record.outputs}
    if gradient:
        each = reduction == 0 and len(shape) > 1
        given["gradOutput"] = d.array(of if each else (), d.real(), "tame")
        given["totalWeight"] = d.array((), d.real(), "positive")
    return Case(given, "wide", outputs)


def nll(d: Draw) -> Case:
    return _nll(d, False, False)


def nll_backward(d: Draw) -> Case:
    return _nll(d, False, True)


def nll2d(d: Draw) -> Case:
    return _nll(d, True, False)


def nll2d_backward(d: Draw) -> Case:
    return _nll(d, True, True)


def window_softmax(d: Draw) -> Case:
    d.first = d.type()
    batches, windows, heads = d.whole(1, 2, walk=16), d.whole(1, 3, walk=16), d.whole(1, 3, walk=4)
    rows, width = d.whole(1, 5, walk=49), 200 if d.style == "long" else d.whole(1, 9, walk=49)
    lead = d.one(((batches, windows), (batches * windows,)))
    masks = ((windows, rows, width), (windows, 1, rows, width), (1, windows, 1, rows, width))
    biases = ((heads, rows, width), (1, heads, rows, width), (1, 1, heads, rows, width))
    given = {
        "x": d.array((*lead, heads, rows, width), None, "tame"),
        "attenMaskOptional": None if d.flag() else d.array(d.one(masks), None, "tame"),
        "relativePosBias": d.array(d.one(biases), None, "tame"), "scaleValue": 0.5,
    }  # fmt: skip
    return Case(fill(d, given), "double", {"out": d.first})


def softmax_cross_entropy(d: Draw) -> Case:
    shape = (d.whole(1, 5, walk=1024), 5000 if d.style == "long" else d.whole(1, 9, walk=2048))
    if d.style == "empty":
        shape = d.one(((0, 3), (3, 0)))
    given = {"features": d.array(shape, None, "tame"), "labels": d.array(shape, None, "probability")}
    return Case(given, "double", {"loss": d.first, "backprop": d.first})


# Normalisations.


def _weights(d: Draw, names, shape, given: dict) -> dict:
    """Each may be left out."""
    for name in names:
        given[name] = None if d.flag() else d.array(shape, d.real(), "tame")
    return given


def _norm_case(d: Draw, given: dict, shapes=(), narrow: str = "") -> Case:
    """All outputs; gradients, of these shapes, that are not asked for may be given all the same."""
    outputs = {each.name: d.real() for each in d.record.outputs}
    asked = given.get("outputMask", ())
    room = {name: shape for name, is_asked, shape in zip(outputs, asked, shapes, strict=False)
            if not is_asked and d.flag()}  # fmt: skip
    return Case(fill(d, given), "double", outputs, room=room, narrow=narrow)


def _eps(d: Draw) -> float:
    return d.one((1e-5, 1e-3, 0.5))


def _mask(d: Draw) -> list[bool]:
    return [d.flag(walk=True) for _ in range(3)]


def layer_norm(d: Draw, gradient: bool = False) -> Case:
    d.style = "plain" if d.style == "rank 0" else d.style
    shape = d.shape(1, 3)
    count = d.whole(1, len(shape), walk=1)
    last, groups = shape[len(shape) - count :], shape[: len(shape) - count] + (1,) * count
    given = {"input": d.array(shape, None, "tame"), "normalizedShape": list(last), "eps": _eps(d)}
    _weights(d, ("weightOptional", "biasOptional"), last, given)
    if gradient:
        given |= {"gradOut": d.array(shape, d.real(), "tame"), "outputMask": _mask(d),
                  "mean": d.array(groups, d.real(), "tame"),
                  "rstd": d.array(groups, d.real(), "positive")}  # fmt: skip
    return _norm_case(d, given, (shape, last, last), "gradInputOut" if gradient else "out")


def rotary(d: Draw) -> Case:
    d.style = "plain" if d.style in ("rank 0", "long") else d.style
    shape = (*d.shape(0, 3, walk=(2, 16, 512)), 4 * d.whole(1, 70, walk=32))
    angles = {name: d.array(d.within(shape), d.real(), "unit") for name in ("cos", "sin")}
    given = {"x": d.array(shape, None, "tame"), "mode": d.whole(0, 3, walk=0), **angles}
    return Case(given, "double", {"out": d.real()})


def rotary_backward(d: Draw) -> Case:
    """Without x the gradients by angles may be there all the same, of any shape."""
    d.style = "plain" if d.style in ("rank 0", "long") else d.style
    shape = (*d.shape(0, 3, walk=(2, 16, 512)), 4 * d.whole(1, 70, walk=32))
    types = {each.name: d.type_of(each.name) for each in d.record.parameters if each.name in d.record.uses}
    given = {name: d.array(d.within(shape), types[name], "unit") for name in ("cos", "sin")}
    given |= {"dy": d.array(shape, None, "tame"), "mode": d.whole(0, 3, walk=0)}
    has_x = d.flag(walk=True)
    given["xOptional"] = d.array(shape, types["xOptional"], "tame") if has_x else None
    room = {} if has_x or d.flag() else {"dcosOut": (0,), "dsinOut": given["sin"].shape}
    outputs = {each.name: types[each.name] for each in d.record.outputs}
    return Case(given, "double", outputs, room=room)


def rms_norm(d: Draw) -> Case:
    d.style = "plain" if d.style == "rank 0" else d.style
    shape = d.shape(1, 3)
    last = shape[len(shape) - d.whole(1, len(shape), walk=1) :]
    given = {each.name: d.array(shape, None if i == 0 else d.real(), "tame")
             for i, each in enumerate(d.record.inputs)}  # fmt: skip
    given |= {"gamma": d.array(last, d.real(), "tame"), "epsilon": _eps(d)}
    return _norm_case(d, given)


def inplace_add_rms_norm(d: Draw) -> Case:
    d.style = "plain" if d.style == "rank 0" else d.style
    shape = d.shape(1, 3)
    last = shape[len(shape) - d.whole(1, len(shape), walk=1) :]
    given = {"x1Ref": d.array(shape, d.type_of("x1Ref"), "tame"),
             "x2Ref": d.array(shape, d.type_of("x2Ref"), "tame"),
             "gamma": d.array(last, d.real(), "tame"), "epsilon": _eps(d)}  # fmt: skip
    return _norm_case(d, given)


def rms_norm_backward(d: Draw) -> Case:
    d.style = "plain" if d.style == "rank 0" else d.style
    shape = d.shape(1, 3)
    count = d.whole(1, len(shape), walk=1)
    lead, last = shape[: len(shape) - count], shape[len(shape) - count :]
    given = {"dy": d.array(shape, None, "tame"), "x": d.array(shape, d.type_of("x"), "tame"),
             "rstd": d.array(lead + (1,) * d.whole(0, count), d.type_of("rstd"), "positive"),
             "gamma": d.array(last, d.type_of("gamma"), "tame")}  # fmt: skip
    outputs = {each.name: d.type_of(each.name) for each in d.record.outputs}
    return Case(given, "double", outputs, narrow="dxOut")


def layer_norm_backward(d: Draw) -> Case:
    return layer_norm(d, True)


def _channels(d: Draw) -> tuple[int, int, tuple[int, ...]]:
    groups, each = d.whole(1, 3, walk=8), d.whole(1, 2, walk=8)
    n = 0 if d.style == "empty" else d.whole(1, 3, walk=8)
    area = (300,) if d.style == "long" else tuple(d.whole(1, 3, walk=64) for _ in range(d.whole(0, 3, walk=2)))
    return groups, groups * each, (n, groups * each, *area)


def group_norm(d: Draw, gradient: bool = False) -> Case:
    groups, channels, shape = _channels(d)
    name = "input" if gradient else "self"
    given = {name: d.array(shape, None, "tame"), "N": shape[0], "C": channels,
             "HxW": math.prod(shape[2:]), "group": groups, "eps": _eps(d)}  # fmt: skip
    _weights(d, ("gamma", "beta"), (channels,), given)
    if gradient:
        of = (shape[0], groups)
        given |= {"gradOut": d.array(shape, d.real(), "tame"), "outputMask": _mask(d),
                  "mean": d.array(of, d.real(), "tame"),
                  "rstd": d.array(of, d.real(), "positive")}  # fmt: skip
    narrow = "gradInput" if gradient else "out"
    return _norm_case(d, given, (shape, (channels,), (channels,)), narrow)


def group_norm_backward(d: Draw) -> Case:
    return group_norm(d, True)


def batch_norm(d: Draw, gradient: bool = False) -> Case:
    _, channels, shape = _channels(d)
    training = d.flag(walk=True)
    given = {"input": d.array(shape, None, "tame"), "training": training, "eps": _eps(d),
             "momentum": d.one((0.1, 0.0, 1.0))}  # fmt: skip
    names = ("weight",) if gradient else ("weight", "bias")
    _weights(d, names, (channels,), given)
    for name, sample in (("runningMean", "tame"), ("runningVar", "positive")):
        left_out = training and d.flag()
        given[name] = None if left_out else d.array((channels,), d.real(), sample)
    if gradient:
        for name, sample in (("saveMean", "tame"), ("saveInvstd", "positive")):
            given[name] = d.array((channels,), d.real(), sample)
        given |= {"gradOut": d.array(shape, d.real(), "tame"), "outputMask": _mask(d)}
    narrow = "gradInput" if gradient else "output"
    return _norm_case(d, given, (shape, (channels,), (channels,)), narrow)


def batch_norm_backward(d: Draw) -> Case:
    return batch_norm(d, True)


# Dropout.


def _probability(d: Draw) -> float:
    return d.one((0.0, 0.5, 0.1, 1.0), walk=0.1)


def dropout_mask(d: Draw) -> Case:
    shape = d.shape()
    given = _seeds(d) | {"shape": list(shape), "prob": _probability(d)}
    return Case(fill(d, given), "stored", {"out": BYTES})


def dropout_v3(d: Draw) -> Case:
    d.first = d.real()
    given = {"input": d.array(d.shape()), "optionalNoiseShape": None, "p": _probability(d)}
    given |= _seeds(d)
    return Case(given, "double", {"out": d.first, "maskOut": BYTES})


def dropout(d: Draw) -> Case:
    d.first = d.real()
    array = d.array(d.shape())
    mask = d.random.integers(0, 256, -(-array.size // 128) * 16).astype(np.uint8)
    given = {"self": array, "mask": mask, "prob": _probability(d)}
    return Case(given, "double", {"out": d.first}, stored=("mask",))


# Products of matrices.


def _factors(d: Draw, a, b, added=None) -> Case:
    names = [each.name for each in d.record.inputs]
    shapes = [a, b] if added is None else [added, a, b]
    given = {name: d.array(shape, d.first if i == 0 else d.real(), "tame")
             for i, (name, shape) in enumerate(zip(names, shapes, strict=True))}  # fmt: skip
    for each in d.record.plain("scalar"):
        given[each.name] = d.scalar("small")
    outputs = {each.name: d.real() for each in d.record.outputs}
    return Case(fill(d, given), "stored", outputs)


def _lengths(d: Draw) -> tuple[int, int, int]:
    """Rows, terms, columns."""
    m, k, n = (d.whole(1, 9, walk=512) for _ in range(3))
    if d.style == "long":
        m, k, n = d.whole(1, 40), d.whole(100, 300), d.whole(1, 40)
    if d.style == "empty":
        m, k, n = d.one(((0, k, n), (m, 0, n), (m, k, 0)))
    return m, k, n


def mm(d: Draw) -> Case:
    m, k, n = _lengths(d)
    return _factors(d, (m, k), (k, n))


def batch_matmul(d: Draw) -> Case:
    (m, k, n), batch = _lengths(d), d.whole(1, 4, walk=4)
    return _factors(d, (d.one((1, batch), walk=batch), m, k), (batch, k, n))


def matmul(d: Draw) -> Case:
    (m, k, n), batch = _lengths(d), tuple(d.whole(1, 3) for _ in range(d.whole(0, 2, walk=0)))
    a = (k,) if d.whole(0, 4, walk=1) == 0 else (*d.within(batch), m, k)
    b = (k,) if d.whole(0, 4, walk=1) == 0 else (*d.within(batch), k, n)
    return _factors(d, a, b)


def weight_quant(d: Draw) -> Case:
    m, k, n = _lengths(d)
    group = 32 * d.whole(0, 2, walk=0)
    k = k + 64 if group and k else k
    group = group if k else 0
    half = d.one((np.dtype(np.float16), BFLOAT16))
    scales = (-(-k // group), n) if group else d.one(((1,), (n,), (1, n)))
    given = {"x": d.array((m, k), half, "tame"), "weight": d.array((k, n), np.int8),
             "antiquantScale": d.array(scales, half, "positive"),
             "antiquantOffsetOptional": d.one((None, d.array(scales, half, "small"))),
             "biasOptional": d.one((None, d.array((n,), d.one((half, np.float32)), "tame"))),
             "quantScaleOptional": None, "quantOffsetOptional": None,
             "antiquantGroupSize": group, "innerPrecise": d.whole(0, 1)}  # fmt: skip
    names = {each.name for each in d.record.parameters}
    return Case({name: given[name] for name in given if name in names}, "stored", {"y": half})


def triangular_solve(d: Draw) -> Case:
    m, _, n = _lengths(d)
    batch = tuple(d.whole(1, 3) for _ in range(d.whole(0, 2, walk=0)))
    # Diagonals that are not near 0.
    a = d.array((*d.within(batch), m, m), None, "unit" if "edge" not in d.style else "tame")
    a[..., np.arange(m), np.arange(m)] = d.array((m,), None, "positive")
    given = {"self": d.array((*d.within(batch), m, n), None, "tame"), "A": a}
    given |= {each.name: d.flag() for each in d.record.plain("bool")}
    return Case(given, "double", {"xOut": d.first, "mOut": d.first})


def mv(d: Draw) -> Case:
    m, k, _ = _lengths(d)
    m, k = (d.whole(each, each, walk=3 * each) for each in (m, k))
    return _factors(d, (m, k), (k,))


def matmul_weight(d: Draw) -> Case:
    shape = tuple(max(n, 1) for n in d.shape(2, 6, 3))
    return Case({"mmWeightRef": d.array(shape)}, "stored", shapes={"mmWeightRef": shape})


def dot(d: Draw) -> Case:
    _, k, _ = _lengths(d)
    k = d.whole(k, k, walk=2**21)
    if d.first.kind in "iu":
        given = {name: d.array((k,)) for name in ("self", "tensor")}
        return Case(given, "stored", {"out": d.first})
    return _factors(d, (k,), (k,))


def _summand(d: Draw, shape) -> tuple[int, ...]:
    """In place it is the result."""
    return shape if d.record.in_place else d.within(shape)


def addmm(d: Draw) -> Case:
    m, k, n = _lengths(d)
    return _factors(d, (m, k), (k, n), _summand(d, (m, n)))


def addmv(d: Draw) -> Case:
    m, k, _ = _lengths(d)
    return _factors(d, (m, k), (k,), _summand(d, (m,)))


def baddbmm(d: Draw) -> Case:
    (m, k, n), batch = _lengths(d), d.whole(1, 4, walk=4)
    return _factors(d, (batch, m, k), (batch, k, n), _summand(d, (batch, m, n)))


def addbmm(d: Draw) -> Case:
    (m, k, n), batch = _lengths(d), d.whole(1, 4, walk=4)
    return _factors(d, (batch, m, k), (batch, k, n), _summand(d, (m, n)))


def add_lora(d: Draw) -> Case:
    rows, columns, width = d.whole(1, 4, walk=256), d.whole(1, 8, walk=1024), d.whole(1, 5, walk=1024)
    offset = d.whole(0, columns, walk=0)
    size, weights, layers = d.whole(0, columns - offset, walk=columns), d.whole(1, 3), d.whole(1, 2)
    down = d.flag(walk=True)
    rank = d.whole(1, 4, walk=16) if down else width
    given = {"y": d.array((rows, columns), None, "tame"), "x": d.array((rows, width), None, "tame"),
             "weightB": d.array((weights, layers, size, rank), None, "tame"),
             "indices": d.random.integers(-1, weights + 1, rows).astype(np.int32),
             "weightAOptional": d.array((weights, layers, rank, width), None, "tame") if down else None,
             "layerIdx": d.whole(0, layers - 1), "scale": d.one((1.0, -0.5)), "yOffset": offset,
             "ySliceSize": size}  # fmt: skip
    return Case(given, "double", {"out": d.first}, stored=("indices",))


# Attention.


def _laid(layout: str, b: int, n: int, s: int, width: int) -> tuple[int, ...]:
    sizes = {"B": b, "N": n, "S": s, "D": width, "H": n * width}
    return tuple(sizes[letter] for letter in layout)


def attention(d: Draw, gradient: bool = False) -> Case:
    layout, served = d.one(("BNSD", "BSND", "BSH", "SBH")), d.whole(1, 2, walk=1)
    b, heads, width = d.whole(1, 2, walk=2), d.whole(1, 2, walk=8), d.whole(1, 8, walk=64)
    rows, keys = d.whole(1, 6, walk=512), 150 if d.style == "long" else d.whole(1, 6, walk=512)
    d.first = d.type(REALS[:3])
    q = _laid(layout, b, heads * served, rows, width)
    k = _laid(layout, b, heads, keys, width)
    narrow = d.one((width, d.whole(1, width)))
    v, dy = _laid(layout, b, heads, keys, narrow), _laid(layout, b, heads * served, rows, narrow)
    tensors = [each.name for each in d.record.inputs[: 4 if gradient else 3]]
    shapes = zip(tensors, (q, k, v, dy), strict=False)
    given = {name: d.array(shape, None, "tame") for name, shape in shapes}
    given |= {each.name: None for each in d.record.inputs if each.name not in given}
    given |= {each.name: None for each in d.record.plain("ints")}
    mode, keep = d.whole(0, 6, walk=0), d.one((1.0, 1.0, 0.5))
    of = (*d.within((b, heads * served)), rows, keys)
    mask = d.array(of, d.one((BYTES, np.dtype(bool))), "mask")
    given["attenMaskOptional"] = None if d.flag(walk=True) else mask
    bits = b * heads * served * rows * keys
    drops = d.random.integers(0, 256, -(-bits // 8)).astype(np.uint8)
    given["dropMaskOptional"] = drops if keep < 1 and d.flag() else None
    if mode > 4:
        given["prefixOptional"] = [d.whole(0, keys) for _ in range(b)]
    given |= shifts(d, (b, heads * served, rows, keys)) | sinks(d, heads * served)
    settings = {"scaleValue": 0.5, "keepProb": keep, "preTokens": d.whole(0, 9),
                "nextTokens": d.whole(0, 9), "headNum": heads * served, "inputLayout": layout,
                "sparseMode": mode, "innerPrecise": 0}  # fmt: skip
    for parameter in d.record.parameters:
        base = parameter.name.removesuffix("Optional")
        if base in settings:
            given[parameter.name] = settings[base]
        elif parameter.kind == "string":
            given[parameter.name] = None
    if any(each.name == "seed" for each in d.record.parameters):
        given |= _seeds(d)
    outputs = {each.name: d.first for each in d.record.outputs if not each.optional}
    if given.get("sinkOptional") is not None:
        outputs["dsinkOut"] = np.dtype(np.float32)
    if given.get("pseShiftOptional") is not None:
        outputs["dpseOut"] = d.first
    if not gradient:
        outputs |= {"softmaxMaxOut": d.one(REALS[::3]), "softmaxSumOut": d.one(REALS[::3])}
    stored = ("dropMaskOptional", "attenMaskOptional", "keepProb", "keepProbOptional")
    return Case(fill(d, given), "float", outputs, stored=stored)


def shifts(d: Draw, scores, packed: bool = False) -> dict:
    """What is added to the scores of (batch, head, row, key), and how."""
    names = [each.name for each in d.record.parameters]
    name = next(each for each in names if each in ("realShiftOptional", "pseShiftOptional"))
    kind = d.whole(0, 3, walk=1) if "pseType" in names else 1
    left_out = d.flag(walk=True) or (packed and kind < 2)
    of, dtype = d.within(scores), d.first
    if kind > 1:  # slopes
        of, dtype = d.one((scores[:2], scores[1:2])), np.float32
    shift = None if left_out else d.array(of, dtype, "tame")
    if shift is not None and kind > 1:
        shift /= 16  # so that weights of far keys are not too small to be told from 0
    starts = {each: d.one((None, [], [d.whole(-9, 9)])) for each in names if "StartIdx" in each}
    return {name: shift, "pseType": kind, **starts}


def sinks(d: Draw, heads: int) -> dict:
    """A score of each head, where the expression has them."""
    if "sinkOptional" not in d.record.numpy:
        return {}
    return {"sinkOptional": None if d.flag(walk=True) else d.array((heads,), np.float32, "tame")}


def attention_backward(d: Draw) -> Case:
    return attention(d, True)


# Steps of training.


def unscale(d: Draw) -> Case:
    d.style = "edges" if d.whole(0, 2, walk=1) == 0 else "plain"
    types = {name: d.type_of(name, REALS) for name in ("foundInf", "inScale")}
    gradients = [d.array(d.shape(), d.type_of("scaledGrads", REALS)) for _ in range(d.whole(1, 3, walk=2))]
    given = {"scaledGrads": gradients, "foundInf": np.zeros((1,), types["foundInf"]),
             "inScale": d.array((1,), types["inScale"], "positive")}  # fmt: skip
    return Case(given, "double")


def update_scale(d: Draw) -> Case:
    types = (np.dtype(np.float32), np.dtype(np.float32))
    given = {"currentScale": d.array((1,), types[0], "positive"), "growthInterval": d.whole(1, 4),
             "growthTracker": np.array([d.whole(0, 3)], d.one((np.int32, np.float32))),
             "foundInf": np.array([d.whole(0, 1)], np.float32), "growthFactor": 2.0,
             "backoffFactor": 0.5}  # fmt: skip
    outputs = {"updatedScale": types[0], "updatedGrowthTracker": given["growthTracker"].dtype}
    return Case(given, "double", outputs, conversion=True)


def adamw(d: Draw) -> Case:
    shape, given = d.shape(), {}
    for name in ("varRef", "mRef", "grad"):
        given[name] = d.array(shape, d.real(), "tame")
    for name in ("vRef", "maxGradNormOptionalRef"):
        given[name] = d.array(shape, d.real(), "positive")
    given |= {"step": np.array([d.whole(0, 9)], d.one((np.int64, np.float32))), "lr": 0.01,
              "beta1": 0.9, "beta2": 0.99, "weightDecay": 0.1, "eps": 1e-3,
              "amsgrad": d.flag(), "maximize": d.flag()}  # fmt: skip
    if not given["amsgrad"] and d.flag():
        given["maxGradNormOptionalRef"] = None
    return Case(given, "double")
