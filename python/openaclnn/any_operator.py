# SPDX-License-Identifier: Apache-2.0
"""Calls operators as the toolkit's headers declare them, with operands from .npy files."""

import ctypes
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import call, dtypes, libraries, names, npy, runtime
from .errors import InputError
from .operators.operator import (
    Attribute,
    BoolArray,
    Function,
    Input,
    IntArray,
    Output,
    Problem,
    Scalar,
    String,
    View,
)

# The comment, the name and the parameters.
_PHASE_1 = re.compile(
    r"/\*\*((?:(?!\*/).)*)\*/[\w\s]*?\b(aclnn\w+)GetWorkspaceSize\(([^;]*)\);", re.DOTALL
)
_READ = ("in", False)  # what a comment need not say
_DIRECTION = re.compile(r"@param\[([a-z,]+)\] (\w+)([^@]*)")
_TRUTH = {"true": True, "false": False, "1": True, "0": False}


def _truth(text: str) -> bool:
    return _TRUTH[text.lower()]


def _list(of: Callable) -> Callable:
    return lambda text: [of(each) for each in text.split(",") if each]


def _number(carrier: type) -> Callable:
    """Reads what the C type can hold; infinity only where it is written as such."""
    whole = carrier not in (ctypes.c_float, ctypes.c_double)

    def read(text: str) -> int | float:
        value = int(text) if whole else float(text)
        held = carrier(value).value
        if held != value if whole else math.isinf(held) and "inf" not in text.lower():
            raise OverflowError(text)
        return value

    return read


_INT64 = _number(ctypes.c_int64)
_NUMBERS = {
    "int8_t": ctypes.c_int8,
    "int": ctypes.c_int,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}
# How the value of a plain C argument is read, and what carries it.
_PLAIN = {
    "bool": (_truth, ctypes.c_bool),
    **{ctype: (_number(carrier), carrier) for ctype, carrier in _NUMBERS.items()},
    "aclDataType": (lambda text: dtypes.of(dtypes.parse(text)).number, ctypes.c_int),
}
_HANDLES = {
    "aclIntArray*": (_list(_INT64), IntArray),
    "aclBoolArray*": (_list(_truth), BoolArray),
    "char*": (str, String),
}


@dataclass(frozen=True)
class Argument:
    """A parameter of phase 1: its C type without const, and what the header's comment says of it.

    Whether it is const says nothing: the vendor declares some outputs so.
    """

    name: str
    ctype: str
    direction: str  # in, out or in,out
    optional: bool  # may be null

    @property
    def is_output(self) -> bool:
        return self.ctype == "aclTensor*" and "out" in self.direction

    @property
    def is_in_place(self) -> bool:
        """Whether what is there is an operand too, or at least gives the shape."""
        return self.is_output and (self.direction == "in,out" or self.name.endswith("Ref"))


def declared(include: Path) -> dict[str, list[Argument]]:
    """The operators by name, with their parameters but the last two of phase 1."""
    return {
        api: _arguments(comment, parameters.split(",")[:-2])
        for header in (include / "aclnnop").glob("*.h")
        for comment, api, parameters in _PHASE_1.findall(header.read_text("utf-8"))
    }


def _arguments(comment: str, parameters: list[str]) -> list[Argument]:
    said = {
        name: (direction, "null leaves it out" in " ".join(text.replace("*", " ").split()))
        for direction, name, text in _DIRECTION.findall(comment)
    }
    split = (each.replace("*", "* ").split() for each in parameters)
    return [
        Argument(name, "".join(word for word in ctype if word != "const"), *said.get(name, _READ))
        for *ctype, name in split
    ]


def _options(arguments: list[str]) -> dict[str, str]:
    """--name value or --name=value, by name."""
    found, rest = {}, list(arguments)
    while rest:
        name, given, value = rest.pop(0).partition("=")
        if not name.startswith("--") or not (given or rest):
            raise InputError(f"{name} is left over, expected --PARAMETER VALUE")
        if name[2:] in found:
            raise InputError(f"{name} is given twice, expected one value")
        found[name[2:]] = value if given else rest.pop(0)
    return found


