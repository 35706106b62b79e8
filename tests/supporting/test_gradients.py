# SPDX-License-Identifier: Apache-2.0
"""Gradients in NumPy are those of the forwards in NumPy.

The adjoint identity: for any direction, the gradient times the direction is `dy` times what the
forward changes by along it.
"""

import arranged
import blocks
import deformed
import divergence
import floyd
import formulas
import networks
import norms
import numpy as np
import planes
import pytest
import recurrent
import sparse
import streams

from bounded import DOUBLE, Bounded

STEP = 1e-6


def changes(forward, at, direction):
    """How fast the forward's result changes along a direction, by central differences."""
    above = forward(*(a + STEP * d for a, d in zip(at, direction, strict=True)))
    below = forward(*(a - STEP * d for a, d in zip(at, direction, strict=True)))
    return (above.astype(float) - below.astype(float)) / (2 * STEP)


def assert_adjoint(forward, gradients, *at):
    random = np.random.default_rng(5)
    dy = random.standard_normal(forward(*at).shape)
    direction = [random.standard_normal(each.shape) for each in at]
    got = gradients(dy, *at)
    got = got if isinstance(got, tuple) else (got,)
    pairs = zip(got, direction, strict=True)
    assert [each.shape for each in got] == [each.shape for each in at]
    by_gradient = sum(np.sum(each.astype(float) * d) for each, d in pairs)
    assert by_gradient == pytest.approx(np.sum(dy * changes(forward, at, direction)), rel=1e-7)


def drawn(*shapes):
    random = np.random.default_rng(4)
    return [random.standard_normal(shape) for shape in shapes]


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_swi_glu(dim):
    assert_adjoint(lambda x: networks.swi_glu(x, dim),
                   lambda g, x: networks.swi_glu_backward(g, x, dim), *drawn((4, 6)))  # fmt: skip


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("approximate", [0, 1])
def test_ge_glu(approximate, left):
    setting = (1, approximate, left)

    def gradient(g, x):
        return networks.ge_glu_backward(g, x, networks.ge_glu(x, *setting)[1], *setting)

    assert_adjoint(lambda x: networks.ge_glu(x, *setting)[0], gradient, *drawn((3, 8)))


@pytest.mark.parametrize("shapes", [((3, 5), (5,)), ((2, 3, 4), (3, 4)), ((7,), (7,))])
def test_rms_norm(shapes):
    def gradient(g, x, gamma):
        return networks.rms_norm_backward(g, x, networks.rms_norm(x, gamma, 0.1)[1], gamma)

    assert_adjoint(lambda x, gamma: networks.rms_norm(x, gamma, 0.1)[0], gradient, *drawn(*shapes))


@pytest.mark.parametrize("mode", range(4))
@pytest.mark.parametrize("angles", [(2, 3, 8), (1, 3, 8), (8,), (3, 1)])
def test_rotary(mode, angles):
    def gradient(g, x, cos, sin):
        return networks.rotary_backward(g, cos, sin, x, mode)

    assert_adjoint(lambda x, cos, sin: networks.rotary(x, cos, sin, mode), gradient,
                   *drawn((2, 3, 8), angles, (1, 3, 1)))  # fmt: skip


@pytest.mark.parametrize("shapes", [((3, 5), (5,)), ((2, 3, 4), (3, 4))])
def test_add_layer_norm(shapes):
    x, gamma = shapes

    def gradient(g, x1, x2, gamma, beta):
        _, mean, rstd, _ = norms.add_layer_norm(x1, x2, gamma, beta, None, 0.1, True)
        by_x, by_gamma, by_beta = norms.add_layer_norm_backward(
            g, x1, x2, rstd, mean, gamma, None
        )
        return by_x, by_x, by_gamma, by_beta

    assert_adjoint(lambda *at: norms.add_layer_norm(*at, None, 0.1, True)[0], gradient,
                   *drawn(x, x, gamma, gamma))  # fmt: skip


