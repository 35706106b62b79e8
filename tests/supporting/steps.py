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
