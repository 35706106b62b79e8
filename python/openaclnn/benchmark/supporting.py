# SPDX-License-Identifier: Apache-2.0
"""The calls of frameworks through torch-npu, beside PyTorch on the CPU, in one process."""

import os

from .. import libraries
from . import calls, measure
from .figures import Ratio
from .measure import COLD, WARM
from .meter import Meter
from .peers import Missing
from .quiet import Observer

NPU, CPU = "npu", "cpu"
_QUICK_SIDE = 16  # of the square that most calls take


def measure_all(plan, say) -> None:
    """Says a row for each call, type and state; that there are none where torch-npu is missing."""
    try:
        import torch
        import torch_npu
    except (ImportError, OSError) as error:
        say("about", {"versions": {}, "missing": [Missing("torch-npu", str(error))]})
        return
    torch.set_num_threads(plan.threads)
    say("about", {"versions": {"torch-npu": torch_npu.__version__}, "missing": []})
    effort = measure.Effort(**plan.effort)
    observer = Observer([os.getpid(), *plan.parents])
    meter = Meter(libraries.load(), plan.threads, observer, effort)
    quick = effort == measure.QUICK
    for call in calls.find():
        for dtype in call.dtypes:
            _say_rows(torch, meter, call, dtype, quick, say)
    meter.close()


def _say_rows(torch, meter: Meter, call: calls.Call, dtype: str, quick: bool, say) -> None:
    said = {"call": call.name, "dtype": dtype, "threads": meter.threads}
    try:
        ways = {name: _way(torch, name, call, dtype, quick) for name in (NPU, CPU)}
        for each in ways.values():
            measure.prepare(each)
    except Exception as error:  # of any kind: the others are still measured
        words = str(error).split("\n", 1)[0][:200]
        say("refused", {**said, "why": f"{type(error).__name__}: {words}"})
        return
    for state in (COLD, WARM):
        found = meter.times(ways, state, dtype)
        ratio = Ratio.of(found.times[CPU], found.times[NPU])
        say("supporting", {**said, "state": state, **vars(found), "ratio": ratio})


def _way(torch, name: str, call: calls.Call, dtype: str, quick: bool):
    """A call that has ended when it returns."""
    side = {"n": _QUICK_SIDE} if quick else {}
    run = call.make(calls.Device(torch, name, getattr(torch, dtype), **side))
    if name == CPU:
        return run
    wait = torch.npu.synchronize

    def run_and_wait():
        result = run()
        wait()
        return result

    return run_and_wait
