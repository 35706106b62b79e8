# SPDX-License-Identifier: Apache-2.0
"""The vocabulary-parallel embedding has the bits of one rank; adding dense gradients has not."""

import numpy as np
import pytest
from parts import FLOATS, RANKS, joined, normal, same_bits, splits

import openaclnn
from openaclnn.distributed import embedding, threads, tree
from openaclnn.distributed.split import Split
from openaclnn.errors import InputError

ROWS, WIDTH, TOKENS = 37, 5, 1301


def zipf(seed: int, count: int) -> np.ndarray:
    """Indices of which some are frequent, as words are."""
    return np.minimum(np.random.default_rng(seed).geometric(0.1, count) - 1, ROWS - 1)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("ranks", RANKS)
def test_bits_of_one_rank(ranks, dtype):
    weight, indices = normal(0, (ROWS, WIDTH), dtype), zipf(1, TOKENS)
    grad = normal(2, (TOKENS, WIDTH), dtype)
    options = {"padding_idx": 3, "scale_grad_by_freq": ranks % 2 == 0}
    wanted = openaclnn.embedding(weight, indices)
    wanted_grad = openaclnn.embedding_dense_backward(grad, indices, ROWS, **options)
    for rows, tokens in zip(splits(ROWS, ranks), splits(TOKENS, ranks), strict=True):

        def work(group, rows=rows, tokens=tokens):
            part, mine = rows.part(group.rank), tokens.part(group.rank)
            route = embedding.route(group, rows, indices[mine])
            got = embedding.forward(weight[part], route)
            return got, embedding.backward(grad[mine], route, **options)

        found = threads.run(ranks, work)
        assert same_bits(np.concatenate([y for y, _ in found]), wanted)
        assert same_bits(np.concatenate([dw for _, dw in found]), wanted_grad)


def test_more_ranks_than_rows_and_tokens():
    weight, indices, grad = normal(0, (3, 2)), np.array([[2], [0]], np.int32), normal(1, (2, 1, 2))

    def work(group):
        rows, mine = Split.even(3, 8), Split.even(2, 8).part(group.rank)
        route = embedding.route(group, rows, indices[mine])
        y = embedding.forward(weight[rows.part(group.rank)], route)
        return y, embedding.backward(grad[mine], route)

    found = threads.run(8, work)
    assert same_bits(np.concatenate([y for y, _ in found]), openaclnn.embedding(weight, indices))
    wanted = openaclnn.embedding_dense_backward(grad, indices, 3)
    assert same_bits(np.concatenate([dw for _, dw in found]), wanted)


@pytest.mark.parametrize("wrong", [-1, ROWS])
def test_every_rank_learns_of_a_wrong_index(wrong):
    heard = []

    def work(group):
        indices = np.array([0, wrong if group.rank == 1 else 1])
        with pytest.raises(InputError) as error:
            embedding.route(group, Split.even(ROWS, 3), indices)
        heard.append(str(error.value))

    threads.run(3, work)
    assert heard == [f"indices value 1 of rank 1 is {wrong}, expected 0 to {ROWS - 1}"] * 3


@pytest.mark.parametrize("ranks", range(2, 9))
def test_adding_dense_gradients_has_other_bits(ranks):
    """Data-parallel training without an owner: each rank's whole gradient, summed by the tree.

    A rank's tokens of a row are no node of the row's tree: where they begin depends on the text.
    """
    indices, grad = zipf(1, TOKENS), normal(2, (TOKENS, WIDTH))
    tokens = Split.even(TOKENS, ranks)

    def dense(rank: int) -> np.ndarray:
        mine = tokens.part(rank)
        return openaclnn.embedding_dense_backward(grad[mine], indices[mine], ROWS)

    summed = tree.join({(rank, rank + 1): dense(rank) for rank in range(ranks)}, (0, ranks))
    wanted = openaclnn.embedding_dense_backward(grad, indices, ROWS)
    assert np.abs(summed - wanted).max() < 1e-4
    assert not same_bits(summed, wanted)


def test_columns_need_no_communication():
    indices, grad = zipf(1, TOKENS), normal(2, (TOKENS, 19))
    columns = Split.even(19, 3)

    def work(group):
        mine = grad[:, columns.part(group.rank)]
        return openaclnn.embedding_dense_backward(mine, indices, ROWS)

    assert same_bits(joined(3, work, 1), openaclnn.embedding_dense_backward(grad, indices, ROWS))
