# SPDX-License-Identifier: Apache-2.0
"""ConvTbc has the bits of one rank, split by time, by batch and by channels."""

import numpy as np
import pytest
from parts import FLOATS, RANKS, normal, same_bits, splits, uneven

import openaclnn
from openaclnn.distributed import conv_tbc, conv_tbc_time, threads
from openaclnn.distributed.split import Split
from openaclnn.errors import InputError


class Case:
    """Operands and the results of one rank."""

    def __init__(self, dtype, times=131, batch=9, inner=5, outer=7, taps=4, pad=1, math=0):
        self.x = normal(0, (times, batch, inner), dtype)
        self.weight, self.bias = normal(1, (taps, inner, outer), dtype), normal(2, (outer,), dtype)
        self.pad, self.math = pad, math
        self.y = openaclnn.conv_tbc(self.x, self.weight, self.bias, pad, math)
        self.grad = normal(3, self.y.shape, dtype)
        self.gradients = openaclnn.conv_tbc_backward(
            self.grad, self.x, self.weight, self.bias, pad, math
        )


def along(found: list, place: int, axis: int) -> np.ndarray:
    return np.concatenate([each[place] for each in found], axis)


def check_whole_sums(case: Case, found: list, axis: int) -> None:
    """y and dx are split along `axis`, dw and db whole on every rank."""
    dx, dw, db = case.gradients
    assert same_bits(along(found, 0, axis), case.y)
    assert same_bits(along(found, 1, axis), dx)
    assert all(same_bits(each[2], dw) and same_bits(each[3], db) for each in found)


def check_time(case: Case, ranks: int, into: Split, out: Split) -> None:
    times = conv_tbc_time.Times(into, out, len(case.weight), case.pad)

    def work(group):
        x, grad = case.x[into.part(group.rank)], case.grad[out.part(group.rank)]
        y = conv_tbc_time.forward(group, x, case.weight, case.bias, times, case.math)
        return y, *conv_tbc_time.backward(group, grad, x, case.weight, times, case.math)

    check_whole_sums(case, threads.run(ranks, work), axis=0)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("ranks", RANKS)
def test_time(ranks, dtype):
    case = Case(dtype)
    for into, out in zip(splits(len(case.x), ranks), splits(len(case.y), ranks), strict=True):
        check_time(case, ranks, into, out)


@pytest.mark.parametrize(
    ("times", "batch", "taps", "pad"),
    [(131, 1, 3, 2), (40, 70, 2, 0), (5, 3, 7, 5), (9, 2, 3, 6), (3, 2, 3, 0)],
)
@pytest.mark.parametrize("ranks", [3, 8])
def test_time_of_other_shapes(ranks, times, batch, taps, pad):
    case = Case("float32", times, batch, taps=taps, pad=pad)
    out = len(case.y)
    check_time(case, ranks, uneven(times, ranks), Split.even(out, ranks))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("ranks", [2, 3])
def test_time_of_sums_that_cancel(ranks, dtype):
    """dw is what the rounding of FP32 sums leaves, so that 16 bits show their order."""
    half = Case(dtype, times=200, taps=1, pad=0)
    case = Case(dtype, times=400, taps=1, pad=0)
    case.x = np.concatenate([half.x, half.x])
    case.grad = np.concatenate([half.grad, -half.grad])
    case.y = openaclnn.conv_tbc(case.x, case.weight, case.bias, case.pad)
    operands = (case.grad, case.x, case.weight, case.bias, case.pad)
    case.gradients = openaclnn.conv_tbc_backward(*operands)
    assert np.count_nonzero(case.gradients[1]) > 0
    check_time(case, ranks, Split.even(400, ranks), Split.even(400, ranks))


@pytest.mark.parametrize(("dtype", "math"), [("float32", 1), ("float32", 2), ("bfloat16", 2)])
def test_time_with_rounded_operands(dtype, math):
    case = Case(dtype, math=math)
    check_time(case, 3, Split.even(len(case.x), 3), Split.even(len(case.y), 3))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("ranks", RANKS)
def test_batch(ranks, dtype):
    case = Case(dtype)
    for batch in splits(case.x.shape[1], ranks):

        def work(group, batch=batch):
            mine = batch.part(group.rank)
            x, grad = case.x[:, mine], case.grad[:, mine]
            y = conv_tbc.forward_by_batch(x, case.weight, case.bias, case.pad)
            return y, *conv_tbc.backward_by_batch(group, grad, x, case.weight, batch, case.pad)

        check_whole_sums(case, threads.run(ranks, work), axis=1)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("ranks", RANKS)
def test_channels(ranks, dtype):
    case = Case(dtype)
    _, _, inner = case.x.shape
    outer = len(case.bias)
    for channels in zip(splits(inner, ranks), splits(outer, ranks), strict=True):

        def work(group, channels=channels):
            c, o = (each.part(group.rank) for each in channels)
            x, weight, grad = case.x[..., c], case.weight[:, c], case.grad[..., o]
            attributes = (channels, case.pad)
            y = conv_tbc.forward_by_channels(group, x, weight, case.bias[o], *attributes)
            return y, *conv_tbc.backward_by_channels(group, grad, x, weight, *attributes)

        found = threads.run(ranks, work)
        assert same_bits(along(found, 0, 2), case.y)
        for place, (axis, wanted) in enumerate(zip((2, 1, 0), case.gradients, strict=True), 1):
            assert same_bits(along(found, place, axis), wanted)


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 6, 7, 8])
def test_adding_each_rank_s_weight_gradient(ranks):
    """Without taps that meet the padding, and T*B = 2048 rows: powers of two keep the bits."""
    case = Case("float32", times=2048, batch=1, taps=1, pad=0)
    split = Split.even(2048, ranks)
    partials = {}
    for rank in range(ranks):
        part = split.part(rank)
        operands = (case.grad[part], case.x[part], case.weight, case.bias)
        partials[rank, rank + 1] = openaclnn.conv_tbc_backward(*operands)[1]
    summed = conv_tbc_time.tree.join(partials, (0, ranks))
    assert np.abs(summed - case.gradients[1]).max() < 1e-3
    assert same_bits(summed, case.gradients[1]) == (ranks in (2, 4, 8))


def test_refusals():
    case = Case("float32")
    times = conv_tbc_time.Times.even(len(case.x) + 1, 4, 1, 1)
    with pytest.raises(InputError, match="self dimension 0 of rank 0 is 131, expected 132"):
        threads.run(1, lambda g: conv_tbc_time.forward(g, case.x, case.weight, case.bias, times))