def call_by_name(api: str, options: list[str]) -> dict[str, Path]:
    """Calls it; the files that were written, by the names of the outputs."""
    values = _options(options)
    kit = libraries.load()
    known = declared(kit.home / "include")
    if api not in known:
        raise InputError(f"operator {api} is not known{names.hint(api, known)}")
    arguments = known[api]
    _check_names(api, arguments, values)
    inputs, attributes, parameters = {}, {}, []
    for each in arguments:
        given = values.get(each.name)
        if each.is_output:
            parameters.append(Output(each.name))
        elif each.ctype == "aclTensor*":
            parameters.append(Input(each.name))
            if given is not None:
                inputs[each.name] = _load(Path(given), each.name)
        else:
            parameter, attributes[each.name] = _value(each, given, inputs)
            parameters.append(parameter)
    files, outputs = _outputs(arguments, values, inputs)
    if not files:
        known = [f"--{each.name}" for each in arguments if each.is_output]
        raise InputError(f"{api} has no output, expected one of {' '.join(known)}")
    problem = Problem(inputs, attributes, outputs)
    for path in files.values():
        npy.check_writable(path)
    found = call.run(runtime.start(), Function(api, tuple(parameters)), problem)
    for name, path in files.items():
        npy.save(path, found[name])
    return files


def _check_names(api: str, arguments: list[Argument], values: dict[str, str]) -> None:
    expected = [each.name for each in arguments]
    usage = f"expected {api} " + " ".join(f"--{name}" for name in expected)
    for name in values:
        if name not in expected:
            raise InputError(f"{api} has no parameter {name}, {usage}")
    for each in arguments:
        required = each.is_output and not each.optional
        if each.name not in values and (required or each.ctype in _PLAIN):
            raise InputError(f"--{each.name} is missing, {usage}")


def _load(path: Path, operand: str) -> np.ndarray:
    return npy.load(path, operand, [each.numpy.name for each in dtypes.all_types()])


def _value(argument: Argument, given: str | None, inputs: dict[str, np.ndarray]):
    name, ctype = argument.name, argument.ctype
    try:
        if ctype in _PLAIN:
            read, carrier = _PLAIN[ctype]
            return Attribute(name, carrier), read(given)
        if ctype in _HANDLES:
            read, parameter = _HANDLES[ctype]
            return parameter(name), None if given is None else read(given)
        if ctype == "aclScalar*":
            return Scalar(name), None if given is None else _scalar(given, inputs)
    except (ValueError, KeyError, TypeError, OverflowError):
        raise InputError(f"--{name} is {given}, expected a value of {ctype}") from None
    raise InputError(f"--{name} is of {ctype}, which the command line cannot give")


def _scalar(text: str, inputs: dict[str, np.ndarray]) -> np.generic:
    """A whole number, a truth value, or a float of the operands' precision."""
    if text.lower() in ("true", "false"):
        return np.bool_(_truth(text))
    if re.fullmatch(r"[-+]?\d+", text):
        return np.int64(_INT64(text))
    wide = any(each.dtype == np.float64 for each in inputs.values())
    kind, carrier = (np.float64, ctypes.c_double) if wide else (np.float32, ctypes.c_float)
    return kind(_number(carrier)(text))


def _outputs(arguments: list[Argument], values: dict[str, str], inputs: dict[str, np.ndarray]):
    """The files, and the shapes and dtypes: FILE[:SHAPE[:DTYPE]], else those of the operands.

    What is worked on in place is FILE[:RESULT]; without the second the file is replaced.
    """
    files, outputs = {}, {}
    for each in arguments:
        if not each.is_output or each.name not in values:
            continue
        if each.is_in_place:
            file, *rest = values[each.name].split(":")
            if rest[1:]:
                raise InputError(f"--{each.name} is {values[each.name]}, expected FILE[:RESULT]")
            array = np.asarray(_load(Path(file), each.name), order="C")
            storage = array.reshape(-1)
            files[each.name] = Path("".join(rest) or file)
            outputs[each.name] = View(storage, storage.reshape(array.shape))
            continue
        file, *rest = values[each.name].split(":")
        files[each.name] = Path(file)
        try:
            shape, dtype = [*rest, "", ""][: max(2, len(rest))]
            extents = (
                tuple(map(_extent, shape.split(",")))
                if shape
                else np.broadcast_shapes(*(array.shape for array in inputs.values()))
            )
            first = next(iter(inputs.values())).dtype if inputs else np.dtype(np.float32)
            outputs[each.name] = (extents, dtypes.parse(dtype) if dtype else first)
        except (ValueError, TypeError, OverflowError):
            form = "FILE:SHAPE:DTYPE, such as out.npy:2,3:float32"
            raise InputError(f"--{each.name} is {values[each.name]}, expected {form}") from None
    _check_distinct(files)
    return files, outputs


def _extent(text: str) -> int:
    value = _INT64(text)
    if value < 0:
        raise ValueError(text)
    return value


def _check_distinct(files: dict[str, Path]) -> None:
    """Refuses two outputs to one file."""
    names_of: dict[str, str] = {}
    for name, path in files.items():
        other = names_of.setdefault(os.path.realpath(path), name)
        if other != name:
            raise InputError(f"--{name} is {path} as --{other} is, expected a file for each")