def test_add_layer_norm_of_a_sum_that_is_used_on():
    """What follows takes y and the sum."""
    gamma, beta = drawn((5,), (5,))

    def forward(x1, x2):
        y, _, _, total = norms.add_layer_norm(x1, x2, gamma, beta, None, 0.1, True)
        return np.stack([y, total])

    def gradient(g, x1, x2):
        _, mean, rstd, _ = norms.add_layer_norm(x1, x2, gamma, beta, None, 0.1, True)
        by_x, _, _ = norms.add_layer_norm_backward(
            g[0], x1, x2, rstd, mean, gamma, g[1]
        )
        return by_x, by_x

    assert_adjoint(forward, gradient, *drawn((3, 5), (3, 5)))


@pytest.mark.parametrize("shapes", [((3, 5), (5,)), ((2, 3, 4), (3, 4))])
def test_deep_norm(shapes):
    x, gamma = shapes

    def gradient(g, x, gx, beta, gamma):
        mean, rstd, _ = norms.deep_norm(x, gx, beta, gamma, 0.3, 0.1)
        return norms.deep_norm_backward(g, x, gx, gamma, mean, rstd, 0.3)

    assert_adjoint(
        lambda *at: norms.deep_norm(*at, 0.3, 0.1)[2],
        gradient,
        *drawn(x, x, gamma, gamma),
    )


@pytest.mark.parametrize("scale", [1.0, -0.5])
@pytest.mark.parametrize("shape", [(2, 6), (2, 6, 3), (1, 6, 2, 2)])
def test_group_norm_swish(shape, scale):
    def gradient(g, x, gamma, beta):
        _, mean, rstd = norms.group_norm_swish(x, gamma, beta, 2, 0.1, True, scale)
        return norms.group_norm_swish_backward(
            g, mean, rstd, x, gamma, beta, 2, scale, True, True
        )

    assert_adjoint(lambda *at: norms.group_norm_swish(*at, 2, 0.1, True, scale)[0], gradient,
                   *drawn(shape, (6,), (6,)))  # fmt: skip


def test_batch_norm_over_devices():
    """Each device has a part of the batch; sums go to all devices."""
    parts = slice(0, 1), slice(1, 4)
    counts = np.array([5, 15])

    def moments(x):
        each = [norms.batch_norm_stats(x[part], 0.1) for part in parts]
        mean, invstd = (np.stack(values) for values in zip(*each, strict=True))
        gathered = norms.batch_norm_gather(
            mean, invstd, np.zeros(3), np.ones(3), 0.1, 0.1, counts
        )
        sums = [
            np.stack(values)
            for values in zip(
                *(norms.batch_norm_reduce(x[p]) for p in parts), strict=True
            )
        ]
        by_sums = norms.sync_batch_norm_gather(
            *sums, counts, np.zeros(3), np.ones(3), 0.1, 0.1
        )
        np.testing.assert_allclose(by_sums, gathered)
        return gathered[2:]

    def forward(x, weight, bias):
        return norms.batch_norm_elemt(x, weight, bias, *moments(x))

    def gradient(g, x, weight, bias):
        mean, invstd = moments(x)
        of_parts = [norms.batch_norm_reduce_backward(g[part], x[part], mean, invstd, True, True, True)
                    for part in parts]  # fmt: skip
        sums = [sum(values) for values in zip(*of_parts, strict=True)]
        by_x = norms.batch_norm_elemt_backward(
            g, x, mean, invstd, weight, *sums[:2], counts
        )
        return by_x, *sums[2:]

    at = drawn((4, 3, 5), (3,), (3,))
    whole = networks.batch_norm(*at, np.zeros(3), np.ones(3), True, 0.1, 0.1)
    np.testing.assert_allclose(forward(*at), whole[2])
    np.testing.assert_allclose(moments(at[0]), whole[3:])
    assert_adjoint(forward, gradient, *at)


