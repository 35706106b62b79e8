# SPDX-License-Identifier: Apache-2.0
"""Times an operator beside the roofs, in turn, so that both see the same machine."""

import math
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from ..native.call import Call
from ..native.runtime import Runtime
from ..operators.operator import Function, Problem
from . import roof
from .roof import Roof

ROUNDS = 3
_ROUND_SECONDS = 0.15
_MIN_WORKING_SET = 64 << 20
_MAX_WORKING_SET = 128 << 20  # a larger one measured the same, and takes seconds to allocate
_MAX_SETS = 64


def quartiles(times: list[float]) -> list[float]:
    """The quarter below, the median, the quarter above; one time is all three."""
    return quantiles(times if len(times) > 1 else 2 * times, method="inclusive")


@dataclass(frozen=True)
class Sample:
    """The times of many calls, both phases and the wait for the result included."""

    median: float
    minimum: float
    spread: float  # between the quartiles, of the median
    calls: int

    @classmethod
    def of(cls, seconds: list[float]) -> "Sample":
        first, middle, third = quartiles(seconds)
        return cls(middle, min(seconds), (third - first) / middle, len(seconds))


@dataclass(frozen=True)
class Timing:
    """A sample, and what its median says."""

    seconds: float
    minimum: float
    spread: float
    calls: int
    bytes: int
    gigabytes_per_second: float
    operations: int
    gigaflops: float
    roof: Roof
    roof_limit: str  # memory or FMA
    roof_seconds: float
    roof_share: float
    sets: int  # copies of the arguments that the calls went through in rotation

    @classmethod
    def of(cls, problem: Problem, roof: Roof, sample: Sample, sets: int) -> "Timing":
        moved = problem.read_bytes + problem.write_bytes
        roof_seconds = roof.seconds(problem)
        seconds = sample.median
        return cls(
            seconds=seconds,
            minimum=sample.minimum,
            spread=sample.spread,
            calls=sample.calls,
            bytes=moved,
            gigabytes_per_second=moved / seconds * 1e-9,
            operations=problem.operations,
            gigaflops=problem.operations / seconds * 1e-9,
            roof=roof,
            roof_limit=roof.limit(problem),
            roof_seconds=roof_seconds,
            roof_share=roof_seconds / seconds,
            sets=sets,
        )

    def under(self, problem: Problem, roof: Roof) -> "Timing":
        """These calls beside another roof."""
        sample = Sample(self.seconds, self.minimum, self.spread, self.calls)
        return Timing.of(problem, roof, sample, self.sets)


def run(
    runtime: Runtime,
    function: Function,
    problem: Problem,
    advance: Callable[[int], None],
    rounds: int,
) -> Timing:
    """Measures roofs and operator in turn; advances after each round."""
    moved = problem.read_bytes + problem.write_bytes
    working_set = _working_set()
    sets = min(_MAX_SETS, math.ceil(working_set / max(moved, 1)))
    seconds: list[float] = []
    roofs: list[Roof] = []
    with ExitStack() as stack:
        calls = [stack.enter_context(Call(runtime, function, problem)) for _ in range(sets)]
        for call in calls:
            call.run()
        for _ in range(rounds):
            roofs.append(roof.measure(runtime.kit, working_set))
            seconds += _round(calls)
            advance(1)
    return Timing.of(problem, roof.best(roofs), Sample.of(seconds), sets)


def _round(calls: list[Call]) -> list[float]:
    """Times whole rotations through `calls` until the round's time is up."""
    seconds: list[float] = []
    while sum(seconds) < _ROUND_SECONDS:
        for call in calls:
            begin = time.perf_counter()
            call.run()
            seconds.append(time.perf_counter() - begin)
    return seconds


def _working_set() -> int:
    """Twice the last-level cache, within limits: what no cache holds."""
    size = 2 * last_level_cache() or _MAX_WORKING_SET
    return min(max(size, _MIN_WORKING_SET), _MAX_WORKING_SET)


def last_level_cache() -> int:
    """Its bytes; 0 where the machine does not say."""
    try:
        cache = Path("/sys/devices/system/cpu/cpu0/cache/index3/size").read_text().strip()
        return int(cache.removesuffix("K")) * 1024
    except (OSError, ValueError):
        return 0
