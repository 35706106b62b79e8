# SPDX-License-Identifier: Apache-2.0
"""ConvTbc, by time, by batch and by channels."""

from openaclnn.distributed import autograd
from openaclnn.distributed.conv_tbc_time import Times

from .rank import Rank, leaf


def pairs(rank: Rank, dtype):
    """What this rank has, and what one rank has of it."""
    x, weight = rank.normal(0, 67, 9, 5, dtype=dtype), rank.normal(1, 4, 5, 7, dtype=dtype)
    bias, pad = rank.normal(2, 7, dtype=dtype), 2
    y = rank.run("conv_tbc", x, weight, bias, pad)
    grad = rank.normal(3, *y.shape, dtype=dtype)
    dx, dw, db = rank.run("conv_tbc_backward", grad, x, weight, bias, pad)
    group = rank.group
    (into, t), (out, u), (batch, b) = (rank.split(extent) for extent in (67, len(y), 9))
    (inner, c), (outer, o) = rank.split(5), rank.split(7)
    every = slice(None)

    def result(function, place, w, of_bias, upstream, *attributes):
        parts = leaf(x[place]), leaf(weight[w]), leaf(bias[of_bias])
        got = function.apply(*parts, *attributes)
        got.backward(grad[upstream])
        wanted = y[upstream], dx[place], dw[w], db[of_bias]
        return list(zip((got, *(part.grad for part in parts)), wanted, strict=True))

    times = Times(into, out, 4, pad)
    return [
        *result(autograd.ConvTbcByTime, t, every, every, u, group, times),
        *result(autograd.ConvTbcByBatch, (every, b), every, every, (every, b), pad, group, batch),
        *result(
            autograd.ConvTbcByChannels,
            (..., c), (every, c), o, (..., o), pad, group, (inner, outer),
        ),
    ]  # fmt: skip
