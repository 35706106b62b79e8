# SPDX-License-Identifier: Apache-2.0
"""Calls operators as the toolkit's headers declare them, with operands from files or at random."""

import ctypes
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import dtypes, names
from ..files import literal, tensor_files
from . import operator_help, results
from ..native import output_inference, runtime
from ..native.declared import PLAIN, Argument, Declared, find
from ..errors import AclError, InputError, quoted
from ..operators.operator import Problem, View
from ..operators.options import normal

_TRUTH = {"true": True, "false": False, "1": True, "0": False}
_RANDOM = "random:"
_SHAPE = "shape"  # of all inputs that are left out, where it is no parameter
_MOST_RANDOM = 10  # whole numbers at random are below


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


_NOT_WHOLE = re.compile(r"\b(\w+) dtype is U?INT\d+, expected (?:\w+, )*FLOAT\b")
_INT64 = _number(ctypes.c_int64)
# How a value that is neither a tensor nor a scalar is read.
_READ = {
    **{ctype: _number(carrier) for ctype, carrier in PLAIN.items()},
    "bool": _truth,
    "aclDataType": lambda text: dtypes.of(dtypes.parse(text)).number,
    "aclIntArray*": _list(_INT64),
    "aclBoolArray*": _list(_truth),
    "char*": str,
}


def _options(arguments: list[str]) -> dict[str, list[str]]:
    """--name value or --name=value, by name."""
    found: dict[str, list[str]] = {}
    rest = list(arguments)
    while rest:
        name, given, value = rest.pop(0).partition("=")
        if not name.startswith("--") or not (given or rest):
            raise InputError(f"{quoted(name)} is left over, expected --PARAMETER VALUE")
        found.setdefault(name[2:], []).append(value if given else rest.pop(0))
    return found


@dataclass(frozen=True)
class Called:
    """An operator that ran: its results, those of a list each, and the files that some go to."""

    api: str
    found: dict[str, np.ndarray]
    files: dict[str, Path]


def call_by_name(name: str, options: list[str], json: bool = False) -> Called:
    """Calls it; where results go is only looked at, whether something may be written there."""
    api, declared = find(name)
    given = _by_parameter(declared, _options(options))
    drawn = _random_shape(declared, given)
    _check_names(api, declared, given)
    inputs = _inputs(declared, given, drawn)
    values = {name: texts[0] for name, texts in given.items()}
    attributes = {
        each.name: _value(each, values.get(each.name), inputs)
        for each in declared.arguments
        if not each.is_tensor
    }
    files, outputs = _outputs(declared, given, inputs)
    if not outputs:
        named = [f"--{each.name}" for each in declared.outputs]
        expected = f"one of {' '.join(named)}" if len(named) > 1 else "".join(named)
        raise InputError(f"{api} has no output, expected {expected}")
    _check_inputs(api, declared, inputs)
    results.check_files(files, json)
    problem = Problem(inputs, attributes, {})
    try:
        found = _by_member(output_inference.run(runtime.start(), api, declared, problem, outputs))
    except AclError as error:
        raise _with_hint(error, values, inputs) from None
    return Called(api, found, files)


def _with_hint(error: AclError, values: dict[str, str], inputs: dict) -> AclError:
    """The refusal of whole numbers for floating ones says how those are typed."""
    said = _NOT_WHOLE.search(str(error))
    name = said[1] if said else None
    if name not in values or not isinstance(inputs.get(name), np.ndarray):
        return error
    hint = literal.hint(values[name], inputs[name], ["float32"])
    return AclError(error.code, f"{error}{hint}", error.api) if hint else error


def _by_parameter(declared: Declared, given: dict[str, list[str]]) -> dict[str, list[str]]:
    """The options by the parameters' own names: --keep-dim is --keepDim."""
    known = [each.name for each in declared.arguments]
    found: dict[str, list[str]] = {}
    for name, texts in given.items():
        found.setdefault(names.same(name, known) or name, []).extend(texts)
    return found


