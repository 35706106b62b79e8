# SPDX-License-Identifier: Apache-2.0
"""NSA compression has the bits of one rank, split by tokens and by heads."""

import numpy as np
import pytest
from parts import HALVES, RANKS, normal, same_bits, splits

import openaclnn
from openaclnn.distributed import nsa_compress, threads
from openaclnn.distributed.split import Split
from openaclnn.errors import InputError

# Segments of no window, of one, of many; with tokens behind the last window.
ENDS = [7, 39, 39, 260, 600]
TOKENS, HEADS, WIDTH = ENDS[-1], 3, 32


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(("block", "stride"), [(32, 16), (64, 16), (48, 32)])
def test_tokens(ranks, dtype, block, stride):
    x, weight = normal(0, (TOKENS, HEADS, WIDTH), dtype), normal(1, (block, HEADS), dtype)
    y = openaclnn.nsa_compress(x, weight, ENDS, block, stride)
    grad = normal(2, y.shape, dtype)
    dx, dw = openaclnn.nsa_compress_grad(grad, x, weight, ENDS, block, stride)
    for tokens in splits(TOKENS, ranks):
        windows = nsa_compress.Windows(tokens, ENDS, block, stride)

        def work(group, windows=windows):
            mine = x[windows.tokens.part(group.rank)]
            upstream = grad[windows.split.part(group.rank)]
            got = nsa_compress.forward_by_tokens(group, mine, weight, windows)
            return got, *nsa_compress.backward_by_tokens(group, upstream, mine, weight, windows)

        found = threads.run(ranks, work)
        assert same_bits(np.concatenate([each[0] for each in found]), y)
        assert same_bits(np.concatenate([each[1] for each in found]), dx)
        assert all(same_bits(each[2], dw) for each in found)


def test_heads_need_no_communication():
    x, weight = normal(0, (TOKENS, 5, WIDTH), "bfloat16"), normal(1, (32, 5), "bfloat16")
    grad = normal(2, openaclnn.nsa_compress(x, weight, ENDS).shape, "bfloat16")
    dx, dw = openaclnn.nsa_compress_grad(grad, x, weight, ENDS)
    heads = [slice(0, 2), slice(2, 5)]
    found = [openaclnn.nsa_compress_grad(grad[:, n], x[:, n], weight[:, n], ENDS) for n in heads]
    assert same_bits(np.concatenate([each[0] for each in found], 1), dx)
    assert same_bits(np.concatenate([each[1] for each in found], 1), dw)


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_adding_rounded_weight_gradients_has_other_bits(ranks):
    """Sums of 16 bits are rounded once a rank: not even powers of two keep the bits."""
    tokens, block = 2048, 32
    x, weight = normal(0, (tokens, 1, WIDTH), "float16"), normal(1, (block, 1), "float16")
    ends = Split.even(tokens, 8).starts[1:]  # sequences, so that no window is on two ranks
    grad = normal(2, openaclnn.nsa_compress(x, weight, ends).shape, "float16")
    _, wanted = openaclnn.nsa_compress_grad(grad, x, weight, ends)
    windows = nsa_compress.Windows(Split.even(tokens, ranks), list(ends), block, 16)
    summed = np.zeros(weight.shape, np.float32)
    for rank in range(ranks):
        mine = windows.tokens.part(rank)
        own = [end - mine.start for end in ends if mine.start < end <= mine.stop]
        part = windows.split.part(rank)
        _, dw = openaclnn.nsa_compress_grad(grad[part], x[mine], weight, own)
        summed += dw.astype(np.float32)
    assert np.abs(summed - wanted.astype(np.float32)).max() < 1
    assert not same_bits(summed.astype(np.float16), wanted)


def test_refusals():
    x, weight = normal(0, (64, 1, 16), "float16"), normal(1, (32, 1), "float16")
    windows = nsa_compress.Windows(Split((0, 63)), [63], 32, 16)
    with pytest.raises(InputError, match="input dimension 0 of rank 0 is 64, expected 63"):
        threads.run(1, lambda g: nsa_compress.forward_by_tokens(g, x, weight, windows))
