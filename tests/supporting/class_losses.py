# SPDX-License-Identifier: Apache-2.0
"""Losses by class, in NumPy."""

import numpy as np

from bounded import DOUBLE, FLOAT, Bounded
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


# The cross-entropy of a linear layer whose classes are split over devices.


def _scores(x, weight):
    """By FLOAT products; the rest is computed in double."""
    found = np.matmul(*(Bounded(each.astype(np.float64), FLOAT) for each in (x, weight.T)))
    return Bounded(found.value, DOUBLE, found.error)


def _bits(flags):
    """The first of each byte is its highest; those behind the last one are 1."""
    return np.packbits(np.concatenate([flags, np.ones(-len(flags) % 8, bool)]))


def linear_max_sum(x, weight, target, start: int, end: int, scores_out):
    scores = _scores(x, weight)
    top = np.max(scores, axis=1)
    moved = scores - top[:, None]
    masked = (target < start) | (target > end)
    at = np.where(masked, 0, target - start)
    predicted = np.where(masked, 0, moved[np.arange(len(at)), at])
    sums = np.sum(np.exp(moved), axis=1)
    return top, sums, predicted, _bits(masked), at, None if scores_out.shape is None else scores


def max_sum_loss(top, sums, predicted, scores):
    top, sums, predicted = (Bounded(each, DOUBLE) for each in (top, sums, predicted))
    loss = np.log(sums) - predicted
    if scores is None:
        return loss, None
    return loss, np.exp(Bounded(scores, DOUBLE) - top[:, None]) / sums[:, None]


def linear_loss_backward(gradient, x, weight, mask, at, top, sums, softmax):
    if softmax is None:
        top, sums = (Bounded(each[:, None], DOUBLE) for each in (top, sums))
        softmax = np.exp(_scores(x, weight) - top) / sums
    else:
        softmax = Bounded(softmax, DOUBLE)
    hidden = np.unpackbits(mask.astype(np.uint8))[: len(at)] != 0
    hits = (np.arange(weight.shape[0]) == at[:, None]) & ~hidden[:, None]
    slopes = Bounded(gradient[:, None], DOUBLE) * (softmax - hits)
    held = slopes.error + FLOAT.unit * np.abs(slopes.value)
    slopes = Bounded(slopes.value, FLOAT, held)
    x, weight = (Bounded(each.astype(np.float64), FLOAT) for each in (x, weight))
    return np.matmul(slopes, weight), np.matmul(slopes.T, x)
