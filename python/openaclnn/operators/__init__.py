# SPDX-License-Identifier: Apache-2.0
"""The operators: each module here that defines OPERATOR, or OPERATORS where it has versions.

A module that defines neither holds what several share.
"""

import importlib
import pkgutil

from .operator import Operator


def _discover() -> dict[str, tuple[Operator, ...]]:
    found = {}
    for each in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{each.name}")
        if hasattr(module, "OPERATOR"):
            found[each.name] = (module.OPERATOR,)
        elif hasattr(module, "OPERATORS"):
            found[each.name] = module.OPERATORS
    return found


# By the name of the module, which is that of the Python function and of the first version.
VERSIONS: dict[str, tuple[Operator, ...]] = dict(sorted(_discover().items()))

OPERATORS: tuple[Operator, ...] = tuple(
    sorted(
        (each for versions in VERSIONS.values() for each in versions),
        key=lambda each: (each.derivative is None, each.name),  # gradients first
    )
)
GRADIENTS = tuple(each for each in OPERATORS if each.derivative is not None)
FORWARDS = tuple(each for each in OPERATORS if each.derivative is None)
