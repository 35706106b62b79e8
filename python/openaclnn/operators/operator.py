# SPDX-License-Identifier: Apache-2.0
"""The description of an operator for the tool, and one set of arguments for it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from ..files.text import Text
from ..native.libraries import Toolkit


@dataclass(frozen=True)
class Parameter:
    """A parameter, by the name that the C function gives it."""

    name: str


class Input(Parameter):
    """An input tensor; null where it may be left out."""


class Output(Parameter):
    """An output tensor."""


@dataclass(frozen=True)
class Attribute(Parameter):
    """A plain C argument and the ctypes type that carries it."""

    ctype: type


class String(Parameter):
    """A char* argument; None is null."""


class IntArray(Parameter):
    """An aclIntArray argument; None is null."""


class BoolArray(Parameter):
    """An aclBoolArray argument; None is null."""


class Scalar(Parameter):
    """An aclScalar argument, given as a NumPy scalar of its type; None is null."""


class ScalarList(Parameter):
    """An aclScalarList argument, given as a list of NumPy scalars; None is null."""


class InputList(Parameter):
    """An aclTensorList of inputs; null where it may be left out."""


class OutputList(Parameter):
    """An aclTensorList of outputs; null where it may be left out."""


AttributeValue = (
    int | float | bool | str | list[int] | list[bool] | np.generic | list[np.generic] | None
)


@dataclass(frozen=True)
class Function:
    """A two-phase C function and its parameters in order, the last two of phase 1 left out."""

    api: str
    parameters: tuple[Parameter, ...]

    @property
    def output_names(self) -> list[str]:
        return [each.name for each in self.parameters if isinstance(each, Output | OutputList)]

    @property
    def attribute_names(self) -> list[str]:
        """Names of the parameters that are neither an input nor an output."""
        return [each.name for each in self.parameters if not isinstance(each, (Input, Output))]


@dataclass(frozen=True, eq=False)
class View:
    """An array that keeps its place on the device: strides, offset, and what lies between."""

    storage: np.ndarray  # of one dimension; views of the same one share device memory
    array: np.ndarray  # into it

    @property
    def strides(self) -> list[int]:
        """In elements."""
        return [stride // self.array.itemsize for stride in self.array.strides]

    @property
    def offset(self) -> int:
        """The offset of the first element from the storage's, in elements."""
        addresses = (each.__array_interface__["data"][0] for each in (self.array, self.storage))
        first, start = addresses
        return (first - start) // self.array.itemsize if self.array.size else 0

    def of(self, storage: np.ndarray) -> np.ndarray:
        """This view, of another storage of the same size."""
        strides = self.array.strides
        return np.ndarray(
            self.array.shape, storage.dtype, storage, self.offset * storage.itemsize, strides
        )


@dataclass(frozen=True)
class Problem:
    """One set of arguments: arrays, attributes, and the shape and dtype of each output.

    Arrays are made dense on the device unless they are given as views. Of lists there is one for
    each member. An output that is given as a view begins with what the view holds.
    """

    inputs: dict[str, np.ndarray]  # those that are not null, the floating ones first
    attributes: dict[str, AttributeValue]
    outputs: dict[str, tuple[tuple[int, ...], np.dtype]]
    note: str = ""
    operations: int = 0  # multiplications and additions that the formula cannot do without

    @property
    def read_bytes(self) -> int:
        return sum(array.nbytes for array in self.inputs.values())

    @property
    def write_bytes(self) -> int:
        return sum(
            int(np.prod(shape, dtype=object)) * dtype.itemsize
            for shape, dtype in self.outputs.values()
        )

    @property
    def dtype(self) -> str:
        """The dtype of the first input, which names the computation."""
        return next(iter(self.inputs.values())).dtype.name

    @property
    def shapes(self) -> str:
        """The shapes in order: inputs -> outputs."""
        inputs = ", ".join(_extents(array.shape) for array in self.inputs.values())
        return f"{inputs} -> {', '.join(_extents(shape) for shape, _ in self.outputs.values())}"


def _extents(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "scalar"


@dataclass(frozen=True)
class Reference:
    """The exact result of an output in float64, and what its error may depend on."""

    value: np.ndarray
    magnitude: np.ndarray  # the same sum over the terms' absolute values; 0 for a copy
    terms: np.ndarray  # how many terms; broadcast against value
    roundings: np.ndarray | float = 0.0  # of what the terms are made from, beside those of the sum


@dataclass(frozen=True)
class Point:
    """Where a forward is differentiated, so that a gradient operator's outputs are known.

    They are the derivatives of sum(upstream * forward(variables)).
    """

    variables: dict[str, np.ndarray]  # float64, by the output that is the derivative by it
    forward: Callable[[dict[str, np.ndarray]], np.ndarray]
    upstream: np.ndarray
    exact: Problem  # the gradient's arguments at this point, before anything is rounded
    step: float = 1.0  # of the differences; any one is exact where the forward is linear


@dataclass(frozen=True)
class Derivative:
    """The forward whose derivatives the outputs of a gradient operator are."""

    point: Callable[[Toolkit, Problem], Point]
    small: Callable[[], Iterable[Problem]]  # of few elements, all of which can be tried


@dataclass(frozen=True)
class Demo:
    """The operator's rows of the demonstration."""

    dtypes: tuple[str, ...]  # that of each row
    problems: Callable[[Text, int], Iterable[Problem]]  # made from a text, of a given width


@dataclass(frozen=True)
class Example:
    """A worked example: what goes in, and what must come out, to the bit.

    Arrays and attributes have the names of `read`, which are the tool's options; in the order of
    their fields the arrays are the first arguments of `problem`, which names the attributes alike.
    """

    arrays: dict[str, np.ndarray]
    outputs: dict[str, np.ndarray]  # by the name that the C function gives
    attributes: dict[str, AttributeValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Random:
    """Options of random arrays for the tests: odd extents, no attribute at its default."""

    options: str
    dtypes: tuple[str, ...]  # every one that the operator computes in


@dataclass(frozen=True)
class Operator:
    """All that Python knows of an operator; its module defines one as OPERATOR."""

    name: str
    function: Function
    summary: str
    usage: str  # the options of an example command, shown by --help
    problem: Callable[..., Problem]  # with the parameters and the words of openaclnn.<name>
    read: Callable[..., Problem]  # its annotated parameters are the command-line options
    reference: Callable[[Toolkit, Problem], dict[str, Reference]]
    example: Callable[[], Example]
    demo: Demo
    random: Random
    derivative: Derivative | None = None  # none: a forward operator
