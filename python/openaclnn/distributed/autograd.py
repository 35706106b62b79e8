# SPDX-License-Identifier: Apache-2.0
"""The splits as functions of torch.autograd, on tensors of the NPU or of the CPU.

Where a gradient is whole on every rank it is the sum over all ranks already: a wrapper that adds up
gradients, as DistributedDataParallel does, must leave such a weight alone.
"""

import torch

from . import conv_tbc, conv_tbc_time, embedding, grouped_bias, masked_softmax, nsa_compress


class VocabularyEmbedding(torch.autograd.Function):
    """apply(weight (V_r, D), route) -> (*indices.shape, D); route = embedding.route(...)."""

    @staticmethod
    def forward(ctx, weight, route):
        ctx.route = route
        return embedding.forward(weight, route)

    @staticmethod
    def backward(ctx, grad):
        return embedding.backward(grad, ctx.route), None


class GroupedBiasByRows(torch.autograd.Function):
    """apply(x (R_r, H), bias (G, H), group, rows, ends) -> (R_r, H); bias's gradient is whole."""

    @staticmethod
    def forward(ctx, x, bias, group, rows, ends):
        ctx.split = (rows, ends)
        ctx.group = group
        return grouped_bias.forward(x, bias, ends, rows.starts[group.rank])

    @staticmethod
    def backward(ctx, grad):
        db = grouped_bias.backward_by_rows(ctx.group, grad, *ctx.split)
        return grad, db, None, None, None


class MaskedSoftmaxByColumns(torch.autograd.Function):
    """apply(x (B, N, S1, S2_r), mask, scale, group, columns) -> y, of x's shape."""

    @staticmethod
    def forward(ctx, x, mask, scale, group, columns):
        y = masked_softmax.forward_by_columns(group, x, mask, columns, scale)
        ctx.save_for_backward(y, mask)
        ctx.split = (group, columns, scale)
        return y

    @staticmethod
    def backward(ctx, grad):
        group, columns, scale = ctx.split
        y, mask = ctx.saved_tensors
        dx = masked_softmax.backward_by_columns(group, grad, y, mask, columns, scale)
        return dx, None, None, None, None


class NsaCompressByTokens(torch.autograd.Function):
    """apply(x (T_r, N, D), weight (block, N), group, windows) -> (W_r, N, D).

    The weight's gradient is whole.
    """

    @staticmethod
    def forward(ctx, x, weight, group, windows):
        ctx.save_for_backward(x, weight)
        ctx.split = (group, windows)
        return nsa_compress.forward_by_tokens(group, x, weight, windows)

    @staticmethod
    def backward(ctx, grad):
        group, windows = ctx.split
        gradients = nsa_compress.backward_by_tokens(group, grad, *ctx.saved_tensors, windows)
        return *gradients, None, None


class ConvTbcByTime(torch.autograd.Function):
    """apply(x (T_r, B, C_in), weight, bias, group, times) -> y (T_out_r, B, C_out).

    The gradients of weight and bias are whole.
    """

    @staticmethod
    def forward(ctx, x, weight, bias, group, times):
        ctx.save_for_backward(x, weight)
        ctx.split = (group, times)
        return conv_tbc_time.forward(group, x, weight, bias, times)

    @staticmethod
    def backward(ctx, grad):
        group, times = ctx.split
        return *conv_tbc_time.backward(group, grad, *ctx.saved_tensors, times), None, None


class ConvTbcByBatch(torch.autograd.Function):
    """apply(x (T, B_r, C_in), weight, bias, pad, group, batch) -> y (T_out, B_r, C_out).

    The gradients of weight and bias are whole.
    """

    @staticmethod
    def forward(ctx, x, weight, bias, pad, group, batch):
        ctx.save_for_backward(x, weight)
        ctx.split = (group, batch, pad)
        return conv_tbc.forward_by_batch(x, weight, bias, pad)

    @staticmethod
    def backward(ctx, grad):
        group, batch, pad = ctx.split
        gradients = conv_tbc.backward_by_batch(group, grad, *ctx.saved_tensors, batch, pad)
        return *gradients, None, None, None


class ConvTbcByChannels(torch.autograd.Function):
    """apply(x (T, B, C_in_r), weight (L, C_in_r, C_out), bias (C_out_r), pad, group, channels)

    -> y (T_out, B, C_out_r).
    """

    @staticmethod
    def forward(ctx, x, weight, bias, pad, group, channels):
        ctx.save_for_backward(x, weight)
        ctx.split = (group, channels, pad)
        return conv_tbc.forward_by_channels(group, x, weight, bias, channels, pad)

    @staticmethod
    def backward(ctx, grad):
        group, channels, pad = ctx.split
        gradients = conv_tbc.backward_by_channels(group, grad, *ctx.saved_tensors, channels, pad)
        return *gradients, None, None, None
