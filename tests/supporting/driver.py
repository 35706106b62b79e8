# SPDX-License-Identifier: Apache-2.0
"""Runs cases of an operator and compares what it writes with its record's expression."""

import hashlib
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace

import numpy as np
import pairs

import arranged
import attentions
import blocks
import cached
import cases
import chance
import class_losses
import deformed
import delta
import divergence
import experts
import floyd
import formulas
import grouped
import inference
import matrices
import networks
import norms
import packed
import paged
import places
import planes
import quantised
import recurrent
import roped
import samplers
import selected
import sequences
import slots
import sparse
import steps
import streams
import windows
from bounded import DOUBLE, FLOAT, Bounded
from draw import (
    STYLES, TURNS, Case, Draw, are_truths, converted, converted_tensor, domain_of, met_by_all,
    met_by_scalars, seen,
)  # fmt: skip
from judge import HALVES, difference, odd_nans, wrong
from records import REALS, Record

from openaclnn import dtypes
from openaclnn.native.call import Call
from openaclnn.dtypes import BFLOAT16
from openaclnn.errors import AclError
from openaclnn.operators.operator import Problem, View
from openaclnn.native.runtime import Runtime, Stream

NAMES = {
    name: value
    for module in (
        arranged, formulas, matrices, places, planes, samplers, sequences, chance, networks, attentions,
        blocks, cached, class_losses, deformed, delta, divergence, experts, floyd, grouped, inference, norms,
        packed, paged, quantised, recurrent, roped, selected, slots, sparse, steps, streams, windows,
    )  # fmt: skip
    for name, value in vars(module).items()
    if not name.startswith("_")
} | {"np": np}

_ATTEMPTS = 2000  # most records need one

# Whose optional tensors are of many types, each of some combinations only.
VARIED = {f"grouped_v{version}" for version in range(1, 6)}


def count_of(record: Record) -> int:
    """Each type of the first tensor some times, then each style twice."""
    turns = 3 * TURNS if record.cases in VARIED else TURNS
    return turns * len(record.first_types) + 2 * len(STYLES)


@dataclass
class Prepared:
    """A call that is ready, and what it should give."""

    record: Record
    problem: Problem
    refused: str  # what phase 1 says, if it must not take the call
    expected: dict[str, object]  # by output; None: it is left alone
    room: dict[str, tuple[int, ...]]
    case: Case


def prepare(record: Record, number: int, change=lambda draw: None) -> Prepared:
    """The arguments of a case in device memory's layouts, and its expected results; of draws that
    are changed first."""
    for attempt in range(_ATTEMPTS):
        draw = Draw(record, number, attempt)
        change(draw)
        found = _prepared(record, draw)
        if found is not None:
            return found
    raise AssertionError(f"{record.name}: no case {number} of the types that its page lists")


def _fit(record: Record, given: dict[str, object]) -> bool:
    """Whether arrays, views and dtypes are of types that the tensors have on this product."""
    for name, value in given.items():
        for each in value if isinstance(value, list) else [value]:
            each = each.array if isinstance(each, View) else each
            if isinstance(each, np.ndarray):
                each = each.dtype
            elif name in record.uses and each is not None:
                each = np.dtype(each)
            else:
                continue
            if each == BFLOAT16 and not record.has_bf16:
                return False
            if name in record.takes and each not in record.takes[name]:
                return False
    return True


def _of_complex_numbers(draw: Draw, case: Case):
    """What is made of complex numbers is complex, unless it is only moved."""
    given = [each for value in case.arguments.values() for each in _members(value)]
    if case.domain == "stored" or not any(map(pairs.is_complex, given)):
        return
    case.domain = "complex"
    finite = [np.abs(each[np.isfinite(each)]) for each in map(pairs.pairs, filter(_is_array, given))]
    largest = max((each.max() for each in finite if each.size), default=0.0)
    counts = 1 if case.elementwise else sum(each.size for each in finite)
    case.size = float(largest) * counts if largest < 2**30 or not case.elementwise else 0.0
    if case.conversion or case.each:
        return
    for name, dtype in case.outputs.items():
        if np.dtype(dtype) not in pairs.COMPLEX and name not in case.stored:
            case.outputs[name] = draw.type(pairs.COMPLEX)


def _is_array(value) -> bool:
    return isinstance(value, np.ndarray)


def _members(value) -> list:
    return value if isinstance(value, list) else [value]


