# SPDX-License-Identifier: Apache-2.0
"""What the tool has to know about an operator, and one set of arguments for it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ..libraries import Toolkit
from ..text import Text


@dataclass(frozen=True)
class Input:
    """An input tensor, by the name that the C function gives it; null where it may be left out."""

    name: str


@dataclass(frozen=True)
class Output:
    """An output tensor, by the name that the C function gives it."""

    name: str


@dataclass(frozen=True)
class Attribute:
    """A plain C argument and the ctypes type that carries it."""

    name: str
    ctype: type


@dataclass(frozen=True)
class String:
    """A char* argument; None is null."""

    name: str


@dataclass(frozen=True)
class IntArray:
    """An aclIntArray argument; None is null."""

    name: str


Parameter = Input | Output | Attribute | String | IntArray
AttributeValue = int | float | bool | str | list[int] | None


@dataclass(frozen=True)
class Function:
    """A two-phase C function and its parameters in order, the last two of phase 1 left out."""

    api: str
    parameters: tuple[Parameter, ...]

    @property
    def output_names(self) -> list[str]:
        return [each.name for each in self.parameters if isinstance(each, Output)]


@dataclass(frozen=True)
class Problem:
    """One set of arguments: arrays, attributes, and the shape and dtype of each output."""

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
class Operator:
    """An operator of the command-line tool."""

    name: str
    function: Function
    summary: str
    example: str  # the options of an example command, shown by --help
    read: Callable[..., Problem]  # its annotated parameters are the command-line options
    reference: Callable[[Toolkit, Problem], dict[str, Reference]]
    demo: Callable[[Text, int], Iterable[Problem]]  # problems made from a text, of a given width
    derivative: Derivative | None = None  # none: a forward operator
