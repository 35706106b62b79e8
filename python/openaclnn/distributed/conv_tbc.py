# SPDX-License-Identifier: Apache-2.0
"""ConvTbc over ranks: by batch, by channels; by time it is in conv_tbc_time.py.

    y[t, b, o]  = bias[o] + sum over k, c of x[t + k - pad, b, c] * w[k, c, o]
    dx[s, b, c] = sum over k, o of dy[s + pad - k, b, o] * w[k, c, o]
    dw[k, c, o] = sum over t, b of x[t + k - pad, b, c] * dy[t, b, o]
    db[o]       = sum over t, b of dy[t, b, o]

x is (T, B, C_in), w (L, C_in, C_out), bias (C_out), y and dy (T_out, B, C_out). No sum of dx, dw or
db runs over c: with all of dy, a rank that has some of the channels in has whole sums for them.
That is the split that the others are exchanged for, as their own would cut the sums where one rank
does not: terms t, b of a part of the batch do not follow each other.
"""

from . import arrays
from .group import Group, gather, reshard
from .split import Split

_BATCH, _CHANNELS = 1, 2
_IN, _OUT = 1, 2  # of w


def forward_by_channels(
    group: Group, x, weight, bias, channels: tuple[Split, Split], pad: int = 0, cube_math_type=0
):
    """x (T, B, C_in_r), weight (L, C_in_r, C_out), bias (C_out_r) -> y (T_out, B, C_out_r).

    channels: the splits of C_in and of C_out. Sums run over all of c: x is gathered, and the weight
    exchanged for its part of the channels out.
    """
    channels_in, channels_out = channels
    _check(group, channels_in, channels_out, x, bias)
    whole = gather(group, x, channels_in, _CHANNELS)
    own = reshard(group, weight, (channels_in, _IN), (channels_out, _OUT))
    return _forward(whole, own, bias, pad, cube_math_type)


def backward_by_channels(
    group: Group, grad, x, weight, channels: tuple[Split, Split], pad: int = 0, cube_math_type=0
):
    """grad (T_out, B, C_out_r), x (T, B, C_in_r), weight (L, C_in_r, C_out)

    -> dx (T, B, C_in_r), dw (L, C_in_r, C_out), db (C_out_r). dy is gathered.
    """
    channels_in, channels_out = channels
    channels_out.check("self dimension 2", group.size, group.rank, grad.shape[_CHANNELS])
    whole = gather(group, grad, channels_out, _CHANNELS)
    dx, dw, db = _backward(whole, x, weight, pad, cube_math_type)
    return dx, dw, db[channels_out.part(group.rank)]


def forward_by_batch(x, weight, bias, pad: int = 0, cube_math_type: int = 0):
    """x (T, B_r, C_in), weight and bias whole -> y (T_out, B_r, C_out), without communication."""
    return _forward(x, weight, bias, pad, cube_math_type)


def backward_by_batch(
    group: Group, grad, x, weight, batch: Split, pad: int = 0, cube_math_type: int = 0
):
    """grad (T_out, B_r, C_out), x (T, B_r, C_in), weight whole -> dx as x, dw and db whole.

    x is exchanged for its part of the channels in, with the whole batch, and dx back; dy and dw are
    gathered.
    """
    batch.check("input dimension 1", group.size, group.rank, x.shape[_BATCH])
    channels = Split.even(x.shape[_CHANNELS], group.size)
    some_x = reshard(group, x, (batch, _BATCH), (channels, _CHANNELS))
    whole = gather(group, grad, batch, _BATCH)
    own = weight[:, channels.part(group.rank)]
    dx, dw, db = _backward(whole, some_x, own, pad, cube_math_type)
    return (
        reshard(group, dx, (channels, _CHANNELS), (batch, _BATCH)),
        gather(group, dw, channels, _IN),
        db,
    )


def _forward(x, weight, bias, pad: int, cube_math_type: int):
    return arrays.of(x).run("conv_tbc", x, weight, bias, pad, cube_math_type)


def _backward(grad, x, weight, pad: int, cube_math_type: int):
    kind = arrays.of(grad)
    unread = kind.zeros((weight.shape[_OUT],), grad.dtype)
    return kind.run("conv_tbc_backward", grad, x, weight, unread, pad, cube_math_type)


def _check(group: Group, channels_in: Split, channels_out: Split, x, bias) -> None:
    channels_in.check("self dimension 2", group.size, group.rank, x.shape[_CHANNELS])
    channels_out.check("bias dimension 0", group.size, group.rank, bias.shape[0])
