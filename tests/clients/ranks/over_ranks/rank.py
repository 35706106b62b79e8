# SPDX-License-Identifier: Apache-2.0
"""What the families share: the process group, and tensors of a device."""

import numpy as np
import torch

from openaclnn.distributed.processes import ProcessGroup
from openaclnn.distributed.split import Split
from openaclnn.distributed.tensors import TensorArrays


class Rank:
    """A group with the tensors of a device."""

    def __init__(self, device: str):
        self.group = ProcessGroup()
        self.device = device
        self.run = TensorArrays(torch.device(device)).run

    def normal(self, seed: int, *shape: int, dtype=torch.float32) -> torch.Tensor:
        generator = torch.Generator().manual_seed(seed)
        return torch.randn(*shape, generator=generator).to(dtype).to(self.device)

    def split(self, extent: int) -> tuple[Split, slice]:
        """Uneven, and this rank's part."""
        cuts = np.sort(np.random.default_rng(extent).integers(0, extent + 1, self.group.size - 1))
        split = Split((0, *map(int, cuts), extent))
        return split, split.part(self.group.rank)


def leaf(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone().requires_grad_()
