# SPDX-License-Identifier: Apache-2.0
"""Calls that nobody chose: those that models of ten families make, and seven models whole.

Through torch-npu beside PyTorch on the CPU, in one process. `calls` has the list, which
bench/draw_calls.py draws; `models` has the models.
"""

from dataclasses import replace

from .. import supporting
from ..calls import Call
from ..measure import COLD
from ..peers import Missing
from . import calls, models



def measure_all(plan, say) -> None:
    """Says a row for each call, and for a step and a forward pass of each model."""
    opened = supporting.open_npu(plan, say)
    if opened is None:
        return
    torch, meter = opened
    rows = supporting.Rows(torch, meter, say, "drawn", plan.is_quick)
    for each in calls.find():
        if supporting.is_wanted(plan.operators, each.call.name):
            rows.say(each.call, plan.dtype, {"count": each.count, "of": each.of})
    meter.close()
    if not plan.is_quick:
        _whole_models(plan, say)


def _whole_models(plan, say) -> None:
    try:
        import timm  # noqa: F401
        import torchvision  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        say("about", {"versions": {}, "missing": [Missing("transformers", str(error))]})
        return
    # Calls that take seconds are timed a few times; caches say nothing about them.
    effort = {**plan.effort, "cold": 5, "attempts": 1}
    torch, meter = supporting.open_npu(replace(plan, effort=effort), say)
    rows = supporting.Rows(torch, meter, say, "drawn", False)
    for call in _whole():
        if supporting.is_wanted(plan.operators, call.name):
            rows.say(call, plan.dtype, {"count": 1, "of": {}}, (COLD,))
    meter.close()


def _whole():
    for model in models.WHOLE:
        for part in ("step", "forward"):
            make = getattr(model, part)
            name = f"{model.name} {model.about}, {part}"
            yield Call(name, lambda d, make=make: make(d.torch, d.name, d.dtype))
