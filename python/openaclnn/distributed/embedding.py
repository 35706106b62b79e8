# SPDX-License-Identifier: Apache-2.0
"""A vocabulary-parallel embedding: each rank has a part of the table's rows, and of the tokens.

    y[i, :]  = w[idx[i], :]                             the owner of row idx[i] looks it up
    dw[v, :] = (1/s_v) sum over i with idx[i] = v of dy[i, :]      summed by the owner of row v

Tokens are split over ranks in their order, as parts of one list. Owners get their tokens by rank
and then by place, which is the order of the list: each row's sum has the terms of one rank in the
order of one rank, and so its bits, at any number of ranks.
"""

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from . import arrays
from .group import Group
from .split import Split


@dataclass(frozen=True)
class Route:
    """Which token goes to which rank; made once for a forward and its gradient."""

    group: Group
    vocabulary: Split
    shape: tuple[int, ...]  # of this rank's indices
    order: np.ndarray  # this rank's tokens by their owners, in order
    sent: list[int]  # tokens to each rank
    received: list[int]  # tokens from each rank
    rows: object  # of this rank's part of the table: of each token that came


def route(group: Group, vocabulary: Split, indices) -> Route:
    """The way of this rank's tokens: int32 or int64 indices of any shape, in [0, V).

    Every rank learns of an index out of range, and raises.
    """
    kind = arrays.of(indices)
    found = kind.to_host(indices).astype(np.int64).reshape(-1)
    _check(group, vocabulary, found)
    owners = vocabulary.owners(found)
    order = np.argsort(owners, kind="stable")
    sent = np.bincount(owners, minlength=group.size)
    received = [int(n[0]) for n in group.all_to_all(list(sent[:, np.newaxis]), [(1,)] * group.size)]
    local = found[order] - np.asarray(vocabulary.starts)[owners[order]]
    parts = np.split(local, np.cumsum(sent)[:-1])
    rows = np.concatenate(group.all_to_all(parts, [(n,) for n in received]))
    shape = tuple(indices.shape)
    return Route(group, vocabulary, shape, order, sent.tolist(), received, kind.from_host(rows))


def forward(weight, route: Route):
    """weight (V_r, D), this rank's rows -> (*indices.shape, D)."""
    group, kind = route.group, arrays.of(weight)
    width = weight.shape[1]
    route.vocabulary.check("weight dimension 0", group.size, group.rank, weight.shape[0])
    rows = kind.run("embedding", weight, route.rows) if sum(route.received) else weight[:0]
    parts = _cut(rows, route.received)
    back = kind.concatenate(group.all_to_all(parts, [(n, width) for n in route.sent]), 0)
    return kind.take(back, np.argsort(route.order)).reshape((*route.shape, width))


def backward(grad, route: Route, padding_idx: int = -1, scale_grad_by_freq: bool = False):
    """grad (*indices.shape, D), any floating type -> (V_r, D), the gradient of this rank's rows.

    padding_idx is a row of the whole table, negative for none.
    """
    group, kind = route.group, arrays.of(grad)
    width = grad.shape[-1]
    tokens = kind.take(grad.reshape((-1, width)), route.order)
    shapes = [(n, width) for n in route.received]
    came = kind.concatenate(group.all_to_all(_cut(tokens, route.sent), shapes), 0)
    own = route.vocabulary.part(group.rank)
    padding = padding_idx - own.start if own.start <= padding_idx < own.stop else -1
    return kind.run(
        "embedding_dense_backward",
        came,
        route.rows,
        num_weights=own.stop - own.start,
        padding_idx=padding,
        scale_grad_by_freq=scale_grad_by_freq,
    )


def _check(group: Group, vocabulary: Split, indices: np.ndarray) -> None:
    """Raises on every rank where one has an index that no rank owns."""
    wrong = np.flatnonzero((indices < 0) | (indices >= vocabulary.extent))
    first = (wrong[0], indices[wrong[0]]) if wrong.size else (-1, -1)
    told = group.all_gather(np.array(first, np.int64), [(2,)] * group.size)
    for rank, (place, value) in enumerate(told):
        if place >= 0:
            raise InputError(
                f"indices value {place} of rank {rank} is {value},"
                f" expected 0 to {vocabulary.extent - 1}"
            )


def _cut(rows, sizes: list[int]) -> list:
    split = Split.of(sizes)
    return [rows[split.part(rank)] for rank in range(split.ranks)]
