# SPDX-License-Identifier: Apache-2.0
"""Communication for the splits: one collective, and the patterns that are made of it."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from . import arrays
from .split import Split

Array = TypeVar("Array")  # a NumPy array or a tensor of torch
Interval = tuple[int, int]  # [begin, end)


class Group(Protocol):
    """The ranks that work together, seen from one of them."""

    rank: int
    size: int

    def all_to_all(self, parts: Sequence[Array], shapes: Sequence[tuple[int, ...]]) -> list[Array]:
        """parts[q] goes to rank q; what comes from rank q has shapes[q] and the parts' type."""
        ...

    def all_gather(self, part: Array, shapes: Sequence[tuple[int, ...]]) -> list[Array]:
        """The parts of all ranks, rank q's of shapes[q]."""
        ...


def gather(group: Group, part: Array, split: Split, axis: int) -> Array:
    """The whole of an array that is split along `axis`, on every rank."""
    shapes = [_with(part.shape, {axis: size}) for size in split.sizes]
    return arrays.of(part).concatenate(group.all_gather(part, shapes), axis)


def reshard(
    group: Group, part: Array, before: tuple[Split, int], after: tuple[Split, int]
) -> Array:
    """An array that is split along one axis, split along another: (split, axis) each."""
    (old, old_axis), (new, new_axis) = before, after
    parts = [part[_at(new_axis, new.part(rank))] for rank in range(group.size)]
    own = new.sizes[group.rank]
    shapes = [_with(part.shape, {old_axis: size, new_axis: own}) for size in old.sizes]
    return arrays.of(part).concatenate(group.all_to_all(parts, shapes), old_axis)


def fetch(group: Group, part: Array, split: Split, wanted: Sequence[Interval]) -> Array:
    """Rows [begin, end) = wanted[rank] of an array that is split along its rows.

    Every rank knows what all want: halos, or rows of one rank for another. Wanted rows that a rank
    has itself are not sent.
    """
    first = split.starts[group.rank]
    own = (first, split.starts[group.rank + 1])
    parts = []
    for begin, end in (_common(own, each) for each in wanted):
        parts.append(part[begin - first : end - first])
    sizes = [_length(_common(_part(split, rank), wanted[group.rank])) for rank in range(group.size)]
    shapes = [_with(part.shape, {0: size}) for size in sizes]
    return arrays.of(part).concatenate(group.all_to_all(parts, shapes), 0)


def _part(split: Split, rank: int) -> Interval:
    return split.starts[rank], split.starts[rank + 1]


def _common(a: Interval, b: Interval) -> Interval:
    begin = max(a[0], b[0])
    end = min(a[1], b[1])
    return (begin, end) if begin < end else (a[0], a[0])


def _length(interval: Interval) -> int:
    return interval[1] - interval[0]


def _with(shape: Sequence[int], extents: dict[int, int]) -> tuple[int, ...]:
    return tuple(extents.get(axis, extent) for axis, extent in enumerate(shape))


def _at(axis: int, part: slice) -> tuple[slice, ...]:
    return (*[slice(None)] * axis, part)
