# SPDX-License-Identifier: Apache-2.0
"""Other libraries that do the operators' work: a module each, found here.

A module defines PEER, a Peer that is made with a number of threads and raises ImportError where its
library is missing. Of one the benchmark uses `name`, `version()`, `ways(bench, problem)`, which are
functions that return when the work is done, and `arrays(outputs)`, those as float64.
"""

import importlib
import pkgutil
from dataclasses import dataclass

from ...operators.operator import Problem
from ..cases import Bench, Ways


class Peer:
    """The ways that a bench has under its name, and the version of its Python module."""

    def version(self) -> str:
        return self.module.__version__

    def ways(self, bench: Bench, problem: Problem) -> Ways:
        make = bench.ways.get(self.name)
        return make(self, problem) if make else {}


@dataclass(frozen=True)
class Missing:
    """A peer that is not measured."""

    peer: str
    why: str


def find(threads: int) -> tuple[list, list[Missing]]:
    """The peers of this Python, and those that it lacks."""
    found, missing = [], []
    for each in pkgutil.iter_modules(__path__):
        peer = importlib.import_module(f"{__name__}.{each.name}").PEER
        try:
            found.append(peer(threads))
        except (ImportError, OSError) as error:
            missing.append(Missing(peer.name, str(error)))
    return found, missing
