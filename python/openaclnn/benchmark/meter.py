# SPDX-License-Identifier: Apache-2.0
"""Times beside a small roof, taken again while they do not count."""

import time
from collections.abc import Callable

from ..libraries import Toolkit
from . import measure, quiet, roofs
from .figures import Spread
from .measure import Caches, Effort
from .quiet import Observer, Verdict


class Meter:
    """Rows beside their roof. It keeps the best roof that any of them saw."""

    def __init__(self, kit: Toolkit, threads: int, observer: Observer, effort: Effort):
        self.threads = threads
        self._kit = kit
        self._observer = observer
        self._effort = effort
        self._caches = Caches(effort.cache)
        self._best = 0.0

    def close(self) -> None:
        self._caches.close()

    def look(self) -> float:
        """GB/s read, now."""
        found = roofs.small(self._kit, self._effort.small_roof, self.threads)
        self._best = max(self._best, found)
        return found

    def times(self, ways: dict[str, Callable], state: str) -> dict:
        """The times of all ways, and whether they count; measured again while they do not."""
        for attempt in range(1, self._effort.attempts + 1):
            found, verdict = self._attempt(ways, state, attempt)
            if verdict.counts:
                break
            time.sleep(self._effort.pause)
        return {
            "times": found,
            "counts": verdict.counts,
            "why_not": verdict.why_not,
            "busy": verdict.busy,
            "small_roof": verdict.roof,
            "attempts": attempt,
        }

    def _attempt(self, ways, state: str, attempt: int) -> tuple[dict[str, Spread], Verdict]:
        before = self.look()
        since = self._observer.look()
        found = measure.times(ways, state, self._caches, self._effort, seed=attempt)
        busy = self._observer.busy(since)
        after = self.look()
        return found, quiet.judge(busy, min(before, after), self._best)
