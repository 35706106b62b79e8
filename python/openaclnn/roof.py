# SPDX-License-Identifier: Apache-2.0
"""The memory bandwidth of the machine at this moment, and the time that it allows."""

import ctypes
import os
from dataclasses import dataclass

from .errors import Error
from .libraries import Toolkit
from .operators.operator import Problem

_READ, _WRITE, _COPY = range(3)


@dataclass(frozen=True)
class Bandwidth:
    """GB/s of plain loops over memory; a copy counts both its reads and its writes."""

    read: float
    write: float
    copy: float

    def seconds(self, problem: Problem) -> float:
        """The least time for a problem: each input read once, each output written once."""
        return (problem.read_bytes / self.read + problem.write_bytes / self.write) * 1e-9


def measure(kit: Toolkit, size: int) -> Bandwidth:
    """Measures over `size` bytes, with the threads that the operators use."""
    function = kit.function("openaclnn_measure_bandwidth", ctypes.c_double)
    threads = ctypes.c_int(_threads())
    read, write, copy = (
        function(ctypes.c_int(kind), ctypes.c_uint64(size), threads)
        for kind in (_READ, _WRITE, _COPY)
    )
    if min(read, write, copy) <= 0:
        raise Error("the bandwidth of this machine could not be measured")
    return Bandwidth(read, write, copy)


def _threads() -> int:
    """The threads that the runtime computes with."""
    return int(os.environ.get("OPENACLNN_NUM_THREADS") or len(os.sched_getaffinity(0)))
