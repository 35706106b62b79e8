# SPDX-License-Identifier: Apache-2.0
"""Makes Python functions from the tables of this package.

A row of a table is a C function: `aclrtGetMemInfo(attr:int32, >free:size, >total:size)`. A > marks
a result that C writes through a pointer. The Python function takes the other parameters and returns
the results and then the error code. `-> KIND` names the kind of a C function that returns a value
instead of a code.
"""

import ctypes
import operator
import re
from functools import cache

from . import _library

_NUMBERS = {
    "int32": (ctypes.c_int32, -(2**31), 2**31 - 1),
    "uint32": (ctypes.c_uint32, 0, 2**32 - 1),
    "int64": (ctypes.c_int64, -(2**63), 2**63 - 1),
    "uint64": (ctypes.c_uint64, 0, 2**64 - 1),
    "uint16": (ctypes.c_uint16, 0, 2**16 - 1),
    "uint8": (ctypes.c_uint8, 0, 2**8 - 1),
    "size": (ctypes.c_size_t, 0, 2**64 - 1),
    "ptr": (ctypes.c_void_p, 0, 2**64 - 1),
}
_TYPES = {kind: row[0] for kind, row in _NUMBERS.items()}
_TYPES.update(float=ctypes.c_float, text=ctypes.c_char_p)
_RETURNED = {None: ctypes.c_int}  # an error code, where a row says nothing
_ROW = re.compile(r"(\w+)\((.*)\)(?: -> (\w+))?")


class Declaration:
    """A row of a table, read."""

    def __init__(self, row, library=_library.ASCENDCL):
        self.c_name, parameters, self.returns = _ROW.fullmatch(row).groups()
        self.library = library
        named = [each.split(":") for each in parameters.split(", ") if each]
        self.parameters = [(name.lstrip(">"), kind, name.startswith(">")) for name, kind in named]
        self.inputs = [(name, kind) for name, kind, is_result in self.parameters if not is_result]
        self.results = [(name, kind) for name, kind, is_result in self.parameters if is_result]

    def exists(self):
        """Tells whether there is a library that exports the C function."""
        try:
            return hasattr(_library.load(self.library), self.c_name)
        except ImportError:
            return False

    def function(self):
        """Returns the C function, which no other caller shares."""
        found = _library.load(self.library)[self.c_name]
        found.restype = _RETURNED.get(self.returns) or _TYPES.get(self.returns)
        return found

    def python_form(self, name):
        """Returns the call as Python writes it, for help()."""
        results = [each for each, _ in self.results]
        results += {None: ["ret"], "none": []}.get(self.returns, ["value"])
        taken = ", ".join(each for each, _ in self.inputs)
        return f"{', '.join(results)}{' = ' if results else ''}{name}({taken})"


def number(function, name, kind, value):
    """Returns a ctypes number; refuses what is not a whole number in the range of its kind."""
    c_type, least, most = _NUMBERS[kind]
    try:
        whole = operator.index(value)
    except TypeError:
        raise TypeError(f"{function}: {name} is {type(value).__name__}, expected int") from None
    if not least <= whole <= most:
        raise OverflowError(f"{function}: {name} is {whole}, expected {least} to {most}")
    return c_type(whole)


def _text(function, name, value):
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError(f"{function}: {name} has a null character, which ends a text in C")
        return ctypes.c_char_p(value.encode("utf-8", "surrogateescape"))
    raise TypeError(f"{function}: {name} is {type(value).__name__}, expected str")


def _real(function, name, value):
    try:
        return ctypes.c_float(value)
    except TypeError:
        raise TypeError(f"{function}: {name} is {type(value).__name__}, expected float") from None


def array(function, name, kind, values):
    """Returns the length and the array of a C parameter that is a list."""
    if isinstance(values, str):
        raise TypeError(f"{function}: {name} is str, expected list")
    try:
        items = list(values)
    except TypeError:
        raise TypeError(f"{function}: {name} is {type(values).__name__}, expected list") from None
    each = [_converted(function, f"{name}[{at}]", kind, item) for at, item in enumerate(items)]
    return [ctypes.c_int(len(each)), (_TYPES[kind] * max(len(each), 1))(*(x.value for x in each))]


def _converted(function, name, kind, value):
    if kind in _NUMBERS:
        return number(function, name, kind, value)
    return _text(function, name, value) if kind == "text" else _real(function, name, value)


@cache
def make(declaration, name):
    """Returns the Python function of a declaration; `name` is its whole name, for messages."""
    c_function = declaration.function()
    inputs = declaration.inputs
    takes = ", ".join(each for each, _ in inputs)

    def call(*arguments):
        if len(arguments) != len(inputs):
            raise TypeError(f"{name}({takes}) takes {len(inputs)} arguments, got {len(arguments)}")
        given = iter(arguments)
        passed, results = [], []
        for parameter, kind, is_result in declaration.parameters:
            if is_result:
                results.append(_TYPES[kind]())
                passed.append(ctypes.byref(results[-1]))
            elif kind.endswith("s") and kind[:-1] in _TYPES:
                passed += array(name, parameter, kind[:-1], next(given))
            else:
                passed.append(_converted(name, parameter, kind, next(given)))
        return returned(declaration, c_function(*passed), results)

    call.__name__ = call.__qualname__ = name.rpartition(".")[2]
    call.__module__ = name.rpartition(".")[0]
    call.__doc__ = f"{declaration.python_form(name)}\n\nCalls {declaration.c_name}."
    return call


def returned(declaration, value, results):
    """Returns what Python gives back for the value of a C function and its written results."""
    if declaration.returns == "text":
        return (value or b"").decode("utf-8", "replace")
    if declaration.returns == "ptr":
        return value or 0
    if not results:
        return value
    # A null pointer is None to ctypes and 0 to pyACL.
    return (*(0 if each.value is None else each.value for each in results), value)
