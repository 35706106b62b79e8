# SPDX-License-Identifier: Apache-2.0
"""Numbers that know how far an evaluation in floats may be from them.

A NumPy expression of `Bounded` arrays gives the exact result (in float64) and a bound for the error
of computing the same expression in FLOAT or DOUBLE: every operation passes on the errors of its
operands, as far as they move its result, and adds its own rounding.
"""

import math
from dataclasses import dataclass

import numpy as np

UNITS = {  # roundings of one operation, in units of the last place; what is not named has 4
    0: "negative positive absolute fabs sign floor ceil rint trunc maximum minimum fmod copysign",
    1: "add subtract multiply divide sqrt square",
}
_ROUNDINGS = {name: units for units, names in UNITS.items() for name in names.split()}
_OTHER = 4  # functions of libm, which promise less than one unit of the last place
_CHUNK = 64  # terms that a sum adds in sequence


@dataclass(frozen=True)
class Format:
    """What is computed in."""

    unit: float  # half the distance of 1 and its neighbour
    largest: float
    smallest: float
    dtype: type

    def exact(self, value) -> np.ndarray:
        """Values as the format has them."""
        with np.errstate(over="ignore"):
            return np.asarray(value).astype(self.dtype).astype(np.float64)


FLOAT = Format(2.0**-24, float(np.finfo(np.float32).max), 2.0**-149, np.float32)
# The reference has the roundings of DOUBLE too.
DOUBLE = Format(2.0**-52, float(np.finfo(np.float64).max), 2.0**-1074, np.float64)


