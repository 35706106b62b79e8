# SPDX-License-Identifier: Apache-2.0
"""The records of the supporting operators, as the tests read them: no operator is named here."""

import ctypes
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from openaclnn.dtypes import BFLOAT16
from openaclnn.operators.operator import (
    Attribute,
    BoolArray,
    Function,
    Input,
    InputList,
    IntArray,
    Output,
    OutputList,
    Scalar,
    ScalarList,
    String,
)

_FOLDER = Path(__file__).resolve().parents[2] / "src/opapi/supporting"
REALS = tuple(map(np.dtype, (np.float32, np.float16, BFLOAT16, np.float64)))
INTEGERS = tuple(
    np.dtype(name)
    for name in ("int32", "int64", "bool", "int8", "uint8", "int16", "uint16", "uint32")
)
TYPES = {"real": REALS, "numeric": REALS + INTEGERS}  # on a product that has BFLOAT16

_KINDS = {  # of a parameter; what it is in C for the rest
    "in": Input,
    "out": Output,
    "in[]": InputList,
    "out[]": OutputList,
    "scalar": Scalar,
    "scalar[]": ScalarList,
    "ints": IntArray,
    "bools": BoolArray,
    "string": String,
}
_PLAIN = {
    "int64": ctypes.c_int64,
    "uint64": ctypes.c_uint64,
    "int": ctypes.c_int,
    "int8": ctypes.c_int8,
    "dtype": ctypes.c_int,
    "bool": ctypes.c_bool,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}


@dataclass(frozen=True)
class Parameter:
    """A parameter of the C function."""

    name: str
    kind: str
    optional: bool = False

    @property
    def is_output(self) -> bool:
        return self.kind in ("out", "out[]")

    @property
    def is_handle(self) -> bool:
        return self.kind in _KINDS and self.kind != "string"

    @property
    def argument(self):
        """What `openaclnn.call` makes of it."""
        if self.kind in _KINDS:
            return _KINDS[self.kind](self.name)
        return Attribute(self.name, _PLAIN[self.kind])

    @classmethod
    def parse(cls, text: str) -> "Parameter":
        name, kind = text.removesuffix("?").split(": ")
        return cls(name, kind.removeprefix("const "), text.endswith("?"))


@dataclass(frozen=True)
class Record:
    """An operator: what it takes, what it computes as NumPy says it, and how to test it."""

    name: str
    parameters: tuple[Parameter, ...]
    types: tuple[np.dtype, ...]
    numpy: str | None
    cases: str  # the function of cases.py that draws its arguments
    samples: dict[str, str] = field(default_factory=dict)  # what values parameters have
    over: tuple[str, ...] = ()  # inputs that an output may be the very same view as
    in_place: bool = False  # self is selfRef, which becomes the result

    @property
    def api(self) -> str:
        return f"aclnn{self.name}"

    @property
    def function(self) -> Function:
        return Function(self.api, tuple(each.argument for each in self.parameters))

    @property
    def inputs(self) -> list[Parameter]:
        """Tensors that it reads; one that it works in place on first."""
        return [each for each in self.parameters if each.kind == "in" or each.name == "selfRef"]

    @property
    def outputs(self) -> list[Parameter]:
        return [each for each in self.parameters if each.is_output]

    def plain(self, *kinds: str) -> list[Parameter]:
        return [each for each in self.parameters if each.kind in kinds]

    def of_self(self) -> "Record":
        """The operator that works in place: the first input is selfRef, and there is no out."""
        parameters = tuple(
            Parameter("selfRef", "out") if each.name == "self" else each
            for each in self.parameters
            if not each.is_output
        )
        name = f"Inplace{self.name}"
        return replace(self, name=name, parameters=parameters, in_place=True)


def load() -> list[Record]:
    """Every operator of every topic."""
    records = []
    for path in sorted(_FOLDER.glob("*/operators.toml")):
        for given in tomllib.loads(path.read_text("utf-8"))["operator"]:
            record = Record(
                given["name"],
                tuple(map(Parameter.parse, given["parameters"])),
                TYPES[given["types"]],
                given.get("numpy"),
                given.get("cases", _usual_cases(given)),
                given.get("samples", {}),
                _may_be(given),
                given["name"].startswith("Inplace"),
            )
            records += [record, record.of_self()] if given.get("inplace") else [record]
    return records


def _may_be(given: dict) -> tuple[str, ...]:
    """With an expression, any input."""
    parameters = (Parameter.parse(each) for each in given["parameters"])
    every = tuple(each.name for each in parameters if each.kind == "in")
    return every if "expression" in given else tuple(given.get("over", ()))


def _usual_cases(given: dict) -> str:
    return "foreach" if given.get("engine") == "Foreach" else "elementwise"
