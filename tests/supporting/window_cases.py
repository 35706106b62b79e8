# SPDX-License-Identifier: Apache-2.0
"""Arguments of what takes parts of tensors: slices, other orders, windows, convolutions."""

from cases import Case, Draw, _dim
from more_cases import _full, _index, _moved
from windows import out_length


_SIDES = {1: 2048, 2: 56, 3: 16}  # of a walk, by the number of dimensions


def _plane(d: Draw, axes: int) -> tuple[int, ...]:
    return tuple(d.whole(3, 6 if axes > 1 else 12, walk=_SIDES[axes]) for _ in range(axes))


def convolution(d: Draw) -> Case:
    axes, groups = d.whole(1, 3, walk=2), d.whole(1, 3, walk=1)
    transposed = d.flag()
    ins, outs = d.whole(1, 3, walk=64), d.whole(1, 3, walk=64)
    taps = tuple(d.whole(1, 3, walk=3) for _ in range(axes))
    one = d.whole(0, 3, walk=1) == 0  # number for all dimensions

    def numbers(low: int, high: int) -> list[int]:
        return [d.whole(low, high, walk=1) for _ in range(1 if one else axes)]

    n = 0 if d.style == "empty" else d.whole(1, 3, walk=8)
    if d.style == "long":
        axes, taps, one = 1, (300,), True
    plane = (310,) if d.style == "long" else _plane(d, axes)
    channels = (groups * ins, outs) if transposed else (groups * outs, ins)
    more = groups * outs
    stride = numbers(1, 3)
    given = {
        "input": d.array((n, groups * ins, *plane), None, "tame"),
        "weight": d.array((*channels, *taps), None, "tame"),
        "bias": None if d.flag() else d.array((more,), d.type(), "tame"),
        "stride": stride, "padding": numbers(0, 1), "dilation": [1] if one else numbers(1, 1),
        "transposed": transposed, "outputPadding": [0] * len(stride), "groups": groups,
        "cubeMathType": d.whole(0, 3, walk=0),
    }  # fmt: skip
    if transposed:
        given["outputPadding"] = [d.whole(0, each - 1) for each in stride]
        given["padding"] = [0] * len(stride)
    else:
        given["dilation"] = [d.whole(1, 1 if max(taps) > 2 else 2)]
    return Case(given, "stored", {"output": d.first})


def conv_depthwise(d: Draw) -> Case:
    channels, n = d.whole(1, 3, walk=64), 0 if d.style == "empty" else d.whole(1, 3, walk=8)
    outer = channels * d.whole(1, 3, walk=1)
    taps = [d.whole(1, 3, walk=3) for _ in range(2)]
    given = {
        "self": d.array((n, channels, *_plane(d, 2)), None, "tame"),
        "weight": d.array((outer, 1, *taps), None, "tame"), "kernelSize": taps,
        "bias": None if d.flag() else d.array((outer,), d.type(), "tame"),
        "stride": [d.whole(1, 3, walk=1) for _ in range(2)],
        "padding": [d.whole(0, 1, walk=1) for _ in range(2)],
        "dilation": [d.whole(1, 1 if max(taps) > 2 else 2, walk=1)] * 2,
        "cubeMathType": d.whole(0, 3, walk=0),
    }  # fmt: skip
    return Case(given, "stored", {"out": d.first})


def _at(values: list[int], i: int) -> int:
    return values[i] if len(values) > 1 else values[0]


def _length(given: dict, i: int) -> int:
    """Of the result's spatial dimension i."""
    n, taps = given["input"].shape[i + 2], given["weight"].shape[i + 2]
    stride, pad, dilation = (_at(given[each], i) for each in ("stride", "padding", "dilation"))
    if not given["transposed"]:
        return out_length(n, taps, stride, pad, dilation)
    return (n - 1) * stride - 2 * pad + dilation * (taps - 1) + 1 + _at(given["outputPadding"], i)


def convolution_backward(d: Draw) -> Case:
    given = convolution(d).arguments
    del given["bias"]
    x, weight = given["input"], given["weight"]
    channels = given["groups"] * weight.shape[1] if given["transposed"] else weight.shape[0]
    lengths = (_length(given, i) for i in range(x.ndim - 2))
    mask = [d.flag(walk=True) for _ in range(3)]
    given |= {"gradOutput": d.array((x.shape[0], channels, *lengths), None, "tame"),
              "biasSizes": d.one((None, [channels])), "outputMask": mask}  # fmt: skip
    shapes = dict(zip(("gradInput", "gradWeight", "gradBias"),
                      (x.shape, weight.shape, (channels,)), strict=True))  # fmt: skip
    outputs = {"gradInput": d.first, "gradWeight": d.type(), "gradBias": d.type()}
    room = {name: shape for (name, shape), asked in zip(shapes.items(), mask, strict=True)
            if not asked and d.flag()}  # fmt: skip
    return Case(given, "stored", outputs, room=room)


