# SPDX-License-Identifier: Apache-2.0
"""The worked example of each operator, as the command line takes it and as Python does."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from conftest import Finished, refused, save

import openaclnn
from openaclnn.tool import operator_commands
from openaclnn.operators import OPERATORS, VERSIONS
from openaclnn.operators.operator import Example, Operator


@dataclass(frozen=True)
class Worked:
    """An operator and its example."""

    operator: Operator

    @property
    def name(self) -> str:
        return self.operator.name

    @cached_property
    def example(self) -> Example:
        return self.operator.example()

    def arguments(self, folder: Path) -> list[str]:
        """The options of the inputs, whose files are in `folder`."""
        found = []
        for name, array in self.example.arrays.items():
            save(folder / file_of(name), array)
            found += [option_of(name), file_of(name)]
        for name, value in self.example.attributes.items():
            found += [option_of(name), _spelled(value)]
        return found

    @property
    def outputs(self) -> dict[str, tuple[str, np.ndarray]]:
        """The option of each output, and its values."""
        expected = self.example.outputs.items()
        return {name: (operator_commands.spelled(name), array) for name, array in expected}

    @property
    def writes(self) -> list[str]:
        """The options of the outputs."""
        return [part for option, _ in self.outputs.values() for part in (option, f"{option}.npy")]

    def call(self, arrays: dict[str, np.ndarray] | None = None) -> tuple[np.ndarray, ...]:
        """What the Python function returns, of the example's arrays or of others."""
        (function,) = (name for name, found in VERSIONS.items() if self.operator in found)
        taken = (arrays or self.example.arrays).values()
        results = getattr(openaclnn, function)(*taken, **self.example.attributes)
        return results if isinstance(results, tuple) else (results,)


def option_of(name: str) -> str:
    """The option of a parameter of `read`."""
    return "--" + name.replace("_", "-")


def file_of(name: str) -> str:
    """The file of an array."""
    return f"{name.replace('_', '-')}.npy"


def _spelled(value) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


WORKED = [Worked(each) for each in OPERATORS]
BY_NAME = {each.name: each for each in WORKED}
# The options of random arrays, of the operators that make some.
RANDOM = {each.name: each.random.options.split() for each in OPERATORS}


def refuses_array(here, folder: Path, operator: str, name: str, array, parts: list[str]) -> None:
    """Every verb refuses the example with another array in one place, and writes nothing."""
    worked = BY_NAME[operator]
    arguments = worked.arguments(folder)
    assert (folder / f"{name}.npy").is_file()
    save(folder / f"{name}.npy", array)
    before = sorted(folder.iterdir())
    refused(here("call", operator, *arguments, *worked.writes), 2, *parts)
    refused(here("check", operator, *arguments), 2, *parts)
    if worked.operator.derivative:
        refused(here("check", operator, "--derivatives", *arguments), 2, *parts)
    assert sorted(folder.iterdir()) == before
    # A check of files runs no operator, and refuses the same.
    dtype = next(iter(worked.example.arrays.values())).dtype
    for option, expected in worked.outputs.values():
        save(folder / f"{option}.npy", expected.astype(dtype))
    refused(here("check", operator, *arguments, *worked.writes), 2)


def takes_nothing(here, operator: str, *options: str) -> None:
    """Every verb of a gradient takes arrays without elements."""
    for verb, *more in (["check"], ["check", "--derivatives"], ["bench"]):
        run: Finished = here(verb, operator, *more, *options)
        assert run.code == 0, run


def operations(here, operator: str) -> int:
    """The multiplications and additions that `bench` counts, of the random arrays."""
    return here("bench", operator, *RANDOM[operator], "--json").json["timing"]["operations"]