def _check_names(api: str, declared: Declared, given: dict[str, list[str]]) -> None:
    arguments = {each.name: each for each in declared.arguments}
    usage = _usage(api, declared)
    for name, texts in given.items():
        if name not in arguments:
            raise InputError(f"{api} has no parameter {quoted(name)}, {usage}")
        if texts[1:] and not arguments[name].is_list:
            raise InputError(f"--{name} is given twice, expected one value")
    for each in declared.arguments:
        required = each.is_in_place and not each.optional
        if each.name not in given and (required or each.ctype in PLAIN):
            raise InputError(f"--{each.name} is missing, {usage}; {operator_help.about(declared, each)}")


def _usage(api: str, declared: Declared) -> str:
    return f"expected {api} " + " ".join(f"--{each.name}" for each in declared.arguments)


def _check_inputs(api: str, declared: Declared, inputs: dict) -> None:
    for each in declared.arguments:
        if each.is_tensor and not each.is_output and not each.optional and each.name not in inputs:
            raise InputError(f"--{each.name} is missing, {_usage(api, declared)}")


def _random_shape(declared: Declared, given: dict[str, list[str]]) -> str | None:
    """--shape, which is taken out unless the operator has such a parameter."""
    if any(each.name == _SHAPE for each in declared.arguments) or _SHAPE not in given:
        return None
    *rest, text = given.pop(_SHAPE)
    if rest:
        raise InputError(f"--{_SHAPE} is given twice, expected one value")
    _shape_and_dtype(text, _SHAPE, text, "SHAPE:DTYPE, such as 2,3:float32")
    return _RANDOM + text


def _inputs(declared: Declared, given: dict[str, list[str]], drawn: str | None) -> dict:
    """The tensors that are only read; random ones where `drawn` says so of those left out."""
    random, found = np.random.default_rng(0), {}
    for each in declared.arguments:
        if not each.is_tensor or each.is_output:
            continue
        texts = given.get(each.name, [drawn] if drawn and not each.optional else [])
        if each.is_list and texts:
            members = [_load(text, each.name, random) for text in texts]
            found[each.name] = [array for arrays in members for array in arrays]
        elif texts:
            (found[each.name],) = _load(texts[0], each.name, random, whole=False)
    return found


def _load(text: str, operand: str, random: np.random.Generator, whole: bool = True) -> list:
    """The tensors that a text names: `whole` files, if they hold several."""
    if text.startswith(_RANDOM):
        shape, dtype = _shape_and_dtype(text.removeprefix(_RANDOM), operand, text)
        try:
            return [_draw(random, shape or (), dtype or np.dtype(np.float32))]
        except ValueError:  # more dimensions than NumPy has
            raise InputError(f"--{operand} is {quoted(text)}, expected the shape of an array") from None
    return tensor_files.load_all(text, operand) if whole else [tensor_files.load(text, operand)]


