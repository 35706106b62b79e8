# SPDX-License-Identifier: Apache-2.0
"""Losses by class, in NumPy."""

import numpy as np

from bounded import DOUBLE, Bounded
from networks import log_softmax


def _weights(weight, classes: int):
    return (
        Bounded(np.ones(classes), DOUBLE) if weight is None else Bounded(weight, DOUBLE)
    )


def _used(target, ignored: int):
    """Rows whose target is not ignored, and a class for each row."""
    used = target != ignored
    return used, np.where(used, target, 0)


def class_cross_entropy(x, target, weight, reduction: str, ignored: int, smoothing):
    n, classes = x.shape
    logarithms = log_softmax(Bounded(x, DOUBLE), 1)
    w = _weights(weight, classes)
    used, at = _used(target, ignored)
    own = np.where(used, w[at], 0)
    losses = -(1 - smoothing) * own * logarithms[np.arange(n), at]
    if smoothing:
        losses = losses - smoothing / classes * np.sum(w * logarithms, axis=1)
    losses = np.where(used, losses, 0)
    if reduction == "none":
        loss = losses
    else:
        loss = np.sum(losses) / (1 if reduction == "sum" else np.sum(own))
    return loss, logarithms, None, None


def class_cross_entropy_backward(
    gradient, logarithms, target, weight, reduction: str, ignored: int, smoothing
):
    n, classes = logarithms.shape
    powers = np.exp(Bounded(logarithms, DOUBLE))
    w = _weights(weight, classes)
    used, at = _used(target, ignored)
    own = np.where(used, w[at], 0)
    g = Bounded(gradient.reshape(-1, 1), DOUBLE)
    if reduction not in ("none", "sum"):
        g = g / np.sum(own)
    hits = np.arange(classes) == at[:, None]
    slopes = (1 - smoothing) * g * own.reshape(-1, 1) * (powers - hits)
    if smoothing:
        slopes = slopes + g * smoothing / classes * (powers * np.sum(w) - w)
    return np.where(used[:, None], slopes, 0)
