# SPDX-License-Identifier: Apache-2.0
"""Normalisations that torch-npu calls by functions of its own, and SyncBatchNorm, against PyTorch's
formulas in float64."""

import pytest
import torch
import torch.nn.functional as F
import torch_npu

# Their pages leave out 950.
NOT_ON_950 = ("deep_norm", "group_norm_swish")
NEAR = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


def swish(z, scale):
    return z * torch.sigmoid(scale * z)


def rms_norm(x, gamma):
    return x / (x.square().mean(-1, keepdim=True) + 0.25).sqrt() * gamma


# By name: the call of torch-npu, PyTorch's formula, the shapes of what both take.
TRAINED = {
    "deep_norm": (lambda *at: torch_npu.npu_deep_norm(*at, 0.3, 0.25)[2],
                  lambda x, gx, beta, gamma: F.layer_norm(0.3 * x + gx, (64,), gamma, beta, 0.25),
                  [(5, 3, 64), (5, 3, 64), (64,), (64,)]),
    "add_layer_norm": (lambda *at: torch_npu.npu_add_layer_norm(*at, 0.25, True)[0],
                       lambda x, y, gamma, beta: F.layer_norm(x + y, (64,), gamma, beta, 0.25),
                       [(5, 3, 64), (5, 3, 64), (64,), (64,)]),
    "group_norm_swish": (lambda x, *at: torch_npu.npu_group_norm_swish(x, 4, *at, 0.25, 1.5)[0],
                         lambda x, *at: swish(F.group_norm(x, 4, *at, 0.25), 1.5),
                         [(3, 12, 5, 7), (12,), (12,)]),
}  # fmt: skip
CALLED = {
    "group_norm_silu": (lambda x, *at: torch_npu.npu_group_norm_silu(x, *at, 4, 0.25)[0],
                        lambda x, *at: swish(F.group_norm(x, 4, *at, 0.25), 1), TRAINED["group_norm_swish"][2]),
    "gemma_rms_norm": (lambda *at: torch_npu.npu_gemma_rms_norm(*at, 0.25)[0],
                       lambda x, gamma: rms_norm(x, 1 + gamma), [(5, 3, 64), (64,)]),
    "add_rms_norm_cast": (lambda *at: torch_npu.npu_add_rms_norm_cast(*at, 0.25)[1],
                          lambda x, y, gamma: rms_norm(x + y, gamma), [(5, 3, 64), (5, 3, 64), (64,)]),
}  # fmt: skip


def assert_near(got, wanted, dtype):
    torch.testing.assert_close(got.detach().cpu().double(), wanted.detach(), rtol=NEAR[dtype], atol=NEAR[dtype])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", [*TRAINED, *CALLED])
def test_norm(name, dtype, product):
    if name == "add_rms_norm_cast" and dtype == torch.float32:
        pytest.skip("the cast is to float32")
    call, formula, shapes = (TRAINED | CALLED)[name]
    given = [torch.randn(shape).to(dtype) for shape in shapes]
    device = [each.npu().requires_grad_(name in TRAINED) for each in given]
    if product.startswith("Ascend950") and name in NOT_ON_950:
        with pytest.raises(RuntimeError, match="561003"):
            call(*device)
        return
    out = call(*device)
    leaves = [each.double().requires_grad_() for each in given]
    wanted = formula(*leaves)
    assert out.dtype == dtype
    assert_near(out, wanted, dtype)
    if name not in TRAINED:
        return
    grad = torch.randn(out.shape).to(dtype)
    out.backward(grad.npu())
    wanted.backward(grad.double())
    for got, want in zip(device, leaves, strict=True):
        assert_near(got.grad, want.grad, dtype)


def gathered(parts, counts, by_sums):
    """The moments of all parts, in either way: from sums, or from each part's moments."""
    running = torch.zeros(5).npu(), torch.ones(5).npu()
    if by_sums:
        each = [torch_npu.batch_norm_reduce(part, 0.25) for part in parts]
        gather = torch_npu.batch_norm_gather_stats_update
    else:
        each = [torch.batch_norm_stats(part, 0.25) for part in parts]
        gather = torch.batch_norm_gather_stats_with_counts
    stacked = (torch.stack(values) for values in zip(*each, strict=True))
    counts = counts if by_sums else counts.float()
    return gather(parts[0], *stacked, *running, 0.5, 0.25, counts), running


@pytest.mark.parametrize("by_sums", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_batch_norm_of_parts(dtype, by_sums):
    """As SyncBatchNorm calls them, with two parts of a batch for two devices."""
    x, dy = torch.randn(7, 5, 4, 3).to(dtype), torch.randn(7, 5, 4, 3).to(dtype)
    weight, bias = torch.randn(5), torch.randn(5)
    parts, grads = (each.npu().split((2, 5)) for each in (x, dy))
    counts = torch.tensor([2 * 12, 5 * 12], dtype=torch.int32).npu()
    (mean, invstd), running = gathered(parts, counts, by_sums)
    factors = weight.npu().to(dtype), bias.npu().to(dtype)
    out = torch.cat([torch.batch_norm_elemt(part, *factors, mean, invstd, 0.25) for part in parts])
    each = [torch.batch_norm_backward_reduce(g, part, mean, invstd, factors[0], True, True, True)
            for g, part in zip(grads, parts, strict=True)]  # fmt: skip
    sum_dy, sum_dy_xmu, by_weight, by_bias = (sum(values) for values in zip(*each, strict=True))
    dx = torch.cat([torch.batch_norm_backward_elemt(g, part, mean, invstd, factors[0], sum_dy, sum_dy_xmu, counts)
                    for g, part in zip(grads, parts, strict=True)])  # fmt: skip
    leaves = [each.to(dtype).double().requires_grad_() for each in (x, weight, bias)]
    means, variances = torch.zeros(5).double(), torch.ones(5).double()
    wanted = F.batch_norm(leaves[0], means, variances, *leaves[1:], True, 0.5, 0.25)
    wanted.backward(dy.double())
    assert_near(out, wanted, dtype)
    for got, want in zip((dx, by_weight, by_bias), leaves, strict=True):
        assert_near(got, want.grad, torch.float16 if dtype == torch.float16 else dtype)
    for got, want in zip(running, (means, variances), strict=True):
        assert_near(got, want, dtype)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_cross_entropy(dtype, reduction):
    scores, target = torch.randn(9, 33).to(dtype), torch.randint(0, 33, (9,))
    device = scores.npu().requires_grad_()
    loss = torch_npu.npu_cross_entropy_loss(device, target.npu(), reduction=reduction)[0]
    leaf = scores.double().requires_grad_()
    wanted = F.cross_entropy(leaf, target, reduction=reduction).reshape(loss.shape)
    grad = torch.randn(loss.shape).to(dtype)
    loss.backward(grad.npu())
    wanted.backward(grad.double())
    torch.testing.assert_close(loss.detach().cpu().double(), wanted.detach(), rtol=1e-2, atol=NEAR[dtype])
    assert_near(device.grad, leaf.grad, dtype)
