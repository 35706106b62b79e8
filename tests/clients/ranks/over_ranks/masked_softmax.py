# SPDX-License-Identifier: Apache-2.0
"""The masked softmax, by columns."""

from openaclnn.distributed import autograd

from .rank import Rank, leaf


def pairs(rank: Rank, dtype):
    """What this rank has, and what one rank has of it."""
    shape, scale = (2, 3, 11, 70), 0.3
    x, grad = rank.normal(0, *shape, dtype=dtype), rank.normal(1, *shape, dtype=dtype)
    mask = rank.normal(2, 1, 3, 11, 70) > 1
    columns, mine = rank.split(shape[3])
    part = leaf(x[..., mine])
    apply = autograd.MaskedSoftmaxByColumns.apply
    y = apply(part, mask[..., mine].contiguous(), scale, rank.group, columns)
    y.backward(grad[..., mine])
    wanted = rank.run("scaled_masked_softmax", x, mask, scale=scale)
    dx = rank.run("scaled_masked_softmax_backward", grad, wanted, mask, scale=scale)
    return [(y, wanted[..., mine]), (part.grad, dx[..., mine])]
