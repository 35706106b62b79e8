# SPDX-License-Identifier: Apache-2.0
"""Quantised operators that torch-npu has functions for, against their formulas in float64."""

import pytest
import torch
import torch_npu

HALVES = [torch.float16, torch.bfloat16]
NEW = pytest.mark.skipif(not hasattr(torch_npu, "npu_rms_norm_quant"), reason="torch-npu lacks it")


@pytest.fixture(autouse=True)
def has_them(product):
    if not product.startswith(("Ascend910B", "Ascend910_93")):
        pytest.skip("products whose pages have these operators")


def whole(values, low=-128, high=127):
    return values.double().round().clamp(low, high)


def assert_whole(got, values, low=-128, high=127):
    """Within a rounding: a number near a half may go either way."""
    got, values = got.cpu().double(), values.double().clamp(low, high)
    assert ((got - values).abs() <= 0.5 + 1e-3).all(), (got - values).abs().max()


def unpacked(words):
    digits = (words.cpu().long()[..., None] >> (4 * torch.arange(8))) & 15
    return ((digits ^ 8) - 8).reshape(*words.shape[:-1], -1)


@pytest.mark.parametrize("dtype", HALVES)
def test_dynamic_quant(dtype):
    x, smooth = torch.randn(5, 3, 64).to(dtype), (torch.rand(64) + 0.5).to(dtype)
    z = x.double() * smooth.double()
    y, scale = torch_npu.npu_dynamic_quant(x.npu(), smooth_scales=smooth.npu())
    want = z.abs().amax(-1) / 127
    torch.testing.assert_close(scale.cpu().double(), want, rtol=1e-6, atol=0)
    assert_whole(y, z / want[..., None])
    y, scale = torch_npu.npu_dynamic_quant(x.npu(), dst_type=torch.quint4x2)
    assert y.dtype == torch.int32 and y.shape == (5, 3, 8)
    assert_whole(unpacked(y), x.double() / scale.cpu().double()[..., None], -8, 7)


@pytest.mark.parametrize("dtype", HALVES)
def test_dynamic_quant_of_experts(dtype):
    x, smooth = torch.randn(7, 64).to(dtype), (torch.rand(3, 64) + 0.5).to(dtype)
    ends = torch.tensor([2, 2, 7], dtype=torch.int32)
    z = x.double() * smooth.double()[[0, 0, 2, 2, 2, 2, 2]]
    y, scale, offset = torch_npu.npu_dynamic_quant_asymmetric(
        x.npu(), smooth_scales=smooth.npu(), group_index=ends.npu()
    )
    scale, offset = scale.cpu().double(), offset.cpu().double()
    torch.testing.assert_close(scale, (z.amax(-1) - z.amin(-1)) / 255, rtol=1e-6, atol=0)
    assert_whole(y, z / scale[:, None] + offset[:, None])


@pytest.mark.parametrize("dtype", [torch.float32, *HALVES])
def test_quantize(dtype):
    x, scale = torch.randn(4, 6, 32).to(dtype), (torch.rand(32) * 30 + 1).to(dtype)
    zero = torch.randint(-5, 6, (32,)).to(dtype)
    y = torch_npu.npu_quantize(x.npu(), scale.npu(), zero.npu(), torch.qint8, -1, False)
    assert_whole(y, x.double() * scale.double() + zero.double())
    y = torch_npu.npu_quantize(x.npu(), scale.npu(), None, torch.quint4x2, -1, False)
    assert_whole(unpacked(y), x.double() * scale.double(), -8, 7)
    by, zero = (torch.rand(6) / 20 + 0.01), torch.randint(0, 9, (6,), dtype=torch.int32)
    y = torch_npu.npu_quantize(x.npu(), by.npu(), zero.npu(), torch.qint8, 1, True)
    assert_whole(y, x.double() / by.double()[:, None] + zero.double()[:, None])


