# SPDX-License-Identifier: Apache-2.0
"""Losses of sequences and of several classes at once, from their formulas."""

import numpy as np

from bounded import DOUBLE, Bounded


def multilabel_margin(x, target, reduction: int):
    """The loss, and which classes are targets."""
    scores = x if x.ndim == 2 else x.reshape(1, x.size)
    target = np.atleast_2d(target)
    losses, flags = [], np.zeros(scores.shape)
    for row, named in enumerate(target):
        ends = np.flatnonzero(named == -1)
        named = named[: ends[0] if ends.size else None].astype(int)
        flags[row, named] = 1
        others = np.flatnonzero(flags[row] == 0)
        short = 1 - scores[row][named][:, None] + scores[row][others][None, :]
        losses.append(np.sum(np.maximum(short, 0)) / np.float64(scores.shape[1]))
    empty = Bounded(np.zeros((0,)), DOUBLE)
    losses = np.stack(losses) if losses else empty
    if reduction == 0:
        losses = losses if x.ndim == 2 else losses.reshape(())
    else:
        losses = np.sum(losses) if reduction == 2 else np.mean(losses)
    return losses, flags.reshape(x.shape)
