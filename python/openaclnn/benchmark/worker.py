# SPDX-License-Identifier: Apache-2.0
"""A process that measures with a number of threads: a plan on stdin, a line of JSON a finding.

It is bound to as many processors before anything that makes threads is loaded. Each line is an
object of one member: `about` (versions, who is missing), `roofs`, `refused`, or a row by its part.
"""

import importlib
import json
import os
import sys
from dataclasses import dataclass

ROOMS, CALLS, WALK, DRAWN = "row", "supporting", "walk", "drawn"  # parts, as their rows are called


@dataclass(frozen=True)
class Plan:
    """The work of a worker."""

    threads: int
    parents: list[int]  # processes that measure beside it
    operators: list[str]
    kinds: list[str]
    part: str
    dtype: str  # of tensors, where the part has none of its own
    effort: dict

    @property
    def is_quick(self) -> bool:
        from . import measure

        return measure.Effort(**self.effort) == measure.QUICK


def bind(threads: int) -> None:
    """To the first processors, and so every thread that is made later."""
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, processors[:threads])
    os.environ.update({"OPENACLNN_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)})
    os.environ.update({"OPENBLAS_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)})


def _sayer():
    """Writes lines. Libraries print what they like to stdout: the lines have a stream of their own,
    and everything else is stderr."""
    from .document import plain

    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return lambda kind, what: print(json.dumps({kind: plain(what)}), file=out, flush=True)


def _operators(plan: Plan, say) -> None:
    from ..native import libraries, runtime
    from . import cases, measure, peers, roofs, row
    from .meter import Meter

    started = runtime.start()
    found, missing = peers.find(plan.threads)
    versions = {each.name: each.version() for each in found}
    say("about", {"versions": versions, "missing": missing})
    effort = measure.Effort(**plan.effort)
    size = effort.roof or measure.beyond_caches()
    measured = [roofs.measure(libraries.load(), size, plan.threads) for _ in range(3)]
    say("roofs", roofs.best(measured))
    meter = Meter.of_worker(started.kit, plan)
    for bench, case, dtype in cases.rows(plan.operators, plan.kinds):
        for each in row.rows(started, found, meter, bench, case, dtype):
            say("row", each)
    meter.close()


def main() -> None:
    plan = Plan(**json.load(sys.stdin))
    bind(plan.threads)
    say = _sayer()
    if plan.part == ROOMS:
        _operators(plan, say)
    else:
        module = importlib.import_module(f".{plan.part}", __package__)
        module.measure_all(plan, say)


if __name__ == "__main__":
    main()
