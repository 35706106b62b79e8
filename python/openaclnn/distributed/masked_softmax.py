# SPDX-License-Identifier: Apache-2.0
"""The scaled masked softmax over ranks, split along any axis of (B, N, S1, S2).

    y  = softmax over the last axis of (mask ? -10000 : scale * x)
    dx = mask ? 0 : scale * (dy * y - y * sum over the last axis of dy * y)

Rows do not know of each other: parts of B, N or S1 are calls of the operator, without
communication. A part of the last axis is exchanged for a part of S1 with whole rows, and back.
"""

from . import arrays
from .group import Group, reshard
from .split import Split

_ROWS, _COLUMNS = 2, 3


def forward_by_columns(group: Group, x, mask, columns: Split, scale: float = 1.0):
    """x (B, N, S1, S2_r), mask (B or 1, N or 1, S1, S2_r), bool -> y, of x's shape."""
    return _by_rows(group, columns, "scaled_masked_softmax", [x, mask], scale)


def backward_by_columns(group: Group, grad, y, mask, columns: Split, scale: float = 1.0):
    """grad and y (B, N, S1, S2_r), mask as in the forward -> dx, of their shape."""
    return _by_rows(group, columns, "scaled_masked_softmax_backward", [grad, y, mask], scale)


def _by_rows(group: Group, columns: Split, operator: str, operands: list, scale: float):
    first = operands[0]
    columns.check("the last dimension", group.size, group.rank, first.shape[_COLUMNS])
    rows = Split.even(first.shape[_ROWS], group.size)
    whole = [reshard(group, each, (columns, _COLUMNS), (rows, _ROWS)) for each in operands]
    result = whole[0]
    if rows.sizes[group.rank]:
        result = arrays.of(first).run(operator, *whole, scale=scale)
    return reshard(group, result, (rows, _ROWS), (columns, _COLUMNS))