def test_fast_gelu():
    assert_adjoint(lambda x: x * formulas.sigmoid(1.702 * x),
                   lambda g, x: g * formulas.fast_gelu_slope(x), *drawn((4, 6)))  # fmt: skip


@pytest.mark.parametrize("eps", [-1.0, 0.0, 0.1])
def test_logit(eps):
    def inside(x):  # between 0 and 1, and beyond eps from both
        return formulas.sigmoid(3 * x)

    def gradient(g, x):
        y = inside(x)
        return formulas.logit_backward(y, g, eps) * 3 * y * (1 - y)

    assert_adjoint(lambda x: formulas.logit(inside(x), eps), gradient, *drawn((5, 4)))


def test_selu():
    scale, alpha = 1.0507009873554805, 1.6732632423543772

    def forward(x):
        return scale * np.where(x > 0, x, alpha * np.expm1(x))

    def gradient(g, x):
        result = forward(x)
        return g * np.where(result > 0, scale, result + scale * alpha)

    assert_adjoint(forward, gradient, *drawn((4, 6)))


@pytest.mark.parametrize("setting", [(0, 3, 1), (1, 2, 2), (-1, 1, 3), (1, 6, 1)])
def test_unfold(setting):
    dim, size, step = setting

    def gradient(g, x):
        return arranged.unfold_backward(Bounded(g, DOUBLE), x.shape, dim, size, step).value

    assert_adjoint(lambda x: arranged.unfold(x, dim, size, step), gradient, *drawn((5, 6)))


@pytest.mark.parametrize("result", [0, 1])
@pytest.mark.parametrize("biased", [False, True])
def test_lstm_cell(result, biased):
    shapes = [(3, 8), (3, 8), (3, 2)] + [(8,), (8,)] * biased

    def cell(*at):
        return networks.lstm_cell(*at, *([] if biased else [None, None]))

    def gradient(g, *at):
        new, gates = cell(*at)[1:]
        given = (None, g) if result else (g, None)
        by_gates, by_state, by_bias = networks.lstm_cell_backward(*given, at[2], new, gates, biased)
        return (by_gates, by_gates, by_state) + (by_bias, by_bias) * biased

    assert_adjoint(lambda *at: cell(*at)[result], gradient, *drawn(*shapes))


def exact(*arrays):
    return [Bounded(each, DOUBLE) for each in arrays]


def values(results):
    return tuple(each.value for each in results)


@pytest.mark.parametrize("masked", [False, True])
def test_floyd_attention(masked):
    hides = np.random.default_rng(6).integers(0, 2, (2, 1, 3, 1, 6)) if masked else None
    mask = exact(hides)[0] if masked else None

    def forward(*at):
        return floyd.floyd_attention(*exact(*at), mask, 0.5)

    def gradient(g, *at):
        tops, totals, out = forward(*at)
        totals = Bounded(np.where(totals.value == 0, 1, totals.value), DOUBLE)
        return values(floyd.floyd_backward(*exact(*at, g), mask, tops, totals, out, 0.5))

    shapes = [(2, 1, 3, 4, 5), *[(2, 1, 3, 6, 5)] * 2, *[(2, 1, 6, 4, 5)] * 2]
    assert_adjoint(lambda *at: forward(*at)[2].value, gradient, *drawn(*shapes))


@pytest.mark.parametrize("layout", ["BNSD", "TND"])
def test_block_sparse_attention(layout):
    packed = layout == "TND"
    lengths = ([3, 2], [200, 130]) if packed else ([5, 4], [200, 130])
    seen = np.array([[[[1, 0], [1, 1], [0, 1]], [[0, 0], [1, 0], [1, 1]]]] * 2)
    setting = (seen, [2, 128], *lengths, layout, 0.3)

    def forward(*at):
        return blocks.block_attention(*exact(*at), *setting, True)

    def gradient(g, *at):
        return values(blocks.block_backward(*exact(g, *at), *forward(*at), *setting))

    shapes = [(5, 2, 3), (330, 1, 3), (330, 1, 4)] if packed else [(2, 2, 5, 3), (2, 1, 200, 3), (2, 1, 200, 4)]
    assert_adjoint(lambda *at: forward(*at)[0].value, gradient, *drawn(*shapes))


