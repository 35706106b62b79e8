# SPDX-License-Identifier: Apache-2.0
"""Every operator of the headers as a function on NumPy arrays: `openaclnn.ops.add(a, b, 1)`.

aclnnForeachAddListV2 is `foreach_add_list_v2`. Parameters have the names and the order of the C
function, its outputs aside, which are named; those that may be null are None unless they are given.
An output is returned, or the tuple of them. It has the shape and the type that the operator wants,
unless its own argument says otherwise: a dtype, (shape, dtype), or an array that is written to and
returned. Outputs that may be null are made if that argument is True or one of these. What is worked
on in place is copied first: the copy is returned.

What an operator refuses raises AclError, with the operator's own message; what is no value for its
parameter raises InputError, a ValueError.
"""

import ctypes
import inspect
import re
from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np

from . import dtypes, names
from .errors import Error, InputError, quoted
from .native import call, libraries, output_inference, runtime
from .native.declared import PLAIN, Argument, Declared, operators
from .operators.operator import Problem, View

_PREFIX = "aclnn"
_FIRST = inspect.Parameter.POSITIONAL_OR_KEYWORD
_NAMED = inspect.Parameter.KEYWORD_ONLY


def __getattr__(name: str) -> Callable:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    known = _apis()
    if name not in known:
        raise AttributeError(f"{__name__} has no operator {name}{names.hint(name, known)}")
    return _function(name, known[name])


def __dir__() -> list[str]:
    try:
        return sorted(_apis())
    except Error:  # no libraries, no operators
        return []


@lru_cache(maxsize=1)
def _declared() -> dict[str, Declared]:
    return operators(libraries.load().home / "include")


@lru_cache(maxsize=1)
def _apis() -> dict[str, str]:
    """The C names by those of the functions."""
    return {_snake(api.removeprefix(_PREFIX)): api for api in _declared()}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


# Not names of this module: there are an `all`, an `any` and a `max` among them.
@cache
def _function(name: str, api: str) -> Callable:
    declared = _declared()[api]
    signature = _signature(declared)

    def run(*positional, **named):
        return _call(api, declared, _bound(name, signature, positional, named))

    run.__name__ = run.__qualname__ = name
    run.__module__ = __name__
    run.__doc__ = declared.comment
    run.__signature__ = signature
    return run


class _Required:
    """The default of what must be given though something before it may be left out."""

    def __repr__(self) -> str:
        return "<required>"


_REQUIRED = _Required()


def _signature(declared: Declared) -> inspect.Signature:
    """The arguments in the header's order, then the results, which are named."""
    made, results, after = [], [], inspect.Parameter.empty
    for each in declared.arguments:
        name = _spelled(each.name)
        if each.is_output and not each.is_in_place:
            results.append(inspect.Parameter(name, _NAMED, default=None))
            continue
        after = _REQUIRED if each.optional else after
        made.append(inspect.Parameter(name, _FIRST, default=None if each.optional else after))
    return inspect.Signature(made + results)


def _bound(name: str, signature: inspect.Signature, positional: tuple, named: dict) -> dict:
    try:
        bound = signature.bind(*positional, **named)
    except TypeError as error:
        raise TypeError(f"{name}() {error}") from None
    bound.apply_defaults()
    for each, value in bound.arguments.items():
        if value is _REQUIRED:
            raise TypeError(f"{name}() missing a required argument: {each!r}")
    return bound.arguments


def _spelled(name: str) -> str:
    """The parameter in Python, which has some words for itself."""
    return f"{name}_" if name in ("from", "lambda") else name


def _call(api: str, declared: Declared, given: dict):
    inputs, attributes, outputs = {}, {}, {}
    values = {each.name: given[_spelled(each.name)] for each in declared.arguments}
    for each in declared.arguments:
        value = values[each.name]
        if each.is_output:
            if value is not None or not each.optional:
                outputs[each.name] = _asked(each, value)
        elif each.is_tensor and value is not None:
            inputs[each.name] = _tensors(each, value)
    if not outputs:
        named = " or ".join(_spelled(each.name) for each in declared.outputs)
        raise InputError(f"{api} has no output to write, expected {named} to be True")
    for each in declared.arguments:
        if not each.is_tensor:
            attributes[each.name] = _attribute(each, values[each.name], inputs)
    _lengthen(declared, outputs, inputs, values)
    problem = Problem(inputs, attributes, {})
    found = output_inference.run(runtime.start(), api, declared, problem, outputs)
    results = tuple(
        _returned(each, values[each.name], found[each.name])
        for each in declared.outputs
        if each.name in found
    )
    return results if len(results) > 1 else results[0]


def _tensors(argument: Argument, value) -> np.ndarray | list[np.ndarray]:
    if not argument.is_list:
        return _array(argument.name, value)
    if isinstance(value, np.ndarray) or not hasattr(value, "__iter__"):
        raise InputError(f"{argument.name} is {_kind(value)}, expected a list of arrays")
    return [_array(f"{argument.name}[{k}]", each) for k, each in enumerate(value)]


