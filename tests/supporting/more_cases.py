# SPDX-License-Identifier: Apache-2.0
"""Arguments of operators that move elements, make them or draw them at random."""

import numpy as np

from cases import PLACES, Case, Draw, _dim, _result, fill
from draw import domain_of, limits, size_of
from records import INTEGERS, REALS


def _moved(d: Draw, given: dict, **case) -> Case:
    """Elements stay as they are, in the type of the first tensor."""
    kept = {each.name: d.first for each in d.record.outputs}
    return Case(fill(d, given), "stored", case.pop("outputs", kept), **case)


def _member_type(d: Draw, out: np.dtype) -> np.dtype:
    """One that out's type holds the numbers of; UINT64 is moved alone."""
    if out == np.uint64:
        return out
    holding = {"c": None, "f": INTEGERS + REALS, "V": INTEGERS + REALS}  # BFLOAT16 is a V
    return d.type_of("tensors", holding.get(out.kind, INTEGERS))


def cat(d: Draw) -> Case:
    out, style = d.type(), d.style
    shape = d.shape(1)
    dim, tensors = _dim(d, len(shape)), []
    for i in range(d.whole(1, 4, walk=4)):
        own = list(shape)
        own[dim] = d.whole(0 if style == "empty" else 1, 4, walk=own[dim] // 4)
        tensors.append(d.array((0,) if i and d.whole(0, 4, walk=1) == 0 else own, _member_type(d, out)))
    domain = "integer" if out.kind in "iub" else "double"
    return Case({"tensors": tensors, "dim": dim}, domain, {"out": out}, conversion=True)


def stack(d: Draw) -> Case:
    shape, out = d.shape(), d.type()
    tensors = [d.array(shape, _member_type(d, out)) for _ in range(d.whole(1, 4, walk=2))]
    domain = "integer" if out.kind in "iub" else "double"
    given = {"tensors": tensors, "dim": _dim(d, len(shape) + 1)}
    return Case(given, domain, {"out": out}, conversion=True)


def repeat(d: Draw) -> Case:
    shape = d.shape(walk=(512, 1024))
    fewest, rank = int(d.style != "empty"), len(shape) + d.whole(0, 2, walk=0)
    repeats = [d.whole(fewest, 3, walk=2) for _ in range(rank)]
    return _moved(d, {"self": d.array(shape), "repeats": repeats})


def triangle(d: Draw) -> Case:
    name = "selfRef" if d.record.in_place else "self"
    return _moved(d, {name: d.array(d.shape(2, 4)), "diagonal": d.whole(-4, 4, walk=0)})


def flip(d: Draw) -> Case:
    shape = d.shape(1)
    dims = [axis - len(shape) * d.whole(0, 1) for axis in range(len(shape)) if d.flag(walk=True)]
    return _moved(d, {"self": d.array(shape), "dims": dims})


def roll(d: Draw) -> Case:
    shape = d.shape(1)
    dims = [axis for axis in range(len(shape)) if d.flag(walk=True)]
    shifts = [d.whole(-7, 7, walk=7) for _ in dims or (0,)]
    return _moved(d, {"x": d.array(shape), "shifts": shifts, "dims": dims})


def constant_pad(d: Draw) -> Case:
    shape = d.shape()
    pads = []
    for n in reversed(shape[d.whole(0, len(shape), walk=0):]):
        before = d.whole(-(n // 2), 3, walk=2)
        pads += [before, d.whole(-(n // 2), 3, walk=2)]
    value = d.scalar("tame", _FITTING[d.first.kind])
    return _moved(d, {"self": d.array(shape), "pad": pads, "value": value})


_FITTING = {kind: tuple(map(np.dtype, names)) for kind, names in {
    "i": ("int64", "int32"), "u": ("uint8",), "b": ("bool",),
    "f": ("float64", "float32"), "V": ("float64", "float32"), "c": ("complex64", "complex128"),
}.items()}  # fmt: skip


_SIDES = {1: 2048, 2: 45, 3: 13}  # of a walk, by the number of dimensions


def _mirror(d: Draw, reflects: bool, gradient: bool) -> Case:
    dims = int(d.record.name.split("Pad")[1][0])
    rank = d.whole(dims + 1, dims + 2, walk=dims + 2)
    lead = [0 if d.style == "empty" else d.whole(1, 3, walk=32) for _ in range(rank - dims)]
    shape, pads = lead + [d.whole(2, 5, walk=_SIDES[dims]) for _ in range(dims)], []
    for n in reversed(shape[-dims:]):
        most = n - 1 if reflects else 4
        pads += [d.whole(0, most, walk=1), d.whole(-(n // 2), most, walk=1)]
    if not gradient:
        return _moved(d, {"self": d.array(shape), "padding": pads})
    padded = list(shape)
    for axis in range(dims):
        padded[-1 - axis] += pads[2 * axis] + pads[2 * axis + 1]
    given = {"gradOutput": d.array(padded), "self": d.array(shape, d.real()), "padding": pads}
    return Case(given, "double", {"gradInput": d.real()})


def reflection_pad(d: Draw) -> Case:
    return _mirror(d, True, False)


def reflection_pad_backward(d: Draw) -> Case:
    return _mirror(d, True, True)


def replication_pad(d: Draw) -> Case:
    return _mirror(d, False, False)


def replication_pad_backward(d: Draw) -> Case:
    return _mirror(d, False, True)


def repeat_interleave(d: Draw) -> Case:
    array, given = d.array(d.shape()), {}
    along = "Dim" in d.record.name
    if along:
        given["dim"] = _dim(d, array.ndim)
    length = (array.shape[given["dim"]] if array.ndim else 1) if along else array.size
    if d.record.plain("in")[1:]:
        count = length if d.flag(walk=True) else 1
        repeats = d.random.integers(0, 4, count).astype(d.one(PLACES))
        total = int(np.sum(np.broadcast_to(repeats, length)))
    else:
        repeats = d.whole(0, 3, walk=2)
        total = repeats * length
    return _moved(d, given | {"self": array, "repeats": repeats, "outputSize": total})


def repeat_interleave_grad(d: Draw) -> Case:
    d.style = "plain" if d.style in ("rank 0", "empty") else d.style
    shape = list(d.shape(1))
    axis = _dim(d, len(shape))
    repeats, short = d.random.integers(0, 4, shape[axis]).astype(d.one(PLACES)), tuple(shape)
    if repeats.size == 1:
        repeats[:] = max(int(repeats[0]), 1)
    shape[axis] = int(repeats.sum())
    given = {"yGrad": d.array(shape, None, "tame"), "repeats": repeats, "axis": axis}
    out = d.real() if d.first in REALS else d.type()
    domain = "double" if d.first in REALS else "integer"
    return Case(given, domain, {"out": out}, stored=("repeats",), shapes={"out": short}, conversion=True)


def masked_select(d: Draw) -> Case:
    shape = d.shape()
    mask = d.array(d.within(shape), d.one((np.dtype(bool), np.dtype(np.uint8))), "mask")
    array = d.array(shape if d.flag() else d.within(shape))
    room = size_of(np.broadcast_shapes(array.shape, mask.shape)) + d.whole(0, 2)
    return _moved(d, {"self": array, "mask": mask}, room={"out": (room,)})


def nonzero(d: Draw, columns: bool = False) -> Case:
    array = d.array(d.shape(), None, d.one(("mask", "any")))
    room = (array.ndim, array.size) if columns else (array.size, array.ndim)
    return _moved(d, {"self": array}, outputs={"out": np.dtype(np.int64)}, room={"out": room})


def nonzero_v2(d: Draw) -> Case:
    return nonzero(d, True)


# By indices.


def _index(d: Draw, limit: int, shape, from_end: bool = True) -> np.ndarray:
    low = d.whole(-limit, -limit, walk=0) if from_end else 0
    return d.random.integers(low, max(limit, low + 1), shape).astype(d.one(PLACES))


def _full(d: Draw, least: int = 1) -> tuple[int, ...]:
    """A shape with elements, so that an index may point at one."""
    d.style = "plain" if d.style == "empty" else d.style
    return d.shape(least)


def gather(d: Draw) -> Case:
    shape = _full(d, 0)
    dim = _dim(d, len(shape))
    own = [d.whole(0 if n > 3 else 1, n, walk=n) for n in shape]
    if shape:
        own[dim] = d.whole(0, 6, walk=own[dim])
    index = _index(d, shape[dim] if shape else 1, own, d.flag())
    return _moved(d, {"self": d.array(shape), "dim": dim, "index": index})


def index_select(d: Draw) -> Case:
    shape = _full(d, 0)
    dim = d.whole(-max(len(shape), 1), max(len(shape), 1) - 1, walk=0)
    count = d.whole(0, 5, walk=1024) if shape else 1
    index = _index(d, shape[dim] if shape else 1, (count,) if d.flag() or count != 1 else (), False)
    return _moved(d, {"self": d.array(shape), "dim": dim, "index": index})


def take(d: Draw) -> Case:
    array = d.array(_full(d, 0))
    index = _index(d, array.size, d.shape())
    return _moved(d, {"self": array, "index": index})


def put(d: Draw) -> Case:
    array = d.array(_full(d, 0), None, "tame")
    index = _index(d, array.size, d.shape())
    source = d.array((index.size,), None, "small")
    return _moved(d, {"selfRef": array, "index": index, "source": source, "accumulate": d.flag()})


def _of_target(d: Draw, array: np.ndarray, given: dict) -> Case:
    """Operators that begin with self and end with out, or work in place."""
    name = "selfRef" if d.record.in_place else "self"
    return _moved(d, {name: array} | given)


def scatter(d: Draw) -> Case:
    shape = _full(d, 0)
    dim, reduce = _dim(d, len(shape)), d.whole(0, 2, walk=0)
    own = [d.whole(1, n, walk=n) for n in shape]
    if shape:
        own[dim] = d.whole(0, 6, walk=own[dim])
    index = _index(d, shape[dim] if shape else 1, own, False)
    more = [n + d.whole(0, 1, walk=0) for n in own] if shape else ()
    given = {"dim": dim, "index": index, "reduce": reduce, "src": d.array(more, None, "small")}
    if d.record.plain("scalar"):
        given["value"] = d.scalar("small", _FITTING[d.first.kind])
    return _of_target(d, d.array(shape, None, "tame"), given)


def scatter_add(d: Draw) -> Case:
    return scatter(d)


def scatter_reduce(d: Draw) -> Case:
    """Values that a mean of integers is exact of in 64 bits."""
    case = scatter(d)
    case.arguments |= {"reduce": d.whole(0, 5, walk=1), "includeSelf": d.flag(walk=True)}
    return case


def _slices(d: Draw, negative: bool = True):
    shape = _full(d, 0)
    dim = d.whole(-max(len(shape), 1), max(len(shape), 1) - 1, walk=0)
    count = d.whole(0, 5, walk=shape[0]) if shape else 1
    index = _index(d, shape[dim] if shape else 1, (count,), negative)
    part = list(shape)
    if shape:
        part[dim] = count
    return shape, dim, index, part


def index_add(d: Draw) -> Case:
    shape, dim, index, part = _slices(d)
    given = {"dim": dim, "index": index, "source": d.array(part, None, "small"),
             "alpha": d.scalar("small", _FITTING[d.first.kind])}  # fmt: skip
    return _of_target(d, d.array(shape, None, "tame"), given)


def index_copy(d: Draw) -> Case:
    shape, dim, index, part = _slices(d)
    return _of_target(d, d.array(shape), {"dim": dim, "index": index, "source": d.array(part)})


def index_fill(d: Draw) -> Case:
    shape, dim, index, _ = _slices(d)
    value = d.scalar("tame", _FITTING[d.first.kind])
    return _of_target(d, d.array(shape), {"dim": dim, "index": index, "value": value})


def index_fill_at(d: Draw) -> Case:
    case = index_fill(d)
    case.arguments["index"] = [int(each) for each in case.arguments["index"]]
    return case


def _indices(d: Draw, shape):
    """Whole dimensions and tensors of places that can be broadcast to each other."""
    common, indices = d.one(((3,), (2, 3), (1,), ()), walk=(1024,)), []
    for n in shape[: d.whole(1, len(shape), walk=1)]:
        whole = np.zeros((0,), PLACES[0])
        indices.append(whole if d.whole(0, 2, walk=1) == 0 else _index(d, n, d.within(common)))
    return indices


def index(d: Draw) -> Case:
    shape = _full(d)
    return _moved(d, {"self": d.array(shape), "indices": _indices(d, shape)})


def index_put(d: Draw) -> Case:
    shape = _full(d)
    indices = _indices(d, shape)
    array = d.array(shape, None, "tame")
    place = tuple(slice(None) if each.size == 0 else each for each in indices)
    accumulate = d.flag()
    values = d.array(array[place].shape, None, "small")
    given = {"indices": indices, "values": values, "accumulate": accumulate, "unsafe": False}
    return _moved(d, {"selfRef": array} | given)


def masked_scatter(d: Draw) -> Case:
    array = d.array(d.shape())
    mask = d.array(d.within(array.shape), d.one((np.dtype(bool), np.dtype(np.uint8))), "mask")
    source = d.array((array.size + d.whole(0, 2, walk=0),))
    return _moved(d, {"selfRef": array, "mask": mask, "source": source})


# Made.


def arange(d: Draw) -> Case:
    names = ("int64", "int32") if d.flag() else ("float64", "float32", "int64")
    types = tuple(map(np.dtype, names))
    start = d.scalar("tame", types)
    real = start.dtype.kind == "f"
    step = d.one((1, 2, -1, 3, -2, 1.5, -2.5) if real else (1, 2, -1, 3, -2))
    end = start + type(start)(step * d.whole(0, 9, walk=2**21))
    given = {"start": start, "end": end, "step": np.asarray(step).astype(start.dtype)[()]}
    return Case(given, "double" if real else "integer", {"out": d.first}, conversion=True)


def eye(d: Draw) -> Case:
    return _moved(d, {"n": d.whole(0, 6, walk=1024), "m": d.whole(0, 6, walk=2048)})


_REAL_SCALARS = tuple(map(np.dtype, ("float64", "float32", "float16", "int64", "int32", "bool")))


def linspace(d: Draw) -> Case:
    types = None if d.first.kind == "c" else _REAL_SCALARS
    given = {"start": d.scalar("tame", types), "end": d.scalar("tame", types)}
    given["steps"] = d.whole(0, 9, walk=2**21)
    return Case(given, "double", {"out": d.first}, conversion=True)


def logspace(d: Draw) -> Case:
    case = linspace(d)
    case.arguments["base"] = d.one((2.0, 10.0, 0.5, 1.5))
    return case


def one_hot(d: Draw) -> Case:
    shape, count = d.shape(walk=(16384,)), d.whole(0, 5, walk=128)
    classes = d.random.integers(0, count + d.whole(2, 2, walk=0), shape).astype(d.one(PLACES))
    given = {"self": classes, "numClasses": count, "axis": d.whole(-1, len(shape), walk=-1),
             "onValue": d.array(d.one(((), (1,)))), "offValue": d.array((1,))}  # fmt: skip
    return _moved(d, given)


def fill_diagonal(d: Draw) -> Case:
    d.style = "plain" if d.style == "long" else d.style
    shape = (d.whole(0, 9), d.whole(1, 4)) if d.flag() else (d.whole(1, 3, walk=1448),) * d.whole(2, 4, walk=2)
    value = d.scalar("tame", _FITTING[d.first.kind])
    return _moved(d, {"selfRef": d.array(shape), "fillValue": value, "wrap": d.flag()})


# Random numbers.


SEEDS = ("seedTensor", "offsetTensor")  # which an expression sees as they are


def _seeds(d: Draw) -> dict:
    """Of numbers, or of tensors with one element each."""
    kinds = {each.name: each.kind for each in d.record.parameters}
    signed = kinds.get("seed") != "uint64"
    seed = d.whole(-(2**63) if signed else 0, 2**63 - 2) if d.flag() else d.whole(0, 9)
    if "seedTensor" not in kinds:
        return {"seed": seed, "offset": d.whole(0, 50)}
    tensors = (np.array([each], np.int64) for each in (seed, d.whole(0, 50)))
    return dict(zip(SEEDS, tensors, strict=True)) | {"offset": d.whole(0, 50)}


def random(d: Draw) -> Case:
    d.first = d.real()
    given = _seeds(d) | {"selfRef": d.array(d.shape(), None, "tame")}
    return Case(fill(d, given), "double", stored=SEEDS)


def uniform(d: Draw) -> Case:
    d.first = d.real()
    low = d.whole(-3, 3) + d.one((0.0, 0.1))
    given = _seeds(d) | {"selfRef": d.array(d.shape(), None, "tame"), "from": low,
                         "to": low + d.whole(0, 5)}  # fmt: skip
    return Case(given, "double", stored=("selfRef", *SEEDS))


def random_integers(d: Draw) -> Case:
    """Of a few integers, or of all that the type's range has."""
    least, most = (max(-(2**63), min(int(each), 2**63 - 2)) for each in limits(d.first))
    low = max(least, min(d.whole(-9, 9), most))
    high = min(low + d.whole(0, 89), most)
    if d.flag():
        low, high = sorted((d.whole(least, most), d.whole(least, most)))
    given = _seeds(d) | {"selfRef": d.array(d.shape(), None, "tame"), "from": low, "to": high + 1}
    return Case(given, "integer", stored=("selfRef", *SEEDS), conversion=True)


def bernoulli(d: Draw) -> Case:
    given = _seeds(d) | {"selfRef": d.array(d.shape(), None, "tame")}
    if len(d.record.inputs) > 1:
        shape = d.within(given["selfRef"].shape)
        given["prob"] = d.array(shape, d.real(), "probability")
    else:
        given["prob"] = d.scalar("probability", REALS)
    return Case(given, "double", conversion=True)


def rrelu(d: Draw) -> Case:
    shape, low = d.shape(), d.whole(-3, 3)
    name = "selfRef" if d.record.in_place else "self"
    given = _seeds(d) | {name: d.array(shape), "noise": d.array(shape), "training": d.flag()}
    given |= {"lower": np.float64(low), "upper": np.int64(low + d.whole(0, 3))}
    return Case(given, "double", {"out": d.first}, stored=("noise",))


def normal_of(d: Draw) -> Case:
    shape, given = d.shape(), _seeds(d)
    for each in d.record.inputs:
        own = shape if len(d.record.inputs) == 1 else d.within(shape)
        given[each.name] = d.array(own, d.real(), d.sample(each.name))
    return Case(fill(d, given), "double", {"out": d.real()}, shapes={"out": shape})


def randperm(d: Draw) -> Case:
    return _moved(d, _seeds(d) | {"n": d.whole(0, 100, walk=2**20)})


def multinomial(d: Draw) -> Case:
    shape = (d.whole(1, 3, walk=128), d.whole(1, 8, walk=8192))[d.whole(0, 1, walk=0):]
    replacement = d.flag(walk=True)
    samples = d.whole(1, 20 if replacement else shape[-1], walk=256)
    weights = d.array(shape, d.real(), "positive")
    given = _seeds(d) | {"self": weights, "numsamples": samples, "replacement": replacement}
    return Case(given, "double", {"out": np.dtype(np.int64)}, stored=SEEDS)


# Counted, and put together.


def cross(d: Draw) -> Case:
    shape = list(d.shape(1, walk=(2**19, 3)))
    dim = _dim(d, len(shape))
    shape[dim] = 3
    other = [1 if n != 3 and d.flag() else n for n in shape]
    given = {"self": d.array(shape), "other": d.array(other, d.type()), "dim": dim}
    return Case(given, domain_of([given["self"], given["other"]], []), elementwise=True)


def trace(d: Draw) -> Case:
    array = d.array((d.whole(0, 5, walk=1448), d.whole(0, 5, walk=1448)))
    out, domain = _result(d, array)
    return Case({"self": array}, domain, {"out": out})


def histogram(d: Draw) -> Case:
    own = d.flag()
    array = d.array(d.shape(), None, "tame" if own else "any")
    low = 0.0 if own else float(d.whole(-3, 0))
    high = 0.0 if own else low + d.whole(1, 5)
    given = {"self": array, "bins": d.whole(1, 7, walk=100), "min": np.float64(low), "max": np.float64(high)}
    return Case(given, "wide", conversion=True)


def bincount(d: Draw) -> Case:
    d.first = d.first if d.first in INTEGERS[:2] else d.one(INTEGERS[:2] + INTEGERS[3:])
    count = 0 if d.style == "empty" else d.whole(1, 300 if d.style == "long" else 9, walk=2**21)
    array = d.random.integers(0, 6, count).astype(d.first)
    weights = d.array((count,), d.real(), "tame") if d.flag() else None
    out = d.real() if weights is not None else d.type()
    fewest = d.whole(0, 9)
    given = {"self": array, "weights": weights, "minlength": fewest}
    shapes = {"out": (max(fewest, 6) + d.whole(0, 2),)}
    return Case(given, "double", {"out": out}, stored=("self",), shapes=shapes)


def embedding_bag(d: Draw) -> Case:
    rows, columns, count = (d.whole(1, 5, walk=30522), d.whole(1, 4, walk=64), d.whole(0, 9, walk=32768))
    bags, mode, has_last = d.whole(1, 4, walk=4096), d.whole(0, 2, walk=0), d.flag()
    d.first = d.real()
    offsets = np.sort(np.append(0, d.random.integers(0, count + 1, bags - 1)))
    offsets = np.append(offsets, count) if has_last else offsets
    places = d.one(PLACES)
    given = {"weight": d.array((rows, columns)), "mode": mode, "includeLastOffset": has_last,
             "indices": d.random.integers(0, rows, count).astype(d.one(PLACES)),
             "offsets": offsets.astype(d.one(PLACES)), "paddingIdx": d.whole(-1, 1, walk=-1),
             "perSampleWeights": None}  # fmt: skip
    if mode == 0 and d.flag():
        given["perSampleWeights"] = d.array((count,), None, "tame")
    outputs = {"output": d.first, "offset2bag": places, "bagSize": places, "maxIndices": places}
    open_shapes = {"bagSize": (bags,), "maxIndices": (bags, columns)}
    return Case(fill(d, given), "wide", outputs, shapes=open_shapes)