class Bounded(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of exact values and of the errors that each may have."""

    __slots__ = ("value", "error", "format")

    def __init__(self, value, format: Format, error=None):
        self.value = np.asarray(value)
        self.format = format
        self.error = np.zeros(self.value.shape) if error is None else np.asarray(error)

    shape = property(lambda self: self.value.shape)
    ndim = property(lambda self: self.value.ndim)
    size = property(lambda self: self.value.size)
    T = property(lambda self: self._like(self.value.T, self.error.T))

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, key) -> "Bounded":
        return self._like(self.value[key], self.error[key])

    def reshape(self, *shape) -> "Bounded":
        return self._like(self.value.reshape(*shape), self.error.reshape(*shape))

    def computed_in(self, format: Format) -> "Bounded":
        """The same of operands that both formats have: errors grow as their units do."""
        return Bounded(self.value, format, self.error * (format.unit / self.format.unit))

    def _like(self, value, error) -> "Bounded":
        return Bounded(value, self.format, error)

    def _lift(self, operand) -> "Bounded":
        """An operand; a constant is rounded to the format."""
        if isinstance(operand, Bounded):
            return operand
        operand = np.asarray(operand)
        if operand.dtype == bool:
            return self._like(operand, np.zeros(operand.shape))
        value = operand.astype(np.float64)
        return self._like(value, np.abs(self.format.exact(value) - value) * np.isfinite(value))

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if method != "__call__" or options:
            return NotImplemented
        operands = [self._lift(each) for each in inputs]
        values = [each.value for each in operands]
        if ufunc is np.matmul:
            return _product(self, *operands)
        with np.errstate(all="ignore"):
            exact = np.asarray(ufunc(*values))
            exact = exact.astype(np.float64) if exact.dtype == object else exact
            error = sum(_moved(ufunc, operands, i, exact) for i in range(len(operands)))
            if exact.dtype != bool:
                exact, error = self._rounded(ufunc, values, exact, error)
        return self._like(exact, np.broadcast_to(error, exact.shape))

    def _rounded(self, ufunc, values, exact, error):
        """The result in the format's range, and the error with that of the operation itself."""
        units = _ROUNDINGS.get(ufunc.__name__, _OTHER)
        scale = _SCALES.get(ufunc.__name__, lambda *_: np.abs(exact))(*values)
        finite = np.isfinite(exact)
        if units:
            own = units * (self.format.unit * scale + self.format.smallest)
            error = error + np.where(finite, own, 0)
        with np.errstate(invalid="ignore"):
            over = finite & (np.abs(exact) > self.format.largest * (1 + self.format.unit))
        exact = np.where(over, np.copysign(np.inf, exact), exact)
        # A result that is not finite is so for certain, unless an operand's error decided that.
        known = ~np.isfinite(exact) & np.isfinite(error)
        return exact, np.where(known, 0, np.where(np.isnan(error), np.inf, error))

    def __array_function__(self, function, types, arguments, options):
        if function in _FUNCTIONS:
            with np.errstate(all="ignore"):
                return _FUNCTIONS[function](*arguments, **options)
        if function in _MOVES:
            value = function(*_parts(arguments, "value"), **options)
            error = function(*_parts(arguments, "error"), **options)
            return self._like(value, error)
        return NotImplemented


def _parts(arguments, part: str):
    """The values or the errors of the arguments; what is not bounded has no error."""
    if isinstance(arguments, list | tuple):
        return type(arguments)(_parts(each, part) for each in arguments)
    return getattr(arguments, part) if isinstance(arguments, Bounded) else arguments


def _moved(ufunc, operands, which: int, exact):
    """How far the result moves when one operand does by its error."""
    error = operands[which].error
    if not np.any(error):
        return 0.0
    largest = np.zeros(exact.shape)
    for sign in (1, -1):
        values = [each.value for each in operands]
        moving = values[which]
        values[which] = moving ^ (error > 0) if moving.dtype == bool else moving + sign * error
        moved = np.asarray(ufunc(*values))
        moved = moved.astype(np.float64) if moved.dtype == object else moved
        if exact.dtype == bool:
            distance = (moved != exact).astype(float)
        else:
            same = (moved == exact) | (np.isnan(moved) & np.isnan(exact))
            distance = np.where(same, 0, np.abs(moved.astype(np.float64) - exact))
            distance = np.where(np.isnan(distance), np.inf, distance)
        largest = np.maximum(largest, distance)
    if ufunc in (np.sin, np.cos):  # which may turn back on the way
        return np.minimum(np.broadcast_to(error, exact.shape), 2.0)
    if ufunc is np.tan:
        return np.where(error > 0.1, np.inf, largest)
    return largest


def _larger(*values):
    """For functions whose roundings are those of larger numbers on the way."""
    return np.max(np.abs(np.broadcast_arrays(*values)), axis=0)


_SCALES = {
    "remainder": lambda a, b: np.where(np.sign(a) == np.sign(b), 0, np.abs(b)),
    "logaddexp": lambda a, b: _larger(a, b) + 1,
    "logaddexp2": lambda a, b: 2 * (_larger(a, b) + 1),
    # A quotient that the format has is exact.
    "floor_divide": lambda a, b: _inexact(np.abs(np.floor_divide(a, b))),
}


def _inexact(quotient):
    return np.where(quotient < 2.0**23, 0, quotient)


def _steps(terms: int) -> float:
    """Roundings on the way of a term through the tree of a sum."""
    return min(terms, _CHUNK) + math.log2(max(terms, 1)) + 1


def _product(self, a, b):
    magnitudes = np.abs(a.value) @ np.abs(b.value)
    error = np.abs(a.value) @ b.error + a.error @ np.abs(b.value)
    terms = a.shape[-1]
    error = error + (_steps(terms) + 8) * (self.format.unit * magnitudes + self.format.smallest)
    return self._like(a.value @ b.value, error)


def _where(condition, a, b):
    of = next(each for each in (a, b, condition) if isinstance(each, Bounded))
    condition, a, b = (of._lift(each) for each in (condition, a, b))
    value = np.where(condition.value, a.value, b.value)
    error = np.where(condition.value, a.error, b.error)
    unsure = condition.error > 0
    if np.any(unsure):
        error = error + np.where(unsure, np.abs(a.value - b.value) + a.error + b.error, 0)
    return of._like(value, error)


def _sum(a, axis=None, keepdims=False):
    value = np.sum(a.value, axis=axis, keepdims=keepdims)
    terms = a.size // max(np.size(value), 1)
    size = np.sum(np.abs(a.value), axis=axis, keepdims=keepdims)
    error = np.sum(a.error, axis=axis, keepdims=keepdims)
    return a._like(value, error + _steps(terms) * a.format.unit * size)


def _mean(a, axis=None, keepdims=False):
    total = _sum(a, axis, keepdims)
    return total / np.float64(a.size / total.size if total.size else 1)


def _prod(a, axis=None, keepdims=False):
    value = np.prod(a.value, axis=axis, keepdims=keepdims)
    terms = a.size // max(np.size(value), 1)
    return a._like(value, (terms + 1) * a.format.unit * np.abs(value))


def _extreme(function):
    def extreme(a, axis=None, keepdims=False):
        error = np.max(a.error, axis=axis, keepdims=keepdims)
        return a._like(function(a.value, axis=axis, keepdims=keepdims), error)

    return extreme


def _cumsum(a, axis):
    size, terms = np.cumsum(np.abs(a.value), axis=axis), a.size
    return a._like(np.cumsum(a.value, axis=axis), terms * a.format.unit * size)


def _cumprod(a, axis):
    value = np.cumprod(a.value, axis=axis)
    return a._like(value, a.size * a.format.unit * np.abs(value))


def _truth(function):
    def truth(a, axis=None, keepdims=False):
        return function(a.value, axis=axis, keepdims=keepdims)

    return truth


def _place(function):
    """Where an extreme is: of numbers that are known exactly."""

    def place(a, axis=None, keepdims=False):
        assert not np.any(a.error)
        return function(a.value, axis=axis, keepdims=keepdims)

    return place


_FUNCTIONS = {
    np.where: _where,
    np.sum: _sum,
    np.mean: _mean,
    np.prod: _prod,
    np.max: _extreme(np.max),
    np.min: _extreme(np.min),
    np.cumsum: _cumsum,
    np.cumprod: _cumprod,
    np.all: _truth(np.all),
    np.any: _truth(np.any),
    np.argmax: _place(np.argmax),
    np.argmin: _place(np.argmin),
}
_MOVES = {
    np.atleast_1d, np.broadcast_to, np.concatenate, np.expand_dims, np.flip, np.moveaxis,
    np.repeat, np.reshape, np.squeeze, np.stack, np.swapaxes, np.take, np.take_along_axis,
    np.transpose,
}  # fmt: skip
