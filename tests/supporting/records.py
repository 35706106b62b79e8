# SPDX-License-Identifier: Apache-2.0
"""The records of the supporting operators, as the tests read them: no operator is named here."""

import ctypes
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pairs

from openaclnn import dtypes
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

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts/operators"))
from check_records import LACKING
from operator_records import read_topics  # the one reader of the records

REALS = tuple(map(np.dtype, (np.float32, np.float16, BFLOAT16, np.float64)))
INTEGERS = tuple(
    np.dtype(name)
    for name in ("int32", "int64", "bool", "int8", "uint8", "int16", "uint16", "uint32")
)
TYPES = {"real": REALS, "numeric": REALS + INTEGERS}  # on a product that has BFLOAT16
TYPES["complex"] = TYPES["numeric"] + pairs.COMPLEX
UINT64 = np.dtype(np.uint64)
TYPES["movable"] = TYPES["complex"] + (UINT64,)
TYPES["numeric64"] = TYPES["numeric"] + (UINT64,)

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
        """What `openaclnn.native.call` makes of it."""
        if self.kind in _KINDS:
            return _KINDS[self.kind](self.name)
        return Attribute(self.name, _PLAIN[self.kind])


@dataclass(frozen=True)
class Record:
    """An operator: what it takes, what it computes as NumPy says it, and how to test it."""

    name: str
    parameters: tuple[Parameter, ...]
    types: tuple[np.dtype, ...]
    numpy: str | None
    cases: str  # the function of cases.py that draws its arguments
    samples: dict[str, str] = field(default_factory=dict)  # what values parameters have
    as_given: tuple[str, ...] = ()  # scalars that are not converted to the tensors' type
    factors: tuple[str, ...] = ()  # scalars that become BOOL beside numbers of BOOL
    over: tuple[str, ...] = ()  # inputs that an output may be the very same view as
    in_place: bool = False  # self is selfRef, which becomes the result
    one_value: bool = False  # all elements of its output become the same number
    topic: str = ""
    uses: dict[str, list[str]] = field(default_factory=dict)  # of tensors, those that it may have
    modes: dict[str, list] = field(default_factory=dict)  # that a parameter may name
    takes: dict[str, tuple[np.dtype, ...]] = field(default_factory=dict)  # of tensors, by a page
    families: tuple[str, ...] = ()  # of products that have it
    listed: dict[str, frozenset[str]] = field(default_factory=dict)  # `takes` by ACL's names
    has_bf16: bool = True  # the product

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
    def operands(self) -> list[Parameter]:
        """Tensors that scalars meet: what names places is none of them."""
        places = ("index", "indices", "mask", "sorter")
        if self.name == "MaskedScale":  # its mask is a factor
            places = ()
        return [
            each
            for each in self.parameters
            if (each.kind in ("in", "in[]") or each.name == "selfRef")
            and not each.name.startswith(places)
        ]

    @property
    def outputs(self) -> list[Parameter]:
        return [each for each in self.parameters if each.is_output]

    def plain(self, *kinds: str) -> list[Parameter]:
        return [each for each in self.parameters if each.kind in kinds]

    def types_of(self, name: str) -> tuple[np.dtype, ...]:
        """Those that a tensor may have."""
        return self.takes.get(name, self.types)

    @property
    def first_types(self) -> tuple[np.dtype, ...]:
        """Those of the first tensor, which cases turn through."""
        first = next(each for each in self.parameters if each.name in self.uses)
        return self.types_of(first.name)


def load(family: str = "A2", by_page: bool = True) -> list[Record]:
    """Every operator of every topic, as a family of products has it; of all types that it computes,
    if not of those that a page lists."""
    return [_record(each, family, by_page) for topic in read_topics() for each in topic.operators]


def _taken(operator, parameter, family: str) -> set[str] | None:
    """The types that a tensor may have. A family that lacks the operator gets, where products are
    lenient, those of all that have it."""
    if family in operator.families:
        return operator.takes(parameter, family)
    every = [operator.takes(parameter, each) for each in operator.families]
    return None if None in every else set().union(*every)


def _record(operator, family: str, by_page: bool) -> Record:
    given = operator.record
    lacks = LACKING.get(family, set())
    listed = {
        each.name: frozenset(types) - lacks
        for each in operator.parameters
        if by_page and each.role and (types := _taken(operator, each, family)) is not None
    }
    types = tuple(
        each for each in _types(given["types"]) if _acl_name(each) not in lacks
    )
    takes = {
        name: tuple(each for each in types if _acl_name(each) in allowed)
        for name, allowed in listed.items()
    }
    if len(takes) == sum(bool(each.role) for each in operator.parameters):
        types = tuple(each for each in types if any(each in own for own in takes.values()))
    parameters = tuple(
        Parameter(each.name, each.kind.removeprefix("const "), each.optional)
        for each in operator.parameters
    )
    every = tuple(each.name for each in parameters if each.kind == "in")
    usual = "foreach" if given.get("engine") == "Foreach" else "elementwise"
    return Record(
        name=operator.name,
        parameters=parameters,
        types=types,
        takes=takes,
        families=tuple(operator.families),
        listed=listed,
        has_bf16="BF16" not in lacks,
        numpy=given.get("numpy"),
        cases=given.get("cases", usual),
        samples=given.get("samples", {}),
        as_given=tuple(given.get("as_given", ())),
        factors=tuple(given.get("factors", ())),
        over=every if "expression" in given else tuple(given.get("over", ())),
        in_place=parameters[0].name == "selfRef",
        one_value="one_value" in given,
        topic=operator.topic,
        modes=operator.modes,
        uses={
            each.name: [use for _, use in operator.use(each)]
            for each in operator.parameters
            if each.role
        },
    )


def _acl_name(dtype: np.dtype) -> str:
    """As records have it."""
    if dtype.name == "int4":  # which NumPy has no number for
        return "INT4"
    return dtypes.of(dtype).acl_name.replace("BFLOAT16", "BF16")


def _types(given: str | list[str]) -> tuple[np.dtype, ...]:
    """By name, or a list of those that the API has."""
    if isinstance(given, str):
        return TYPES[given]
    # Messages and tables say BFLOAT16, the C enumeration ACL_BF16; NumPy has no COMPLEX32.
    names = ("BFLOAT16" if each == "BF16" else each for each in given if each != "COMPLEX32")
    return tuple(dtypes.parse(dtypes.name_of(each)) for each in names)