def _windows(d: Draw) -> dict:
    d.style = "plain" if d.style in ("rank 0", "long") else d.style
    batches = 0 if d.style == "empty" else d.whole(1, 2, walk=8)
    lead = (d.whole(1, 3),) if d.flag() else (batches, d.whole(1, 2, walk=64))
    return {"self": d.array((*lead, *_plane(d, 2)), None, "any")}


def im2col(d: Draw) -> Case:
    given = _windows(d)
    given |= {"kernelSize": [d.whole(1, 3, walk=3), d.whole(1, 3, walk=3)], "dilation": [d.whole(1, 1)],
              "padding": [d.whole(0, 2, walk=1), d.whole(0, 2, walk=1)],
              "stride": [d.whole(1, 3, walk=1)]}  # fmt: skip
    return Case(given, "stored", {"out": d.first})


def im2col_backward(d: Draw) -> Case:
    size = [d.whole(3, 6, walk=56), d.whole(3, 6, walk=56)]
    taps = [d.whole(1, 3, walk=3), d.whole(1, 2, walk=3)]
    pads, strides = [d.whole(0, 2, walk=1)], [d.whole(1, 3, walk=1), d.whole(1, 3, walk=1)]
    columns = 1
    for n, tap, stride in zip(size, taps, strides, strict=True):
        columns *= out_length(n, tap, stride, pads[0], 1)
    lead = [] if d.flag() else [0 if d.style == "empty" else d.whole(1, 2, walk=8)]
    rows = d.whole(1, 3, walk=16) * taps[0] * taps[1]
    gradient = d.array((*lead, rows, columns), None, "tame")
    given = {"gradOutput": gradient, "inputSize": size, "kernelSize": taps, "dilation": [1],
             "padding": pads, "stride": strides}  # fmt: skip
    return Case(given, "double", {"out": d.first})


def _fits(d: Draw, taps) -> list[int]:
    return [d.whole(0, each // 2, walk=each // 2) for each in taps]


def avg_pool(d: Draw) -> Case:
    given = _windows(d)
    taps = [d.whole(1, 3, walk=3), d.whole(1, 3, walk=3)]
    given |= {"kernelSize": taps, "strides": d.one(([], [d.whole(1, 3), d.whole(1, 3)]), walk=[2, 2]),
              "paddings": _fits(d, taps), "ceilMode": d.flag(), "countIncludePad": d.flag(),
              "divisorOverride": d.one((0, 0, 5)), "cubeMathType": 0}  # fmt: skip
    given["self"] = d.array(given["self"].shape, None, "tame")
    return Case(given, "double", {"out": d.first})


def max_pool(d: Draw) -> Case:
    given = _windows(d)
    taps = [d.whole(1, 3, walk=3), d.whole(1, 3, walk=3)]
    pads = [min(_fits(d, taps))]
    given |= {"kernelShape": taps, "strides": [d.whole(1, 3, walk=2), d.whole(1, 3, walk=2)], "autoPads": 0,
              "pads": d.one((pads, pads * 4)), "dilations": [1, 1],
              "ceilMode": d.whole(0, 1, walk=0)}  # fmt: skip
    return Case(given, "wide", {"out": d.first})


def gather_v2(d: Draw) -> Case:
    shape = _full(d, 1)
    dim = _dim(d, len(shape))
    index = _index(d, shape[dim], tuple(d.whole(0 if i else 1, 3, walk=1024) for i in range(d.whole(0, 3, walk=1))))
    return _moved(d, {"self": d.array(shape), "dim": dim, "index": index})


def slice_of(d: Draw) -> Case:
    shape = d.shape(1)
    ends = {"start": d.whole(-7, 7, walk=1), "end": d.one((d.whole(-7, 7), 2**63 - 1), walk=-1),
            "step": d.whole(1, 3, walk=1)}  # fmt: skip
    return _moved(d, {"self": d.array(shape), "dim": _dim(d, len(shape)), **ends})


def permute(d: Draw) -> Case:
    array = d.array(d.shape())
    order = [int(axis) for axis in d.random.permutation(array.ndim)]
    return _moved(d, {"self": array, "dims": [a - array.ndim if d.flag() else a for a in order]})
