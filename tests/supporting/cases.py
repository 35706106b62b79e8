# SPDX-License-Identifier: Apache-2.0
"""Arguments of elementwise operators, reductions, losses and what works along a dimension.

A record's field `cases` names a function here or in more_cases.py; without one it is `elementwise`.
"""

import re
from functools import cache

import numpy as np

from draw import Case, Draw, are_truths, beside, domain_of, every_edge
from records import INTEGERS, REALS, UINT64

PLACES = tuple(map(np.dtype, (np.int64, np.int32)))  # types of indices
TRUTHS = (np.dtype(bool),)

PLAIN = {  # what is drawn for plain parameters
    "decimals": lambda d: d.whole(-2, 3),
    "rounding": lambda d: d.whole(0, 2),
    "flag": lambda d: d.whole(0, 1),
    "approximation": lambda d: d.one(("none", "tanh")),
    "distance": lambda d: d.one((-1.0, 0.0, 1e-6, 0.1, 0.25)),
}


def _number(d: Draw, parameter):
    """Of a plain parameter."""
    sample = d.sample(parameter.name)
    if sample in PLAIN:
        return PLAIN[sample](d)
    match parameter.kind:
        case "bool":
            return d.flag()
        case "float" | "double":
            dtype = np.float32 if parameter.kind == "float" else np.float64
            style, d.style = d.style, "plain"
            value = float(d.array((), dtype, sample))
            d.style = style
            return value
        case "int8":
            return d.whole(0, 3)
        case "dtype":
            return 0
    return d.whole(0, 2)


def fill(d: Draw, given: dict) -> dict:
    """The parameters that a case has no rule for: scalars, plain numbers, what may be left out."""
    for each in d.record.parameters:
        if each.name in given or each.is_output:
            continue
        if each.kind in ("scalar", "scalar[]", "in", "ints") and each.optional and d.flag():
            given[each.name] = None
        elif each.kind == "scalar":
            given[each.name] = d.scalar(d.sample(each.name))
        elif modes := d.record.modes.get(each.name):
            named = each.kind != "string" and isinstance(modes[0], str)  # the names of numbers
            given[each.name] = d.one(range(len(modes)) if named else modes)
        elif each.kind not in ("in", "in[]", "scalar[]", "ints", "bools"):
            given[each.name] = _number(d, each)
    return given


def is_named(record, name: str) -> bool:
    """Whether the expression says it."""
    name = "self" if name == "selfRef" and record.in_place else name
    return re.search(rf"\b({name}|selfRef)\b" if name == "self" else rf"\b{name}\b",
                     record.numpy or "") is not None  # fmt: skip


def elementwise(d: Draw, types=None, floats: bool = False, conversion: bool = False,
                scalars: bool = True) -> Case:  # fmt: skip
    types, whole = types or d.record.types, types is not None
    shape, given = d.shape(), {}
    d.first = d.first if d.first in types else d.one(types)
    if d.style == "every edge":
        given = _every_edge(d)
    for i, each in enumerate(d.record.inputs):
        if each.name in given or (each.optional and d.flag()):
            given.setdefault(each.name)
            continue
        own = shape if each.name == "selfRef" or (i == 0 and d.flag()) else d.within(shape)
        first = next((given[n].dtype for n in given if d.sample(n) != "mask"), None)
        dtype = d.first if i == 0 else _beside(d, first, each.name, types, conversion)
        given[each.name] = d.array(own, dtype, d.sample(each.name))
    if whole:
        given |= {p.name: d.scalar("tame", _WHOLE) for p in d.record.plain("scalar")}
    fill(d, given)
    named = {k: v for k, v in given.items() if is_named(d.record, k)}
    tensors = [v for v in named.values() if isinstance(v, np.ndarray)]
    if are_truths(d.record, named):  # in which factors take part as such
        named = {k: v for k, v in named.items() if k not in d.record.factors}
    numbers = [v for v in named.values() if scalars and isinstance(v, np.generic | float)]
    domain = domain_of(tensors, numbers, getattr(given.get("selfRef"), "dtype", None))
    domain = "float" if floats and domain in ("integer", "unsigned") else domain
    if whole and all(each.dtype == bool for each in tensors) and len(named) == 1:
        domain = "stored"  # the complement of a truth value is one
    return Case(given, domain, conversion=conversion, elementwise=True, rounds=not conversion)


def _beside(d: Draw, first: np.dtype | None, name: str, types, conversion: bool) -> np.dtype:
    """A type beside that of the first tensor which is no mask."""
    free = conversion or first is None or d.sample(name) == "mask"
    return d.type_of(name, types if free else beside(first, types))