def _draw(random: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Normal numbers; of the other types truth values and whole numbers from 0 to 9."""
    if math.prod(shape) > 2**60:  # NumPy says that otherwise
        raise MemoryError
    if dtype.kind == "c":
        return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)
    if dtype.kind in "biu":
        return random.integers(2 if dtype.kind == "b" else _MOST_RANDOM, size=shape).astype(dtype)
    return normal(random, shape, dtype.name)


def _value(argument: Argument, text: str | None, inputs: dict):
    name, ctype = argument.name, argument.ctype
    try:
        if text is None:
            return None
        if ctype in _READ:
            return _READ[ctype](text)
        if ctype == "aclScalar*":
            return _scalar(text, inputs)
        if ctype == "aclScalarList*":
            return [_scalar(each, inputs) for each in text.split(",") if each]
    except (ValueError, KeyError, TypeError, OverflowError):
        raise InputError(f"--{name} is {quoted(text)}, expected a value of {ctype}") from None
    raise InputError(f"--{name} is of {ctype}, which the command line cannot give")


def _scalar(text: str, inputs: dict) -> np.generic:
    """A whole number, a truth value, or a float of the operands' precision."""
    if text.lower() in ("true", "false"):
        return np.bool_(_truth(text))
    if re.fullmatch(r"[-+]?\d+", text):
        return np.int64(_INT64(text))
    kind = output_inference.precision(inputs)
    carrier = ctypes.c_double if kind is np.float64 else ctypes.c_float
    return kind(_number(carrier)(text))


def _outputs(declared: Declared, given: dict[str, list[str]], inputs: dict):
    """The files, by the names of what goes there, and the outputs.

    FILE[:SHAPE[:DTYPE]], else what the operator wants. What is worked on in place is FILE[:RESULT];
    without the second the file is replaced. Lists have one for each member. What has no file is
    printed, but for outputs that may be left out.
    """
    files: dict[str, Path] = {}
    outputs: output_inference.Outputs = {}
    for each in declared.outputs:
        if each.name not in given:
            if not each.optional:
                outputs[each.name] = _without_file(each, inputs)
            continue
        texts = given[each.name]
        if each.is_list and not each.is_in_place:
            texts = _repeated(texts, inputs)
        read = _in_place if each.is_in_place else _output
        members = [read(each.name, text) for text in texts]
        outputs[each.name] = [output for _, output in members]
        named = [f"{each.name}.{k}" for k in range(len(members))] if each.is_list else [each.name]
        paths = (path for path, _ in members)
        files |= {name: path for name, path in zip(named, paths, strict=True) if path is not None}
        if not each.is_list:
            (outputs[each.name],) = outputs[each.name]
    _check_distinct(files)
    return files, outputs


def _without_file(argument: Argument, inputs: dict) -> output_inference.Output | list[output_inference.Output]:
    if not argument.is_list:
        return output_inference.Output()
    return [output_inference.Output() for _ in range(output_inference.list_length(inputs))]


def _repeated(texts: list[str], inputs: dict) -> list[str]:
    """One .safetensors file takes the whole list, which is as long as the first of the inputs'."""
    if len(texts) > 1 or not tensor_files.takes_several(Path(texts[0])):
        return texts
    return texts * max(output_inference.list_length(inputs), 1)


def _output(name: str, text: str) -> tuple[Path, output_inference.Output]:
    file, _, rest = text.partition(":")
    form = "FILE:SHAPE:DTYPE, such as out.npy:2,3:float32"
    shape, dtype = _shape_and_dtype(rest, name, text, form)
    return Path(file), output_inference.Output(shape, dtype)


def _in_place(name: str, text: str) -> tuple[Path | None, View]:
    source, result = tensor_files.with_result(text, name)
    array = np.asarray(tensor_files.load(source, name), order="C")
    storage = array.reshape(-1)
    return result, View(storage, storage.reshape(array.shape))


def _shape_and_dtype(
    text: str, name: str, whole: str, form: str = "random:SHAPE:DTYPE, such as random:2,3:float32"
):
    """SHAPE[:DTYPE] of the value `whole` of an option; nothing, or None, for what is left out."""
    try:
        shape, dtype = [*text.split(":"), ""][: max(2, text.count(":") + 1)]
        extents = tuple(map(_extent, shape.split(","))) if shape else None
        return extents, dtypes.parse(dtype) if dtype else None
    except (ValueError, TypeError, OverflowError):
        raise InputError(f"--{name} is {quoted(whole)}, expected {form}") from None


def _extent(text: str) -> int:
    value = _INT64(text)
    if value < 0:
        raise ValueError(text)
    return value


def _by_member(found: dict) -> dict[str, np.ndarray]:
    """The results by the names of files: those of a list have a number each."""
    apart = {}
    for name, result in found.items():
        if isinstance(result, list):
            apart |= {f"{name}.{k}": each for k, each in enumerate(result)}
        else:
            apart[name] = result
    return apart


def _check_distinct(files: dict[str, Path]) -> None:
    """Refuses two outputs to one file that holds one."""
    names_of: dict[str, str] = {}
    for name, path in files.items():
        other = names_of.setdefault(os.path.realpath(path), name)
        several = path == results.STANDARD_OUTPUT or tensor_files.takes_several(path)
        if other != name and not several:
            raise InputError(f"--{name} is {path} as --{other} is, expected a file for each")
