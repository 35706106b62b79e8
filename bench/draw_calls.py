# SPDX-License-Identifier: Apache-2.0
"""Writes python/openaclnn/benchmark/drawn/calls.json: the calls that models of ten families make.

build/bench/venv/bin/python bench/draw_calls.py [--check], of bench/setup.sh: a step of training and a
forward pass of each family run on the CPU, and every operator that PyTorch dispatches is noted with its
arguments. torch.profiler sees the same operators, but neither strides, nor types, nor numbers. Views are
left out, and what has fewer than LEAST elements. Calls of one operator whose tensors have the same ranks,
types and layouts, and sizes within a factor of 16, are one entry: that of them that is made most often,
with the number of all. --check says whether a new draw would have the same entries.
"""

import importlib.util
import json
import math
import sys
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
_find_spec = importlib.util.find_spec
# transformers asks whether torch-npu is there, and loads it: here it is PyTorch's CPU that is asked.
importlib.util.find_spec = lambda name, *rest: (
    None if name.startswith("torch_npu") else _find_spec(name, *rest)
)

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from openaclnn.benchmark.drawn import arguments, models

FILE = ROOT / "python/openaclnn/benchmark/drawn/calls.json"
LEAST = 4096  # elements of the largest tensor: less is all overhead, which docs/performance.md has apart
_NO_WORK = {"detach", "lift_fresh", "alias", "_unsafe_view", "empty", "new_empty", "empty_like",
            "new_empty_strided", "_local_scalar_dense", "_reshape_alias", "set_data"}  # fmt: skip
_EXACT = ("dim", "stride", "padding", "dilation", "kernel_size", "output_mask", "groups")
# What PyTorch dispatches on a CPU alone, and what programs call: with the arguments of it.
_ATTENTION = "_scaled_dot_product_flash_attention_for_cpu"


class Listener(TorchDispatchMode):
    """Notes calls, as JSON that can be compared."""

    def __init__(self):
        super().__init__()
        self.calls: Counter[str] = Counter()
        self.classes: dict[str, tuple] = {}

    def __torch_dispatch__(self, function, types, positional=(), named=None):
        named = named or {}
        name = function._schema.name.removeprefix("aten::")
        aten = function.namespace == "aten"
        if aten and not function.is_view and name not in _NO_WORK:
            self._note(function, name, positional, named)
        return function(*positional, **named)

    def _note(self, function, name: str, positional, named) -> None:
        names = [each.name for each in function._schema.arguments]
        given = dict(zip(names, positional, strict=False)) | named
        call = str(function)
        if name.startswith(_ATTENTION):
            call = "attention backward" if name.endswith("backward") else "attention"
            kept = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale")
            given = {each: given[each] for each in kept if given.get(each) is not None}
        written = {each: arguments.written(torch, value) for each, value in given.items()}
        if arguments.elements(list(written.values())) < LEAST:
            return
        text = json.dumps([call, written])
        self.calls[text] += 1
        self.classes[text] = (call, *(_class(each, value) for each, value in written.items()))


def _class(name: str, value):
    """What calls of one entry have in common."""
    if isinstance(value, dict) and arguments.LIST in value:
        return "list", _class(name, value[arguments.LIST][0][1]), _size(arguments.elements(value))
    if isinstance(value, dict) and arguments.TENSOR in value:
        shape = value[arguments.TENSOR]
        taps = tuple(shape[2:]) if name == "weight" else ()
        return value["dtype"], len(shape), _size(math.prod(shape)), _layout(value), taps
    if name in _EXACT or isinstance(value, (bool, str)):
        return name, json.dumps(value)
    return name, type(value).__name__


def _size(elements: int) -> int:
    return math.ceil(math.log(max(elements, 1), 16))


def _layout(value: dict) -> str:
    strides = value.get("strides")
    if strides is None:
        return "dense"
    if 0 in strides:
        return "expanded"
    return "rows" if strides[-1] == 1 else "other"


def drawn() -> dict:
    groups: dict[tuple, Counter] = defaultdict(Counter)
    families: dict[tuple, Counter] = defaultdict(Counter)
    for model in models.FAMILIES:
        for run in (model.step(torch, "cpu"), model.forward(torch, "cpu")):
            run()  # parameters that the first one makes
            with Listener() as listener:
                run()
            for text, count in listener.calls.items():
                groups[listener.classes[text]][text] += count
                families[listener.classes[text]][model.name] += count
        print(f"{model.name}: {len(groups)} entries so far", file=sys.stderr)
    entries = []
    for key, texts in groups.items():
        # The first of those that are made as often would depend on the order of the models.
        call, given = json.loads(max(texts, key=lambda text: (texts[text], len(text), text)))
        of = {each.name: families[key][each.name] for each in models.FAMILIES if families[key][each.name]}
        entries.append({"call": call, "count": texts.total(), "of": of, "arguments": given})
    entries.sort(key=lambda each: (each["call"], -each["count"], json.dumps(each["arguments"])))
    return {"versions": _versions(), "families": {each.name: each.about for each in models.FAMILIES},
            "least_elements": LEAST, "calls": entries}  # fmt: skip


def _versions() -> dict[str, str]:
    import timm
    import torchvision
    import transformers

    return {each.__name__: each.__version__.partition("+")[0]
            for each in (torch, transformers, torchvision, timm)}  # fmt: skip


def text_of(found: dict) -> str:
    """A line for each call."""
    lines = ",\n".join(f"  {json.dumps(each)}" for each in found["calls"])
    head = json.dumps({name: each for name, each in found.items() if name != "calls"}, indent=1)
    return head.removesuffix("\n}") + f',\n "calls": [\n{lines}\n ]\n}}\n'


def _keys(found: dict) -> set[str]:
    """Of the entries, whatever their numbers are."""
    return {json.dumps([each["call"], sorted(each["of"])]) for each in found["calls"]}


if __name__ == "__main__":
    found = drawn()
    if sys.argv[1:] == ["--check"]:
        sys.exit(_keys(found) != _keys(json.loads(FILE.read_text("utf-8"))))
    FILE.write_text(text_of(found), "utf-8")
