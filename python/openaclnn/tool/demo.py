# SPDX-License-Identifier: Apache-2.0
"""Runs, checks and times the operators of rooms on a real text."""

from dataclasses import dataclass
from pathlib import Path

from ..errors import AclError, ExitCode, InputError, NotSupported
from ..files.text import Text
from ..native import runtime
from ..operators import OPERATORS, nsa_windows
from ..operators.operator import Operator, Problem
from . import report, verbs
from .report import Run

TEXT = Path("share/openaclnn/alice29.txt")  # in the toolkit
_ROUNDS = 1  # of timing: all operators within some 15 s


@dataclass(frozen=True)
class Refusal:
    """A row that the product cannot have."""

    operator: str
    dtype: str
    message: str


def run(text: Text, width: int) -> tuple[list[Run], list[Refusal]]:
    """The rows of all operators, and those that the product refuses; it refuses not all of them."""
    longest = int(text.paragraphs.max())
    if longest < nsa_windows.DEMO_BLOCK:
        raise InputError(
            f"the text's longest paragraph has {longest} {'word' if longest == 1 else 'words'},"
            f" expected {nsa_windows.DEMO_BLOCK} or more: windows over words are so long"
        )
    rows = [
        _row(operator, problem)
        for operator in OPERATORS
        for problem in operator.demo.problems(text, width)
    ]
    runs = [row for row in rows if isinstance(row, Run)]
    refusals = [row for row in rows if isinstance(row, Refusal)]
    if not runs:
        raise NotSupported(refusals[0].message)
    return report.under_one_roof(runs), refusals


def _row(operator: Operator, problem: Problem) -> Run | Refusal:
    try:
        results = verbs.compare(operator, problem, {})
    except AclError as error:
        product = runtime.start().kit.configuration()["product"]
        of_product = str(error).endswith(f" on {product}")
        if not of_product and error.exit_code != ExitCode.NOT_SUPPORTED:
            raise
        return Refusal(operator.name, problem.dtype, str(error))
    return Run(operator, problem, results, verbs.timing(operator, problem, _ROUNDS))
