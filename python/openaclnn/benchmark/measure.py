# SPDX-License-Identifier: Apache-2.0
"""Times ways of doing the same work: in random order, caches emptied or left warm."""

import os
import random
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from ..tool.bench import last_level_cache
from .figures import Spread

COLD, WARM = "cold", "warm"
SLEEP_SECONDS = 0.02  # threads of OpenMP spin for milliseconds after a region
_LEAST_CACHE = 32 << 20  # touched where the machine does not say how large its cache is
_UNMEASURED = 2


@dataclass(frozen=True)
class Effort:
    """How often each way is called."""

    cold: int = 9
    warm: int = 7
    least: int = 3
    most_seconds: float = 20.0  # of one way in one state; fewer calls then, but `least`
    hopeless: float = 3.0  # times the fastest rival: a rival so slow is called `least` times
    sleep: float = SLEEP_SECONDS
    attempts: int = 3  # of a row that does not count
    pause: float = 1.0  # seconds before the next
    small_roof: int = 64 << 20  # bytes of the roof that is measured in each cold round
    roof: int = 0  # bytes for the roofs; 0: more than the last-level cache holds
    cache: int = 0  # bytes touched to empty the caches; 0: the same


# The effort of a walk over everything, which looks for what is far behind.
SHORT = Effort(cold=5, warm=0, least=3, most_seconds=1.5, attempts=1)
# To see that everything runs; its figures say nothing.
QUICK = Effort(2, 2, 1, 1.0, 3.0, 0.0, 1, 0.0, 1 << 20, 1 << 20, 1 << 20)


def beyond_caches() -> int:
    """Bytes that no cache holds."""
    return 3 * (last_level_cache() or _LEAST_CACHE)


class Caches:
    """Empties them: every processor touches its part of more than the last level holds.

    Each processor has to: the second level of one is not emptied by what another touches.
    """

    def __init__(self, size: int = 0):
        processors = sorted(os.sched_getaffinity(0))
        size = size or beyond_caches()
        self._parts = np.array_split(np.ones(size // 4, np.float32), len(processors))
        self._threads = []
        for processor in processors:
            bind = lambda to=processor: os.sched_setaffinity(0, {to})
            self._threads.append(ThreadPoolExecutor(1, initializer=bind))

    def empty(self) -> None:
        pairs = zip(self._threads, self._parts, strict=True)
        waiting = [thread.submit(np.add, part, 1, part) for thread, part in pairs]
        for each in waiting:
            each.result()

    def close(self) -> None:
        for each in self._threads:
            each.shutdown()


def orders(names: list[str], rounds: int, seed: int) -> list[list[str]]:
    """Every name once a round, in a new order each."""
    generator = random.Random(seed)
    return [generator.sample(names, len(names)) for _ in range(rounds)]


def times(
    ways: dict[str, Callable],
    state: str,
    caches: Caches,
    effort: Effort,
    seed: int,
    rivals: Collection[str] = (),
    each_round: Callable[[], None] = lambda: None,
) -> dict[str, Spread]:
    """The time of each way, which has run before.

    Of the rivals only the fastest matters: those far behind it are not called to the end.
    """
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    rounds = effort.cold if state == COLD else effort.warm
    for names in orders(list(ways), rounds, seed):
        each_round()
        done = _done(seconds, rivals, effort)
        for name in names:
            if name not in done:
                seconds[name].append(once(ways[name], state, caches, effort.sleep))
    return {name: Spread.of(taken) for name, taken in seconds.items()}


def _done(seconds: dict[str, list[float]], rivals: Collection[str], effort: Effort) -> set[str]:
    """Ways that were called enough."""
    enough = {name for name, taken in seconds.items() if len(taken) >= effort.least}
    slow = {name for name in enough if sum(seconds[name]) > effort.most_seconds}
    racing = {name: min(seconds[name]) for name in enough.intersection(rivals)}
    most = effort.hopeless * min(racing.values(), default=0.0)
    return slow | {name for name, least in racing.items() if least > most}


def once(way: Callable, state: str, caches: Caches, sleep: float) -> float:
    if state == COLD:
        caches.empty()
    else:
        way()
    time.sleep(sleep)
    begin = time.perf_counter()
    way()
    return time.perf_counter() - begin


def prepare(way: Callable):
    """Compiles, touches memory; what the last call returned."""
    for _ in range(_UNMEASURED - 1):
        way()
    return way()
