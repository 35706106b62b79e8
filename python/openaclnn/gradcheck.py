# SPDX-License-Identifier: Apache-2.0
"""Compares the outputs of a gradient operator with numerical derivatives of its forward.

The derivative of f(x) = sum(upstream * forward(x)) along a direction v is taken from the forward's
float64 reference at four points,

    (8 (f(x + hv) - f(x - hv)) - (f(x + 2hv) - f(x - 2hv))) / 12h,

and compared with <gradient, v>: for the gradient's float64 reference, and for the operator's own
result. Directions are elements of a variable, all of them where that is little work, and random
signs everywhere.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from . import accuracy
from .accuracy import Accuracy
from .distribution import Distribution
from .dtypes import FLOAT_FORMATS
from .native import call
from .native.runtime import Runtime
from .operators.operator import Operator, Point, Problem, Reference

_ALL_WORK = 1e8  # elements that are tried x elements that each trial goes through: a second or two
_SOME_ELEMENTS = 48
_RANDOM_DIRECTIONS = 16
_TOLERANCE = 1e-9  # of the sum of the derivative's absolute terms: the fifth derivative's share
_ROUNDING = 8 * 2.0**-53  # of what the forward gives, by h


@dataclass(frozen=True)
class Derivation:
    """How one output compares with numerical derivatives."""

    output: str
    tried: int  # elements, beside the random directions
    reference_ratio: float  # the largest |numerical - reference| / allowed
    operator_ratio: float  # the largest |operator - numerical| / allowed
    accuracy: Accuracy  # of the operator against the reference

    @property
    def ok(self) -> bool:
        return self.reference_ratio <= 1 and self.operator_ratio <= 1 and self.accuracy.ok


@dataclass
class Seen:
    """The data that a report draws of an output: difference / allowed of each direction, and the
    errors."""

    distribution: Distribution
    reference: list[float] = field(default_factory=list)
    operator: list[float] = field(default_factory=list)


def run(
    runtime: Runtime,
    operator: Operator,
    problem: Problem,
    seen: Mapping[str, Seen] = MappingProxyType({}),
) -> list[Derivation]:
    """Compares each output of a gradient operator; fills what `seen` has of them."""
    call.check(runtime, operator.function, problem)
    point = operator.derivative.point(runtime.kit, problem)
    rounded = _rounded(point.exact, problem)
    got = call.run_over_nan(runtime, operator.function, rounded)
    exact = operator.reference(runtime.kit, point.exact)
    stored = operator.reference(runtime.kit, rounded)
    return [
        _compare(point, each, got[each], exact[each], stored[each], seen.get(each)) for each in got
    ]


def _rounded(exact: Problem, problem: Problem) -> Problem:
    """The arguments as the operator takes them: in the types and with the attributes asked for."""
    dtypes = {name: array.dtype for name, array in problem.inputs.items()}
    inputs = {name: array.astype(dtypes[name]) for name, array in exact.inputs.items()}
    return replace(problem, inputs=inputs)


def _compare(
    point: Point,
    output: str,
    got: np.ndarray,
    exact: Reference,
    stored: Reference,
    seen: Seen | None,
) -> Derivation:
    form = FLOAT_FORMATS[got.dtype]
    result = got.astype(np.float64)
    # The operator may be off by its bound and one rounding, from what its rounded inputs give.
    with np.errstate(invalid="ignore"):
        rounded = form.ulp(stored.value) / 2 + abs(stored.value - exact.value)
        slack = accuracy.bound(stored) + rounded
    tried = _elements_to_try(point, exact.value.size)
    of_reference, of_operator = [], []
    with np.errstate(invalid="ignore", over="ignore"):
        for direction in _directions(exact.value.shape, tried):
            numerical, allowed = _derivative(point, output, direction)
            error = abs(numerical - _along(exact.value, direction))
            of_reference.append(_worse(0.0, error, allowed))
            error = abs(numerical - _along(result, direction))
            of_operator.append(_worse(0.0, error, allowed + _along(slack, abs(direction))))
    distribution = None
    if seen is not None:
        seen.reference, seen.operator, distribution = of_reference, of_operator, seen.distribution
    compared = accuracy.compare(output, got, stored, distribution=distribution)
    worst = (max(each, default=0.0) for each in (of_reference, of_operator))
    return Derivation(output, len(tried), *worst, compared)


def _elements_to_try(point: Point, size: int) -> np.ndarray:
    """All elements of a variable of `size`, or some."""
    work = point.upstream.size + sum(each.size for each in point.variables.values())
    if size <= _SOME_ELEMENTS or size * work <= _ALL_WORK:
        return np.arange(size)
    return np.random.default_rng(0).choice(size, _SOME_ELEMENTS, replace=False)


def _directions(shape: tuple[int, ...], elements: np.ndarray) -> Iterator[np.ndarray]:
    """Single elements, and random signs of all."""
    size = int(np.prod(shape))
    for element in elements:
        direction = np.zeros(size)
        direction[element] = 1
        yield direction.reshape(shape)
    random = np.random.default_rng(1)
    for _ in range(_RANDOM_DIRECTIONS if size else 0):
        yield random.choice([-1.0, 1.0], shape)


def _derivative(point: Point, output: str, direction: np.ndarray) -> tuple[float, float]:
    """The numerical derivative along a direction, and by how much it may be off."""

    def at(steps: float) -> np.ndarray:
        moved = point.variables[output] + steps * point.step * direction
        return point.forward({**point.variables, output: moved})

    ahead = at(1)
    differences = (8 * (ahead - at(-1)) - (at(2) - at(-2))) / (12 * point.step)
    terms = point.upstream * differences
    rounded = abs(point.upstream * ahead)[differences != 0].sum() / point.step
    return float(terms.sum()), float(_TOLERANCE * abs(terms).sum() + _ROUNDING * rounded)


def _along(values: np.ndarray, direction: np.ndarray) -> float:
    return float(np.vdot(values, direction))


def _worse(ratio: float, error: float, allowed: float) -> float:
    """The larger of `ratio` and error / allowed; infinite where either is not a number."""
    now = 0.0 if error == 0 else error / allowed if allowed > 0 else np.inf
    return max(ratio, float(np.nan_to_num(now, nan=np.inf, posinf=np.inf)))
