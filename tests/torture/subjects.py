# SPDX-License-Identifier: Apache-2.0
"""All operators, each with arguments that it takes."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "supporting"), str(ROOT / "python")]

import driver
import records
from openaclnn import operators
from openaclnn.operators.operator import Function, Problem


@dataclass(frozen=True)
class Subject:
    """An operator, and calls of it that are not refused."""

    function: Function
    problems: Callable[[], Iterator[Problem]]


def drawn(record: records.Record) -> Iterator[Problem]:
    """Those of a record's cases that are not refused."""
    for number in range(driver.count_of(record)):
        prepared = driver.prepare(record, number)
        if not prepared.refused:
            yield prepared.problem


def subjects(draw: Callable[[records.Record], Iterator[Problem]] = drawn) -> list[Subject]:
    """Every operator: `draw` makes the calls of a record, rooms have an example."""
    found = [Subject(each.function, lambda each=each: draw(each)) for each in records.load()]
    for operator in operators.OPERATORS:
        found.append(Subject(operator.function, lambda each=operator: _example(each)))
    return found


def _example(operator) -> Iterator[Problem]:
    example = operator.example()
    yield operator.problem(*example.arrays.values(), **example.attributes)
