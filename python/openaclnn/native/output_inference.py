# SPDX-License-Identifier: Apache-2.0
"""Calls operators and finds the shapes and types of outputs that the caller has not given.

The first guess is the common shape of the inputs, and the type that an attribute `dtype` names, else
that of the first input. If phase 1 refuses the guess, its message says what it expected, and it is
called again with that. So the form of a refusal (src/frame/checker.h) is an interface: the records
have no copy of what the checks know. tests/supporting/test_functions.py calls every supporting
operator in this way, and fails if a refusal has other words.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import dtypes
from ..errors import AclError
from ..operators.operator import Function, Problem, View
from . import call
from .declared import Declared
from .runtime import Runtime

# The form of all refusals of operators: <operand> <property> is <got>, expected <want>. A text of
# the user's may be in it: of a long word a search without \b begins again at each letter.
_REFUSAL = re.compile(r"\b(\w+) (shape|rank|dtype) is (.*?), expected (.*)")
_SHAPE = re.compile(r"\((\d+(?:, \d+)*)?\)")
# Formulas whose values are true or false: such an output is of truth values.
_TRUTH = re.compile(
    r"^\s+out = (whether\b|\(?self (?:[!=<>]=|[<>]|is) [^?]*$|\|self - other\| <=)", re.M
)
_FLOATS = tuple(each.numpy for each in dtypes.all_types() if each.acl_name in dtypes.FLOATS)
_NAME = re.compile(r"\b[A-Z][A-Z0-9]*\b")


@dataclass
class Output:
    """An output, or a member of a list of them; None: as the operator wants it."""

    shape: tuple[int, ...] | None = None
    dtype: np.dtype | None = None


Outputs = dict[str, Output | View | list[Output] | list[View]]


def run(runtime: Runtime, api: str, declared: Declared, problem: Problem, outputs: Outputs):
    """Calls it once; `problem` has the inputs and the attributes. The outputs, by name."""
    whole = Problem(problem.inputs, problem.attributes, settled(runtime, api, declared, problem, outputs))
    return call.run(runtime, _function(api, declared), whole)


def settled(runtime: Runtime, api: str, declared: Declared, problem: Problem, outputs: Outputs) -> dict:
    """The outputs as the operator wants them, as a problem has them."""
    truth = np.dtype(bool) if _TRUTH.search(declared.comment) else None
    guesses = _Guesses(problem, outputs, truth)
    function = _function(api, declared)
    # Phase 1 looks at no values: for what it refuses the inputs need not travel.
    while guesses.are_open:
        asked = Problem(guesses.inputs, problem.attributes, guesses.outputs())
        try:
            call.check(runtime, function, asked)
            break
        except AclError as error:
            if not guesses.learn(error.message):
                raise
    return guesses.outputs()


def _function(api: str, declared: Declared) -> Function:
    return Function(api, tuple(each.parameter for each in declared.arguments))


def precision(inputs: dict) -> type[np.floating]:
    """That of a scalar beside these operands."""
    arrays = [array for each in inputs.values() for array in _members(each)]
    return np.float64 if any(each.dtype == np.float64 for each in arrays) else np.float32


def list_length(inputs: dict) -> int:
    """How many results there are in a list that has one word for all: as the first list of inputs."""
    return next((len(each) for each in inputs.values() if isinstance(each, list)), 1)


class _Guesses:
    """Guesses of the outputs, and the operator's answers to them."""

    def __init__(self, problem: Problem, outputs: Outputs, dtype: np.dtype | None):
        self.inputs = {name: _described(value) for name, value in problem.inputs.items()}
        self._dtype = dtype or _named_dtype(problem.attributes)
        self._heard: set[tuple] = set()
        self._given, self._guessed = outputs, {}
        for name, output in outputs.items():
            many = isinstance(output, list)
            members = output if many else [output]
            made = [self._first(each, k if many else None) for k, each in enumerate(members)]
            self._guessed[name] = made if many else made[0]

    @property
    def are_open(self) -> bool:
        """Whether there is anything that nobody gave."""
        return any(
            isinstance(each, Output) and None in (each.shape, each.dtype)
            for output in self._given.values()
            for each in _members(output)
        )

    def outputs(self) -> dict:
        """As a problem has them."""
        return {
            name: [_as_given(each) for each in output]
            if isinstance(output, list)
            else _as_given(output)
            for name, output in self._guessed.items()
        }

    def learn(self, message: str) -> bool:
        """Takes over what the refusal expects of an output; False if it says nothing new."""
        said = _REFUSAL.search(message)
        if said is None:
            return False
        name, quality, got, expected = said.groups()
        if name not in self._given:
            return self._follow(name, quality, expected)
        learned = False
        for k, guess in enumerate(_members(self._guessed[name])):
            # In a list it may be another member.
            if quality == "rank" or got == _said(getattr(guess, quality, None)):
                value = self._expected(quality, expected, guess)
                learned |= self._take(name, k, quality, value)
        return learned

    def _follow(self, name: str, quality: str, expected: str) -> bool:
        """An input should be as an output is: then that becomes as the input, of a list as its first."""
        output = re.match(r"that of (\w+)", expected)
        if output is None or output[1] not in self._given or not self.inputs.get(name):
            return False
        operand = _members(self.inputs[name])[0]
        return self._take(output[1], 0, quality, operand[quality == "dtype"])

    def _take(self, name: str, member: int, quality: str, value) -> bool:
        """Makes it so, unless the caller said otherwise or that was tried."""
        field = "dtype" if quality == "dtype" else "shape"
        asked, guess = (_members(each[name])[member] for each in (self._given, self._guessed))
        tried = (name, member, guess.shape, guess.dtype, value)
        if value is None or tried in self._heard or getattr(asked, field) is not None:
            return False
        self._heard.add(tried)
        setattr(guess, field, value)
        return True

    def _expected(self, quality: str, text: str, guess: Output):
        """A shape or a type from what a refusal expects; None if it names none."""
        operands = dict(self._whole())
        other = operands.get((re.match(r"that of (\w+)", text) or [None, None])[1])
        if quality == "dtype":
            if text.startswith("a float type"):
                return self._float()
            named = filter(None, map(dtypes.of_acl_name, _NAME.findall(text)))
            return other[1] if other else next(named, None)
        if quality == "rank":
            rank = re.match(r"\d+", text)
            return (1,) * int(rank[0]) if rank else None
        shape = _shape(text, guess.shape)
        return other[0] if shape is None and other else shape

    def _float(self) -> np.dtype:
        """The first float type of the inputs, but DOUBLE where there is one."""
        types = [dtype for each in self.inputs.values() for _, dtype in _members(each)]
        floats = [each for each in types if each in _FLOATS]
        if np.dtype(np.float64) in floats:
            return np.dtype(np.float64)
        return floats[0] if floats else np.dtype(np.float32)

    def _first(self, output: Output | View, member: int | None) -> Output | View:
        if isinstance(output, View):
            return output
        shape = output.shape
        if shape is None:
            lists = [each for each in self.inputs.values() if isinstance(each, list)]
            # Members of lists are made from members: a tensor beside them has scalars.
            operands = lists if member is not None and lists else self.inputs.values()
            shape = _common([_of_member(each, member) for each in operands])
        return Output(shape, output.dtype or self._dtype or self._first_dtype())

    def _first_dtype(self) -> np.dtype:
        for value in self.inputs.values():
            for _, dtype in _members(value):
                return dtype
        return np.dtype(np.float32)

    def _whole(self) -> Iterator[tuple[str, tuple]]:
        """The operands that are no lists."""
        for name, each in {**self.inputs, **self.outputs()}.items():
            if isinstance(each, View):
                yield name, (each.array.shape, each.array.dtype)
            elif not isinstance(each, list):
                yield name, each


