# SPDX-License-Identifier: Apache-2.0
"""The calls of frameworks through torch-npu, beside PyTorch on the CPU, in one process."""

from ..native import libraries
from . import calls, measure
from .figures import Ratio
from .measure import COLD, WARM
from .meter import Meter
from .peers import Missing
from .row import said_by

NPU, CPU = "npu", "cpu"
_QUICK_SIDE = 16  # of the square that most calls take


def measure_all(plan, say) -> None:
    """Says a row for each call, type and state; that there are none where torch-npu is missing."""
    opened = open_npu(plan, say)
    if opened is None:
        return
    torch, meter = opened
    rows = Rows(torch, meter, say, "supporting", plan.is_quick)
    for call in calls.find():
        for dtype in call.dtypes if is_wanted(plan.operators, call.name) else ():
            rows.say(call, dtype)
    meter.close()


def is_wanted(names: list[str], name: str) -> bool:
    """Those that begin as one of the names do."""
    return not names or any(name.startswith(each) for each in names)


def open_npu(plan, say) -> tuple | None:
    """torch with its NPU, and what measures; None, and a word, where it is missing."""
    try:
        import torch
        import torch_npu
    except (ImportError, OSError) as error:
        say("about", {"versions": {}, "missing": [Missing("torch-npu", str(error))]})
        return None
    torch.set_num_threads(plan.threads)
    say("about", {"versions": {"torch-npu": torch_npu.__version__}, "missing": []})
    return torch, Meter.of_worker(libraries.load(), plan)


class Rows:
    """Says the rows of calls, under one name."""

    def __init__(self, torch, meter: Meter, say, kind: str, quick: bool):
        self._torch = torch
        self._meter = meter
        self._say = say
        self._kind = kind
        self._side = {"n": _QUICK_SIDE} if quick else {}

    def say(self, call: calls.Call, dtype: str, more: dict | None = None, states=(COLD, WARM)) -> None:
        """`more` is what a row says beside its figures."""
        said = {"call": call.name, "dtype": dtype, "threads": self._meter.threads}
        try:
            ways = {name: self._way(name, call, dtype) for name in (NPU, CPU)}
            for each in ways.values():
                measure.prepare(each)
        except Exception as error:  # of any kind: the others are still measured
            self._say("refused", {**said, "why": said_by(error)})
            return
        for state in states:
            found = self._meter.times(ways, state, dtype)
            ratio = Ratio.of(found.times[CPU], found.times[NPU])
            row = {**said, "state": state, **vars(found), "ratio": ratio, **(more or {})}
            self._say(self._kind, row)

    def _way(self, name: str, call: calls.Call, dtype: str):
        """A call that has ended when it returns."""
        torch = self._torch
        run = call.make(calls.Device(torch, name, getattr(torch, dtype), **self._side))
        if name == CPU:
            return run

        def run_and_wait():
            result = run()
            torch.npu.synchronize()
            return result

        return run_and_wait
