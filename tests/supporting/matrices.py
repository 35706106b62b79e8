# SPDX-License-Identifier: Apache-2.0
"""Factors of matrices as records name them, in NumPy."""

import numpy as np

from bounded import DOUBLE, Bounded

MODES = ("reduced", "complete", "r")


def qr(x, mode: int):
    """By LAPACK, whose signs the reflections have; in mode 2 the triangle alone."""
    found = np.linalg.qr(x.value, MODES[mode])
    factors = (np.zeros((0,)), found) if mode == 2 else tuple(found)
    m, n = x.shape[-2:]
    # Of a matrix that is far from singular.
    error = 2.0**-40 * (m + n) * (1 + np.abs(x.value).max(initial=0))
    return tuple(Bounded(each, DOUBLE, np.full(each.shape, error)) for each in factors)


def svd(x, full: bool, vectors: bool):
    """By LAPACK. Of each pair of columns the one of the longer side has a largest element that is
    positive; columns without a singular value are any that are orthogonal."""
    m, n = x.shape[-2:]
    k, error = min(m, n), 2.0**-36 * (m + n) * (1 + np.abs(x.value).max(initial=0))
    left, values, right = np.linalg.svd(x.value, full_matrices=full)
    values = Bounded(values, DOUBLE, np.full(values.shape, error))
    if not vectors:
        return values, None, None
    right = np.swapaxes(right, -1, -2)
    longer = (left if m >= n else right)[..., :k]
    at = np.abs(longer).argmax(-2)[..., None, :] if k and max(m, n) else None
    signs = np.sign(np.take_along_axis(longer, at, -2)) if k else 1.0
    found = [values]
    for factor in (left, right):
        bound = np.full(factor.shape, error)
        bound[..., k:] = np.inf
        factor = factor.copy()
        factor[..., :k] *= signs
        found.append(Bounded(factor, DOUBLE, bound))
    return tuple(found)