def _prepared(record: Record, draw: Draw) -> Prepared | None:
    """Nothing where a drawn type is not listed."""
    case = cases.numbers(record.cases)(draw)
    _of_complex_numbers(draw, case)
    if not (_fit(record, case.arguments) and _fit(record, case.outputs)):
        return None
    for each in record.plain("float"):
        case.arguments[each.name] = float(np.float32(case.arguments[each.name]))
    results = _results(record, case)
    expected, views = {}, {}
    inputs = {
        each.name: _laid(draw, case.arguments[each.name])
        for each in record.parameters
        if each.kind in ("in", "in[]")
    }
    results += (None,) * (len(record.outputs) - len(results))
    for each, result in zip(record.outputs, results, strict=True):
        result = _shaped(case.arguments.get(each.name), result)
        views[each.name] = _output(draw, case, each, result, inputs)
        if result is not None and each.name == case.narrow:
            if views[each.name].array.dtype in HALVES:
                result = result.computed_in(FLOAT)
        expected[each.name] = result
    if not _fit(record, views):
        return None
    arguments = _attributes(record, case, views)
    given = {name: value for name, value in inputs.items() if value is not None}
    problem = Problem(given, arguments, views)
    refusal = _refusal(record, case, expected, views)
    return Prepared(record, problem, refusal, expected, case.room, case)


def _refusal(record: Record, case: Case, expected, views) -> str:
    """An elementwise result of floats does not fit into integers, nor a complex one into others; a
    factor of truth values is none that is a float."""
    for name in record.factors:
        real = np.asarray(case.arguments[name]).dtype.kind in "fc"
        if real and are_truths(record, _named(record, case.arguments)):
            return f"{name} dtype is"
    for name, result in expected.items():
        view = views[name]
        if case.elementwise and pairs.is_complex(result) and view.array.dtype.kind != "c":
            tensors = [each for each in case.arguments.values() if isinstance(each, np.ndarray)]
            if not case.conversion:
                return "COMPLEX64, COMPLEX128"
            if len(tensors) == 1 and np.imag(case.arguments.get("value", 0)) != 0:
                return "a real type"  # a scalar that is filled in
        real = isinstance(result, Bounded) and result.value.dtype.kind == "f"
        if case.elementwise and not case.conversion and real and view.array.dtype.kind in "iub":
            return "a float type"
    return ""


def _shaped(target, result):
    """What works in place fills all of what it works on."""
    if isinstance(target, np.ndarray) and result is not None:
        value = result if isinstance(result, Bounded) else np.asarray(result)
        return np.broadcast_to(value, target.shape)
    return result


def _laid(draw: Draw, value):
    if isinstance(value, list):
        return [draw.view(each) for each in value]
    return None if value is None else draw.view(value)


def _results(record: Record, case: Case) -> tuple:
    """What the expression makes, one for each output."""
    if not case.each:
        case.rounded_to = [_rounded_to(record, case, case.arguments, case.domain)]
        results = evaluate(record, case, case.arguments, case.domain)
        results = results if isinstance(results, tuple) else (results,)
        return tuple(map(_near, results)) if case.domain == "complex" else results
    # Of lists the members are lists of, and of an array its elements, which are scalars.
    lists = [k for k, v in case.arguments.items() if isinstance(v, list | np.ndarray)]
    members = []

    def member(value, k: int):
        """An array of one element has it for all members."""
        flat = value if isinstance(value, list) else value.reshape(-1)
        return flat[k % len(flat)]

    for k in range(len(case.arguments[lists[0]])):
        own = case.arguments | {name: member(case.arguments[name], k) for name in lists}
        tensors = [v for v in own.values() if isinstance(v, np.ndarray)]
        scalars = [v for v in own.values() if isinstance(v, np.generic)]
        domain = domain_of(tensors, scalars) if case.domain != "each double" else "double"
        domain = "float" if (case.domain, domain) == ("each float", "integer") else domain
        case.rounded_to.append(_rounded_to(record, case, own, domain))
        members.append(evaluate(record, case, own, domain))
    return (members,)


def _near(result):
    """A real number that is made of complex ones, such as an angle, within some units of double."""
    if np.asarray(result).dtype.kind != "f":
        return result
    size = np.where(np.isfinite(result), np.abs(result), 0)
    return Bounded(np.asarray(result), DOUBLE, 8 * DOUBLE.unit * size)


def evaluate(record: Record, case: Case, arguments: dict, domain: str):
    """The record's expression of the arguments as the domain has them."""
    names = dict(NAMES)
    arguments = _with_met_scalars(record, case, arguments, domain)
    if case.rounds:
        arguments = _with_met_tensors(record, case, arguments, domain)
    for name, value in arguments.items():
        if name not in case.stored:
            many = isinstance(value, list)
            value = [seen(v, domain) for v in value] if many else seen(value, domain)
            if domain == "float" and isinstance(value, float):
                value = Bounded(FLOAT.exact(value), FLOAT)
        names["from_" if name == "from" else name] = value
    for each in record.outputs:
        if each.name not in names:
            shape, dtype = case.shapes.get(each.name), case.outputs.get(each.name)
            names[each.name] = SimpleNamespace(shape=shape, dtype=dtype)
    if record.in_place and "selfRef" in names:
        names["self"] = names["selfRef"]
        names.setdefault("out", SimpleNamespace(dtype=_target(arguments)))
    with np.errstate(all="ignore"):
        return eval(_compiled(record.numpy), names)