def _array(name: str, value) -> np.ndarray:
    array = np.asarray(value)
    try:
        dtypes.of(array.dtype)
    except InputError:
        raise InputError(f"{name} dtype is {array.dtype}, expected a type of tensors") from None
    return array


def _asked(argument: Argument, value) -> output_inference.Output | View | list:
    """An output as the caller says."""
    if argument.is_in_place:
        arrays = _tensors(argument, value)
        return [_copy(each) for each in arrays] if argument.is_list else _copy(arrays)
    if argument.is_list and isinstance(value, list):
        return [_output(argument.name, each) for each in value]
    return [_output(argument.name, value)] if argument.is_list else _output(argument.name, value)


def _copy(array: np.ndarray) -> View:
    storage = np.array(array, order="C").reshape(-1)
    return View(storage, storage.reshape(array.shape))


def _output(name: str, value) -> output_inference.Output:
    match value:
        case None | True:
            return output_inference.Output()
        case np.ndarray():
            return output_inference.Output(value.shape, value.dtype)
        case (shape, dtype):
            return output_inference.Output(_extents(name, shape), _dtype(name, dtype))
    return output_inference.Output(None, _dtype(name, value))


def _lengthen(declared: Declared, outputs: dict, inputs: dict, values: dict) -> None:
    """A list of results that has one word for all is as long as the first list of inputs."""
    length = output_inference.list_length(inputs)
    for each in declared.outputs:
        made = outputs.get(each.name)
        told = isinstance(values[each.name], list)
        if isinstance(made, list) and len(made) == 1 and not each.is_in_place and not told:
            only = made[0]
            outputs[each.name] = [output_inference.Output(only.shape, only.dtype) for _ in range(length)]


def _attribute(argument: Argument, value, inputs: dict):
    name, ctype = argument.name, argument.ctype
    if value is None:
        if ctype in PLAIN:
            raise InputError(f"{name} is None, expected a value of {ctype}")
        return None
    try:
        return _READ[ctype](value, inputs)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is {quoted(repr(value))}, expected a value of {ctype}") from None


def _whole(carrier: type) -> Callable:
    def read(value, _=None) -> int:
        if isinstance(value, bool | np.bool_) or int(value) != value:
            raise ValueError(value)
        if carrier(int(value)).value != int(value):
            raise OverflowError(value)
        return int(value)

    return read


def _truth(value, _=None) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(value)
    return bool(value)


def _real(value, _=None) -> float:
    if isinstance(value, str):
        raise TypeError(value)
    return float(value)


def _text(value, _=None) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    call.encoded(value)
    return value


def _scalar(value, inputs: dict) -> np.generic:
    """A NumPy scalar as it is; of Python's numbers whole ones are INT64, others as the operands."""
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "biufcV":
        raise TypeError(value)
    if isinstance(value, np.generic | np.ndarray):
        dtypes.of(array.dtype)
        return array[()]
    if isinstance(value, float):
        return output_inference.precision(inputs)(value)
    return np.complex64(value) if isinstance(value, complex) else array[()]


def _each_of(read: Callable) -> Callable:
    def values(value, inputs: dict) -> list:
        if isinstance(value, str):
            raise TypeError(value)
        return [read(each, inputs) for each in value]

    return values


_INT64 = _whole(ctypes.c_int64)
_READ = {
    **{ctype: _whole(carrier) for ctype, carrier in PLAIN.items() if "int" in ctype},
    "float": _real,
    "double": _real,
    "bool": _truth,
    "aclDataType": lambda value, _: dtypes.of(_dtype("dtype", value)).number,
    "aclScalar*": _scalar,
    "aclScalarList*": _each_of(_scalar),
    "aclIntArray*": _each_of(_INT64),
    "aclBoolArray*": _each_of(_truth),
    "char*": _text,
}


def _dtype(name: str, value) -> np.dtype:
    try:
        return dtypes.parse(value) if isinstance(value, str) else np.dtype(value)
    except TypeError:
        raise InputError(f"{name} is {quoted(repr(value))}, expected a dtype or (shape, dtype)") from None


def _extents(name: str, shape) -> tuple[int, ...]:
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    if not all(isinstance(each, int | np.integer) and each >= 0 for each in extents):
        raise InputError(f"{name} shape is {quoted(shape)}, expected lengths")
    return tuple(map(int, extents))


def _returned(argument: Argument, asked, result):
    """The array that the caller gave for it, with the result in it, else the result."""
    if isinstance(result, list):
        many = isinstance(asked, list) and len(asked) == len(result)
        given = asked if many else [None] * len(result)
        return [_returned(argument, *each) for each in zip(given, result, strict=True)]
    takes = isinstance(asked, np.ndarray) and not argument.is_in_place
    if not takes or asked.shape != result.shape:  # of what was found there may be less
        return result
    asked[...] = result
    return asked


def _kind(value) -> str:
    return type(value).__name__