def _named_dtype(attributes: dict) -> np.dtype | None:
    """The type that an attribute `dtype` asks for."""
    number = attributes.get("dtype")
    return dtypes.of_number(number) if isinstance(number, int) else None


def _described(value):
    """An operand's shape and type; of a list those of each member."""
    if isinstance(value, list):
        return [(each.shape, each.dtype) for each in value]
    return value.shape, value.dtype


def _of_member(value, member: int | None) -> tuple[int, ...]:
    """The shape that takes part: of a list that of the same member, else of the first."""
    if not isinstance(value, list):
        return value[0]
    if not value:
        return ()
    return value[member if member is not None and member < len(value) else 0][0]


def _common(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except (ValueError, RuntimeError):  # the latter of more dimensions than NumPy can broadcast
        return shapes[0]


def _members(value) -> list:
    return value if isinstance(value, list) else [value]


def _as_given(output: Output | View):
    return output if isinstance(output, View) else (output.shape, output.dtype)


def _said(value: tuple | np.dtype) -> str:
    """As refusals say it."""
    if isinstance(value, tuple):
        return f"({', '.join(map(str, value))})"
    return dtypes.of(value).acl_name


def _shape(text: str, guess: tuple[int, ...]) -> tuple[int, ...] | None:
    """(2, 3); 4 in dimension 0; one, 6 or no elements."""
    length = re.match(r"(\d+) in dimension (\d+)", text)
    if length and int(length[2]) < len(guess):
        made = list(guess)
        made[int(length[2])] = int(length[1])
        return tuple(made)
    whole = _SHAPE.search(text)
    if whole:
        return tuple(map(int, whole[1].split(", "))) if whole[1] else ()
    if text.startswith("one element"):
        return ()
    count = re.match(r"(no|\d+) elements?\b", text)
    return (0 if count[1] == "no" else int(count[1]),) if count else None
