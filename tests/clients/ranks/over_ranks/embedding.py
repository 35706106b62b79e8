# SPDX-License-Identifier: Apache-2.0
"""The vocabulary-parallel embedding."""

import numpy as np
import torch

from openaclnn.distributed import autograd, embedding

from .rank import Rank, leaf


def pairs(rank: Rank, dtype):
    """What this rank has, and what one rank has of it."""
    weight, grad = rank.normal(0, 37, 5, dtype=dtype), rank.normal(1, 1301, 5, dtype=dtype)
    numbers = np.minimum(np.random.default_rng(2).geometric(0.1, 1301) - 1, 36)
    indices = torch.from_numpy(numbers).to(rank.device)
    (rows, own), (_, mine) = rank.split(37), rank.split(1301)
    part = leaf(weight[own])
    y = autograd.VocabularyEmbedding.apply(part, embedding.route(rank.group, rows, indices[mine]))
    y.backward(grad[mine])
    wanted = rank.run("embedding_dense_backward", grad, indices, 37)
    return [(y, rank.run("embedding", weight, indices)[mine]), (part.grad, wanted[own])]
