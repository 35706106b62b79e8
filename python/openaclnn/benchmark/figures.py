# SPDX-License-Identifier: Apache-2.0
"""Medians, their spread, ratios, and geometric means of those."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Spread:
    """The median of many times in seconds, and the quarter of them below and above."""

    median: float
    low: float
    high: float
    calls: int

    @classmethod
    def of(cls, times: Iterable[float]) -> "Spread":
        ordered = sorted(times)
        return cls(
            median(ordered), _quantile(ordered, 0.25), _quantile(ordered, 0.75), len(ordered)
        )

    @classmethod
    def read(cls, document: dict) -> "Spread":
        return cls(*(document[each] for each in ("median", "low", "high", "calls")))


@dataclass(frozen=True)
class Ratio:
    """How many times as fast one is as another: by the medians, at worst, at best."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, slower: Spread, faster: Spread) -> "Ratio":
        """More than 1 where `faster` is."""
        return cls(
            slower.median / faster.median, slower.low / faster.high, slower.high / faster.low
        )


def geometric_mean(values: Iterable[float]) -> float | None:
    logs = [math.log(each) for each in values]
    return math.exp(math.fsum(logs) / len(logs)) if logs else None


def _quantile(ordered: list[float], share: float) -> float:
    """Between the two nearest ones, in proportion."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
