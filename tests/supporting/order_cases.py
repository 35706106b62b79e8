# SPDX-License-Identifier: Apache-2.0
"""Arguments of what searches, and of what finds each value once."""

import numpy as np

from cases import PLACES, Case, Draw, _dim
from records import REALS


def search_sorted(d: Draw) -> Case:
    d.style = "plain" if d.style in ("rank 0",) else d.style
    shape = d.shape(1, 3)
    rows = (d.whole(0, 6, walk=8192),) if d.flag(walk=True) else (*shape[:-1], d.whole(1, 6))
    wide = "int64" if d.first.kind in "iub" else "float64"
    ordered = np.sort(d.array(rows).astype(wide), axis=-1).astype(d.first)
    narrow = d.flag()
    given = {"sortedSequence": ordered, "self": d.array(shape, d.type()), "outInt32": narrow,
             "right": d.flag(), "sorter": None}  # fmt: skip
    if d.flag():
        given["sortedSequence"], given["sorter"] = _shuffled(d, ordered)
    both = given["self"].dtype.kind in "iub" and d.first.kind in "iub"
    out = {"out": PLACES[int(narrow)]}
    return Case(given, "wide" if both else "double", out, stored=("sorter",))


def search_sorted_scalar(d: Draw) -> Case:
    """One sequence and a number, which is often one of it."""
    case = search_sorted(d)
    ordered = np.sort(d.array((d.whole(0, 6, walk=8192),), None, d.one(("small", "any"))), axis=0)
    if d.first not in REALS or ordered.dtype.name == "bfloat16":
        ordered = np.sort(ordered.astype("float64" if d.first in REALS else "int64")).astype(d.first)
    case.arguments |= {"sortedSequence": ordered, "self": d.scalar("small", _NUMBERS), "sorter": None}
    if d.flag():
        case.arguments["sortedSequence"], case.arguments["sorter"] = _shuffled(d, ordered)
    floats = d.first in REALS or case.arguments["self"].dtype in REALS
    case.domain = "wide" if not floats else "double" if d.first in REALS else "float"
    case.shapes = {"out": ()}
    return case


_NUMBERS = tuple(map(np.dtype, ("float64", "float32", "int64", "int32", "bool")))


def bucketize(d: Draw) -> Case:
    case = search_sorted(d)
    bounds = case.arguments.pop("sortedSequence")
    del case.arguments["sorter"]
    wide = "float64" if bounds.dtype in REALS else "int64"
    bounds = np.sort(bounds.reshape(-1).astype(wide)).astype(bounds.dtype)
    case.arguments |= {"boundaries": bounds, "self": d.array(d.shape(), d.first)}
    both = bounds.dtype.kind in "iub" and d.first.kind in "iub"
    case.domain, case.stored = "wide" if both else "double", ()
    return case


def _shuffled(d: Draw, rows: np.ndarray):
    """Rows in another order, and the places of their elements in the old one."""
    places = d.random.permuted(np.broadcast_to(np.arange(rows.shape[-1]), rows.shape), axis=-1)
    moved = np.empty_like(rows)
    np.put_along_axis(moved, places, rows, -1)
    return moved, places


def unique(d: Draw) -> Case:
    shape = (d.whole(1, 5), 0, 1) if d.style == "empty" else d.shape()
    array, inverse = d.array(shape, None, d.one(("small", "any"))), d.style == "empty" or d.flag()
    given = {"self": array, "sorted": True, "returnInverse": inverse, "returnCounts": d.flag()}
    long = np.dtype(np.int64)
    room = {"valueOut": (array.size,), "countsOut": (array.size,), "inverseOut": array.shape}
    outputs = {"valueOut": d.first, "inverseOut": long, "countsOut": long}
    names = {each.name for each in d.record.parameters}
    given, room, outputs = ({name: each[name] for name in each if name in names}
                            for each in (given, room, outputs))  # fmt: skip
    return Case(given, "wide", outputs, room=room)


def unique_slices(d: Draw) -> Case:
    shape = d.shape(1)
    shape = (d.one((2, 7), walk=shape[0]), *shape[1:]) if d.style == "plain" else shape
    array = d.array(shape, None, "any" if "edge" in d.style else d.one(("mask", "small")))
    flat = d.record.name == "UniqueConsecutive" and d.flag()
    dim = 1000 if flat else _dim(d, array.ndim)
    count = array.size if flat else shape[dim]
    given = {"self": array, "dim": dim, "sorted": d.flag(), "returnInverse": d.flag(),
             "returnCounts": d.flag()}  # fmt: skip
    names = {each.name for each in d.record.parameters}
    long = np.dtype(np.int64)
    room = {"valueOut": (count,) if flat else shape, "countsOut": (count,),
            "inverseOut": shape if flat else (count,)}  # fmt: skip
    outputs = {"valueOut": d.first, "inverseOut": long, "countsOut": long}
    told = ("inverseOut", "countsOut")  # integers, whatever self is
    return Case({k: v for k, v in given.items() if k in names}, "wide", outputs, told, room=room)
