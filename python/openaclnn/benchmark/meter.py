# SPDX-License-Identifier: Apache-2.0
"""Times beside a small roof, taken again while they do not count."""

import os
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from statistics import median

from ..native.libraries import Toolkit
from ..tool.roof import Roof
from . import measure, quiet, roofs
from .figures import Spread
from .measure import COLD, Caches, Effort
from .quiet import Observer


@dataclass(frozen=True)
class Timed:
    """The ways' times and, of cold rows, the roof that was measured in the same rounds."""

    times: dict[str, Spread]
    counts: bool
    why_not: str
    busy: float  # processors, by others
    attempts: int
    roof: Roof | None  # medians
    roof_read: Spread | None


class Meter:
    """Rows beside their roof."""

    def __init__(self, kit: Toolkit, threads: int, observer: Observer, effort: Effort):
        self.threads = threads
        self._kit = kit
        self._observer = observer
        self._effort = effort
        self._caches = Caches(effort.cache)

    @classmethod
    def of_worker(cls, kit: Toolkit, plan) -> "Meter":
        """As a worker's plan says: the load of others is that of neither this process nor its parents."""
        return cls(kit, plan.threads, Observer([os.getpid(), *plan.parents]), Effort(**plan.effort))

    def close(self) -> None:
        self._caches.close()

    def look(self, dtype: str) -> Roof:
        """The roof of a type, now."""
        return roofs.beside(self._kit, self._effort.small_roof, self.threads, dtype)

    def times(
        self, ways: dict[str, Callable], state: str, dtype: str, rivals: Collection[str] = ()
    ) -> Timed:
        """The times of all ways, and whether they count; measured again while they do not."""
        for attempt in range(1, self._effort.attempts + 1):
            found = self._attempt(ways, state, dtype, rivals, attempt)
            if found.counts:
                break
            time.sleep(self._effort.pause)
        return found

    def _attempt(self, ways, state: str, dtype: str, rivals, attempt: int) -> Timed:
        seen: list[Roof] = []
        look = (lambda: seen.append(self.look(dtype))) if state == COLD else (lambda: None)
        since = self._observer.look()
        times = measure.times(ways, state, self._caches, self._effort, attempt, rivals, look)
        busy = self._observer.busy(since)
        read = Spread.of([each.read for each in seen]) if seen else None
        why_not = quiet.why_not(busy, read)
        return Timed(times, not why_not, why_not, busy, attempt, _medians(seen), read)


def _medians(seen: list[Roof]) -> Roof | None:
    if not seen:
        return None
    names = [each.name for each in fields(Roof)]
    return Roof(*(median(getattr(each, name) for each in seen) for name in names))
