# SPDX-License-Identifier: Apache-2.0
"""What the tool has to know about an operator, and one set of arguments for it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ..libraries import Toolkit
from ..text import Text


@dataclass(frozen=True)
class Input:
    """An input tensor, by the name that the C function gives it."""

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
class Function:
    """A two-phase C function and its parameters in order, the last two of phase 1 left out."""

    api: str
    parameters: tuple[Input | Output | Attribute, ...]

    @property
    def output_names(self) -> list[str]:
        return [each.name for each in self.parameters if isinstance(each, Output)]


@dataclass(frozen=True)
class Problem:
    """One set of arguments: arrays, attributes, and the shape and dtype of each output."""

    inputs: dict[str, np.ndarray]
    attributes: dict[str, int]
    outputs: dict[str, tuple[tuple[int, ...], np.dtype]]
    note: str = ""

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
    magnitude: np.ndarray  # the same sum over the terms' absolute values
    terms: np.ndarray  # how many terms; broadcast against value


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
