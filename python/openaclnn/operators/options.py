# SPDX-License-Identifier: Apache-2.0
"""Options that operators share: arrays from files, from a text, or at random."""

import math
from pathlib import Path
from typing import Annotated

import numpy as np

from .. import dtypes
from ..errors import InputError, quoted
from ..files import literal, npy
from ..native import libraries

FLOATS = ("float32", "bfloat16", "float16")
HALVES = ("float16", "bfloat16")

MOST = 2**31 - 1  # of anything that is counted


class Option:
    """An option of the command line; the tool makes its parser's own of it.

    The library itself needs no parser: it imports with NumPy alone.
    """

    def __init__(
        self,
        *names: str,  # where it is not the parameter's own
        help: str,
        metavar: str | None = None,
        min: int | None = None,
        max: int | None = None,
        unit: int = 1,  # whose multiples it takes
    ):
        self.names = names
        self.settings = {"help": help, "metavar": metavar, "min": min, "max": max}
        self.unit = unit

    def check(self, name: str, value: int) -> None:
        if value % self.unit != 0:
            raise InputError(f"{name} is {value}, expected a multiple of {self.unit}")


TextFile = Annotated[
    Path | None, Option("--text", metavar="FILE", help="Make the arrays from this text.")
]
Width = Annotated[
    int | None, Option(min=1, help="With --text: elements of a word's vector (256).")
]
Seed = Annotated[int, Option(min=0, help="Seed of random arrays.")]


def file(what: str):
    """The option of an operand's file."""
    return Annotated[Path | None, Option(metavar="TENSOR", help=f"{what}: .npy or numbers.")]


def shape(form: str, what: str):
    """The option that asks for random arrays of a shape."""
    return Annotated[
        str | None, Option("--shape", metavar=form, help=f"Make random arrays: {what}.")
    ]


def dtype(names: tuple[str, ...]):
    """The option of the floating type."""
    listed = ", ".join(names)
    return Annotated[
        str | None,
        Option(
            "--dtype", help=f"Compute in {listed}; default: that of the files, else {names[0]}."
        ),
    ]


def check_dtype(name: str | None, names: tuple[str, ...]) -> None:
    if name is not None and name not in names:
        raise InputError(f"--dtype is {quoted(name)}, expected one of {', '.join(names)}")


def check_source(files: dict[str, Path | None], needed: list[str], **others: object) -> None:
    """Exactly one source of arrays: files, of which some are needed, or one of the others."""
    named = [name for name, value in others.items() if value is not None]
    some_file = any(path is not None for path in files.values())
    if len(named) + some_file != 1:
        ways = " or ".join(f"--{name}" for name in others)
        raise InputError(f"expected either --{needed[0]} FILE and its companions or {ways}")
    missing = [name for name in needed if some_file and files[name] is None]
    if missing:
        raise InputError(f"--{missing[0]} is missing, expected --{missing[0]} FILE")


def check_companions(source: str, given: bool, **companions: object) -> None:
    """Refuses options that only belong to a source of arrays which is not named."""
    for name, value in companions.items():
        if value is not None and not given:
            option = name.replace("_", "-")
            raise InputError(f"--{option} is for --{source}, expected it with --{source}")


def check_alone(source: str, **others: object) -> None:
    """Refuses options that belong to other sources of arrays than the one that is named."""
    for name, value in others.items():
        if value is not None:
            option = name.replace("_", "-")
            raise InputError(f"--{option} is given, expected it without --{source}")


def load_floats(
    api: str, files: dict[str, Path | None], dtype: str | None
) -> dict[str, np.ndarray]:
    """The named files as operands of one floating type, by the names that the C function gives."""
    arrays: dict[str, np.ndarray] = {}
    for operand, path in files.items():
        taken = libraries.load().support.dtypes(api, operand)
        allowed = [each for each in taken if each in FLOATS]
        if dtype is not None:
            array = _read(path, operand, [*allowed, "float64"])
            with np.errstate(over="ignore"):
                array = array.astype(dtypes.parse(dtype))
        else:
            array = _read(path, operand, allowed)
        arrays[operand] = array
        first, kind = next((name, each.dtype) for name, each in arrays.items())
        if array.dtype != kind:
            raise InputError(
                f"{path}: {operand} dtype is {array.dtype}, expected {kind}, that of {first}"
            )
    return arrays


def load(api: str, operand: str, path: Path) -> np.ndarray:
    """A file or numbers as an operand of any dtype that the operator takes."""
    return _read(path, operand, libraries.load().support.dtypes(api, operand))


def _read(path: Path, operand: str, allowed: list[str]) -> np.ndarray:
    """The array that an option names: a file, or its numbers as `call` takes them."""
    text = str(path)
    if not literal.is_one(text):
        return npy.load(path, operand, allowed)
    array = literal.read(text, operand)
    if array.dtype.name not in allowed:
        expected = f"expected {' or '.join(allowed)}{literal.hint(text, array, allowed)}"
        raise InputError(f"{operand} dtype is {array.dtype}, {expected}")
    return array


def extents(text: str, form: str, option: str = "--shape") -> tuple[int, ...]:
    """The numbers of an option that looks like `form`, such as T,N,D."""
    letters = form.split(",")
    try:
        numbers = tuple(int(each) for each in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) != len(letters) or min(numbers) < 0 or max(numbers) > MOST:
        expected = f"{form}: {len(letters)} whole numbers to {MOST}"
        raise InputError(f"{option} is {quoted(text)}, expected {expected}")
    return numbers


def normal(random: np.random.Generator, shape: tuple[int, ...], dtype: str | None) -> np.ndarray:
    """Random numbers of a floating type, float64 included."""
    if math.prod(shape) > 2**60:  # NumPy says that otherwise
        raise MemoryError
    if dtype == "float64":
        return random.standard_normal(shape)
    return random.standard_normal(shape, np.float32).astype(dtypes.parse(dtype or "float32"))
