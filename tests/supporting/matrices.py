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