def _with_met_scalars(record: Record, case: Case, arguments: dict, domain: str) -> dict:
    """Scalars in the type that they and the tensors meet in."""
    scalars = _scalars(record, arguments)
    dtype = met_by_scalars(*_meeting(record, arguments, scalars), domain, _target(arguments))
    if case.each and dtype == BFLOAT16:  # as the pages have the scalars of such lists
        dtype = np.dtype(np.float32)
    return arguments | {name: converted(value, dtype) for name, value in scalars.items()}


def _with_met_tensors(record: Record, case: Case, arguments: dict, domain: str) -> dict:
    """Tensors in the type that they meet in: integers beside floats of fewer digits lose some."""
    scalars = _scalars(record, arguments)
    dtype = met_by_scalars(*_meeting(record, arguments, scalars), domain, _target(arguments))
    if domain not in ("float", "complex") or (domain == "float" and dtype == np.float32):
        return arguments  # the expression has FLOAT and DOUBLE tensors of itself
    return {name: converted_tensor(value, dtype) for name, value in arguments.items()}


def _rounded_to(record: Record, case: Case, arguments: dict, domain: str) -> np.dtype | None:
    """The type that a result becomes before that of the output: the one that the operands meet in,
    unless the work is done in numbers of another kind."""
    if not case.rounds or domain not in ("integer", "float", "double", "complex"):
        return None
    scalars = _scalars(record, arguments)
    if domain == "complex":
        met = met_by_scalars(*_meeting(record, arguments, scalars), domain, _target(arguments))
        return pairs.PARTS[met]
    met = met_by_all(*_meeting(record, arguments, scalars), _target(arguments))
    return met if met is not None and (met in REALS) == (domain != "integer") else None


def _scalars(record: Record, arguments: dict) -> dict:
    """Those that are converted to the type of the tensors."""
    return {
        each.name: arguments[each.name]
        for each in record.plain("scalar", "scalar[]")
        if each.name not in record.as_given and arguments.get(each.name) is not None
    }


def _meeting(record: Record, arguments: dict, scalars: dict) -> tuple[list, list]:
    """The types of the tensors and of the scalars that meet."""
    tensors = [
        arguments[each.name].dtype
        for each in record.operands
        if isinstance(arguments.get(each.name), np.ndarray)
        and (each.name != "selfRef" or cases.is_named(record, each.name))
    ]
    without = record.factors if are_truths(record, _named(record, arguments)) else ()
    joining = [
        each.dtype
        for name, each in scalars.items()
        if record.cases != "tensors_meet" and name not in without
    ]
    return tensors, joining


def _target(arguments: dict) -> np.dtype | None:
    return getattr(arguments.get("selfRef"), "dtype", None)


def _named(record: Record, arguments: dict) -> dict:
    """Those that the expression names."""
    return {name: value for name, value in arguments.items() if cases.is_named(record, name)}


@cache
def _compiled(expression: str):
    return compile(expression, expression, "eval")


def _output(draw: Draw, case: Case, parameter, result, inputs):
    """Where an output goes: what it works on, an input's very view, or somewhere."""
    start = case.arguments.get(parameter.name)
    if isinstance(start, np.ndarray | list):
        return _targets(draw, start)
    if result is None and parameter.kind == "out[]":
        result = [None]  # a list that is left alone
    if isinstance(result, list):
        dtype = case.outputs.get(parameter.name)
        return [_fresh(draw, case, each, dtype, parameter.name) for each in result]
    given = result is not None or parameter.name in case.room
    if not given and (parameter.optional or parameter.name not in case.outputs):
        return None
    if parameter.name in case.room:
        shape = case.room[parameter.name]
        count = int(np.prod(shape, dtype=int))
        storage = draw.junk(max(count, 1), case.outputs[parameter.name])
        return View(storage, storage[:count].reshape(shape))
    view = _fresh(draw, case, result, case.outputs.get(parameter.name), parameter.name)
    if draw.style == "same view":
        for name, each in inputs.items():
            allowed = name in draw.record.over and name not in case.taken
            if allowed and isinstance(each, View) and _alike(each.array, view.array):
                case.taken.append(name)
                return each
    return view


def _alike(a: np.ndarray, b: np.ndarray) -> bool:
    apart = all(s != 0 for s, n in zip(a.strides, a.shape, strict=True) if n > 1)
    return a.shape == b.shape and a.dtype == b.dtype and apart


