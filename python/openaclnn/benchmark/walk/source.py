# SPDX-License-Identifier: Apache-2.0
"""The records and arguments for them, which a clone of the source has and an installed package has not."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ... import dtypes, names
from ...errors import InputError, quoted
from ...native import output_inference
from ...native.declared import Declared
from ...native.runtime import Runtime
from ...operators.operator import Problem, View

_ROOT = Path(__file__).resolve().parents[4]
_NARROW = dtypes.parse("bfloat16")  # to which FLOAT is converted
_FOLDERS = ("tests/supporting", "scripts/operators")


@dataclass(frozen=True)
class Walked:
    """An operator's record, a call of it, and the bytes that it cannot do without."""

    record: Any
    arguments: dict[str, Any]  # what the record's formula takes, by name
    problem: Problem
    read_bytes: int
    write_bytes: int
    has_room: bool  # whether values decide how much of an output there is

    @property
    def shapes(self) -> str:
        """The shapes of the tensors that it reads, then of those that it writes."""
        return f"{_shapes(self.problem.inputs)} -> {_shapes(self.problem.outputs)}"


def checked(wanted_names: list[str]) -> list[str]:
    """The operators of the records that have these names."""
    known = [each.api for each in records()]
    found = [names.same(each, known) for each in wanted_names]
    for name, api in zip(wanted_names, found, strict=True):
        if api is None:
            raise InputError(f"no record {quoted(repr(name))}{names.hint(name, known)}")
    return found


def records() -> list:
    """All of them, as the tests read them. What works in place is left out where the same is there
    with an output: it is the same code."""
    if not all((_ROOT / each).is_dir() for each in _FOLDERS):
        raise InputError("--walk needs the records, expected the tool of a clone of the source")
    sys.path += [path for each in _FOLDERS if (path := str(_ROOT / each)) not in sys.path]
    import records

    found = records.load()
    known = {each.name for each in found}
    return [each for each in found if not (each.in_place and each.name.removeprefix("Inplace") in known - {each.name})]


@cache
def _operators() -> dict:
    """The records by their operators, as generators of headers read them."""
    import operator_records

    return {each.api: each for topic in operator_records.read_topics() for each in topic.operators}


def draw(runtime: Runtime, record, declared: Declared, dtype: str) -> Walked:
    """A call of mid-size tensors, of a type where the operator has it."""
    import mid_size
    import operator_traffic

    case = mid_size.drawn(record, dtypes.parse(dtype))
    given = case.arguments
    inputs = {
        each.name: given[each.name]
        for each in record.parameters
        if each.kind in ("in", "in[]") and given.get(each.name) is not None
    }
    outputs = _outputs(record, case, inputs)
    attributes = dict(given)
    for each in record.plain("dtype"):
        first = next(iter(outputs.values()))
        first.dtype = first.dtype or (_NARROW if case.conversion else mid_size.FLOAT)
        attributes[each.name] = dtypes.of(first.dtype).number
    asked = Problem(inputs, attributes, {})
    settled = output_inference.settled(runtime, record.api, declared, asked, outputs)
    problem = Problem(inputs, attributes, settled)
    operator = _operators()[record.api]
    read = {each.name for each in operator_traffic.read(operator)}
    written = {each.name for each in operator_traffic.written(operator)}
    tensors = [*inputs.items(), *settled.items()]
    sizes = [sum(_bytes(value) for name, value in tensors if name in touched) for touched in (read, written)]
    return Walked(record, given, problem, *sizes, bool(case.room))


def _outputs(record, case, inputs: dict) -> dict:
    """Outputs. Operands that are worked on begin as they are; the others are as the case says, or
    as the operator wants them."""
    found = {}
    for each in record.outputs:
        start, dtype = case.arguments.get(each.name), case.outputs.get(each.name)
        shape = case.room.get(each.name, case.shapes.get(each.name))
        if isinstance(start, np.ndarray):
            found[each.name] = _view(start)
        elif isinstance(start, list):
            found[each.name] = list(map(_view, start))
        elif each.kind == "out[]":
            found[each.name] = [output_inference.Output() for _ in range(output_inference.list_length(inputs))]
        elif not each.optional or dtype is not None:
            found[each.name] = output_inference.Output(shape, np.dtype(dtype) if dtype is not None else None)
    return found


def _view(array: np.ndarray) -> View:
    storage = np.array(array, order="C").reshape(-1)
    return View(storage, storage.reshape(array.shape))


def _arrays(value) -> Iterable[tuple[tuple[int, ...], np.dtype]]:
    """Shapes and types of a tensor, or of those of a list."""
    if isinstance(value, list):
        for each in value:
            yield from _arrays(each)
    elif isinstance(value, View):
        yield value.array.shape, value.array.dtype
    elif isinstance(value, np.ndarray):
        yield value.shape, value.dtype
    else:
        yield value


def _bytes(value) -> int:
    return sum(int(np.prod(shape, dtype=object)) * dtype.itemsize for shape, dtype in _arrays(value))


def _shapes(tensors: dict) -> str:
    shapes = [shape for value in tensors.values() for shape, _ in _arrays(value)]
    return ", ".join("x".join(map(str, shape)) or "scalar" for shape in shapes) or "nothing"
