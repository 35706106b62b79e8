# SPDX-License-Identifier: Apache-2.0
"""Hyper-connections and their gradients, in NumPy."""

import numpy as np

from bounded import DOUBLE, Bounded

ROOM = 8  # elements of a row of what is saved


def _sized(value, size):
    return Bounded(value, DOUBLE, 2.0**-40 * (size + 1))


def _pairs(make, *tensors):
    """The results, with bounds by the same of magnitudes."""
    plain = [None if each is None else each.value for each in tensors]
    sizes = [None if each is None else np.abs(each) for each in plain]
    return tuple(_sized(*pair) for pair in zip(make(*plain), make(*sizes), strict=True))


def mhc_post(x, mix, out, post):
    def make(x, mix, out, post):
        carried = x if mix is None else np.swapaxes(mix, -1, -2) @ x
        return (carried + post[..., None] * out[..., None, :],)

    return _pairs(make, x, mix, out, post)[0]


def mhc_post_backward(g, x, mix, out, post):
    def make(g, x, mix, out, post):
        by_x = g if mix is None else mix @ g
        by_mix = x @ np.swapaxes(g, -1, -2) * (mix is not None)
        return by_x, by_mix, np.sum(post[..., None] * g, -2), np.sum(out[..., None, :] * g, -1)

    return _pairs(make, g, x, mix, out, post)


def _sinkhorn(x, eps: float, count: int):
    """All quotients, and the sums that they are by."""
    e = np.exp(x - np.max(x, -1, keepdims=True))
    norms, sums = [e / np.sum(e, -1, keepdims=True) + eps], [np.zeros(x.shape[:-1])]
    for step in range(1, 2 * count):
        axis = -1 if step % 2 == 0 else -2
        total = np.sum(norms[-1], axis, keepdims=True) + eps
        norms.append(norms[-1] / total)
        sums.append(total.squeeze(axis))
    return norms, sums


def _padded(arrays):
    flat = np.stack(arrays)
    return np.pad(flat, [(0, 0)] * (flat.ndim - 1) + [(0, ROOM - flat.shape[-1])]).reshape(-1)


def mhc_sinkhorn(x, eps, count: int, saved):
    norms, sums = _sinkhorn(x.value, float(np.float32(eps)), count)
    y = _sized(norms[-1], np.abs(norms[-1]))
    if getattr(saved, "shape", None) is None:
        return y, None, None
    return y, *(_sized(each, np.abs(each)) for each in (_padded(norms), _padded(sums)))


def mhc_sinkhorn_backward(g, norm, sums):
    n, g = g.shape[-1], g.value
    shape = (-1, *g.shape[:-1])
    norms = norm.value.reshape(*shape, ROOM)[..., :n]
    sums = sums.value.reshape(-1, *g.shape[:-2], ROOM)[..., :n]
    size = np.abs(g)
    for step in reversed(range(len(norms))):
        axis = -1 if step % 2 == 0 else -2
        y = norms[step]
        if step == 0:
            y = y - (np.sum(y, -1, keepdims=True) - 1) / n
        factor = y if step == 0 else 1 / np.expand_dims(sums[step], axis)
        g = (g - np.sum(g * y, axis, keepdims=True)) * factor
        size = (size + np.sum(size * np.abs(y), axis, keepdims=True)) * np.abs(factor)
    return _sized(g, size)