@pytest.mark.parametrize("dense", [False, True])
def test_index_loss(dense):
    q, k, numbers = drawn((2, 3, 4, 5), (2, 6, 2, 5), (2, 2, 3, 2))
    tops, totals = exact(np.abs(numbers), 1 + np.abs(numbers))
    chosen = np.array([[[[0, 2, 2, -1, 9]], [[1, 4, 3, 0, 2]], [[5, 5, 0, 1, -1]]]] * 2)
    rest = (None, None, None, None, 0.5, "BSND")

    def loss(*at):
        if not dense:
            return divergence.chosen_index_loss(*exact(q, k, *at), chosen, tops, totals, *rest)
        return divergence.index_loss(*exact(q, k, *at), tops, totals, *index_sums(*at), *rest)

    def index_sums(q_index, k_index, weights):
        return sparse.index_softmax(*exact(q_index, k_index, weights), None, None, "BSND")

    def gradient(g, *at):
        return tuple(g[0] * each for each in values(loss(*at)[:3]))

    assert_adjoint(lambda *at: loss(*at)[3].value, gradient,
                   *drawn((2, 3, 2, 4), (2, 6, 1, 4), (2, 3, 2)))  # fmt: skip


# Recurrences.


_RECURRENT = [(both, first, packed) for both in (False, True) for first, packed in
              ((False, None), (True, None), (False, [3, 2, 2, 1]))]  # fmt: skip


def _flat(results):
    """All results in one."""
    return np.concatenate([each.value.reshape(-1) for each in results])


def _sequences(gates: int, both: bool, first: bool, packed):
    parts, read = 2 * (1 + both), 2 * (1 + both)
    x = (12, 3) if packed else (3, 4, 3) if first else (4, 3, 3)
    weights = [shape for layer in range(2) for _ in range(1 + both) for shape in
               ((gates * 2, read if layer else 3), (gates * 2, 2), (gates * 2,), (gates * 2,))]  # fmt: skip
    return drawn(x, *weights), drawn((parts, 3, 2), (parts, 3, 2))


def _parted(flat, shapes):
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    return [each.reshape(s) for each, s in zip(np.split(flat, ends[:-1]), shapes, strict=True)]


@pytest.mark.parametrize(("both", "first", "packed"), _RECURRENT)
def test_lstm(both, first, packed):
    (x, *params), states = _sequences(4, both, first, packed)
    setting = (packed, True, 2)

    def run(x, h, c, *params):
        return recurrent.lstm(x, params, [h, c], *setting, True, both, first)

    def gradient(dy, x, h, c, *params):
        results = run(x, h, c, *params)
        by = _parted(dy, [each.shape for each in results[:3]])
        saved = [[each.value for each in one] for one in results[3:]]
        got = recurrent.lstm_backward(x, [h, c], list(params), *by, *saved, *setting, both, first)
        return tuple(each.value for each in (*got[:3], *got[3]))

    assert_adjoint(lambda *at: _flat(run(*at)[:3]), gradient, x, *states, *params)


@pytest.mark.parametrize(("both", "first", "packed"), _RECURRENT)
def test_gru(both, first, packed):
    (x, *params), (state, _) = _sequences(3, both, first, packed)
    setting = (packed, True, 2)

    def run(x, h, *params):
        return recurrent.gru(x, params, h, *setting, True, both, first)

    def gradient(dy, x, h, *params):
        results = run(x, h, *params)
        by = _parted(dy, [each.shape for each in results[:2]])
        saved = [[each.value for each in one] for one in results[2:]]
        got = recurrent.gru_backward(x, list(params), h, *by, *saved, *setting, both, first)
        return tuple(each.value for each in (*got[:2], *got[2]))

    assert_adjoint(lambda *at: _flat(run(*at)[:2]), gradient, x, state, *params)


