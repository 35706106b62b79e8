# SPDX-License-Identifier: Apache-2.0
"""The tree of a sum: which nodes ranks form, how many, and that joining them is the whole sum."""

import math

import numpy as np
import pytest
from parts import RANKS, uneven

from openaclnn.distributed import tree
from openaclnn.distributed.split import Split
from openaclnn.errors import InputError


def formula(chunks: np.ndarray) -> np.float32:
    """Split at the largest power of two below the number of chunks, left plus right."""
    if len(chunks) == 1:
        return chunks[0]
    half = 1
    while half * 2 < len(chunks):
        half *= 2
    return formula(chunks[:half]) + formula(chunks[half:])


def chunk_sums(terms: np.ndarray) -> np.ndarray:
    found = []
    for begin in range(0, len(terms), 64):
        total = np.float32(0)
        for term in terms[begin : begin + 64]:
            total += term
        found.append(total)
    return np.array(found, np.float32)


@pytest.mark.parametrize("terms", [1, 63, 64, 65, 640, 1000, 4097])
@pytest.mark.parametrize("ranks", RANKS)
def test_shares_join_to_the_whole_sum(terms, ranks):
    chunks = chunk_sums(np.random.default_rng(terms).standard_normal(terms).astype(np.float32))
    for split in (Split.even(terms, ranks), uneven(terms, ranks)):
        partials, held = {}, []
        for rank, share in enumerate(tree.shares(terms, split.starts)):
            assert len(share.nodes) <= max(1, 2 * math.log2(len(chunks)))
            # Its own first term is in it, unless it is inside of a chunk that another began.
            assert split.starts[rank] <= share.begin or not share.nodes
            for node in share.nodes:
                partials[node] = formula(chunks[slice(*node)])
                held.append(tree.terms_of(node, terms))
        covered = [place for each in held for place in range(each.start, each.stop)]
        assert covered == list(range(terms))
        assert tree.join(partials, (0, len(chunks))) == formula(chunks)


@pytest.mark.parametrize("total", [*range(1, 34), 63, 64, 65])
def test_nodes_are_nodes_of_the_tree(total):
    def below(begin: int, end: int) -> set:
        if end - begin == 1:
            return {(begin, end)}
        half = 2 ** math.ceil(math.log2(end - begin) - 1)
        return {(begin, end)} | below(begin, begin + half) | below(begin + half, end)

    known = below(0, total)
    for begin in range(total):
        for end in range(begin + 1, total + 1):
            assert set(tree.nodes(total, begin, end)) <= known
    assert tree.nodes(total, 0, total) == [(0, total)]


def test_powers_of_two_need_one_node_a_rank():
    for ranks in (1, 2, 4, 8):
        shares = tree.shares(64 * 32, Split.even(64 * 32, ranks).starts)
        assert [len(share.nodes) for share in shares] == [1] * ranks


def test_terms_outside_of_the_sum_count_for_nobody():
    shares = tree.shares(100, [-30, 10, 400])
    assert [(share.begin, share.end) for share in shares] == [(0, 64), (64, 100)]
    assert all(not share.nodes for share in tree.shares(0, [0, 0, 0]))


def test_a_split():
    assert Split.even(11, 4).sizes == [3, 3, 3, 2]
    assert Split.even(2, 4).sizes == [1, 1, 0, 0]
    split = Split.of([2, 0, 3])
    assert split.owners(np.array([0, 1, 2, 4])).tolist() == [0, 0, 2, 2]
    assert split.scaled(3).starts == (0, 6, 6, 15)
    with pytest.raises(InputError, match="sizes of 0 or more"):
        Split.of([2, -1])
    with pytest.raises(InputError, match="x of rank 2 is 4, expected 3 by its split"):
        split.check("x", 3, 2, 4)
    with pytest.raises(InputError, match="3 parts, expected one for each of 2 ranks"):
        split.check("x", 2, 0, 2)