def _every_edge(d: Draw) -> dict:
    """The edges of the type, or of one that the tensor has, along a dimension of each input's own."""
    inputs, given = d.record.inputs, {}
    for i, each in enumerate(inputs):
        types = d.record.types_of(each.name)
        edges = every_edge(d.first if d.first in types else types[0])
        given[each.name] = edges.reshape([edges.size if j == i else 1 for j in range(len(inputs))])
    if "selfRef" in given:
        full = np.broadcast_shapes(*(each.shape for each in given.values()))
        given["selfRef"] = np.broadcast_to(given["selfRef"], full).copy()
    return given


_WHOLE = tuple(map(np.dtype, ("int64", "int32", "int8")))


def floats(d: Draw) -> Case:
    """Integers are computed as floats."""
    return elementwise(d, floats=True)


def tensors_meet(d: Draw) -> Case:
    """Scalars do not make floats of integers."""
    return elementwise(d, scalars=False)


def integers(d: Draw) -> Case:
    case = elementwise(d, tuple(each for each in d.record.types if each.kind in "iub"))
    if case.domain == "unsigned" and not d.record.in_place:
        case.outputs["out"] = d.one(INTEGERS + (UINT64,))
    return case


def conversion(d: Draw) -> Case:
    """Into any type."""
    return elementwise(d, conversion=True)


def division(d: Draw) -> Case:
    """A quotient of integers that is not rounded is a float."""
    case = elementwise(d)
    if case.domain == "complex":
        case.arguments["mode"] = 0  # complex numbers are not rounded
    if case.domain == "integer" and case.arguments["mode"] == 0:
        case.domain = "float"
    return case


def near(d: Draw) -> Case:
    """Two tensors, often close to each other."""
    case = elementwise(d)
    a, b = (case.arguments[each.name] for each in d.record.inputs)
    if a.shape == b.shape and d.flag(walk=True):
        case.arguments["other"] = a.copy()
        case.domain = domain_of([a], [0.0])
    case.arguments |= {"rtol": 1e-3 * d.whole(0, 1000), "atol": 1e-3 * d.whole(0, 1000)}
    return case


def equal(d: Draw) -> Case:
    a = d.array(d.shape())
    b = a.copy() if d.flag(walk=True) else d.array(a.shape if d.flag() else d.shape(), d.type())
    domain = "wide" if a.dtype.kind in "iub" and b.dtype.kind in "iub" else "double"
    domain = "wide" if domain == "double" else domain
    return Case({"self": a, "other": b}, domain, {"out": np.dtype(bool)})


def is_in(d: Draw) -> Case:
    """A number that is often among the others."""
    array, value = d.array(d.shape(), None, d.one(("small", "any"))), d.scalar("small")
    given = fill(d, {"testElements": array, "element": value})
    return Case(given, domain_of([array], [value]), {"out": np.dtype(bool)})


def _members(d: Draw, floats: bool, conversion: bool, shared: bool = False) -> Case:
    count, lists = d.whole(1, 3, walk=2), d.record.plain("in[]")
    given = {each.name: [] for each in lists}
    given |= {p.name: [d.scalar() for _ in range(count)] for p in d.record.plain("scalar[]")}
    many = 1 if shared else count
    ranks = [(many,), (1, many), (many, 1), (1,) * 7 + (many,)] + [()] * (many == 1)
    given |= {p.name: d.array(d.one(ranks), d.one(d.record.types_of(p.name)))
              for p in d.record.plain("in")}  # a scalar of each member, or one
    fill(d, given)
    for _ in range(count):
        shape = d.shape()
        for i, each in enumerate(lists):
            own = shape if i == 0 else d.within(shape)
            dtype = d.first if i == 0 else d.type(beside(d.first, d.record.types))
            given[each.name].append(d.array(own, dtype, d.sample(each.name)))
    domain = "each float" if floats else "each"
    return Case(given, domain, conversion=conversion, each=True, rounds=not conversion)


def foreach(d: Draw) -> Case:
    return _members(d, False, False)


def foreach_shared(d: Draw) -> Case:
    """One scalar for all members."""
    return _members(d, False, False, True)


def foreach_round_off(d: Draw) -> Case:
    """A mode for all members, in a tensor or as a scalar."""
    case = _members(d, False, False)
    mode = d.whole(1, 7, walk=1)
    tensor = any(each.name == "roundMode" for each in d.record.inputs)
    case.arguments["roundMode"] = np.full((1,), mode, np.int8) if tensor else np.int64(mode)
    return case


def foreach_zero(d: Draw) -> Case:
    return Case({"x": [d.array(d.shape()) for _ in range(d.whole(1, 3, walk=2))]}, "each", each=True)


