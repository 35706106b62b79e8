# SPDX-License-Identifier: Apache-2.0
"""A call of a supporting operator as a command of the tool, with the numbers of its tensors."""

import json
import shlex

import numpy as np

from openaclnn import ops

LONG = 16  # elements of a tensor of floats above which it is drawn at random
_WIDTH = 96


def command(record, given: dict) -> str:
    """`given` has the arguments as openaclnn.ops takes them."""
    parts = [f"openaclnn call {record.api}"]
    in_place = {each.name for each in ops._declared()[record.api].outputs if each.is_in_place}
    for each in record.parameters:
        texts = _texts(each, given.get(ops._spelled(each.name)), each.name in in_place)
        parts += [f"--{each.name} {shlex.quote(text)}" for text in texts]
    return _folded(parts)


def _texts(parameter, value, in_place: bool) -> list[str]:
    """The texts of its options; several for a list of tensors."""
    if parameter.is_output:
        return _of_output(parameter, value if in_place else _room(value))
    if value is None:
        return []
    if parameter.kind == "in[]":
        return [_tensor(each) for each in value]
    return [_tensor(value) if parameter.kind == "in" else _plain(value)]


def _of_output(parameter, value) -> list[str]:
    """The file that it goes to, behind what is worked on there."""
    many = parameter.kind == "out[]"
    file = f"{parameter.name}.{'safetensors' if many else 'npy'}"
    if isinstance(value, np.ndarray):
        return [f"{_numbers(value)}:{file}"]
    if isinstance(value, list):
        return [text for each in value for text in _of_output(parameter, each)]
    if isinstance(value, tuple):
        shape, dtype = value
        return [f"{file}:{','.join(map(str, shape))}:{dtype}"]
    return [file] if value or not parameter.optional else []


def _room(value):
    """Shapes and types of arrays that are only written to."""
    if isinstance(value, list):
        return [_room(each) for each in value]
    return (value.shape, value.dtype) if isinstance(value, np.ndarray) else value


def _tensor(value: np.ndarray) -> str:
    if value.dtype.kind in "fV" and value.size > LONG:
        return f"random:{','.join(map(str, value.shape))}{_type(value, 'float32')}"
    return _numbers(value)


def _numbers(value: np.ndarray) -> str:
    """As JSON, with the type where the tool would take another."""
    kind = value.dtype.kind
    numbers = value.astype(np.float64) if kind in "fV" else value
    usual = "float32" if kind in "fV" or not value.size else "bool" if kind == "b" else "int64"
    return json.dumps(numbers.tolist()) + _type(value, usual)


def _type(value: np.ndarray, usual: str) -> str:
    return "" if value.dtype == usual else f":{value.dtype}"


def _plain(value) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_plain, value))
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    return str(value.item() if isinstance(value, np.generic) else value)


def _folded(parts: list[str]) -> str:
    """In lines that are no wider than a page, where an option is not."""
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + len(part) + 3 > _WIDTH:
            lines.append(f"    {part}")
        else:
            lines[-1] += f" {part}" if lines[-1] else part
    return " \\\n".join(lines)
