# SPDX-License-Identifier: Apache-2.0
"""Factors and offsets of INT8 keys, values and results of attention, in NumPy."""

import numpy as np


class Scales:
    """The numbers of keys, or of values: one for each head and element (mode 0), row of a batch (1), head
    (2), head and row (3), row of a block (4), or head and row of a block (5)."""

    def __init__(self, factors, offsets, mode: int, heads: int, table=None):
        self.numbers = [None if each is None else _shaped(each, mode, heads) for each in (factors, offsets)]
        self.mode, self.table = mode, np.asarray(getattr(table, "value", table))

    def __call__(self, rows, batch: int, first: int):
        """Rows (head, row, element) of a batch from its row `first` on, as numbers."""
        factors, offsets = (
            None if each is None else self._of(each, batch, np.arange(first, first + rows.shape[1]))
            for each in self.numbers
        )
        if factors is None:
            return rows
        return (rows if offsets is None else rows + offsets) * factors

    def _of(self, numbers, batch: int, places):
        """Of each head, row and element."""
        if self.mode in (0, 2):
            return numbers
        if self.mode in (1, 3):
            found = numbers[batch][:, places]
        else:
            size = numbers.shape[-1]
            blocks = self.table[batch][places // size].astype(int)
            found = np.transpose(numbers[blocks, :, places % size], (1, 0))
        return found.reshape((*found.shape, 1))


def halves(tensor):
    """Those of keys, and those of values."""
    if tensor is None:
        return None, None
    return tuple(tensor[i : i + 1].reshape(tensor.shape[1:]) for i in range(2))


def _shaped(numbers, mode: int, heads: int):
    if mode == 0:
        return numbers.reshape((1, 1, 1) if numbers.size == 1 else (heads, 1, -1))
    if mode == 2:
        return numbers.reshape((heads, 1, 1))
    shape = numbers.shape[1:] if mode == 1 and numbers.ndim == 3 else numbers.shape
    return numbers.reshape((shape[0], 1, shape[1]) if mode in (1, 4) else shape)


def quantised(out, factors, offsets):
    """(…, head, row, element) as INT8 has it."""
    if factors is None:
        return out
    heads, _, width = out.shape[-3:]

    def of_each(numbers):
        return numbers.reshape((1, 1, 1) if numbers.size == 1 else (heads, 1, width))

    out = out * of_each(factors)
    out = out if offsets is None else out + of_each(offsets)
    return np.rint(np.minimum(np.maximum(out, -128.0), 127.0))
