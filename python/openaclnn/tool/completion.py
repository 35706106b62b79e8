# SPDX-License-Identifier: Apache-2.0
"""Names that a shell completes: operators, topics, products. Without the libraries there are none."""

from ..native import libraries
from ..errors import Error

_PREFIX = "aclnn"


def operators(incomplete: str) -> list[str]:
    """Names that `call` takes: with `aclnn` where that is typed, else without."""
    from ..operators import OPERATORS  # with NumPy, which the start of a program does not need

    apis = _apis()
    if incomplete.startswith(_PREFIX):
        return _beginning(incomplete, apis)
    rooms = [each.name for each in OPERATORS]
    plain = [each.removeprefix(_PREFIX) for each in apis]
    found = _beginning(incomplete, [*rooms, *plain])
    if incomplete and incomplete.islower():  # `matmul` is a name of Matmul
        lower = _beginning(incomplete, [each.lower() for each in plain])
        found += [each for each in lower if each not in found]
    return found


def listed(incomplete: str) -> list[str]:
    """Names that `list` takes."""
    return [*_beginning(incomplete, _topics()), *operators(incomplete)]


def products(incomplete: str) -> list[str]:
    """Values of --soc."""
    try:
        return _beginning(incomplete, list(libraries.load().support.products))
    except Error:
        return []


def _apis() -> list[str]:
    try:
        return libraries.load().support.apis
    except Error:
        return []


def _topics() -> list[str]:
    from ..native import topics

    try:
        return [each.name for each in topics.read(libraries.find())]
    except Error:
        return []


def _beginning(incomplete: str, names: list[str]) -> list[str]:
    return [each for each in names if each.startswith(incomplete)]
