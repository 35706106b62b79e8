# SPDX-License-Identifier: Apache-2.0
"""The operators as the toolkit's headers declare them, which are made from the records."""

import ctypes
import re
from dataclasses import dataclass
from pathlib import Path

from .. import names
from ..errors import InputError, quoted
from ..operators.operator import (
    Attribute,
    BoolArray,
    Input,
    InputList,
    IntArray,
    Output,
    OutputList,
    Parameter,
    Scalar,
    ScalarList,
    String,
)
from . import libraries

# The comment, the name and the parameters.
_PHASE_1 = re.compile(
    r"/\*\*((?:(?!\*/).)*)\*/[\w\s]*?\b(aclnn\w+)GetWorkspaceSize\(([^;]*)\);", re.DOTALL
)
_PHASE = "hase 1: checks the arguments and plans the work."  # begins a sentence or ends it
_READ = ("in", False)  # what a comment need not say
_PARAMETER = re.compile(r"@param(?:\[([a-z,]+)\])? (\w+)([^@]*)")

# The class that carries a plain C argument.
PLAIN = {
    "bool": ctypes.c_bool,
    "int8_t": ctypes.c_int8,
    "int": ctypes.c_int,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "aclDataType": ctypes.c_int,
}
_HANDLES = {
    "aclScalar*": Scalar,
    "aclScalarList*": ScalarList,
    "aclIntArray*": IntArray,
    "aclBoolArray*": BoolArray,
    "char*": String,
}
_TENSORS = {"aclTensor*": (Input, Output), "aclTensorList*": (InputList, OutputList)}


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
    def is_tensor(self) -> bool:
        """Whether it is a tensor or a list of them."""
        return self.ctype in _TENSORS

    @property
    def is_list(self) -> bool:
        return self.ctype == "aclTensorList*"

    @property
    def is_output(self) -> bool:
        return self.is_tensor and "out" in self.direction

    @property
    def is_in_place(self) -> bool:
        """Whether what is there is an operand too, or at least gives the shape."""
        return self.is_output and (self.direction == "in,out" or self.name.endswith("Ref"))

    @property
    def parameter(self) -> Parameter:
        """The parameter for `openaclnn.native.call`."""
        if self.is_tensor:
            return _TENSORS[self.ctype][self.is_output](self.name)
        if self.ctype in _HANDLES:
            return _HANDLES[self.ctype](self.name)
        return Attribute(self.name, PLAIN[self.ctype])


@dataclass(frozen=True)
class Declared:
    """An operator: its parameters but the last two of phase 1, and the comment before it."""

    arguments: tuple[Argument, ...]
    comment: str

    @property
    def outputs(self) -> list[Argument]:
        return [each for each in self.arguments if each.is_output]


def operators(include: Path) -> dict[str, Declared]:
    """The operators of the headers, by name."""
    return {
        api: Declared(_arguments(comment, parameters.split(",")[:-2]), _plain(comment))
        for header in sorted((include / "aclnnop").glob("*.h"))
        for comment, api, parameters in _PHASE_1.findall(header.read_text("utf-8"))
    }


def find(name: str) -> tuple[str, Declared]:
    """One of those of the toolkit that is here, by a name such as aclnnMatmul, Matmul or matmul."""
    known = operators(libraries.load().home / "include")
    api = names.same(name, known)
    if api is None:
        raise InputError(f"operator {quoted(name)} is not known{names.hint(name, known)}")
    return api, known[api]


def _arguments(comment: str, parameters: list[str]) -> tuple[Argument, ...]:
    said = {
        name: (direction or "in", "null leaves it out" in _in_one_line(text))
        for direction, name, text in _PARAMETER.findall(comment)
    }
    split = (each.replace("*", "* ").split() for each in parameters)
    return tuple(
        Argument(name, "".join(word for word in ctype if word != "const"), *said.get(name, _READ))
        for *ctype, name in split
    )


def _in_one_line(text: str) -> str:
    return " ".join(text.replace("*", " ").split())


def _plain(comment: str) -> str:
    """The sentence that says what is computed, without the marks of C and Doxygen."""
    said = comment.partition("@param[out] workspaceSize")[0].strip()
    text = "\n".join(re.sub(r"^\s*\*? ?", "", line).rstrip() for line in said.splitlines())
    text = re.sub(r"@param(?:\[[a-z,]+\])? (\w+)", r"\1:", text)
    return text.removeprefix(f"P{_PHASE}").replace(f", p{_PHASE}", ".").strip("\n")