def foreach_floats(d: Draw) -> Case:
    return _members(d, True, False)


def foreach_conversion(d: Draw) -> Case:
    return _members(d, False, True)


def foreach_norm(d: Draw) -> Case:
    arrays = [d.array(d.shape(), d.real()) for _ in range(d.whole(1, 3, walk=2))]
    return Case({"x": arrays, "scalar": d.scalar("order", REALS)}, "each double", each=True)


# Losses.


def _losses(d: Draw, gradient: bool) -> Case:
    shape, given = d.shape(), {"reduction": d.whole(0, 2, walk=1)}
    for i, each in enumerate(d.record.inputs):
        if each.optional and d.flag():
            given[each.name] = None
            continue
        own = shape if i == (1 if gradient else 0) else d.within(shape)
        dtype = d.first if i == 0 else d.type_of(each.name)
        sample = "tame" if dtype.kind == "c" else d.sample(each.name)
        given[each.name] = d.array(own, dtype, sample)
    whole = all(each.dtype.kind in "iu" for each in given.values() if isinstance(each, np.ndarray))
    types = tuple(each for each in d.record.types if each in REALS or (whole and each.kind in "iu"))
    outputs = {each.name: d.type(types) for each in d.record.outputs}
    return Case(fill(d, given), "integer" if whole else "double", outputs)


def loss(d: Draw) -> Case:
    return _losses(d, False)


def loss_backward(d: Draw) -> Case:
    return _losses(d, True)


# Reductions.


def _dims(d: Draw, rank: int) -> list[int]:
    """Some dimensions, counted from either end."""
    chosen = [axis for axis in range(rank) if d.flag(walk=axis == rank - 1)]
    return [axis - rank if d.flag() else axis for axis in chosen]


def _result(d: Draw, array: np.ndarray, truth: bool = False):
    """A type for a result, and what it is computed in."""
    if array.dtype in REALS:
        out = d.one(TRUTHS) if truth and d.flag() else d.real()
        return out, "double"
    out = d.type()
    return out, "integer" if out.kind in "iub" else "double"


def reduce(d: Draw, domain: str | None = None, elements: bool = False, truth: bool = True) -> Case:
    if elements and d.style == "empty":
        d.style = "plain"
    array = d.array(d.shape())
    dims = {each.name: _dims(d, array.ndim) for each in d.record.plain("ints")}
    out, own = _result(d, array, truth)
    outputs = {each.name: out for each in d.record.outputs}
    given = {d.record.inputs[0].name: array, **dims}
    return Case(fill(d, given), domain or own, outputs)


def reduce_double(d: Draw) -> Case:
    """Whatever the types."""
    return reduce(d, "double", truth=False)


def extreme(d: Draw) -> Case:
    return reduce(d, elements=True)


def total_extreme(d: Draw) -> Case:
    return reduce(d, elements=True)


def total(d: Draw) -> Case:
    return reduce(d, truth=False)


def product(d: Draw) -> Case:
    case = reduce(d, truth=False)
    rank = case.arguments["self"].ndim
    case.arguments["dim"] = _dim(d, rank)
    return case


def extreme_along(d: Draw) -> Case:
    case = reduce(d, elements=True)
    case.arguments["dim"] = _dim(d, case.arguments["self"].ndim)
    return case


def variance(d: Draw) -> Case:
    return reduce(d, "double", truth=False)


def norm(d: Draw) -> Case:
    case = reduce(d, "double", truth=False)
    order = d.record.plain("scalar")[0].name
    case.arguments[order] = d.scalar("order", REALS[:1] + REALS[3:])
    if d.whole(0, 3, walk=1) == 0 and case.arguments["self"].size:
        case.arguments[order] = np.float32(d.one((np.inf, -np.inf)))
    return case


def _dim(d: Draw, rank: int) -> int:
    return d.whole(-max(rank, 1), max(rank, 1) - 1, walk=-1)


def _along(d: Draw, outputs: dict, domain: str = "double", least: int = 0) -> Case:
    """All tensors of one shape, and a dimension."""
    shape = d.shape(least)
    given = {p.name: d.array(shape, d.first if i == 0 else d.type(), d.sample(p.name))
             for i, p in enumerate(d.record.inputs)}  # fmt: skip
    return Case(fill(d, given | {"dim": _dim(d, len(shape))}), domain, outputs)


def along(d: Draw) -> Case:
    """In double if a tensor is DOUBLE, else in float."""
    out = d.real()
    case = _along(d, {d.record.outputs[0].name: out}, "float", least=1)
    if np.float64 in (out, *(case.arguments[each.name].dtype for each in d.record.inputs)):
        case.domain = "double"
    return case


