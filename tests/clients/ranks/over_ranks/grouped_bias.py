# SPDX-License-Identifier: Apache-2.0
"""The grouped bias, by rows."""

import torch

from openaclnn.distributed import autograd

from .rank import Rank, leaf


def pairs(rank: Rank, dtype):
    """What this rank has, and what one rank has of it."""
    ends = [0, 700, 1000, 1300]
    x, bias = rank.normal(0, 1300, 5, dtype=dtype), leaf(rank.normal(1, 4, 5, dtype=dtype))
    grad = rank.normal(2, 1300, 5, dtype=dtype)
    rows, mine = rank.split(1300)
    y = autograd.GroupedBiasByRows.apply(x[mine], bias, rank.group, rows, ends)
    y.backward(grad[mine])
    listed = torch.tensor(ends, device=rank.device)
    return [(bias.grad, rank.run("grouped_bias_add_grad", grad, listed))]
