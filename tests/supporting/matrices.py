# SPDX-License-Identifier: Apache-2.0
"""Factors of matrices as records name them, in NumPy."""

import numpy as np
import pairs

from bounded import DOUBLE, Bounded
from networks import matmul

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


def _plain(x):
    return np.asarray(x).view(np.ndarray) if pairs.is_complex(x) else x.value


def _near(found, size: int):
    """Within what matrices far from singular lose."""
    found = np.asarray(found)
    if found.dtype.kind == "c":
        return found.astype(np.complex128).view(pairs.Pairs)
    return Bounded(found, DOUBLE, np.full(found.shape, 2.0**-40 * (size + 1)))


def inverse(x):
    return _near(np.linalg.inv(_plain(x)), x.shape[-1])


def slogdet(x):
    sign, log = np.linalg.slogdet(_plain(x))
    log = log.astype(np.complex128) if pairs.is_complex(x) else log
    return _near(sign, x.shape[-1]), _near(log, 16 * x.shape[-1])


def cholesky(x, upper: bool):
    turned = np.swapaxes(x.value, -1, -2) if upper else x.value
    lower = np.linalg.cholesky(turned)
    return _near(np.swapaxes(lower, -1, -2) if upper else lower, x.shape[-1])


def addr(x, a, b, beta, alpha):
    """Without a beta x takes no part, whatever is there."""
    product = alpha * (np.reshape(a, (a.shape[0], 1)) * b)
    return product if getattr(beta, "value", beta) == 0 else beta * x + product


def transpose_batch_matmul(a, b, order, parts: int, math_type: int, out):
    """Batches first, then between the rows; parts of them are beside each other."""
    product = matmul(np.transpose(a, order), b, math_type, out)
    batches, rows, columns = product.shape
    if parts == 1:
        return np.transpose(product, (1, 0, 2))
    cut = np.transpose(product.reshape(parts, batches // parts, rows, columns), (0, 2, 1, 3))
    return cut.reshape(parts, rows, batches // parts * columns)