# Planes.


@pytest.mark.parametrize("taps", [2, 4])
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("size", [(3, 4), (9, 5), (1, 1)])
def test_upsample_aa(size, align, taps):
    def gradient(g, x):
        back = planes.upsample_aa_backward(*exact(g), x.shape, taps, align, [0.0, 0.0])
        return back.value

    assert_adjoint(
        lambda x: planes.upsample_aa(*exact(x), size, taps, align, [0.0, 0.0]).value,
        gradient, *drawn((2, 1, 6, 7)),
    )  # fmt: skip


@pytest.mark.parametrize("samples", [0, 2])
@pytest.mark.parametrize("mode", [0, 1])
def test_roi_align(mode, samples):
    rois = np.array([[1, -3, 2, 20, 15], [0, 4, 4, 9, 30], [1, 0, 0, 0.5, 0.5]])
    setting = (0.25, 3, 2, samples, mode)

    def gradient(g, x):
        return planes.roi_align_backward(*exact(g, rois), x.shape, *setting).value

    assert_adjoint(lambda x: planes.roi_align(*exact(x, rois), *setting).value, gradient,
                   *drawn((2, 3, 5, 6)))  # fmt: skip


@pytest.mark.parametrize("masked", [False, True])
def test_deformable_convolution(masked):
    setting = ([1, 1, 2, 1], [1, 0, 2, 1], [1, 1, 1, 2], 2, 2, masked)
    offsets = (2, (3 if masked else 2) * 2 * 6, 3, 6)

    def run(x, weight, offset, bias):
        return deformed.deformable(*exact(x, weight, offset, bias), *setting)

    def gradient(g, x, weight, offset, bias):
        spread = run(x, weight, offset, bias)[1]
        got = deformed.deformable_backward(*exact(x, g), spread, *exact(weight, offset), *setting)
        return tuple(each.value for each in got)

    assert_adjoint(lambda *at: run(*at)[0].value, gradient,
                   *drawn((2, 4, 5, 5), (6, 2, 2, 3), offsets, (6,)))  # fmt: skip


# Hyper-connections.


@pytest.mark.parametrize("mixed", [False, True])
def test_mhc_post(mixed):
    at = drawn((2, 3, 4), (2, 4), (2, 3), *[(2, 3, 3)] * mixed)

    def bounded(x, out, post, mix=None):
        return [None if each is None else Bounded(each, DOUBLE) for each in (x, mix, out, post)]

    def gradient(g, *at):
        by_x, by_mix, *rest = streams.mhc_post_backward(Bounded(g, DOUBLE), *bounded(*at))
        return tuple(each.value for each in (by_x, *rest, *[by_mix] * mixed))

    assert_adjoint(lambda *at: streams.mhc_post(*bounded(*at)).value, gradient, *at)


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("eps", [1e-6, 0.01])
def test_mhc_sinkhorn(eps, count):
    saved = np.empty(1)

    def gradient(g, x):
        _, norm, sums = streams.mhc_sinkhorn(Bounded(x, DOUBLE), np.float32(eps), count, saved)
        return streams.mhc_sinkhorn_backward(Bounded(g, DOUBLE), norm, sums).value

    assert_adjoint(lambda x: streams.mhc_sinkhorn(Bounded(x, DOUBLE), np.float32(eps), count, saved)[0].value,
                   gradient, *drawn((3, 4, 4)))  # fmt: skip


# Sequences.


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("taps", [1, 3, 7])
def test_causal_convolution(taps, masked):
    mask = np.random.default_rng(3).integers(0, 2, (2, 5)).astype(bool) if masked else None

    def gradient(g, x, weight):
        got = deformed.causal_conv_backward(*exact(g, x, weight), mask)
        return tuple(each.value for each in got)

    assert_adjoint(lambda x, weight: deformed.causal_conv(*exact(x, weight), mask).value, gradient,
                   *drawn((5, 2, 3), (taps, 3)))  # fmt: skip
