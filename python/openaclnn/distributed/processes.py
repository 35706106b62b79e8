# SPDX-License-Identifier: Apache-2.0
"""Ranks that are processes of torch.distributed, with any backend: gloo, hccl.

Parts travel as bytes, so that every type does. Where the backend is hccl they go from device to
device, else through the host, wherever the arrays are.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
import torch.distributed as dist


class ProcessGroup:
    """A process group of torch.distributed, the default one if none is given."""

    def __init__(self, group: dist.ProcessGroup | None = None):
        self._group = group
        self.rank = dist.get_rank(group)
        self.size = dist.get_world_size(group)
        self._device = "npu" if dist.get_backend(group) == "hccl" else "cpu"

    def all_to_all(self, parts: Sequence, shapes: Sequence[tuple[int, ...]]) -> list:
        item = parts[0].itemsize
        sent = [math.prod(part.shape) * item for part in parts]
        received = [math.prod(shape) * item for shape in shapes]
        into = out = torch.cat([_bytes(part) for part in parts]).to(self._device)
        if self.size > 1:
            into = torch.empty(sum(received), dtype=torch.uint8, device=self._device)
            dist.all_to_all_single(into, out, received, sent, group=self._group)
        return _restored(into, received, parts[0], shapes)

    def all_gather(self, part, shapes: Sequence[tuple[int, ...]]) -> list:
        if len(set(map(tuple, shapes))) > 1:  # backends gather parts of one size
            return self.all_to_all([part] * self.size, shapes)
        into = own = _bytes(part).to(self._device)
        if self.size > 1:
            into = torch.empty(self.size * len(own), dtype=torch.uint8, device=self._device)
            dist.all_gather_into_tensor(into, own, group=self._group)
        return _restored(into, [len(own)] * self.size, part, shapes)


def _bytes(part) -> torch.Tensor:
    if isinstance(part, np.ndarray):
        flat = np.require(part, requirements=["C", "W"]).reshape(-1)
        return torch.from_numpy(flat.view(np.uint8))
    flat = part.contiguous().reshape(-1)
    if flat.stride(0) != 1:  # as one element, or none, may have, which is then no array of bytes
        flat = torch.empty_like(flat, memory_format=torch.contiguous_format).copy_(flat)
    return flat.view(torch.uint8)


def _restored(flat: torch.Tensor, sizes: list[int], like, shapes) -> list:
    """Arrays of the kind, type and device of `like`."""
    if isinstance(like, np.ndarray):
        parts = [part.numpy().view(like.dtype) for part in flat.cpu().split(sizes)]
    else:
        parts = [part.view(like.dtype) for part in flat.to(like.device).split(sizes)]
    return [part.reshape(tuple(shape)) for part, shape in zip(parts, shapes, strict=True)]
