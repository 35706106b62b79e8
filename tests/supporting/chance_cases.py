# SPDX-License-Identifier: Apache-2.0
"""Arguments of random numbers of every value that a type has, and of exponential ones."""

from cases import Case, Draw
from more_cases import SEEDS, _seeds


def all_integers(d: Draw) -> Case:
    given = _seeds(d) | {"selfRef": d.array(d.shape(), None, "tame")}
    return Case(given, "integer", stored=("selfRef", *SEEDS), conversion=True)


def exponential(d: Draw) -> Case:
    array = d.array(d.shape(), None, "tame")
    given = _seeds(d) | {"self": array, "count": array.size, "lambd": d.one((0.25, 1.0, 3.5))}
    return Case(given, "double", stored=("self",))
