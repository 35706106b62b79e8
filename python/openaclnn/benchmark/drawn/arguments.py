# SPDX-License-Identifier: Apache-2.0
"""Arguments of a call as JSON: of tensors type, shape, strides and what is known of their values.

A tensor is {"shape", "dtype"}; "strides" where it is not dense; "range" of whole numbers, of those
that are not below 0; "positive" where no float is below 0; "true", the share of truth values that are.
Types and devices are {"type": name} and {"device": null}: the one that is measured. Lists of tensors
are {"tensors": [[count, tensor], …]}, like ones together: where all are arguments of one function,
their order says nothing.
"""

import json
import math
from collections import Counter
from typing import Any

import numpy as np

TENSOR, LIST, TYPE, DEVICE = "shape", "tensors", "type", "device"


def written(torch, value) -> Any:
    """Writes a value that `read` reads; TypeError for any other."""
    if isinstance(value, torch.Tensor):
        return _written_tensor(torch, value)
    if isinstance(value, (list, tuple)) and value and all(isinstance(each, torch.Tensor) for each in value):
        return {LIST: _counted([written(torch, each) for each in value])}
    if isinstance(value, (list, tuple)):
        return [written(torch, each) for each in value]
    if isinstance(value, torch.dtype):
        return {TYPE: str(value).removeprefix("torch.")}
    if isinstance(value, torch.device):
        return {DEVICE: None}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (torch.layout, torch.memory_format)):
        return None
    raise TypeError(type(value))


def _written_tensor(torch, value) -> dict:
    made = {TENSOR: list(value.shape), "dtype": str(value.dtype).removeprefix("torch.")}
    if not value.is_contiguous():
        made["strides"] = list(value.stride())
    if value.numel() == 0:
        return made
    if value.dtype == torch.bool:
        made["true"] = round(float(value.float().mean()), 2)
    elif not value.dtype.is_floating_point:
        kept = value[value >= 0] if bool((value >= 0).any()) else value  # one below 0 is a mark, as of no class
        made["range"] = [int(kept.min()), int(kept.max())]
    elif bool((value >= 0).all()):
        made["positive"] = True
    return made


def _counted(members: list[dict]) -> list:
    """Those of one shape together, in an order that lists of the same shapes share."""
    positive = {"positive": True} if all("positive" in each for each in members) else {}
    plain = ({name: each[name] for name in each if name != "positive"} for each in members)
    texts = Counter(json.dumps(each | positive) for each in plain)
    return [[count, json.loads(text)] for text, count in texts.items()]


class Reader:
    """Makes the values anew on a device, FLOAT ones of a type; the same ones on every device."""

    def __init__(self, torch, device: str, dtype: Any):
        self._torch = torch
        self._device = device
        self._float = dtype
        self._random = np.random.default_rng(0)

    def read(self, given) -> Any:
        if isinstance(given, list):
            return [self.read(each) for each in given]
        if not isinstance(given, dict):
            return given
        if TENSOR in given:
            return self._tensor(given)
        if LIST in given:
            return [self.read(each) for count, each in given[LIST] for _ in range(count)]
        if TYPE in given:
            return self._type(given[TYPE])
        return self._torch.device(self._device) if DEVICE in given else float(given["float"])

    def _type(self, name: str):
        return self._float if name == "float32" else getattr(self._torch, name)

    def _tensor(self, given: dict):
        torch, shape = self._torch, given[TENSOR]
        values = torch.from_numpy(np.asarray(self._values(given, math.prod(shape)))).reshape(shape)
        values = values.to(self._type(given["dtype"])).to(self._device)
        if "strides" not in given:
            return values
        strides = given["strides"]
        last = sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
        size = last + 1 if values.numel() else 0
        view = torch.empty(size, dtype=values.dtype, device=self._device).as_strided(shape, strides)
        once = tuple(slice(0, 1) if step == 0 else slice(None) for step in strides)
        view[once].copy_(values[once])
        return view

    def _values(self, given: dict, count: int) -> np.ndarray:
        if "true" in given:
            return self._random.random(count) < given["true"]
        if "range" in given:
            low, high = given["range"]
            return self._random.integers(low, high, count, endpoint=True)
        values = self._random.standard_normal(count, np.float32)
        return np.abs(values) if given.get("positive") else values


def elements(given) -> int:
    """Those of the largest tensor."""
    if isinstance(given, list):
        return max(map(elements, given), default=0)
    if not isinstance(given, dict):
        return 0
    if LIST in given:
        return sum(count * elements(each) for count, each in given[LIST])
    return math.prod(given[TENSOR]) if TENSOR in given else 0
