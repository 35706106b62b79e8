# SPDX-License-Identifier: Apache-2.0
"""Recurrences, lists, resizing and torch-npu's own operators on the device: as on the CPU."""

import copy

import pytest
import torch
import torch_npu
from torch import nn

DEVICE = torch.device("npu")


def close(got, want, **tolerances):
    torch.testing.assert_close(got.cpu(), want, **({"rtol": 1e-4, "atol": 1e-5} | tolerances))


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_recurrence(kind, first):
    torch.manual_seed(1)
    net = kind(3, 4, batch_first=first)
    x = torch.randn(5, 2, 3)
    results = []
    for device in ("cpu", DEVICE):
        own = copy.deepcopy(net).to(device)
        at = x.detach().to(device).requires_grad_()
        y, states = own(at)
        states = states if isinstance(states, tuple) else (states,)
        (y.square().sum() + sum(each.sum() for each in states)).backward()
        results.append([y, *states, at.grad, *(each.grad for each in own.parameters())])
    for want, got in zip(*results, strict=True):
        close(got.detach(), want.detach())


@pytest.mark.parametrize("name", ["floor", "ceil", "round", "trunc", "frac"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_rounding_of_lists(name, dtype):
    tensors = [torch.tensor([-2.5, -1.5, -0.2, 0.5, 1.5, 2.75]).to(dtype), torch.randn(3, 4).to(dtype)]
    wants = getattr(torch, f"_foreach_{name}")(tensors)
    for got, want in zip(getattr(torch, f"_foreach_{name}")([each.npu() for each in tensors]), wants,
                         strict=True):  # fmt: skip
        close(got, want)
    moved = [each.npu() for each in tensors]
    getattr(torch, f"_foreach_{name}_")(moved)
    for got, want in zip(moved, wants, strict=True):
        close(got, want)


def test_zeros_of_lists():
    tensors = [torch.ones(2, 3).npu(), torch.ones(4).half().npu()]
    torch._foreach_zero_(tensors)
    assert all(not each.any() for each in tensors)


def test_sum_of_products():
    x, a, b = torch.randn(3, 5), torch.randn(4, 3, 6), torch.randn(4, 6, 5)
    for beta in (1, 0, 0.5):
        want = torch.addbmm(x, a, b, beta=beta, alpha=2)
        close(torch.addbmm(x.npu(), a.npu(), b.npu(), beta=beta, alpha=2), want)
    close(x.npu().addbmm_(a.npu(), b.npu()), torch.addbmm(x, a, b))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(3, 4), (9, 12)])
def test_interpolation_without_aliasing(mode, size):
    x = torch.randn(2, 3, 6, 8)
    results = []
    for device in ("cpu", DEVICE):
        at = x.detach().to(device).requires_grad_()
        y = nn.functional.interpolate(at, size, mode=mode, antialias=True)
        y.square().sum().backward()
        results.append((y, at.grad))
    for want, got in zip(*results, strict=True):
        close(got.detach(), want.detach())


def test_depthwise_convolution():
    x, weight, bias = torch.randn(2, 3, 6, 7), torch.randn(6, 1, 3, 2), torch.randn(6)
    want = nn.functional.conv2d(x, weight, bias, (2, 1), (1, 0), groups=3)
    got = torch._C._nn._conv_depthwise2d(x.npu(), weight.npu(), (3, 2), bias.npu(), (2, 1), (1, 0), (1, 1))
    close(got, want, atol=2e-3)  # torch-npu lets convolutions use HF32


def test_projections_of_attention():
    qkv, bias = torch.randn(2, 3, 24), torch.randn(24)
    wants = torch._transform_bias_rescale_qkv(qkv, bias, 2)
    for got, want in zip(torch._transform_bias_rescale_qkv(qkv.npu(), bias.npu(), 2), wants, strict=True):
        close(got, want)


