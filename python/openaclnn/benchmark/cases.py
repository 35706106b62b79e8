# SPDX-License-Identifier: Apache-2.0
"""The measured cases of an operator: shapes, data, and how its peers do the same work.

Each module of `rooms` defines BENCHES; it is found there, so that a new one edits nothing else.
"""

import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import dtypes
from ..operators.operator import Problem

STATED, SWEEP, TINY = "stated", "sweep", "tiny"
ALL = ("float32", "bfloat16", "float16")
HALVES = ("bfloat16", "float16")

# A way of a peer: what it is called, and a function that does the work and returns the outputs in
# the order of the operator's.
Ways = dict[str, Callable[[], Any]]


@dataclass(frozen=True)
class Case:
    """A shape, in some types."""

    name: str
    problem: Callable[[str], Problem]  # of a type
    dtypes: tuple[str, ...] = ALL
    kind: str = STATED


@dataclass(frozen=True)
class Bench:
    """An operator's cases, and its peers' ways, each made from the peer and the arguments."""

    operator: str
    cases: tuple[Case, ...]
    ways: dict[str, Callable[[Any, Problem], Ways]] = field(default_factory=dict)
    target: float | None = None  # of the geometric mean against the fastest peers


def benches(names: Iterable[str] = ()) -> list[Bench]:
    """All of them, or those of the named operators, by name."""
    from . import rooms

    found: list[Bench] = []
    for each in pkgutil.iter_modules(rooms.__path__):
        found += importlib.import_module(f"{rooms.__name__}.{each.name}").BENCHES
    wanted = set(names)
    chosen = [each for each in found if not wanted or each.operator in wanted]
    return sorted(chosen, key=lambda each: each.operator)


def rows(operators: Iterable[str], kinds: Collection[str]) -> Iterator[tuple[Bench, Case, str]]:
    """Each case of the kinds in each of its types, in the same order in every process."""
    for bench in benches(operators):
        for case in bench.cases:
            for dtype in case.dtypes if case.kind in kinds else ():
                yield bench, case, dtype


def normal(seed: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    values = np.random.default_rng(seed).standard_normal(shape, np.float32)
    return np.asarray(values).astype(dtypes.parse(dtype))


def zipf(seed: int, count: int, rows: int) -> np.ndarray:
    """Indices as words are: row k has a share of 1 / (k + 1), and rows are shuffled."""
    random = np.random.default_rng(seed)
    edges = np.cumsum(1.0 / np.arange(1, rows + 1))
    drawn = np.searchsorted(edges, random.random(count) * edges[-1])
    return random.permutation(rows)[np.minimum(drawn, rows - 1)]
