# SPDX-License-Identifier: Apache-2.0
"""Medians, their spread, ratios, and geometric means of those."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from ..tool.bench import quartiles


@dataclass(frozen=True)
class Spread:
    """The median of many times in seconds, and the quarter of them below and above."""

    median: float
    low: float
    high: float
    calls: int

    @classmethod
    def of(cls, times: Iterable[float]) -> "Spread":
        taken = list(times)
        low, middle, high = quartiles(taken)
        return cls(middle, low, high, len(taken))

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
    taken = list(values)
    return statistics.geometric_mean(taken) if taken else None
