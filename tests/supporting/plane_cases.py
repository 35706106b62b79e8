# SPDX-License-Identifier: Apache-2.0
"""Arguments of pooling that has gradients, and of planes of other sizes."""

import numpy as np

from cases import PLACES, Case, Draw
from records import REALS
from window_cases import _fits, _plane, out_length
from windows import max_pool3d as _largest3d
from windows import max_pool_with as _largest


def _batch(d: Draw, dims: int, batched: bool = True) -> tuple[int, ...]:
    """A shape; without a batch where that may be."""
    d.style = "plain" if d.style in ("rank 0", "long") else d.style
    n = 0 if d.style == "empty" else d.whole(1, 2, walk=8)
    lead = (n, d.whole(1, 2, walk=64)) if batched or d.flag(walk=True) else (d.whole(1, 3),)
    return (*lead, *(_plane(d, dims)))


def _real(d: Draw):
    types = [each for each in d.record.types if each in REALS]
    return d.first if d.first in types else d.one(types)


_TARGETS = {1: 4096, 2: 84, 3: 24}  # sides that a walk makes, one and a half times or twice as long


def _sizes(d: Draw, dims: int) -> list[int]:
    return [d.whole(1, 9, walk=_TARGETS[dims]) for _ in range(dims)]


def _factors(d: Draw, lengths, size) -> dict:
    """Left out, ones that make the sizes, or others, which do not count."""
    names = [each.name for each in d.record.plain("double", "float")]
    factors = {}
    for name, n, out in zip(names, lengths, size, strict=True):
        exact = (out + 0.5) / n
        factors[name] = d.one((0.0, 1.0, -1.0, exact, exact + 3))
    return factors


def _dims(d: Draw) -> int:
    return next(int(each) for each in d.record.name if each in "123")


def upsample_nearest(d: Draw) -> Case:
    dims = _dims(d)
    array, size = d.array(_batch(d, dims)), _sizes(d, dims)
    factors = _factors(d, array.shape[2:], size) if d.record.plain("double", "float") else {}
    return Case({"self": array, "outputSize": size, **factors}, "stored", {"out": d.first})


def upsample(d: Draw) -> Case:
    dims = _dims(d)
    array, size = d.array(_batch(d, dims), None, "tame"), _sizes(d, dims)
    factors = _factors(d, array.shape[2:], size)
    given = {"self": array, "outputSize": size, "alignCorners": d.flag(), **factors}
    return Case(given, "double", {"out": d.first})


def upsample_backward(d: Draw) -> Case:
    dims = _dims(d)
    shape, size = _batch(d, dims), _sizes(d, dims)
    given = {"gradOut": d.array((*shape[:2], *size), None, "tame"), "outputSize": size,
             "inputSize": list(shape), **_factors(d, shape[2:], size)}  # fmt: skip
    if d.record.plain("bool"):
        given["alignCorners"] = d.flag()
    return Case(given, "double", {d.record.outputs[0].name: d.first})


def _regions(d: Draw) -> tuple[tuple[int, ...], dict]:
    """A shape of planes, and regions in them; some reach out of them."""
    shape = (d.whole(1, 2, walk=2), d.whole(1, 3, walk=64), *(d.whole(1, 6, walk=64) for _ in range(2)))
    count = 0 if d.style == "empty" else d.whole(1, 3, walk=128)
    corners = d.random.uniform(-6, 12, (count, 2))
    ends = corners + d.random.uniform(-1, 16, (count, 2))
    rois = np.c_[d.random.integers(0, shape[0], count), corners, ends].astype(d.first)
    setting = {"spatialScale": d.one((0.25, 0.5, 1.0)), "pooledHeight": d.whole(1, 3, walk=7),
               "pooledWidth": d.whole(1, 3, walk=7), "sampleNum": d.whole(0, 3, walk=2),
               "roiEndMode": d.whole(0, 1), "rois": rois}  # fmt: skip
    return shape, setting


