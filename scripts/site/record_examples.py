# SPDX-License-Identifier: Apache-2.0
"""An example of each supporting operator: a call in Python with what it gave, which was made here,
and as a command of the tool.

The arguments are those that tests/supporting/ draws, of the smallest case, in steps of 1/4.
"""

import os
import re
import sys
from dataclasses import dataclass
from inspect import signature

import operators_path  # noqa: F401  for the modules of scripts/operators
import numpy as np
import operator_traffic
import record_commands
from operator_records import ROOT, read_topics

os.environ.setdefault("OPENACLNN_SOC", "Ascend910B1")
os.environ.setdefault("OPENACLNN_CHECK", "off")  # what is refused is no example
sys.path.append(str(ROOT / "tests/supporting"))

import driver
import functions
import pairs
import records

from openaclnn import ops
from openaclnn.errors import Error

_OPERATORS = {each.api: each for topic in read_topics() for each in topic.operators}
FLOAT = np.dtype(np.float32)
_TRIES = 10  # cases, of which the shortest is shown
_MORE = (40, 160)  # where all of them are too long: up to the first of these, then to the next
_MOST = 1600  # characters of an example
_LINES = 12  # of what it gave
_WIDTH = 96


@dataclass(frozen=True)
class Example:
    """A call with what it gave, and the command; `says_little` where others would show more. The
    bytes are at most those: values in memory, or other arguments, may leave some alone."""

    says_little: bool
    python: str
    command: str
    bytes_read: int
    bytes_written: int

    @property
    def markdown(self) -> str:
        return f"```pycon\n{self.python}```\n\n```sh\n{self.command}\n```\n"


def examples() -> dict[str, Example]:
    """By the name of the operator; of one that no short case serves there is none."""
    found = {}
    for record in records.load():
        for numbers in map(range, (0, _TRIES, *_MORE), (_TRIES, *_MORE)):
            made = [each for number in numbers if (each := _example(record, number))]
            made.sort(key=lambda each: (each.says_little, len(each.python)))
            if made and len(made[0].python) <= _MOST:
                found[record.api] = made[0]
                break
    return found


def _example(record, number: int) -> Example | None:
    """None where the case is refused."""
    def plainly(draw):
        draw.style = "plain"
        draw.first = FLOAT if FLOAT in record.first_types else record.first_types[0]

    prepared = driver.prepare(record, number, plainly)
    if prepared.refused:
        return None
    given = functions.named(record, prepared)
    if _leaves_one_alone(record, prepared, given):
        return None
    if pairs.any_complex(given.values()):
        return None  # the command line has no complex numbers as they are typed
    if any(each.dtype.kind not in "fV" and each.size > _MOST for each in arrays(given.values())):
        return None  # masks of millions of elements, which are written out
    floats = {each.name for each in record.plain("float")}
    given = {each: float(str(np.float32(v))) if each in floats else v for each, v in given.items()}
    for simple in (_short, _simple, np.asarray):
        values = {name: _each(simple, value) for name, value in given.items()}
        call = _call(ops._snake(record.name), values)
        try:
            result = eval(call, {"np": np, "ops": ops})  # what is shown is what is run
        except Error:
            continue
        made = arrays([result])
        few = max(each.size for each in (*arrays(given.values()), *made)) < 2
        odd = any(each.size == 0 or not np.all(np.isfinite(each.astype(complex))) for each in made)
        dull = not any(np.any(each) for each in made)
        numbers = {name: _made(value) for name, value in values.items()}
        command = record_commands.command(record, numbers)
        moved = _bytes(_OPERATORS[record.api], numbers, result)
        return Example(few or odd or dull, _text(call, result), command, *moved)
    return None


def _leaves_one_alone(record, prepared, given: dict) -> bool:
    """Whether a result is not written: what would be shown is what stood in new memory."""
    for each in ops._declared()[record.api].outputs:
        asked = given.get(ops._spelled(each.name))
        if each.is_in_place or (each.optional and (asked is None or isinstance(asked, list) and not asked)):
            continue  # a copy of what was given, or nothing
        if prepared.expected[each.name] is None:
            return True
    return False


def _bytes(operator, given: dict, result) -> tuple[int, int]:
    """Those of the tensors that it reads, and that it writes."""
    results = result if isinstance(result, tuple) else (result,)
    made = [
        each.name
        for each in operator.outputs
        if not each.optional or given.get(ops._spelled(each.name)) is not None
    ]
    tensors = {each.name: given.get(ops._spelled(each.name)) for each in operator.parameters}
    tensors |= zip(made, results, strict=True)
    return tuple(
        sum(one.nbytes for each in touched for one in arrays([tensors[each.name]]))
        for touched in (operator_traffic.read(operator), operator_traffic.written(operator))
    )


def arrays(values) -> list[np.ndarray]:
    """Those among the values, and in their lists."""
    many = [value for value in values if isinstance(value, list | tuple)]
    return [each for each in values if isinstance(each, np.ndarray)] + [
        each for inner in many for each in arrays(inner)
    ]


def _each(change, value):
    if isinstance(value, list):
        return [_each(change, one) for one in value]
    is_real = isinstance(value, np.ndarray) and value.dtype.kind in "fV"
    return change(value) if is_real else value


def _simple(value: np.ndarray) -> np.ndarray:
    """As FLOAT, in steps of 1/4."""
    with np.errstate(all="ignore"):
        return np.asarray(np.rint(value.astype(np.float64) * 4) / 4, np.float32)


def _short(value: np.ndarray) -> np.ndarray | str:
    """The array, or for a long one the expression that makes another, which is nowhere below 0."""
    if value.size <= record_commands.LONG:
        return _simple(value)
    return f'(np.arange({value.size}, dtype="float32") % 7 / 4).reshape({value.shape})'


def _made(value):
    """The value of a text that _short made; the rest as it is."""
    if isinstance(value, list):
        return [_made(one) for one in value]
    is_text = isinstance(value, str) and value.startswith("(np.")
    return eval(value, {"np": np}) if is_text else value


def _call(name: str, given: dict) -> str:
    unset = {each.name: each.default for each in signature(getattr(ops, name)).parameters.values()}
    given = {each: value for each, value in given.items() if value is not unset[each]}
    arguments = [f"{each}={_literal(value)}" for each, value in given.items()]
    line = f"ops.{name}({', '.join(arguments)})"
    if len(line) <= _WIDTH:
        return line
    return f"ops.{name}(\n" + "".join(f"    {each},\n" for each in arguments) + ")"


def _literal(value) -> str:
    if isinstance(value, str) and value.startswith("(np."):
        return value
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, np.ndarray):
        return f'np.array({_numbers(value.tolist())}, "{value.dtype}")'
    if isinstance(value, np.dtype):
        return f'"{value}"'
    if isinstance(value, tuple):  # a shape and a dtype
        return f"({value[0]}, {_literal(value[1])})"
    return _numbers(value.item() if isinstance(value, np.generic) else value)


def _numbers(value) -> str:
    return re.sub(r"\b(inf|nan)\b", r"np.\1", repr(value))


def _text(call: str, result) -> str:
    with np.printoptions(precision=6, suppress=True, linewidth=_WIDTH, threshold=32, edgeitems=2):
        shown = "\n".join(map(repr, arrays([result])))
    first, *rest = call.splitlines()
    found = shown.splitlines()
    found = found if len(found) <= _LINES else [*found[:_LINES], "..."]
    lines = [f">>> {first}", *(f"... {line}" for line in rest), *found]
    return "".join(f"{line}\n" for line in lines)
