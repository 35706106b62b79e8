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


# BatchNorm over several devices.


def _channels(each, x):
    return each.reshape((1, -1) + (1,) * (x.ndim - 2))


def _over(x):
    return (0, *range(2, x.ndim))


def batch_norm_stats(x, eps):
    mean = np.mean(x, axis=_over(x))
    variance = np.mean(np.square(x - _channels(mean, x)), axis=_over(x))
    return mean, 1 / np.sqrt(variance + eps)


def batch_norm_elemt(x, weight, bias, mean, invstd):
    out = (x - _channels(mean, x)) * _channels(invstd, x)
    out = out if weight is None else out * _channels(weight, x)
    return out if bias is None else out + _channels(bias, x)


def batch_norm_reduce(x):
    return np.sum(x, axis=_over(x)), np.sum(np.square(x), axis=_over(x))


def _gathered(mean, variance, n, running_mean, running_var, momentum, eps):
    """The running moments after they have moved, the mean and 1 / deviation."""
    if running_mean is not None:
        running_mean = running_mean + momentum * (mean - running_mean)
    if running_var is not None:
        running_var = running_var + momentum * (variance * n / (n - 1) - running_var)
    return running_mean, running_var, mean, 1 / np.sqrt(variance + eps)


def batch_norm_gather(mean, invstd, running_mean, running_var, momentum, eps, counts):
    counts = counts.reshape((-1, 1))
    n = np.sum(counts)
    total_mean = np.sum(counts * mean, axis=0) / n
    variances = 1 / (invstd * invstd) - eps + np.square(mean - total_mean)
    variance = np.sum(counts * variances, axis=0) / n
    return _gathered(total_mean, variance, n, running_mean, running_var, momentum, eps)


def sync_batch_norm_gather(
    total, squares, counts, running_mean, running_var, momentum, eps
):
    n = np.sum(counts)
    mean = np.sum(total, axis=0) / n
    variance = np.sum(squares, axis=0) / n - mean * mean
    return _gathered(mean, variance, n, running_mean, running_var, momentum, eps)


def batch_norm_reduce_backward(
    dy, x, mean, invstd, by_x: bool, by_weight: bool, by_bias: bool
):
    total = np.sum(dy, axis=_over(x))
    products = np.sum(dy * (x - _channels(mean, x)), axis=_over(x))
    return (total if by_x else None, products if by_x else None,
            products * invstd if by_weight else None, total if by_bias else None)  # fmt: skip


def batch_norm_elemt_backward(dy, x, mean, invstd, weight, total, products, counts):
    n = np.sum(counts)
    factor = invstd if weight is None else invstd * weight
    slope = _channels(invstd * invstd * (products / n), x)
    return (
        dy - _channels(total / n, x) - (x - _channels(mean, x)) * slope
    ) * _channels(factor, x)


def inplace_add_rms_norm(x, other, gamma, eps):
    total = x + other
    result, rstd = rms_norm(total, gamma, eps)
    return result, total, rstd
