# SPDX-License-Identifier: Apache-2.0
"""How far a result is from its float64 reference, and whether that is allowed.

A sum of n terms in FP32 may be off by

    b = (8 + min(n, 64) + log2 n) * 2^-24 * sum|terms| + 2^-126

FP32 results must lie within b of the reference. FP16 and BF16 results are rounded once more: they
must lie between round(reference - b) and round(reference + b). Where sum|terms| leaves the FP32
range, an infinite or NaN result is not judged. Where the terms come from values that were rounded
before, as those of an exponential, those roundings count like the 8.

An ulp, the spacing of the numbers at the reference, says something where the terms do not cancel:
beside a sum near zero the least error is many of them. Percentiles are of the elements that keep
an eighth of sum|terms| or more; the bound is of all. Some errors are no number of ulps: beside a
reference of 0, where the result or the reference is not finite, or of more than a float holds.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .distribution import Distribution
from .dtypes import FLOAT_FORMATS, FloatFormat
from .operators.operator import Reference

_CHUNK = 1 << 20  # elements at a time: a dozen float64 temporaries of 8 MiB
_WORST = 5
_CANCELLED = 0.125  # of sum|terms|: what is left where three bits are lost
_FP32 = FLOAT_FORMATS[np.dtype(np.float32)]
_VENDOR_MAX = 10  # times the threshold of the mean
_VENDOR_THRESHOLD = {"float32": 2.0**-13, "float16": 2.0**-10, "bfloat16": 2.0**-7}


@dataclass(frozen=True)
class Element:
    """One element of a result."""

    coordinates: tuple[int, ...]
    got: float
    reference: float
    error: float
    ulp: float | None  # where its error is a number of them
    bound_ratio: float


@dataclass(frozen=True)
class VendorStandard:
    """e = |got - reference| / (|reference| + 1e-7): mean below the threshold, max below ten."""

    threshold: float
    mean: float
    max: float
    met: bool

    @property
    def max_threshold(self) -> float:
        return _VENDOR_MAX * self.threshold


@dataclass(frozen=True)
class Accuracy:
    """The errors of one output."""

    output: str
    dtype: str
    elements: int
    max_error: float
    mean_error: float
    bound_ratio: float  # the largest error that rounding does not explain / b
    outside: int  # elements outside the bound
    not_judged: int
    ulp_elements: int  # those whose terms do not cancel
    ulp_percentiles: dict[str, float | None]  # of them; None is above all numbers
    vendor: VendorStandard
    worst: list[Element]

    @property
    def ok(self) -> bool:
        return self.outside == 0


def bound(reference: Reference) -> np.ndarray:
    """b of each element."""
    terms = np.maximum(reference.terms, 1)
    roundings = 8 + np.minimum(reference.terms, 64) + np.log2(terms) + reference.roundings
    return roundings * 2.0**-24 * reference.magnitude + 2.0**-126


def beyond_rounding(got: np.ndarray, reference: np.ndarray, form: FloatFormat) -> np.ndarray:
    """The distance from `reference` to the real numbers that round to `got`."""
    ulp = form.ulp(got)
    magnitude = np.where(np.isinf(got), np.ldexp(1.0, form.max_exponent + 1), np.abs(got))
    outward = np.where(np.isinf(got), np.inf, ulp / 2)
    power_of_two = (np.frexp(magnitude)[0] == 0.5) & (magnitude > np.ldexp(1.0, form.min_exponent))
    inward_ulp = np.where(power_of_two, form.ulp(magnitude * 0.75), ulp)
    # Measured along the sign of got; a reference of the other sign lies inward.
    along = np.copysign(1.0, got) * reference - magnitude
    distance = np.maximum(np.maximum(along - outward, -along - inward_ulp / 2), 0.0)
    return np.where(np.isnan(got), np.inf, distance)


def _error(got: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """|got - reference|; 0 where both are the same infinity or NaN, infinite where one is NaN."""
    same = (got == reference) | (np.isnan(got) & np.isnan(reference))
    return np.where(same, 0.0, np.nan_to_num(np.abs(got - reference), nan=np.inf, posinf=np.inf))


@dataclass(frozen=True)
class _Judged:
    error: np.ndarray
    ulp: np.ndarray
    cancelled: np.ndarray
    ratio: np.ndarray
    outside: np.ndarray
    not_judged: np.ndarray


def _judge(got: np.ndarray, reference: Reference, dtype: np.dtype) -> _Judged:
    form = FLOAT_FORMATS[dtype]
    value = reference.value
    allowed = bound(reference)
    error = _error(got, value)
    if form is _FP32:
        excess, outside = error, ~(error <= allowed)
    else:
        excess = beyond_rounding(got, value, form)
        low, high = form.round(value - allowed), form.round(value + allowed)
        outside = ~((low <= got) & (got <= high))
    # Infinities and NaN in the inputs flow as IEEE says: the result is the reference's.
    finite = np.isfinite(value)
    outside = np.where(finite, outside, error > 0)
    excess = np.where(finite, excess, error)
    not_judged = outside & finite & ~np.isfinite(got) & (reference.magnitude > _FP32.largest)
    ratio = np.where(excess == 0, 0.0, excess / allowed)
    return _Judged(
        error,
        error / form.ulp(value),
        finite & (np.abs(value) < _CANCELLED * reference.magnitude),
        np.where(not_judged | np.isnan(ratio), 0.0, ratio),
        outside & ~not_judged,
        not_judged,
    )


def compare(
    output: str,
    got: np.ndarray,
    reference: Reference,
    advance: Callable[[int], None] = lambda elements: None,
    distribution: Distribution | None = None,
) -> Accuracy:
    """Compares a result with its reference, a part at a time; fills `distribution`."""
    shape, dtype = got.shape, got.dtype
    tally = _Tally(output, dtype, shape)
    flat_got = got.reshape(-1)
    value, magnitude = reference.value.reshape(-1), reference.magnitude.reshape(-1)
    terms = np.broadcast_to(reference.terms, shape).reshape(-1)
    roundings = np.broadcast_to(reference.roundings, shape).reshape(-1)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        for begin in range(0, flat_got.size, _CHUNK):
            part = slice(begin, begin + _CHUNK)
            expected = Reference(value[part], magnitude[part], terms[part], roundings[part])
            wide = flat_got[part].astype(np.float64)
            judged = _judge(wide, expected, dtype)
            tally.add(begin, wide, expected.value, judged)
            if distribution is not None:
                distribution.add(
                    begin, judged.ulp, judged.ratio, judged.outside, ~judged.cancelled
                )
            advance(wide.size)
    return tally.accuracy()


def _number_of(ulp) -> float | None:
    """Infinity stands for what is no number of ulps."""
    return float(ulp) if np.isfinite(ulp) else None


def _badness(element: Element) -> tuple[float, float]:
    return element.bound_ratio, np.inf if element.ulp is None else element.ulp


def _percentiles(ulp: np.ndarray) -> dict[str, float | None]:
    ranks = {"50": 50, "90": 90, "99": 99, "99.9": 99.9, "max": 100}
    if not ulp.size:
        return dict.fromkeys(ranks, 0.0)
    # "higher" picks an element that is there: no arithmetic between finite and infinite.
    values = np.percentile(ulp, list(ranks.values()), method="higher")
    return dict(zip(ranks, map(_number_of, values), strict=True))


class _Tally:
    """Adds up the parts of a comparison."""

    def __init__(self, output: str, dtype: np.dtype, shape: tuple[int, ...]):
        self._output, self._dtype, self._shape = output, dtype, shape
        self._elements = int(np.prod(shape, dtype=object))
        self._ulp: list[np.ndarray] = []
        self._max_error = self._sum_error = self._max_ratio = 0.0
        self._outside = self._not_judged = 0
        self._max_relative = self._sum_relative = 0.0
        self._worst: list[Element] = []

    def add(self, begin: int, got: np.ndarray, value: np.ndarray, judged: _Judged) -> None:
        beside_zero = (value == 0) & (judged.error > 0)
        ulp = np.where(beside_zero, np.inf, judged.ulp).astype(np.float32)
        self._ulp.append(ulp[~judged.cancelled])
        self._max_error = max(self._max_error, judged.error.max())
        self._sum_error += judged.error.sum()
        self._max_ratio = max(self._max_ratio, judged.ratio.max())
        self._outside += np.count_nonzero(judged.outside)
        self._not_judged += np.count_nonzero(judged.not_judged)
        relative = judged.error / np.where(np.isfinite(value), np.abs(value) + 1e-7, 1.0)
        self._max_relative = max(self._max_relative, relative.max())
        self._sum_relative += relative.sum()
        self._keep_worst(begin, got, value, judged, ulp)

    def accuracy(self) -> Accuracy:
        elements = self._elements
        threshold = _VENDOR_THRESHOLD[self._dtype.name]
        mean_relative = float(self._sum_relative) / max(elements, 1)
        met = mean_relative < threshold and self._max_relative < _VENDOR_MAX * threshold
        ulp = np.concatenate(self._ulp) if self._ulp else np.empty(0, np.float32)
        return Accuracy(
            output=self._output,
            dtype=self._dtype.name,
            elements=elements,
            max_error=float(self._max_error),
            mean_error=float(self._sum_error) / max(elements, 1),
            bound_ratio=float(self._max_ratio),
            outside=int(self._outside),
            not_judged=int(self._not_judged),
            ulp_elements=ulp.size,
            ulp_percentiles=_percentiles(ulp),
            vendor=VendorStandard(threshold, mean_relative, float(self._max_relative), bool(met)),
            worst=self._worst,
        )

    def _keep_worst(self, begin: int, got, value, judged: _Judged, ulp: np.ndarray) -> None:
        most = (judged.ratio.max(), ulp.max())
        if len(self._worst) == _WORST and most < _badness(self._worst[-1]):
            return
        count = min(_WORST, got.size)
        candidates = {
            int(position)
            for key in (judged.ratio, ulp)
            for position in np.argpartition(key, -count)[-count:]
        }
        found = [
            Element(
                tuple(int(axis) for axis in np.unravel_index(begin + position, self._shape)),
                float(got[position]),
                float(value[position]),
                float(judged.error[position]),
                _number_of(ulp[position]),
                float(judged.ratio[position]),
            )
            for position in candidates
            if judged.error[position] > 0
        ]
        found = sorted(self._worst + found, key=lambda each: each.coordinates)
        self._worst = sorted(found, key=_badness, reverse=True)[:_WORST]
