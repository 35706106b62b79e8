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


def labels_of(targets, lengths, n: int, blank: int) -> list[int]:
    """Of a sequence, with blanks around each."""
    begin = 0 if targets.ndim == 2 else sum(lengths[:n])
    row = targets[n] if targets.ndim == 2 else targets
    labels = [blank]
    for each in row[begin : begin + lengths[n]]:
        labels += [int(each), blank]
    return labels


def _sums(chances, labels, times: int) -> np.ndarray:
    """Logarithms of the chances of all paths up to a time and a label."""
    sums = np.full((max(times, 0), len(labels)), -np.inf)
    for t in range(times):
        for s, label in enumerate(labels):
            if t == 0:
                before = 0.0 if s < 2 else -np.inf
            else:
                before = np.logaddexp(sums[t - 1, s], sums[t - 1, s - 1] if s else -np.inf)
                if s > 1 and labels[s - 2] != label:
                    before = np.logaddexp(before, sums[t - 1, s - 2])
            sums[t, s] = before + chances[t, label]
    return sums


def ctc_loss(chances, targets, times, lengths, blank: int, zero: bool, alpha):
    chances = chances.value
    told = np.full(alpha.shape, -np.inf)
    losses = np.zeros(len(times))
    for n, count in enumerate(times):
        labels = labels_of(targets, lengths, n, blank)
        sums = _sums(chances[:, n], labels, count)
        told[n, :count, : len(labels)] = sums
        ends = sums[-1, -2:] if count else np.array([0.0 if len(labels) == 1 else -np.inf])
        losses[n] = -np.logaddexp.reduce(ends)
        if zero and losses[n] == np.inf:
            losses[n] = 0
    return tuple(Bounded(each, DOUBLE, 2.0**-40 * np.nan_to_num(np.abs(each), posinf=0))
                 for each in (losses, told))  # fmt: skip


def ctc_loss_backward(gradient, chances, targets, times, lengths, losses, alpha, blank: int,
                      zero: bool):  # fmt: skip
    chances, alpha = chances.value, alpha.value
    value, size = np.zeros(chances.shape), np.zeros(chances.shape)
    for n, count in enumerate(times):
        labels, loss = labels_of(targets, lengths, n, blank), losses.value[n]
        last = alpha[n, count - 1, : len(labels)][-2:]
        if not count or (zero and np.isinf(np.logaddexp.reduce(last))):
            continue
        # Of what follows: the same, from the end.
        behind = _sums(chances[:count, n][::-1], labels[::-1], count)[::-1, ::-1]
        both = alpha[n, :count, : len(labels)] + behind
        for c in range(chances.shape[2]):
            own = [s for s, label in enumerate(labels) if label == c]
            through = np.logaddexp.reduce(both[:, own], axis=1, initial=-np.inf)
            place = chances[:count, n, c]
            parts = np.exp(place), np.exp(through + loss - place)
            value[:count, n, c] = (parts[0] - parts[1]) * gradient.value[n]
            size[:count, n, c] = (parts[0] + parts[1]) * np.abs(gradient.value[n])
    return Bounded(value, DOUBLE, 2.0**-40 * np.nan_to_num(size, nan=0, posinf=0))
