# SPDX-License-Identifier: Apache-2.0
"""The tree of a sum: the partial sums that ranks may form of it, and how they are joined.

    chunk c = terms [64 c, 64 c + 64), in sequence
    node [b, e) of m = e - b chunks = node [b, b + h) + node [b + h, e), h the largest power of two
                                      below m

Operators sum in this order whatever computes it (ARCHITECTURE.md, Bits). A rank that has the terms
of whole nodes forms them as one rank would; the rest of the tree is additions of FP32 partial sums,
which every rank does alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CHUNK = 64

Node = tuple[int, int]  # chunks [begin, end)


def count(terms: int) -> int:
    """The chunks of a sum of so many terms."""
    return -(-terms // CHUNK)


def terms_of(node: Node, terms: int) -> slice:
    """The terms of a node in a sum of `terms`."""
    begin, end = node
    return slice(begin * CHUNK, min(end * CHUNK, terms))


def nodes(total: int, begin: int, end: int) -> list[Node]:
    """The fewest nodes that make up chunks [begin, end) of `total`: at most 2 log2(total)."""
    found = []
    while begin < end:
        # The largest that begins here; the tree's right edge may cut it off.
        size = begin & -begin or 1 << (total - 1).bit_length()
        while min(begin + size, total) > end:
            size //= 2
        found.append((begin, min(begin + size, total)))
        begin = found[-1][1]
    return found


def join(partials: Mapping[Node, object], node: Node):
    """The value of a node from those of nodes below it, which add with `+` in FP32."""
    if node in partials:
        return partials[node]
    begin, end = node
    half = 1 << (end - begin - 1).bit_length() - 1
    return join(partials, (begin, begin + half)) + join(partials, (begin + half, end))


@dataclass(frozen=True)
class Share:
    """The part of a sum that one rank computes: the chunks whose first term it holds, and their
    terms to the last one."""

    begin: int  # terms [begin, end), up to 63 of which other ranks hold
    end: int
    nodes: list[Node]


def shares(terms: int, starts: Sequence[int]) -> list[Share]:
    """The share of each rank; rank r holds terms [starts[r], starts[r + 1]), those beyond the sum
    left out."""
    first = [count(min(max(start, 0), terms)) for start in starts]
    total = count(terms)
    return [
        Share(min(a * CHUNK, terms), min(b * CHUNK, terms), nodes(total, a, b))
        for a, b in zip(first, first[1:], strict=False)
    ]
