# SPDX-License-Identifier: Apache-2.0
"""Normalisations with a sum before them or swish after them, in NumPy."""

import numpy as np

from bounded import Bounded
from formulas import sigmoid
from judge import stored
from networks import (
    group_norm,
    group_norm_backward,
    layer_norm,
    layer_norm_backward,
    rms_norm,
)


def held(x, dtype):
    """Numbers as a type stores them; an error may move the rounding."""
    if not isinstance(x, Bounded):
        return stored(x, dtype).astype(np.float64)
    error = x.error + 2.0**-24 * np.abs(x.value)  # judge.py: by way of FLOAT
    low, high, value = (
        stored(each, dtype).astype(np.float64)
        for each in (x.value - error, x.value + error, x.value)
    )
    with np.errstate(invalid="ignore"):
        away = np.maximum(np.abs(high - value), np.abs(value - low))
    return Bounded(value, x.format, np.where(np.isnan(away), 0, away))


def add_rms_norm_cast(x1, x2, gamma, eps, y2):
    total = x1 + x2
    y, rstd = rms_norm(total, gamma, eps)
    return held(y, y2.dtype), y, rstd, total


def add_layer_norm(x1, x2, gamma, beta, bias, eps, additional: bool):
    total = x1 + x2 if bias is None else x1 + x2 + bias
    y, mean, rstd = layer_norm(total, gamma.shape, gamma, beta, eps)
    return y, mean, rstd, total if additional else None


def add_layer_norm_backward(dy, x1, x2, rstd, mean, gamma, dsum):
    every = (True, True, True)
    by_x, *rest = layer_norm_backward(
        dy, x1 + x2, gamma.shape, mean, rstd, gamma, every
    )
    return by_x if dsum is None else by_x + dsum, *rest


def deep_norm(x, gx, beta, gamma, alpha, eps):
    y, mean, rstd = layer_norm(alpha * x + gx, gamma.shape, gamma, beta, eps)
    return mean, rstd, y


def deep_norm_backward(dy, x, gx, gamma, mean, rstd, alpha):
    every = (True, True, True)
    total = alpha * x + gx
    by_gx, by_gamma, by_beta = layer_norm_backward(
        dy, total, gamma.shape, mean, rstd, gamma, every
    )
    return alpha * by_gx, by_gx, by_beta, by_gamma


def group_norm_swish(x, gamma, beta, groups: int, eps, activate: bool, scale):
    z, mean, rstd = group_norm(x, gamma, beta, groups, eps)
    return z * sigmoid(scale * z) if activate else z, mean, rstd


def group_norm_swish_backward(
    dy, mean, rstd, x, gamma, beta, groups: int, scale, has_gamma: bool, has_beta: bool
):
    shape = (*x.shape[:1], groups, -1) if x.size else (x.shape[0], groups, 0)
    of_group = (x.shape[0], groups, 1)
    normal = (x.reshape(shape) - mean.reshape(of_group)) * rstd.reshape(of_group)
    channels = (-1,) + (1,) * (x.ndim - 2)
    z = normal.reshape(x.shape) * gamma.reshape(channels) + beta.reshape(channels)
    gate = sigmoid(scale * z)
    by_z = dy * (gate * (1 + scale * z * (1 - gate)))
    asked = (True, has_gamma, has_beta)
    return group_norm_backward(by_z, x, mean, rstd, gamma, groups, asked)
