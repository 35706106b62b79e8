# SPDX-License-Identifier: Apache-2.0
"""NSA compression, by tokens."""

import torch

from openaclnn.distributed import autograd, nsa_compress

from .rank import Rank, leaf


def pairs(rank: Rank, dtype):
    """What this rank has, and what one rank has of it."""
    dtype, ends = torch.bfloat16 if dtype == torch.bfloat16 else torch.float16, [39, 260, 600]
    x, weight = rank.normal(0, 600, 3, 32, dtype=dtype), rank.normal(1, 32, 3, dtype=dtype)
    wanted = rank.run("nsa_compress", x, weight, ends)
    grad = rank.normal(2, *wanted.shape, dtype=dtype)
    dx, dw = rank.run("nsa_compress_grad", grad, x, weight, ends)
    tokens, mine = rank.split(600)
    windows = nsa_compress.Windows(tokens, ends, 32, 16)
    part, own = leaf(x[mine]), leaf(weight)
    y = autograd.NsaCompressByTokens.apply(part, own, rank.group, windows)
    upstream = windows.split.part(rank.group.rank)
    y.backward(grad[upstream])
    return [(y, wanted[upstream]), (part.grad, dx[mine]), (own.grad, dw)]
