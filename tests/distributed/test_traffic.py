# SPDX-License-Identifier: Apache-2.0
"""What travels between ranks is what the splits cannot do without."""

import numpy as np
from parts import normal

from openaclnn.distributed import (
    conv_tbc_time,
    embedding,
    grouped_bias,
    masked_softmax,
    nsa_compress,
    threads,
)
from openaclnn.distributed.split import Split

RANKS = 4


def sent(work) -> list[int]:
    """The bytes that each rank sends to others."""

    def counted(group) -> int:
        work(group)
        return group.sent_bytes

    return threads.run(RANKS, counted)


def test_convolution_by_time_sends_the_reach_of_its_taps():
    x, weight, bias = normal(0, (40, 5, 7)), normal(1, (3, 7, 2)), normal(2, (2,))
    times = conv_tbc_time.Times.even(40, 3, 1, RANKS)
    row = 5 * 7 * 4
    # One time to each neighbour.
    assert sent(lambda group: conv_tbc_time.forward(
        group, x[times.into.part(group.rank)], weight, bias, times
    )) == [row, 2 * row, 2 * row, row]  # fmt: skip


def test_compression_by_tokens_sends_half_a_window():
    x, weight = normal(0, (640, 3, 16), "float16"), normal(1, (32, 3), "float16")
    windows = nsa_compress.Windows(Split.even(640, RANKS), [640], 32, 16)
    halo = 16 * 3 * 16 * 2  # to the rank before, whose last window ends with these tokens
    assert sent(lambda group: nsa_compress.forward_by_tokens(
        group, x[windows.tokens.part(group.rank)], weight, windows
    )) == [0, halo, halo, halo]  # fmt: skip


def test_tokens_travel_once_each_way():
    """Indices and rows, of tokens that another rank owns, and how many they are."""
    weight, indices = normal(0, (8, 5)), np.tile(np.arange(8), RANKS)
    rows = Split.even(8, RANKS)

    def work(group):
        route = embedding.route(group, rows, indices[group.rank * 8 :][:8])
        embedding.forward(weight[rows.part(group.rank)], route)

    others = RANKS - 1
    counts_and_check = others * (1 + 2) * 8
    assert sent(work) == [counts_and_check + others * 2 * (8 + 5 * 4)] * RANKS


def test_rows_of_groups_send_nodes():
    """Ranks that hold 64 * 2^k rows of one group each: a node, and no row."""
    grad = normal(0, (64 * 4 * RANKS, 5))
    rows = Split.even(len(grad), RANKS)
    assert sent(lambda group: grouped_bias.backward_by_rows(
        group, grad[rows.part(group.rank)], rows, [len(grad)]
    )) == [(RANKS - 1) * 5 * 4] * RANKS  # fmt: skip


def test_columns_of_a_softmax_travel_there_and_back():
    x, mask = normal(0, (2, 3, 8, 16)), np.zeros((2, 3, 8, 16), bool)
    columns = Split.even(16, RANKS)
    part = 2 * 3 * 8 * 4 // RANKS  # elements of a part's rows for another rank

    def work(group):
        mine = (..., columns.part(group.rank))
        masked_softmax.forward_by_columns(group, x[mine], mask[mine], columns)

    assert sent(work) == [(RANKS - 1) * part * (4 + 1 + 4)] * RANKS