def _targets(draw: Draw, start):
    if isinstance(start, list):
        return [draw.view(each, overlaps=False) for each in start]
    return draw.view(start, overlaps=False)


def _fresh(draw: Draw, case: Case, result, dtype, name: str) -> View:
    """Junk of the result's shape, in a type that may hold it."""
    shape = draw.shape() if result is None else _shape(result)
    holding, listed = _holding(draw, case, result), draw.record.types_of(name)
    dtype = dtype or draw.type(tuple(each for each in holding if each in listed) or holding)
    count = int(np.prod(shape))
    contents = draw.junk(max(count, 1), dtype)[:count].reshape(shape)
    return draw.view(contents, overlaps=False)


def _shape(result) -> tuple[int, ...]:
    return result.shape if isinstance(result, Bounded) else np.shape(result)


def _holding(draw: Draw, case: Case, result):
    """The types that an elementwise result may be stored in."""
    value = result.value if isinstance(result, Bounded) else np.asarray(result)
    types = draw.record.types
    if case.conversion or value.dtype.kind not in "fc":
        return types
    of_pairs = tuple(each for each in types if each in pairs.COMPLEX)
    if value.dtype.kind == "c":
        return of_pairs
    return REALS if case.domain == "complex" else REALS + of_pairs


def _attributes(record: Record, case: Case, views) -> dict:
    """Those that a dtype is asked of say that of the output."""
    arguments = dict(case.arguments)
    for each in record.plain("dtype"):
        arguments[each.name] = dtypes.of(next(iter(views.values())).array.dtype).number
    return arguments


@dataclass
class Outcome:
    """What a call wrote, and what is wrong with it."""

    faults: list[str]
    digest: str


def run(runtime: Runtime, stream: Stream, record: Record, number: int) -> Outcome:
    """One case: run, compared, and its bits."""
    prepared = prepare(record, number)
    try:
        with Call(runtime, record.function, prepared.problem, stream) as call:
            call.run()
            got, memory = call.outputs(), call.storages()
            shapes = call.shapes() if prepared.room else {}
    except AclError as error:
        if prepared.refused and error.code == 161002 and prepared.refused in str(error):
            return Outcome([], "refused")
        return Outcome([f"case {number}: {error.api} {error.code}: {error}"], f"{error.code}")
    if prepared.refused:
        return Outcome([f"case {number}: is taken, expected {prepared.refused}"], "taken")
    faults, digest = [], hashlib.sha256()
    for name, want in prepared.expected.items():
        if name not in got:
            continue
        if want is None and isinstance(got[name], list):
            want = [None] * len(got[name])
        members = (got[name], memory[name], prepared.problem.outputs[name], want)
        if not isinstance(want, list):
            members = tuple([each] for each in members)
        rounded_to = prepared.case.rounded_to
        if len(rounded_to) != len(members[0]):  # members of a list that no list of results is of
            rounded_to = [None] * len(members[0])
        for one, whole, view, result, through in zip(*members, rounded_to, strict=True):
            if name in prepared.room and result is not None:
                one, fault = _found(one, shapes[name], result)
                found = [f"{name} {fault}"] if fault else _compared(name, one, view, result)
            else:
                size = prepared.case.size
                found = _compared(name, one, view, result, size, through)
                found += _outside(name, whole, view)
            faults += [f"case {number}: {each}" for each in found]
            digest.update(_plain_bits(one))
    return Outcome(faults, digest.hexdigest()[:16])


def _found(got: np.ndarray, shape, result):
    """The part of the room that was used: elements that follow each other."""
    if shape != np.shape(result):
        return got, f"shape is {shape}, expected {np.shape(result)}"
    return got.reshape(-1)[: np.size(result)].reshape(shape), ""


def _compared(name: str, got, view: View, result, size: float = 0, through=None) -> list[str]:
    if result is None:
        same = got.tobytes() == view.array.tobytes()
        return [] if same else [f"{name} is written, expected it left alone"]
    bad = wrong(got, result, size, through)
    if not np.any(bad):
        odd = isinstance(result, Bounded) and got.dtype in REALS and odd_nans(got)
        return [f"{name} {got.dtype} has NaN that are not canonical"] if odd else []
    return [f"{name} {got.dtype} {difference(got, result, bad)}"]


def _outside(name: str, whole, view: View) -> list[str]:
    """Memory between and around the elements of an output is left alone."""
    before, after = view.storage.copy(), whole.copy()
    view.of(before)[...] = 0
    view.of(after)[...] = 0
    if before.tobytes() == after.tobytes():
        return []
    return [f"{name} memory outside the view is written"]


def _plain_bits(array: np.ndarray) -> bytes:
    """The bytes with one NaN for all."""
    array = np.array(array)
    if array.dtype in REALS:
        array[array != array] = np.nan
    return array.tobytes()
