# SPDX-License-Identifier: Apache-2.0
"""The operators as Python functions on NumPy arrays, each made from its module's `problem`.

Each returns new arrays. What an operator refuses raises AclError, with the operator's own message;
shapes that give no shape of a result raise InputError, a ValueError.
"""

import inspect
from collections.abc import Callable
from typing import get_args

import numpy as np

from .native import call, runtime
from .operators import VERSIONS
from .operators.operator import Operator, Problem

Result = np.ndarray | tuple[np.ndarray, ...]


def function(name: str) -> Callable[..., Result]:
    """openaclnn.<name>: the parameters and the words of `problem`, the results of the operator."""
    versions = VERSIONS[name]
    signature = _signature(versions[0])

    def run(*positional, **named) -> Result:
        try:
            given = signature.bind(*positional, **named).arguments
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        values = {each: _operand(signature.parameters[each], it) for each, it in given.items()}
        problem = versions[0].problem(**values)
        outputs = call.run(runtime.start(), _version(versions, problem).function, problem)
        results = tuple(outputs.values())
        return results if len(results) > 1 else results[0]

    run.__name__ = run.__qualname__ = name
    run.__module__ = __package__
    run.__doc__ = versions[0].problem.__doc__
    run.__signature__ = signature
    run.__annotations__ = {
        **{each.name: each.annotation for each in signature.parameters.values()},
        "return": signature.return_annotation,
    }
    return run


def _signature(operator: Operator) -> inspect.Signature:
    """That of `problem`, which returns as many arrays as the operator has outputs."""
    outputs = len(operator.function.output_names)
    returned = np.ndarray if outputs == 1 else tuple[(np.ndarray,) * outputs]
    return inspect.signature(operator.problem).replace(return_annotation=returned)


def _operand(parameter: inspect.Parameter, value):
    """Turns an array-like value into an array; None where that may be left out."""
    wanted = parameter.annotation
    if wanted is np.ndarray or (np.ndarray in get_args(wanted) and value is not None):
        return np.asarray(value)
    return value


def _version(versions: tuple[Operator, ...], problem: Problem) -> Operator:
    """The version that takes these attributes; by them the versions of an operator differ."""
    for each in versions:
        if set(each.function.attribute_names) == problem.attributes.keys():
            return each
    return versions[0]  # whose call says what the problem lacks