def test_anti_quant():
    x, scale = torch.randint(-128, 128, (5, 16), dtype=torch.int8), torch.rand(16)
    y = torch_npu.npu_anti_quant(x.npu(), scale.npu(), offset=None, dst_dtype=torch.float16)
    torch.testing.assert_close(y.cpu().double(), x.double() * scale.double(), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("shape", [(3, 64, 40), (130, 1500, 70)])
@pytest.mark.parametrize("dtype", HALVES)
def test_quant_matmul(shape, dtype):
    m, k, n = shape
    x1, x2 = (torch.randint(-128, 128, each, dtype=torch.int8) for each in ((m, k), (k, n)))
    scale, rows = torch.rand(n) / 1000, torch.rand(m)
    sums = x1.double() @ x2.double()
    got = torch_npu.npu_quant_matmul(
        x1.npu(), x2.npu(), scale.npu(), pertoken_scale=rows.npu(), output_dtype=dtype
    )
    want = (sums * scale.double() * rows.double()[:, None]).to(dtype)
    torch.testing.assert_close(got.cpu(), want)
    turned = x2.t().contiguous().npu().t()  # as clients keep weights
    again = torch_npu.npu_quant_matmul(
        x1.npu(), turned, scale.npu(), pertoken_scale=rows.npu(), output_dtype=dtype
    )
    assert torch.equal(got, again)


def test_quant_matmul_to_int8():
    x1, x2 = (torch.randint(-9, 10, each, dtype=torch.int8) for each in ((5, 32), (32, 24)))
    scale, offset = torch.rand(24) / 4, torch.randn(24) * 9
    bias = torch.randint(-50, 51, (24,), dtype=torch.int32)
    both = [torch_npu.npu_quant_matmul(x1.npu(), x2.npu(), scale.npu(), offset=offset.npu(), bias=bias.npu())]
    bits = torch_npu.npu_trans_quant_param(scale.npu(), offset.npu())
    both.append(torch_npu.npu_quant_matmul(x1.npu(), x2.npu(), bits, bias=bias.npu()))
    cut = (scale.view(torch.int32) & ~0x1FFF).view(torch.float32)  # 19 bits
    values = (x1.double() @ x2.double() + bias.double()) * cut.double() + offset.double().round()
    for got in both:
        assert got.dtype == torch.int8
        assert_whole(got[:, offset.round() != 0], values[:, offset.round() != 0])


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("group", [0, 32])
def test_weight_quant(dtype, group):
    x, weight = torch.randn(5, 64).to(dtype), torch.randint(-128, 128, (64, 40), dtype=torch.int8)
    scale = (torch.rand(2, 40) if group else torch.rand(40)).to(dtype)
    spread = scale.double().repeat_interleave(32, 0) if group else scale.double()
    want = x.double() @ (weight.double() * spread)
    for precise in (0, 1):
        got = torch_npu.npu_weight_quant_batchmatmul(
            x.npu(), weight.npu(), scale.npu(), antiquant_group_size=group, inner_precise=precise
        )
        torch.testing.assert_close(got.cpu().double(), want, rtol=2e-2, atol=2e-1)


@pytest.mark.parametrize("dtype", HALVES)
def test_int4_weights(dtype):
    """Eight neighbours in each INT32, as npu_convert_weight_to_int4pack makes them."""
    numbers = torch.randint(-8, 8, (64, 40), dtype=torch.int32)
    words = torch_npu.npu_convert_weight_to_int4pack(numbers.npu())
    digits = (numbers & 15).reshape(64, 5, 8) << (4 * torch.arange(8, dtype=torch.int32))
    assert torch.equal(words.cpu(), digits.sum(-1).to(torch.int32))
    x, scale = torch.randn(5, 64).to(dtype), torch.rand(40).to(dtype)
    got = torch_npu.npu_weight_quant_batchmatmul(x.npu(), words, scale.npu())
    want = x.double() @ (numbers.double() * scale.double())
    torch.testing.assert_close(got.cpu().double(), want, rtol=2e-2, atol=2e-2)


def normed(x, gamma, eps):
    x = x.double()
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * gamma.double()


@pytest.mark.parametrize("dtype", HALVES)
def test_add_rms_norm_quant(dtype):
    x1, x2 = (torch.randn(5, 3, 64).to(dtype) for _ in range(2))
    gamma, scale = torch.randn(64).to(dtype), torch.rand(64) / 20 + 0.02
    zero = torch.randint(-5, 6, (64,), dtype=torch.int32)
    y, _, total = torch_npu.npu_add_rms_norm_quant(
        x1.npu(), x2.npu(), gamma.npu(), scale.npu(), zero.npu(), epsilon=1e-6
    )
    z = normed(x1.double() + x2.double(), gamma, 1e-6)
    assert_whole(y, z / scale.double() + zero.double())
    torch.testing.assert_close(total.cpu().double(), x1.double() + x2.double(), rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.skipif(not hasattr(torch_npu, "npu_add_rms_norm_dynamic_quant"), reason="torch-npu lacks it")
def test_add_rms_norm_dynamic_quant(dtype):
    x1, x2 = (torch.randn(5, 64).to(dtype) for _ in range(2))
    gamma, smooth = torch.randn(64).to(dtype), (torch.rand(64) + 0.5).to(dtype)
    y, _, _, scale, _ = torch_npu.npu_add_rms_norm_dynamic_quant(
        x1.npu(), x2.npu(), gamma.npu(), smooth_scale1=smooth.npu(), epsilon=1e-6, output_mask=[True, False]
    )
    z = normed(x1.double() + x2.double(), gamma, 1e-6) * smooth.double()
    torch.testing.assert_close(scale.cpu().double(), z.abs().amax(-1) / 127, rtol=1e-5, atol=0)
    assert_whole(y, z / scale.cpu().double()[:, None])


@NEW
def test_rms_norm_quant():
    x, gamma, beta = torch.randn(5, 64).half(), torch.randn(64).half(), torch.randn(64).half()
    scale, offset = torch.tensor([20.0]).half(), torch.tensor([3], dtype=torch.int8)
    y = torch_npu.npu_rms_norm_quant(*(each.npu() for each in (x, gamma, beta, scale, offset)), 1e-6)
    assert_whole(y, (normed(x, gamma, 1e-6) + beta.double()) * 20 + 3)


def test_dequant_swiglu_quant():
    x = torch.randint(-2000, 2000, (7, 64), dtype=torch.int32)
    columns, rows = torch.rand(2, 64) / 500, torch.rand(7, 1) + 0.5
    lengths = torch.tensor([3, 4])
    y, scale = torch_npu.npu_dequant_swiglu_quant(
        x.npu(), weight_scale=columns.npu(), activation_scale=rows.npu(), bias=None, quant_scale=None,
        quant_offset=None, group_index=lengths.npu(), activate_left=True, quant_mode=1,
    )  # fmt: skip
    h = x.double() * columns.double()[[0, 0, 0, 1, 1, 1, 1]] * rows.double()
    z = torch.nn.functional.silu(h[:, :32]) * h[:, 32:]
    torch.testing.assert_close(scale.cpu().double(), z.abs().amax(-1) / 127, rtol=1e-5, atol=0)
    assert_whole(y, z / scale.cpu().double()[:, None])


def test_fake_quantize():
    x = torch.randn(4, 6)
    scale, zero = torch.rand(6) / 20 + 0.01, torch.zeros(6, dtype=torch.int32)
    given = [x, scale, zero]
    want = torch.fake_quantize_per_channel_affine(*given, 1, -128, 127)
    got = torch.fake_quantize_per_channel_affine(*(each.npu() for each in given), 1, -128, 127)
    torch.testing.assert_close(got.cpu(), want)
