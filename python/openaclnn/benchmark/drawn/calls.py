# SPDX-License-Identifier: Apache-2.0
"""The drawn calls as functions of a device: calls.json, which bench/draw_calls.py writes."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..calls import Call, Device
from .arguments import LIST, TENSOR, Reader

FILE = Path(__file__).with_name("calls.json")
_POOLED_BACK = "aten.max_pool2d_with_indices_backward"
_MOST_SHAPES = 3  # in the name of a call


@dataclass(frozen=True)
class Drawn:
    """A call, how often the families make calls like it, and which of them do."""

    call: Call
    count: int
    of: dict[str, int]


def find() -> list[Drawn]:
    """All of them; each has a name of its own."""
    found, names = [], {}
    for each in json.loads(FILE.read_text("utf-8"))["calls"]:
        name = _name(each["call"], each["arguments"])
        names[name] = names.get(name, 0) + 1
        name += f" ({names[name]})" if names[name] > 1 else ""
        found.append(Drawn(Call(name, _maker(each["call"], each["arguments"])), each["count"], each["of"]))
    return found


def _name(call: str, given: dict) -> str:
    shapes = [text for value in given.values() if (text := _shape(value))]
    more = ", …" if len(shapes) > _MOST_SHAPES else ""
    return f"{call.removeprefix('aten.')} {', '.join(shapes[:_MOST_SHAPES])}{more}"


def _shape(value) -> str:
    if isinstance(value, dict) and LIST in value:
        return f"{sum(count for count, _ in value[LIST])} tensors"
    if isinstance(value, dict) and TENSOR in value:
        return "x".join(map(str, value[TENSOR])) or "1"
    return ""


def _maker(call: str, given: dict) -> Callable[[Device], Callable]:
    def make(d: Device) -> Callable:
        reader = Reader(d.torch, d.name, d.dtype)
        named = {name: reader.read(each) for name, each in given.items()}
        if call.startswith("attention"):
            return _attention(d.torch, named, call.endswith("backward"))
        if call.startswith(_POOLED_BACK):
            named["indices"] = _places(d.torch, named)
        function = _function(d.torch, call)
        positional = [named.pop(each.name) for each in _by_place(function, named)]
        return lambda: function(*positional, **named)

    return make


def _function(torch, call: str) -> Any:
    found = torch.ops
    for each in call.split("."):
        found = getattr(found, each)
    return found


def _by_place(function, named: dict) -> list:
    """Arguments that the schema has before those that are named."""
    return [each for each in function._schema.arguments if not each.kwarg_only and each.name in named]


def _places(torch, named: dict):
    """The places of the maxima: devices have types of their own for them."""
    taken = [name for name in named if name not in ("grad_output", "indices")]
    return torch.ops.aten.max_pool2d_with_indices(*(named[name] for name in taken))[1]


def _attention(torch, named: dict, backward: bool) -> Callable:
    """The function that programs call; PyTorch has an operator of its own for each kind of
    device."""
    attend = torch.nn.functional.scaled_dot_product_attention
    tensors = [named.pop(each) for each in ("query", "key", "value")]
    if not backward:
        return lambda: attend(*tensors, **named)
    tensors = [each.requires_grad_() for each in tensors]
    output = attend(*tensors, **named)
    upstream = torch.ones_like(output)
    return lambda: torch.autograd.grad(output, tensors, upstream, retain_graph=True)
