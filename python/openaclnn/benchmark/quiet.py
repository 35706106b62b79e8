# SPDX-License-Identifier: Apache-2.0
"""Whether the machine is quiet: what others compute meanwhile, and whether the roof has moved."""

import os
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from .figures import Spread

MOST_BUSY = 0.05  # of one processor, by others, while a row is measured
MOST_MOVED = 0.15  # of the roof beside a row, the middle half of it around its median

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Instant:
    """Seconds that processors have spent since the start of the machine."""

    at: float
    all: float
    own: float


class Observer:
    """Looks at /proc: what all processes spend, less those that measure."""

    def __init__(
        self,
        own: Collection[int],
        proc: Path = Path("/proc"),
        clock: Callable[[], float] = time.monotonic,
    ):
        self._own = own
        self._proc = proc
        self._clock = clock

    def look(self) -> Instant:
        own = sum(self._spent(each) for each in self._own)
        return Instant(self._clock(), self._all(), own)

    def busy(self, since: Instant) -> float:
        """How many processors others kept busy since then, stolen time included."""
        now = self.look()
        spent = (now.all - since.all) - (now.own - since.own)
        return max(spent, 0.0) / max(now.at - since.at, 1e-3)

    def load(self) -> list[float]:
        """The averages of the last 1, 5 and 15 minutes."""
        return [float(each) for each in (self._proc / "loadavg").read_text().split()[:3]]

    def _all(self) -> float:
        """user, nice, system, irq, softirq, steal of all processors."""
        first = (self._proc / "stat").read_text().split("\n", 1)[0].split()
        ticks = [int(each) for each in first[1:9]]
        return (sum(ticks[:3]) + sum(ticks[5:8])) / _TICKS

    def _spent(self, process: int) -> float:
        """By a process; by its children too once it has waited for them."""
        try:
            text = (self._proc / str(process) / "stat").read_text()
        except OSError:
            return 0.0
        fields = text.rsplit(")", 1)[1].split()  # the name before may hold anything
        return sum(int(each) for each in fields[11:15]) / _TICKS


def why_not(busy: float, read: Spread | None) -> str:
    """Why a row does not count, from what others computed and the GB/s read that were measured in
    its rounds; nothing where it counts."""
    reasons = []
    if busy > MOST_BUSY:
        reasons.append(f"others kept {busy:.2f} processors busy")
    if read and max(read.median - read.low, read.high - read.median) > read.median * MOST_MOVED:
        reasons.append(f"the roof moved from {read.low:.3g} to {read.high:.3g} GB/s")
    return "; ".join(reasons)
