# SPDX-License-Identifier: Apache-2.0
"""The masked softmax has the bits of one rank, split along any axis."""

import numpy as np
import pytest
from parts import FLOATS, RANKS, joined, normal, same_bits, splits

import openaclnn
from openaclnn.distributed import masked_softmax

SHAPE = (3, 5, 11, 70)
SCALE = 0.3


def operands(dtype: str):
    x, grad = normal(0, SHAPE, dtype), normal(1, SHAPE, dtype)
    mask = np.random.default_rng(2).random((1, 5, 11, 70)) < 0.2
    y = openaclnn.scaled_masked_softmax(x, mask, SCALE)
    return x, mask, y, grad, openaclnn.scaled_masked_softmax_backward(grad, y, mask, SCALE)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("ranks", RANKS)
def test_columns(ranks, dtype):
    x, mask, y, grad, dx = operands(dtype)
    for columns in splits(SHAPE[3], ranks):

        def forward(group, columns=columns):
            mine = (..., columns.part(group.rank))
            return masked_softmax.forward_by_columns(group, x[mine], mask[mine], columns, SCALE)

        def backward(group, columns=columns):
            mine = (..., columns.part(group.rank))
            return masked_softmax.backward_by_columns(
                group, grad[mine], y[mine], mask[mine], columns, SCALE
            )

        assert same_bits(joined(ranks, forward, 3), y)
        assert same_bits(joined(ranks, backward, 3), dx)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_other_axes_need_no_communication(axis):
    x, mask, y, grad, dx = operands("float16")
    mask = np.broadcast_to(mask, SHAPE)
    for split in splits(SHAPE[axis], 3):
        got = []
        for rank in range(3):
            at = (*[slice(None)] * axis, split.part(rank))
            own = (grad[at], y[at], mask[at])
            if split.sizes[rank]:
                got.append(openaclnn.scaled_masked_softmax_backward(*own, SCALE))
        assert same_bits(np.concatenate(got, axis), dx)
