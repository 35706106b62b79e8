# SPDX-License-Identifier: Apache-2.0
"""Steps of optimisers whose numbers are tensors, in NumPy."""

import numpy as np


def _one(*tensors):
    return (each.reshape(()) for each in tensors)


def apply_adam_w(
    x, m, v, power1, power2, rate, decay, beta1, beta2, eps, gradient, top, amsgrad: bool, maximize: bool
):
    power1, power2, rate, decay, beta1, beta2, eps = _one(power1, power2, rate, decay, beta1, beta2, eps)
    g = -gradient if maximize else gradient
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * np.square(g)
    second = np.maximum(v, top) if amsgrad else v
    root = np.sqrt(second) / np.sqrt(1 - power2 * beta2) + eps
    return x * (1 - rate * decay) - rate / (1 - power1 * beta1) * m / root, m, v


def apply_adam(x, m, v, power1, power2, rate, beta1, beta2, eps, gradient, nesterov: bool):
    power1, power2, rate, beta1, beta2, eps = _one(power1, power2, rate, beta1, beta2, eps)
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * np.square(gradient)
    ahead = beta1 * m + (1 - beta1) * gradient if nesterov else m
    size = rate * np.sqrt(1 - power2) / (1 - power1)
    return x - size * ahead / (np.sqrt(v) + eps), m, v


def all_finite(gradients, out):
    """Another call may have found that one is not."""
    bad = any(not np.all(np.isfinite(each.astype(np.float64))) for each in gradients)
    return out | bad


def fused_sgd(
    parameters, gradients, sums, scale, decay, momentum, rate, dampening, nesterov, maximize, first
):
    new_parameters, new_sums = [], []
    for x, g, m in zip(parameters, gradients, sums, strict=True):
        g = g if scale is None else g / scale.reshape(())
        g = (-g if maximize else g) + decay * x
        m = g if first else momentum * m + (1 - dampening) * g
        new_sums.append(m)
        new_parameters.append(x - rate * (g + momentum * m if nesterov else m))
    return new_parameters, new_sums


def fused_adam(parameters, gradients, means, squares, tops, steps, scale, found, rate, beta1, beta2, decay,
               eps, amsgrad, maximize):  # fmt: skip
    """None for what is left alone."""
    lists = [], [], [], []
    for x, g, m, v, top, step in zip(parameters, gradients, means, squares, tops, steps, strict=True):
        g = g if scale is None else g / scale.reshape(())
        g = (-g if maximize else g) + decay * x
        t = step.reshape(()) + 1
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * np.square(g)
        second = np.maximum(top, v) if amsgrad else v
        root = np.sqrt(second) / np.sqrt(1 - np.power(beta2, t)) + eps
        moved = x - rate / (1 - np.power(beta1, t)) * m / root
        for each, value in zip(lists, (moved, m, v, second if amsgrad else None), strict=True):
            each.append(value)
    if found is not None and np.any(found != 0):
        return tuple([None] * len(each) for each in lists)
    return lists
