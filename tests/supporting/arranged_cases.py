# SPDX-License-Identifier: Apache-2.0
"""Arguments of operators that take parts of tensors, or give them another shape."""

import numpy as np

from cases import PLACES, Case, Draw, _dim, fill
from draw import size_of
from more_cases import _full, _index, _moved, arange


def chunk_cat(d: Draw) -> Case:
    shape = d.shape(1)
    dim = d.whole(0, len(shape) - 1, walk=0)
    tensors = [d.array((*shape[:dim], *(d.whole(1, 5, walk=n) for n in shape[dim:])))
               for _ in range(d.whole(1, 3, walk=2))]  # fmt: skip
    given = {"tensors": tensors, "dim": dim - len(shape) * int(d.flag()), "numChunks": d.whole(1, 4)}
    if any(each.ndim != len(shape) for each in tensors):
        given["dim"] = dim
    return Case(given, "double", {"out": d.real()})


def strided_slice(d: Draw) -> Case:
    shape = d.shape(1)
    masks = dict.fromkeys(("beginMask", "endMask", "ellipsisMask", "newAxisMask", "shrinkAxisMask"), 0)
    entries, left, room = [], list(shape), 8 - len(shape)
    while left and len(entries) < 6:
        n, bit, kind = left[0], 1 << len(entries), d.whole(0, 6, walk=6)
        if kind == 0 and not masks["ellipsisMask"]:
            masks["ellipsisMask"] = bit
            del left[: d.whole(0, len(left))]
            entries.append((9, 9, 0))
            if not left:
                break
            continue
        if kind == 1 and room > 0:
            masks["newAxisMask"] |= bit
            room -= 1
            entries.append((9, 9, 0))
            continue
        left.pop(0)
        if kind == 2 and n > 0:
            masks["shrinkAxisMask"] |= bit
            entries.append((d.whole(-n, n - 1), 0, 1))
            continue
        masks["beginMask"] |= bit * d.whole(0, 1, walk=1)
        masks["endMask"] |= bit * d.whole(0, 1, walk=1)
        entries.append((d.whole(-n - 2, n + 2), d.whole(-n - 2, n + 2),
                        d.one((1, 2, -1, -3, 2**62, -(2**62)), walk=1)))  # fmt: skip
    if masks["ellipsisMask"]:
        entries, masks = _behind(entries, masks, len(left))
    begin, end, strides = ([entry[i] for entry in entries] for i in range(3))
    return _moved(d, {"self": d.array(shape), "begin": begin, "end": end, "strides": strides} | masks)


def _behind(entries, masks, left: int):
    """Dimensions that were left when the entries ended stand for the ellipsis too, unless it is the
    last entry: full slices follow it."""
    full = [(0, 0, 1)] * left
    for i in range(len(entries), len(entries) + left):
        masks["beginMask"] |= 1 << i
        masks["endMask"] |= 1 << i
    return entries + full, masks


def _shape_of(d: Draw, count: int) -> list[int]:
    """Lengths of as many elements."""
    lengths = []
    while count > 1 and len(lengths) < 4:
        divisors = [n for n in range(1, count + 1) if count % n == 0]
        lengths.append(d.one(divisors, walk=divisors[-1]))
        count //= lengths[-1]
    return [*lengths, count]


def confusion_transpose(d: Draw) -> Case:
    array, first = d.array(d.shape()), d.flag()
    shape = _shape_of(d, size_of(array.shape))
    perm = [int(each) for each in d.random.permutation(array.ndim if first else len(shape))]
    given = {"x": array, "perm": perm, "shape": shape, "transposeFirst": first}
    return _moved(d, given)