def along_backward(d: Draw) -> Case:
    return along(d)


def glu(d: Draw, gradient: bool = False) -> Case:
    """Inputs of a gradient that are not the forward's operand are half as wide."""
    shape = list(d.shape(1))
    dim = _dim(d, len(shape))
    half = tuple(shape)
    shape[dim] *= 2
    operand = d.record.inputs[1 if gradient else 0].name
    given = {operand: d.array(shape), "dim": dim}
    for each in d.record.inputs:
        if each.name != operand:
            given[each.name] = d.array(half, d.type_of(each.name, REALS))
    return Case(fill(d, given), "double", {each.name: d.real() for each in d.record.outputs})


def glu_backward(d: Draw) -> Case:
    return glu(d, True)


def gelu_mul(d: Draw) -> Case:
    """Halves of the last dimension."""
    case = glu(d)
    array = case.arguments[d.record.inputs[0].name]
    case.arguments[d.record.inputs[0].name] = np.moveaxis(array, case.arguments.pop("dim"), -1)
    return case


def scan(d: Draw) -> Case:
    case = _along(d, {}, least=0)
    out, case.domain = _result(d, case.arguments["self"])
    case.outputs["out"] = out
    if d.record.plain("scalar"):
        case.arguments["dim"] = np.int64(case.arguments["dim"])
        case.stored = ("dim",)
    return case


def scan_at(d: Draw) -> Case:
    case = _along(d, {"indicesOut": d.one(PLACES)}, "wide")
    case.outputs["valuesOut"] = case.arguments["self"].dtype
    return case


def extreme_at(d: Draw) -> Case:
    if d.style == "empty":
        d.style = "plain"
    case = _along(d, {}, "wide")
    case.outputs = {each.name: case.arguments["self"].dtype for each in d.record.outputs}
    case.outputs[d.record.outputs[-1].name] = d.one(PLACES)
    return case


def ordered(d: Draw, elements: bool = False) -> Case:
    """Many equal elements."""
    if elements and d.style == "empty":
        d.style = "plain"
    sample = d.one(("small", "any"), walk="any") if "edge" not in d.style else "any"
    d.samples["self"] = sample
    case = extreme_at(d) if elements else _ordered(d)
    return case


def _ordered(d: Draw) -> Case:
    case = _along(d, {}, "wide")
    array = case.arguments["self"]
    case.outputs = {each.name: array.dtype for each in d.record.outputs}
    case.outputs[d.record.outputs[-1].name] = d.one(PLACES)
    if "k" in case.arguments:
        width = array.shape[case.arguments["dim"]] if array.ndim else 1
        case.arguments["k"] = d.whole(0, width, walk=40) if array.ndim else 1
    return case


def kthvalue(d: Draw) -> Case:
    case = ordered(d, True)
    array = case.arguments["self"]
    case.arguments["k"] = d.whole(1, array.shape[case.arguments["dim"]] if array.ndim else 1, walk=40)
    return case


def median_dim(d: Draw) -> Case:
    return ordered(d, True)


@cache
def drawing() -> dict:
    """{name: function} of all that draw cases."""
    import arranged_cases
    import block_cases
    import cached_cases
    import cell_cases
    import chance_cases
    import channel_cases
    import class_cases
    import divergence_cases
    import expert_cases
    import floyd_cases
    import grouped_cases
    import inference_cases
    import matrix_cases
    import more_cases
    import network_cases
    import norm_cases
    import order_cases
    import packed_cases
    import paged_cases
    import plane_cases
    import quantised_cases
    import roped_cases
    import sampler_cases
    import selected_cases
    import sequence_cases
    import slot_cases
    import sparse_cases
    import step_cases
    import window_cases

    found = {}
    modules = (arranged_cases, block_cases, cached_cases, cell_cases, chance_cases, channel_cases,
               class_cases, divergence_cases, expert_cases, floyd_cases, grouped_cases, inference_cases,
               matrix_cases, plane_cases, quantised_cases,
               sampler_cases, selected_cases, sequence_cases, window_cases, network_cases,
               norm_cases, order_cases, packed_cases, paged_cases, roped_cases, sparse_cases,
               step_cases, slot_cases, more_cases)  # fmt: skip
    for module in (*map(vars, modules), globals()):
        for name, value in module.items():
            if getattr(value, "__annotations__", {}).get("return") is Case and name[0] != "_":
                found[name] = value
    return found


def numbers(name: str):
    """The function that draws a record's cases."""
    if name not in (found := drawing()):
        raise KeyError(f"cases.py has no function {name}")
    return found[name]