def roi_align(d: Draw) -> Case:
    shape, setting = _regions(d)
    return Case({"self": d.array(shape, None, "tame"), **setting}, "double", {"out": d.first})


def roi_align_backward(d: Draw) -> Case:
    shape, setting = _regions(d)
    bins = (len(setting["rois"]), shape[1], setting["pooledHeight"], setting["pooledWidth"])
    given = {"gradOutput": d.array(bins, None, "tame"), "inputShape": list(shape), **setting}
    told = d.one((False,), walk=True)  # a walk cannot guess it
    return Case(given, "double", {"gradInput": d.first}, shapes={"gradInput": shape} if told else {})


def _deformed(d: Draw) -> dict:
    groups, parts, n = d.whole(1, 2, walk=1), d.whole(1, 2, walk=1), d.whole(1, 2, walk=2)
    channels, outer = groups * parts * d.whole(1, 2, walk=64), groups * d.whole(1, 2, walk=64)
    taps = [d.whole(1, 3, walk=3), d.whole(1, 2, walk=3)]
    stride, dilation = ([1, 1, d.whole(1, 2, walk=1), d.whole(1, 2, walk=1)] for _ in range(2))
    padding, modulated = [d.whole(0, 2, walk=1) for _ in range(4)], d.flag(walk=True)
    plane = [d.whole(5, 6, walk=64) for _ in range(2)]
    size = [out_length(n + sum(padding[2 * i : 2 * i + 2]), taps[i], stride[2 + i], 0, dilation[2 + i])
            for i, n in enumerate(plane)]  # fmt: skip
    each = (3 if modulated else 2) * parts * taps[0] * taps[1]
    return {"input": d.array((n, channels, *plane), None, "tame"), "kernelSize": taps, "stride": stride,
            "weight": d.array((outer, channels // groups, *taps), None, "tame"), "padding": padding,
            "offset": d.array((n, each, *size), None, "tame"), "dilation": dilation, "groups": groups,
            "deformableGroups": parts, "modulated": modulated}  # fmt: skip


def deformable(d: Draw) -> Case:
    given = _deformed(d)
    given["bias"] = d.array((given["weight"].shape[0],), None, "tame") if d.flag() else None
    return Case(given, "double", {"out": d.first, "deformOut": d.first})


def deformable_backward(d: Draw) -> Case:
    given = _deformed(d)
    n, _, high, wide = given["offset"].shape
    rows, columns = given["kernelSize"]
    given["gradOutput"] = d.array((n, given["weight"].shape[0], high, wide), None, "tame")
    given["offsetOut"] = d.array((n, given["input"].shape[1], high * rows, wide * columns), None, "tame")
    return Case(given, "double", {each.name: d.first for each in d.record.outputs})


def adaptive_pool(d: Draw) -> Case:
    dims = _dims(d)
    array = d.array(_batch(d, dims, False), None, "tame")
    return Case({"self": array, "outputSize": _sizes(d, dims)}, "double", {"out": d.first})


def adaptive_pool_backward(d: Draw) -> Case:
    dims = _dims(d)
    array = d.array(_batch(d, dims, False), None, "tame")
    gradient = d.array((*array.shape[:-dims], *_sizes(d, dims)), None, "tame")
    return Case({"gradOutput": gradient, "self": array}, "double", {"out": d.first}, ("self",))


def _pooling(d: Draw) -> dict:
    taps = [d.whole(1, 3, walk=3), d.whole(1, 3, walk=3)]
    return {"kernelSize": taps, "stride": d.one(([], [d.whole(1, 3), d.whole(1, 3)]), walk=[2, 2]),
            "padding": _fits(d, taps), "ceilMode": d.flag()}  # fmt: skip


def _pooled(shape, given: dict) -> tuple[int, ...]:
    taps, strides = given["kernelSize"], given["stride"] or given["kernelSize"]
    planes = (out_length(n, taps[i], strides[i], given["padding"][i], 1, given["ceilMode"])
              for i, n in enumerate(shape[-2:]))  # fmt: skip
    return (*shape[:-2], *planes)


def avg_pool_backward(d: Draw) -> Case:
    given = _pooling(d)
    array = d.array(_batch(d, 2, False), None, "tame")
    gradient = d.array(_pooled(array.shape, given), None, "tame")
    given |= {"gradOutput": gradient, "self": array, "countIncludePad": d.flag(),
              "divisorOverride": d.one((0, 0, 5, -3)), "cubeMathType": 0}  # fmt: skip
    return Case(given, "double", {"gradInput": d.first}, ("self",))


def _is_mask(d: Draw) -> bool:
    return "Mask" in d.record.name


def max_pool_with(d: Draw) -> Case:
    given, dtype = _pooling(d), _real(d)
    given |= {"self": d.array(_batch(d, 2, False), dtype), "dilation": d.one(([1], [1, 1]))}
    index = np.int8 if _is_mask(d) else np.int32
    return Case(given, "wide", {"out": dtype, "indices": np.dtype(index)})


def max_pool_with_backward(d: Draw) -> Case:
    given, dtype = _pooling(d), _real(d)
    array = d.array(_batch(d, 2, False), dtype, "tame")
    found, indices = _largest(array.astype(np.float64), given["kernelSize"], given["stride"],
                              given["padding"], given["ceilMode"], _is_mask(d))  # fmt: skip
    given |= {"gradOutput": d.array(found.shape, dtype, "tame"), "self": array,
              "indices": indices, "dilation": [1, 1]}  # fmt: skip
    return Case(given, "double", {"gradInput": dtype}, ("self", "indices"))


def adaptive_max_pool(d: Draw) -> Case:
    dims, dtype = _dims(d), _real(d)
    array = d.array(_batch(d, dims, False), dtype)
    outputs = {"outputOut": dtype, "indicesOut": d.one(PLACES)}
    return Case({"self": array, "outputSize": _sizes(d, dims)}, "wide", outputs)


def adaptive_max_pool_backward(d: Draw) -> Case:
    dims, dtype = _dims(d), _real(d)
    array = d.array(_batch(d, dims, False), dtype, "tame")
    shape = (*array.shape[:-dims], *_sizes(d, dims))
    count = int(np.prod(array.shape[-dims:]))
    given = {"gradOutput": d.array(shape, dtype, "tame"), "self": array,
             "indices": d.random.integers(0, count, shape).astype(d.one(PLACES))}  # fmt: skip
    return Case(given, "double", {"gradInput": dtype}, ("self", "indices"))


def _means(d: Draw) -> tuple:
    taps = [d.whole(1, 3, walk=3) for _ in range(d.one((1, 3)))]
    strides = d.one(([], [d.whole(1, 3) for _ in taps]), walk=[2 for _ in taps])
    given = {"kernelSize": taps, "stride": strides, "padding": _fits(d, taps),
             "ceilMode": d.flag(), "countIncludePad": d.flag(),
             "divisorOverride": d.one((0, 0, 5, -3))}  # fmt: skip
    return given, d.array(_batch(d, 3, False), None, "tame")


def avg_pool3d(d: Draw) -> Case:
    given, array = _means(d)
    return Case(given | {"self": array}, "double", {"out": d.first})


def avg_pool3d_backward(d: Draw) -> Case:
    given, array = _means(d)
    setting = [(each * 3)[:3] if len(each) == 1 else each for each in
               (given["kernelSize"], given["stride"] or given["kernelSize"], given["padding"])]  # fmt: skip
    lengths = (out_length(n, *numbers, 1, given["ceilMode"])
               for n, *numbers in zip(array.shape[-3:], *setting, strict=True))  # fmt: skip
    gradient = d.array((*array.shape[:-3], *lengths), None, "tame")
    given |= {"gradOutput": gradient, "self": array}
    return Case(given, "double", {"output": d.first}, ("self",))


def max_unpool(d: Draw) -> Case:
    dims = _dims(d)
    array = d.array(_batch(d, dims, False))
    size = [n + d.whole(0, 3, walk=n) for n in array.shape[-dims:]]
    places = d.random.integers(0, int(np.prod(size)), array.shape).astype(d.one(PLACES))
    given = {"self": array, "indices": places, "outputSize": size}
    given |= {each.name: [d.whole(1, 3, walk=2)] * dims for each in d.record.plain("ints")[1:]}
    return Case(given, "stored", {"out": d.first})


def max_pool3d(d: Draw, sample: str = "any") -> Case:
    dtype = _real(d)
    taps = [d.whole(1, 3, walk=3) for _ in range(d.one((1, 3)))]
    given = {"kernelSize": taps, "stride": d.one(([], [d.whole(1, 3) for _ in taps]), walk=[2 for _ in taps]),
             "padding": _fits(d, taps), "dilation": [d.one((1, 1, 2))], "ceilMode": d.flag(),
             "self": d.array(_batch(d, 3, False), dtype, sample)}  # fmt: skip
    return Case(given, "wide", {"out": dtype, "indices": d.one(PLACES)})


def max_pool3d_backward(d: Draw) -> Case:
    given = max_pool3d(d, "tame").arguments
    array = given["self"]
    setting = (given[name] for name in ("kernelSize", "stride", "padding", "dilation", "ceilMode"))
    found, indices = _largest3d(array.astype(np.float64), *setting)
    given |= {"gradOutput": d.array(found.shape, array.dtype, "tame"),
              "indices": indices.astype(d.one(PLACES))}  # fmt: skip
    return Case(given, "double", {"gradInput": array.dtype}, ("self", "indices"))


# Boxes.


def iou(d: Draw) -> Case:
    counts = [0 if d.style == "empty" else d.whole(1, 5, walk=1024) for _ in range(2)]
    boxes = []
    for count in counts:
        corner = d.random.uniform(0, 9, (count, 2))
        boxes.append(np.c_[corner, corner + d.random.uniform(0.5, 9, (count, 2))].astype(d.first))
    given = {"bBoxes": boxes[0], "gtBoxes": boxes[1], "mode": d.one(("iou", "iof")),
             "eps": d.one((0.0, 0.01, 1.0)), "aligned": False}  # fmt: skip
    return Case(given, "double", {"overlap": d.first})


def ciou(d: Draw) -> Case:
    count = 0 if d.style == "empty" else d.whole(1, 5, walk=2**17)
    corners, sizes = d.random.uniform(0, 9, (2, 2, count)), d.random.uniform(0.5, 9, (2, 2, count))
    centred = d.flag()
    boxes = [np.concatenate((c, s if centred else c + s)).astype(d.first)
             for c, s in zip(corners, sizes, strict=True)]  # fmt: skip
    given = {"bBoxes": boxes[0], "gtBoxes": boxes[1], "trans": centred, "isCross": False, "mode": "iou"}
    return Case(given, "double", {"overlap": d.first, "atanSub": d.first})


# Sequences.


def _causal(d: Draw) -> dict:
    d.first = _real(d)
    steps, batch, width = 0 if d.style == "empty" else d.whole(1, 6, walk=512), d.whole(1, 3, walk=4), d.whole(1, 4, walk=512)
    mask = d.random.integers(0, 2, (batch, steps)).astype(bool) if d.flag() else None
    return {"input": d.array((steps, batch, width), None, "tame"), "mask": mask,
            "weight": d.array((d.whole(1, 4, walk=3), width), None, "tame")}  # fmt: skip


def causal_conv(d: Draw) -> Case:
    given = _causal(d)
    return Case(given, "double", {"out": d.first}, stored=("mask",))


def causal_conv_backward(d: Draw) -> Case:
    given = _causal(d)
    given["gradOutput"] = d.array(given["input"].shape, None, "tame")
    return Case(given, "double", {"gradInput": d.first, "gradWeight": d.first}, stored=("mask",))
