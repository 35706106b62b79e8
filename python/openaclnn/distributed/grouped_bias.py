# SPDX-License-Identifier: Apache-2.0
"""A bias for each group of rows, over ranks: by whole groups (experts), or by rows.

    y[i, :]  = x[i, :] + bias[j, :]            for the rows i of group j
    db[j, :] = sum over the rows i of group j of dy[i, :]

x and dy are (R, H) and split by rows anywhere; ends (G) are those of the whole list. Without a
split of rows nothing here is needed: parts of H, or of the groups, are calls of the operator on one
rank.
"""

from collections.abc import Sequence

import numpy as np

from ..errors import InputError
from . import arrays, tree
from .group import Group, fetch
from .split import Split

_MOST_GROUPS = 2048  # of a call of the operator


def forward(x, bias, ends: Sequence[int], begin: int = 0):
    """x (R_r, H), rows from `begin` on; bias (G, H), that of all groups -> (R_r, H)."""
    places = np.arange(begin, begin + x.shape[0])
    groups = np.searchsorted(np.asarray(ends), places, side="right")
    return x + arrays.of(bias).take(bias, groups)


def backward_by_groups(group: Group, grad, rows: Split, ends: Sequence[int], groups: Split):
    """grad (R_r, H), this rank's rows -> (G_r, H), the sums of this rank's groups.

    Rows go to the rank that has their group, which sums whole groups: terms and order are those of
    one rank.
    """
    _check(group, rows, ends, grad)
    bounds = [0, *map(int, ends)]
    parts = map(groups.part, range(group.size))
    wanted = [(bounds[part.start], bounds[part.stop]) for part in parts]
    own = groups.part(group.rank)
    came = fetch(group, grad, rows, wanted)
    own_ends = np.asarray(bounds[own.start + 1 : own.stop + 1], np.int64) - bounds[own.start]
    return _sums(came, own_ends)


def backward_by_rows(group: Group, grad, rows: Split, ends: Sequence[int]):
    """grad (R_r, H), this rank's rows -> (G, H) on every rank.

    Of each group a rank sums the chunks of 64 rows that begin on it, as nodes of the group's tree
    in FP32 (up to 63 rows come from ranks behind it); the nodes are gathered, the trees finished.
    """
    _check(group, rows, ends, grad)
    kind = arrays.of(grad)
    width = grad.shape[1]
    begins = [0, *map(int, ends[:-1])]
    sizes = [int(end) - begin for begin, end in zip(begins, ends, strict=True)]
    # [group][rank]
    shares = [
        tree.shares(size, [start - begin for start in rows.starts])
        for begin, size in zip(begins, sizes, strict=True)
    ]
    pieces = [_pieces(shares, begins, sizes, rank) for rank in range(group.size)]
    wanted = [(found[0][2].start, found[-1][2].stop) if found else (0, 0) for found in pieces]
    came = kind.cast(fetch(group, grad, rows, wanted), kind.float32)
    own = pieces[group.rank]
    lengths = [places.stop - places.start for _, _, places in own]
    partial = _sums(came, np.cumsum(lengths, dtype=np.int64))
    told = group.all_gather(partial, [(len(found), width) for found in pieces])
    partials: list[dict] = [{} for _ in ends]
    for found, values in zip(pieces, told, strict=True):
        for (j, node, _), value in zip(found, values, strict=True):
            partials[j][node] = value[np.newaxis]
    zeros = kind.zeros((1, width), kind.float32)
    sums = [
        tree.join(partials[j], (0, tree.count(size))) if size else zeros
        for j, size in enumerate(sizes)
    ]
    whole = kind.concatenate(sums, 0) if sums else kind.zeros((0, width), kind.float32)
    return kind.cast(whole, grad.dtype)


def _pieces(shares, begins, sizes, rank: int) -> list[tuple[int, tree.Node, slice]]:
    """The pieces that a rank sums: group, node, and the node's rows, which follow each other."""
    found = []
    for j, of_group in enumerate(shares):
        for node in of_group[rank].nodes:
            terms = tree.terms_of(node, sizes[j])
            found.append((j, node, slice(begins[j] + terms.start, begins[j] + terms.stop)))
    return found


def _sums(rows, ends: np.ndarray):
    """The operator on any number of groups."""
    kind = arrays.of(rows)
    if ends.size == 0:
        return rows[:0]
    parts, begin = [], 0
    for first in range(0, ends.size, _MOST_GROUPS):
        some = ends[first : first + _MOST_GROUPS]
        listed = kind.from_host(some - begin)
        parts.append(kind.run("grouped_bias_add_grad", rows[begin : int(some[-1])], listed))
        begin = int(some[-1])
    return parts[0] if len(parts) == 1 else kind.concatenate(parts, 0)


def _check(group: Group, rows: Split, ends: Sequence[int], grad) -> None:
    rows.check("gradY dimension 0", group.size, group.rank, grad.shape[0])
    steps = np.diff(np.asarray(ends, np.int64), prepend=0)
    if (steps < 0).any() or (steps.sum() != rows.extent):
        raise InputError(
            f"groupIdxOptional is {list(ends)}, expected ends that do not fall, the last"
            f" {rows.extent}, the rows of gradY"
        )
