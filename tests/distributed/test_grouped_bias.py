# SPDX-License-Identifier: Apache-2.0
"""The grouped bias over ranks has the bits of one rank, by whole groups and by rows."""

import numpy as np
import pytest
from parts import FLOATS, RANKS, joined, normal, same_bits, splits

import openaclnn
from openaclnn.distributed import grouped_bias, threads
from openaclnn.distributed.split import Split
from openaclnn.errors import InputError

# Groups of many chunks, of none, of less than one, at odd places.
ENDS = [0, 1000, 1000, 1007, 1600, 2600]
ROWS, WIDTH = ENDS[-1], 5


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("ranks", RANKS)
def test_gradient_has_the_bits_of_one_rank(ranks, dtype):
    grad = normal(0, (ROWS, WIDTH), dtype)
    wanted = openaclnn.grouped_bias_add_grad(grad, np.array(ENDS))
    groups = Split.even(len(ENDS), ranks)
    for rows in splits(ROWS, ranks):

        def work(group, rows=rows):
            mine = grad[rows.part(group.rank)]
            whole = grouped_bias.backward_by_rows(group, mine, rows, ENDS)
            return whole, grouped_bias.backward_by_groups(group, mine, rows, ENDS, groups)

        found = threads.run(ranks, work)
        assert all(same_bits(whole, wanted) for whole, _ in found)
        assert same_bits(np.concatenate([own for _, own in found]), wanted)


@pytest.mark.parametrize("ranks", range(2, 9))
def test_adding_each_rank_s_sums_has_other_bits(ranks):
    """One sum a rank is a node of the tree only where ranks have 64 * 2^k rows of a group."""
    grad, ends = normal(0, (ROWS, WIDTH)), np.array([ROWS])
    rows = Split.even(ROWS, ranks)
    parts = [grad[rows.part(rank)] for rank in range(ranks)]
    summed = sum(openaclnn.grouped_bias_add_grad(each, np.array([len(each)])) for each in parts)
    wanted = openaclnn.grouped_bias_add_grad(grad, ends)
    assert np.abs(summed - wanted).max() < 1e-3 and not same_bits(summed, wanted)


def test_forward():
    x, bias = normal(0, (ROWS, WIDTH), "float16"), normal(1, (len(ENDS), WIDTH), "float16")
    rows = Split.even(ROWS, 5)
    got = joined(5, lambda group: grouped_bias.forward(
        x[rows.part(group.rank)], bias, ENDS, rows.starts[group.rank]
    ))  # fmt: skip
    assert same_bits(got, x + np.repeat(bias, np.diff(ENDS, prepend=0), axis=0))


@pytest.mark.parametrize("ranks", [1, 2])
def test_more_groups_than_a_call_takes(ranks):
    ends = list(range(1, 5001))
    grad = normal(0, (5000, 3))
    rows = Split.even(5000, ranks)
    found = threads.run(ranks, lambda group: grouped_bias.backward_by_rows(
        group, grad[rows.part(group.rank)], rows, ends
    ))  # fmt: skip
    assert all(same_bits(each, grad) for each in found)


@pytest.mark.parametrize("ends", [[5, 3, 10], [5, 9]])
def test_refusals(ends):
    with pytest.raises(InputError, match="groupIdxOptional is .*, the last 10"):
        threads.run(1, lambda group: grouped_bias.backward_by_rows(
            group, normal(0, (10, 2)), Split((0, 10)), ends
        ))  # fmt: skip
