# SPDX-License-Identifier: Apache-2.0
"""NSA compression over ranks: by heads, or by tokens (sequences, or parts of them) with a halo.

    y[i, n, :]  = sum over r < block of w[r, n] * x[start_i + r, n, :]
    dx[t, n, :] = sum over windows i over t of w[t - start_i, n] * dy[i, n, :]
    dw[r, n]    = sum over windows i and k of x[start_i + r, n, k] * dy[i, n, k]

By heads: calls of the operator on parts of N, without communication. By tokens: a window belongs to
the rank that has its first token. y needs the tokens behind this rank's last one (at most block -
1), dx the dy of windows that begin before its first one. dw sums over all windows, and the operator
has no FP32 result of which nodes of that sum could be made: x and dy are exchanged for parts of the
heads, each of which has its whole sum on one rank.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..operators import nsa_windows
from . import arrays
from .group import Group, fetch, gather, reshard
from .split import Split

_TOKENS, _HEADS = 0, 1


@dataclass(frozen=True)
class Windows:
    """The windows of all tokens, and whose they are."""

    tokens: Split
    ends: list[int]
    block: int
    stride: int

    @cached_property
    def first(self) -> np.ndarray:
        """The first token of each window."""
        return nsa_windows.starts(self.ends, self.tokens.extent, self.block, self.stride)

    @cached_property
    def split(self) -> Split:
        """The windows as ranks have them: rows of y and dy."""
        return Split(tuple(np.searchsorted(self.first, self.tokens.starts).tolist()))

    def over(self, rank: int) -> tuple[int, int]:
        """The windows that lie over a rank's tokens, those of others too."""
        part = self.tokens.part(rank)
        if part.start == part.stop:
            return 0, 0
        first = self.first
        begin = np.searchsorted(first, part.start - self.block, side="right")
        return int(begin), max(int(np.searchsorted(first, part.stop)), int(begin))

    def runs(self, begin: int, end: int) -> list[tuple[int, int]]:
        """The tokens [a, b) under windows [begin, end), for each segment that has some."""
        first = self.first[begin:end]
        segments = np.searchsorted(self.ends, first, side="right")
        cuts = np.flatnonzero(np.diff(segments)) + 1
        parts = np.split(first, cuts) if first.size else []
        return [(int(part[0]), int(part[-1]) + self.block) for part in parts]


def forward_by_tokens(group: Group, x, weight, windows: Windows):
    """x (T_r, N, D), weight (block, N), both FP16 or BF16 -> (W_r, N, D), this rank's windows."""
    windows.tokens.check("input dimension 0", group.size, group.rank, x.shape[_TOKENS])
    parts = windows.split
    bounds = [(parts.part(r).start, parts.part(r).stop) for r in range(group.size)]
    wanted = [_hull(windows.runs(*each)) for each in bounds]
    came = fetch(group, x, windows.tokens, wanted)
    runs = windows.runs(*bounds[group.rank])
    if not runs:
        return x[:0]
    begin, kind = wanted[group.rank][0], arrays.of(x)
    local = kind.concatenate([came[a - begin : b - begin] for a, b in runs], _TOKENS)
    return kind.run("nsa_compress", local, weight, _ends(runs), windows.block, windows.stride)


def backward_by_tokens(group: Group, grad, x, weight, windows: Windows):
    """grad (W_r, N, D), x (T_r, N, D), weight (block, N) -> dx (T_r, N, D), dw (block, N).

    dw is whole, on every rank.
    """
    windows.split.check("outputGrad dimension 0", group.size, group.rank, grad.shape[0])
    dx = _input_grad(group, grad, x, weight, windows)
    return dx, _weight_grad(group, grad, x, weight, windows)


def _input_grad(group: Group, grad, x, weight, windows: Windows):
    kind = arrays.of(grad)
    bounds = [windows.over(rank) for rank in range(group.size)]
    came = fetch(group, grad, windows.split, bounds)
    part = windows.tokens.part(group.rank)
    runs = windows.runs(*bounds[group.rank])
    if not runs:
        return kind.zeros(x.shape, x.dtype)
    ends = _ends(runs)
    unread = kind.zeros((ends[-1], *x.shape[1:]), x.dtype)  # dx does not depend on x
    local, _ = kind.run(
        "nsa_compress_grad", came, unread, weight, ends, windows.block, windows.stride
    )
    pieces, token = [], part.start
    for (a, b), end in zip(runs, ends, strict=True):
        begin, stop = max(a, part.start), min(b, part.stop)
        pieces.append(kind.zeros((begin - token, *x.shape[1:]), x.dtype))  # under no window
        pieces.append(local[end - (b - begin) : end - (b - stop)])
        token = stop
    pieces.append(kind.zeros((part.stop - token, *x.shape[1:]), x.dtype))
    return kind.concatenate(pieces, _TOKENS)


def _weight_grad(group: Group, grad, x, weight, windows: Windows):
    heads = Split.even(x.shape[_HEADS], group.size)
    mine = heads.part(group.rank)
    whole_x = reshard(group, x, (windows.tokens, _TOKENS), (heads, _HEADS))
    whole_grad = reshard(group, grad, (windows.split, _TOKENS), (heads, _HEADS))
    own = weight[:, mine]
    if mine.stop > mine.start and windows.split.extent:
        attributes = (windows.ends, windows.block, windows.stride)
        run = arrays.of(x).run
        _, own = run("nsa_compress_grad", whole_grad, whole_x, own, *attributes)
    elif not windows.split.extent:
        own = arrays.of(x).zeros(own.shape, own.dtype)
    return gather(group, own, heads, _HEADS)


def _hull(runs: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return (runs[0][0], runs[-1][1]) if runs else (0, 0)


def _ends(runs: Sequence[tuple[int, int]]) -> list[int]:
    return np.cumsum([b - a for a, b in runs]).tolist()
