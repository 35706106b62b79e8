# SPDX-License-Identifier: Apache-2.0
"""How the errors of an output are distributed: by their size, and over its elements."""

import math

import numpy as np

_CELLS = 96  # of the map, along each side: what a figure can show
_LEAST, _MOST = -2, 16  # 2^-2 ulp or less is one bin, more than 2^16 another
ZERO, NOT_FINITE = 0, _MOST - _LEAST + 3  # the first bin and the last


def bin_names() -> list[str]:
    """The names of the bins, in ulp: each is up to and with its number, apart from the first and
    the last."""
    powers = range(_LEAST, _MOST + 1)
    named = [str(2**power) if power >= 0 else f"1/{2**-power}" for power in powers]
    return ["0", *named, f"> {2**_MOST}", "not finite"]


class Distribution:
    """Filled by the comparison of an output with its reference, a part at a time."""

    def __init__(self, shape: tuple[int, ...]):
        self.shape = shape
        self.rows, self.columns = _sides(shape)
        size = (min(self.rows, _CELLS), min(self.columns, _CELLS))
        self.bins = np.zeros(NOT_FINITE + 1, np.int64)  # of elements whose terms do not cancel
        self.ratio = np.zeros(size)  # of each cell the largest error that rounding leaves / bound
        self.outside = np.zeros(size, bool)  # cells with an element outside the bound

    def add(self, begin: int, ulp: np.ndarray, ratio: np.ndarray, outside: np.ndarray, counts) -> None:
        """The elements from `begin` on; `counts` says whose error in ulp means something."""
        self.bins += np.bincount(_bin(ulp[counts]), minlength=self.bins.size)
        place = np.arange(begin, begin + ratio.size)
        cell = self.cell(place // max(self.columns, 1), place % max(self.columns, 1))
        np.maximum.at(self.ratio, cell, ratio)
        np.logical_or.at(self.outside, cell, outside)

    def cell(self, row, column) -> tuple:
        """Where the map has an element of the projection."""
        rows, columns = self.ratio.shape
        return row * rows // max(self.rows, 1), column * columns // max(self.columns, 1)

    def place(self, coordinates: tuple[int, ...]) -> tuple[int, int]:
        """The row and the column of an element in the projection."""
        flat = int(np.ravel_multi_index(coordinates, self.shape)) if self.shape else 0
        return divmod(flat, self.columns)

    @property
    def axes(self) -> tuple[str, str]:
        """Names of the rows and the columns of the projection."""
        if len(self.shape) < 2:
            return f"element / {self.columns}", f"element mod {self.columns}"
        leading = "dimension 0" if len(self.shape) == 2 else f"dimensions 0 to {len(self.shape) - 2}"
        return leading, f"dimension {len(self.shape) - 1}"


def _sides(shape: tuple[int, ...]) -> tuple[int, int]:
    """The projection: the last dimension along, all others down; one dimension is folded."""
    if len(shape) >= 2:
        return math.prod(shape[:-1]), shape[-1]
    size = math.prod(shape)
    columns = size if size <= _CELLS else math.isqrt(size - 1) + 1
    return -(-size // columns) if columns else 0, columns


def _bin(ulp: np.ndarray) -> np.ndarray:
    fraction, exponent = np.frexp(np.where(np.isfinite(ulp), ulp, 1.0))
    power = exponent - (fraction == 0.5)  # of two, at least as large
    found = np.clip(power, _LEAST, _MOST + 1) - _LEAST + 1
    return np.where(np.isfinite(ulp), np.where(ulp == 0, ZERO, found), NOT_FINITE)