def split_with_size(d: Draw) -> Case:
    shape = d.shape(1)
    dim = _dim(d, len(shape))
    left, sizes = shape[dim], []
    while left > 0 or not sizes:
        sizes.append(d.whole(0, left, walk=max(left // 4, 1)))
        left -= sizes[-1]
    given = {"self": d.array(shape), "splitSize": sizes, "dim": dim}
    return _moved(d, given | _parts(d, shape, sizes, dim))


def _parts(d: Draw, shape, sizes: list[int], dim: int) -> dict:
    """What a list of results begins as, whose length a walk cannot guess."""
    if not d.one((False,), walk=True):
        return {}
    shapes = (tuple(n if i == dim % len(shape) else each for i, each in enumerate(shape)) for n in sizes)
    return {"out": [np.zeros(each, d.first) for each in shapes]}


def split_tensor(d: Draw) -> Case:
    shape = d.shape(1)
    dim = _dim(d, len(shape))
    part = d.whole(1, shape[dim] + 2, walk=max(shape[dim] // 4, 1))
    sizes = [min(part, shape[dim] - begin) for begin in range(0, shape[dim], part)]
    given = {"self": d.array(shape), "splitSections": part, "dim": dim}
    return _moved(d, given | _parts(d, shape, sizes, dim))


def diag(d: Draw) -> Case:
    d.style = "plain" if d.style == "rank 0" else d.style
    shape = (d.whole(1, 5, walk=1024), d.whole(1, 5, walk=1024))[: d.whole(1, 2, walk=1)]
    shape = (0, *shape[1:]) if d.style == "empty" else shape
    return _moved(d, {"self": d.array(shape), "diagonal": d.whole(-6, 6, walk=1)})


def unfold_backward(d: Draw) -> Case:
    d.style = "plain" if d.style in ("rank 0", "empty") else d.style
    shape = d.shape(1, high=7)
    dim = _dim(d, len(shape))
    size, step = d.whole(1, shape[dim], walk=2), d.whole(1, 3, walk=1)
    windows = list(shape)
    windows[dim] = (shape[dim] - size) // step + 1
    given = {"gradOut": d.array((*windows, size), None, "tame"), "inputSizes": list(shape), "dim": dim,
             "size": size, "step": step}  # fmt: skip
    return Case(fill(d, given), "double", {"gradIn": d.first})


def repeat_places(d: Draw) -> Case:
    repeats = d.random.integers(0, 4, d.whole(0, 6, walk=4096)).astype(d.one(PLACES))
    outputs = {"out": repeats.dtype}
    return _moved(d, {"repeats": repeats, "outputSize": int(repeats.sum())}, outputs=outputs)


# By rows of coordinates.


def _coordinates(d: Draw, from_end: bool):
    """A shape, coordinates of some first dimensions, and the shape of what they name."""
    shape = _full(d)
    depth, lead = d.whole(1, len(shape)), d.one(((), (3,), (2, 3), (0,)), walk=(4096,))
    columns = [_index(d, n, lead, from_end) for n in shape[:depth]]
    indices = np.stack(columns, -1).astype(d.one(PLACES))
    return shape, indices, (*lead, *shape[depth:])


def gather_nd(d: Draw) -> Case:
    from_end = d.flag()
    shape, indices, _ = _coordinates(d, from_end)
    return _moved(d, {"self": d.array(shape), "indices": indices, "negativeIndexSupport": from_end})


def scatter_nd(d: Draw) -> Case:
    shape, indices, named = _coordinates(d, False)
    updates = d.array(named, None, "small")
    return _moved(d, {"varRef": d.array(shape, None, "tame"), "indices": indices, "updates": updates})


def scatter_update(d: Draw) -> Case:
    d.style = "plain" if d.style == "empty" else d.style
    shape = list(d.shape(2))
    axis = d.whole(1, len(shape) - 1)
    part = list(shape)
    part[axis] = d.whole(1, shape[axis], walk=1)
    indices = _index(d, shape[axis] - part[axis] + 1, (shape[0],), False)
    given = {"data": d.array(shape), "indices": indices, "updates": d.array(part),
             "axis": axis - len(shape) * int(d.flag())}  # fmt: skip
    return _moved(d, given)


def inclusive_range(d: Draw) -> Case:
    """With an end that is one of the numbers, or between two of them."""
    case = arange(d)
    step = case.arguments["step"]
    if d.flag() and abs(step) != 1:
        case.arguments["end"] = case.arguments["end"] + type(step)(np.sign(step))
    return case


def affine_grid(d: Draw) -> Case:
    dims = d.whole(2, 3, walk=2)
    size = [d.whole(1, 3), d.whole(1, 3), *(d.whole(1, 5, walk=128) for _ in range(dims))]
    theta = d.array((size[0], dims, dims + 1), None, "tame")
    given = {"theta": theta, "size": size, "alignCorners": d.flag()}
    return Case(given, "double", {"out": d.first})
