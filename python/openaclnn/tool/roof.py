# SPDX-License-Identifier: Apache-2.0
"""The machine's limits at this moment, and the time that they allow."""

import ctypes
import os
from dataclasses import dataclass, fields
from enum import IntEnum

from ..errors import Error
from ..native.libraries import Toolkit
from ..operators.operator import Problem


@dataclass(frozen=True)
class Roof:
    """GB/s of plain loops over memory; 10^9 FP32 operations a second, two to a multiply-add."""

    read: float
    write: float
    multiply_add: float

    def memory_seconds(self, problem: Problem) -> float:
        """The least time to read each input once and to write each output once."""
        return (problem.read_bytes / self.read + problem.write_bytes / self.write) * 1e-9

    def arithmetic_seconds(self, problem: Problem) -> float:
        """The least time to multiply and to add."""
        return problem.operations / self.multiply_add * 1e-9

    def seconds(self, problem: Problem) -> float:
        """The least time for a problem: memory and arithmetic may overlap."""
        return max(self.memory_seconds(problem), self.arithmetic_seconds(problem))

    def limit(self, problem: Problem) -> str:
        """Which of the two the least time is."""
        bound_by_memory = self.memory_seconds(problem) >= self.arithmetic_seconds(problem)
        return "memory" if bound_by_memory else "FMA"


class Statistic(IntEnum):
    """The statistic of several rounds of a loop, in the order of src/tool/measure.h."""

    BEST = 0  # what the machine can do
    MEDIAN = 1  # what it did meanwhile: for the roof beside another median


def measure(
    kit: Toolkit, size: int, threads: int | None = None, of: Statistic = Statistic.BEST
) -> Roof:
    """Measures over `size` bytes, with the threads that the operators use or as many as named."""
    threads, of = ctypes.c_int(threads or _threads()), ctypes.c_int(of)
    bandwidths = [ctypes.c_double() for _ in range(2)]
    failed = kit.function("openaclnn_measure_bandwidth")(
        ctypes.c_uint64(size), threads, of, *map(ctypes.byref, bandwidths)
    )
    rate = kit.function("openaclnn_measure_multiply_add", ctypes.c_double)(threads, of)
    if failed or rate <= 0:
        raise Error("the speed of this machine could not be measured, expected memory for it")
    return Roof(*(each.value for each in bandwidths), rate)


def best(roofs: list[Roof]) -> Roof:
    """The most of each figure."""
    return Roof(*(max(getattr(roof, each.name) for roof in roofs) for each in fields(Roof)))


def _threads() -> int:
    """The threads that the runtime computes with."""
    return int(os.environ.get("OPENACLNN_NUM_THREADS") or len(os.sched_getaffinity(0)))