def test_sparse_tensors_are_coalesced():
    places, values = torch.tensor([[0, 1, 0, 2], [1, 0, 1, 2]]), torch.tensor([1.0, 2.0, 3.0, 4.0])
    got = torch.sparse_coo_tensor(places.npu(), values.npu(), (3, 3)).coalesce()
    want = torch.sparse_coo_tensor(places, values, (3, 3)).coalesce()
    close(got.indices(), want.indices())
    close(got.values(), want.values())


def test_regions_of_planes():
    """The numbers of torch-npu's own tests."""
    x = torch.arange(1.0, 37).reshape(1, 1, 6, 6).npu()
    rois = torch.tensor([[0, -2.0, -2.0, 22.0, 22.0]]).npu()
    out = torch_npu.npu_roi_align(x, rois, 0.25, 3, 3, 2, 0)
    close(out, torch.tensor([[[[4.5, 6.5, 8.5], [16.5, 18.5, 20.5], [28.5, 30.5, 32.5]]]]))
    back = torch_npu.npu_roi_alignbk(out, rois, x.size(), 3, 3, 0.25, 2)
    assert back.sum().item() == pytest.approx(166.5, rel=1e-5)


def test_rows_of_lists_are_written():
    targets = [torch.zeros(2, 5, 3).half().npu() for _ in range(2)]
    updates, places = torch.ones(2, 2, 1, 3).half(), torch.tensor([1, 3], dtype=torch.int32)
    mask = torch.tensor([1, 0], dtype=torch.uint8)
    written = torch_npu.npu_scatter_list(targets, places.npu(), updates.npu(), mask.npu(), "update", -2)
    assert written[0].nonzero()[:, 1].unique().tolist() == [1] and not written[1].any()


def test_low_rank_products():
    torch.manual_seed(3)
    y, x = torch.randn(5, 16).half(), torch.randn(5, 32).half()
    down, up = torch.randn(2, 1, 16, 32).half(), torch.randn(2, 1, 16, 16).half()
    indices = torch.tensor([0, 1, 1, 0, 1], dtype=torch.int32)
    rows = [2 * (up[i, 0].double() @ (down[i, 0].double() @ a.double())) for i, a in zip(indices, x, strict=True)]
    want = (y.double() + torch.stack(rows)).half()
    got = torch_npu.npu_batch_gather_matmul_(
        y.npu(), x.npu(), up.npu(), indices.npu(), down.npu(), layer_idx=0, scale=2, y_offset=0, y_slice_size=16)
    close(got, want, rtol=1e-3, atol=1e-3)


def test_steps_of_sequences():
    tokens, positions, slots = (torch.zeros(3, dtype=torch.int64).npu() for _ in range(3))
    lengths, tables = torch.tensor([3, 5, 9]).npu(), torch.tensor([[4, 5], [6, 7], [8, 9]]).npu()
    torch_npu.npu_advance_step_flashattn(tokens, torch.tensor([[11], [12]]).npu(), positions, lengths, slots,
                                         tables, 3, 2, 4)  # fmt: skip
    assert tokens.tolist() == [11, 12, 0] and positions.tolist() == [3, 5, 0]
    assert lengths.tolist() == [4, 6, 9] and slots.tolist() == [4 * 4 + 3, 7 * 4 + 1, -1]


def test_exponential_numbers():
    x = torch.empty(20000).npu()
    torch_npu.npu_sim_exponential_(x, lambd=2.0)
    assert x.mean().item() == pytest.approx(0.5, rel=0.05) and (x >= 0).all()


def test_normalised_sums_in_place():
    a, b, gamma = torch.randn(2, 4, 8), torch.randn(2, 4, 8), torch.randn(8)
    x, y = a.npu(), b.npu()
    rstd = torch_npu.npu_add_rms_norm_v2(x, y, gamma.npu(), epsilon=1e-6)
    total = a + b
    scale = (total.square().mean(-1, keepdim=True) + 1e-6).rsqrt()
    close(x, total * scale * gamma)
    close(y, total)
    close(rstd, scale)


def test_rows_of_tables():
    table, index = torch.randn(7, 3), torch.tensor([[1, 6], [0, 2]])
    close(torch_npu.npu_gather_sparse_index(table.npu(), index.npu()), table[index])
