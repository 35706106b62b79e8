# SPDX-License-Identifier: Apache-2.0
"""The gradients through torch-npu against PyTorch on the CPU in float64."""

import pytest
import torch
import torch.nn.functional as F
import torch_npu
from bounds import assert_within, bound

from openaclnn.autograd import GroupedBias


def leaf(tensor):
    return tensor.npu().requires_grad_()


@pytest.mark.parametrize(
    "options", [{}, {"padding_idx": 2}, {"scale_grad_by_freq": True}], ids=lambda o: str(o)
)
def test_embedding(options):
    weight, grad = torch.randn(50, 33), torch.randn(40, 20, 33)
    indices = torch.randint(0, 50, (40, 20))
    device = leaf(weight)
    out = F.embedding(indices.npu(), device, **options)
    assert torch.equal(out.cpu(), F.embedding(indices, weight, **options))
    out.backward(grad.npu())
    reference = weight.double().requires_grad_()
    F.embedding(indices, reference, **options).backward(grad.double())
    # What the terms' magnitudes add up to, by the same rules: exactly 0 in the padding's row.
    terms = weight.double().requires_grad_()
    F.embedding(indices, terms, **options).backward(grad.double().abs())
    count = int(indices.flatten().bincount().max())
    limit = torch.where(terms.grad > 0, bound(terms.grad, count), 0)
    assert_within(device.grad, reference.grad, limit)


def to_hf32(tensor):
    bits = tensor.view(torch.int32)
    return ((bits + 0x7FF + ((bits >> 12) & 1)) & ~0xFFF).view(torch.float32)


@pytest.mark.parametrize("chosen", [None, True, False])
def test_conv_tbc(chosen):
    """Where nothing is chosen the wheel takes HF32: the reference rounds the operands so too."""
    if chosen is not None:
        torch.npu.conv.allow_hf32 = chosen
    hf32 = chosen is not False
    assert torch.npu.conv.allow_hf32 is hf32
    x, w, b = torch.randn(19, 3, 20), torch.randn(5, 20, 24), torch.randn(24)
    device = [leaf(tensor) for tensor in (x, w, b)]
    out = torch.conv_tbc(*device, 2)
    grad = torch.randn(out.shape)
    out.backward(grad.npu())
    rounded = to_hf32 if hf32 else torch.clone
    values = [rounded(tensor).double() for tensor in (x, w, grad)]

    def gradients(x, w, grad):
        leaves = [tensor.clone().requires_grad_() for tensor in (x, w)]
        forward = torch.conv_tbc(*leaves, torch.zeros(24).double(), 2)
        forward.backward(grad)
        return [forward.detach(), *(tensor.grad for tensor in leaves)]

    wanted = gradients(*values)
    terms = gradients(*(value.abs() for value in values))
    wanted[0] += b.double()
    terms[0] += b.double().abs()
    counts = (5 * 20, 5 * 24, 19 * 3)
    for got, want, term, count in zip(
        (out, device[0].grad, device[1].grad), wanted, terms, counts, strict=True
    ):
        assert_within(got, want, bound(term, count))
    rows = grad.double().flatten(0, 1)
    assert_within(device[2].grad, rows.sum(0), bound(rows.abs().sum(0), len(rows)))


CONVOLUTIONS = {"conv1d": (6, 2), "conv2d": (6, 2), "conv3d": (6, 2),
                "conv_transpose1d": (4, 3), "conv_transpose2d": (4, 3)}  # fmt: skip


@pytest.mark.parametrize(("name", "channels"), CONVOLUTIONS.items(), ids=CONVOLUTIONS)
def test_convolution(name, channels):
    torch.npu.conv.allow_hf32 = False
    axes = int(name[-2])
    function = getattr(F, name)
    x, w, b = torch.randn(2, 4, *(7,) * axes), torch.randn(*channels, *(3,) * axes), torch.randn(6)
    setting = {"stride": 2, "padding": 1, "groups": 2}
    device = [leaf(tensor) for tensor in (x, w, b)]
    out = function(*device, **setting)
    grad = torch.randn(out.shape)
    out.backward(grad.npu())

    def gradients(*values):
        leaves = [value.double().requires_grad_() for value in values[:3]]
        forward = function(*leaves, **setting)
        forward.backward(values[3].double())
        return [forward.detach(), *(each.grad for each in leaves)]

    wanted = gradients(x, w, b, grad)
    terms = gradients(*(value.abs() for value in (x, w, b, grad)))
    got = (out, *(each.grad for each in device))
    for one, want, term in zip(got, wanted, terms, strict=True):
        assert_within(one, want, bound(term, max(grad.numel(), w.numel())))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_scaled_masked_softmax(dtype):
    scale = 0.25
    x, grad = (torch.randn(2, 4, 8, 65).to(dtype) for _ in range(2))
    mask = torch.rand(2, 1, 8, 65) < 0.3
    device = leaf(x)
    y = torch_npu.npu_scaled_masked_softmax(device, mask.npu(), scale, False)
    y.backward(grad.npu())
    wanted = (x.double() * scale).masked_fill(mask, -10000).softmax(-1)
    tolerance = {torch.float32: 1e-6, torch.float16: 1e-3, torch.bfloat16: 8e-3}[dtype]
    assert torch.allclose(y.detach().cpu().double(), wanted, tolerance, tolerance * 1e-2)
    # The gradient starts from the device's y.
    y, g = y.detach().cpu().double(), grad.double()
    dx = scale * (g * y - y * (g * y).sum(-1, keepdim=True))
    terms = scale * ((g * y).abs() + y.abs() * (g * y).abs().sum(-1, keepdim=True))
    assert_within(device.grad, dx.masked_fill(mask, 0), bound(terms.masked_fill(mask, 0), 65))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_grouped_bias(dtype):
    """Through the package's autograd function: no Python call of the wheel reaches it."""
    ends = torch.tensor([10, 10, 100])  # the second group is empty
    x, bias, grad = torch.randn(100, 33), torch.randn(3, 33), torch.randn(100, 33)
    device = [leaf(tensor.to(dtype)) for tensor in (x, bias)]
    out = GroupedBias.apply(*device, ends.npu())
    out.backward(grad.to(dtype).npu())
    grad = grad.to(dtype)
    assert torch.equal(device[0].grad.cpu(), grad)
    groups = torch.tensor([0] * 10 + [2] * 90)
    wanted, terms = (
        torch.zeros(3, 33).double().index_add_(0, groups, rows.double())
        for rows in (grad, grad.abs())
    )
    assert_within(device[1].grad, wanted, bound(terms, 90))


def rms_norm(x, gamma):
    return x / (x.square().mean((-2, -1), keepdim=True) + 0.25).sqrt() * gamma


def swiglu(x):
    a, b = x.chunk(2, 1)
    return F.silu(a) * b


def geglu(x, approximate, left):
    a, b = x.chunk(2, -1)
    a, b = (b, a) if left else (a, b)
    return a * F.gelu(b, approximate=("none", "tanh")[approximate])


def rotary(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


# By name: the call of torch-npu, PyTorch's formula, the shapes of what both take.
FUSED = {
    "rms_norm": (lambda x, gamma: torch_npu.npu_rms_norm(x, gamma, 0.25)[0], rms_norm, [(5, 3, 64), (3, 64)]),
    "swiglu": (lambda x: torch_npu.npu_swiglu(x, dim=1), swiglu, [(5, 64, 3)]),
    "rotary_mul": (torch_npu.npu_rotary_mul, rotary, [(2, 3, 5, 64), (1, 3, 1, 64), (1, 3, 1, 64)]),
} | {
    f"geglu {approximate} {left}": (
        lambda x, a=approximate, left=left: torch_npu.npu_geglu(x, -1, a, left)[0],
        lambda x, a=approximate, left=left: geglu(x, a, left), [(7, 64)],
    )
    for approximate in (0, 1) for left in (False, True)
}  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", FUSED)
def test_fused(name, dtype):
    call, formula, shapes = FUSED[name]
    given = [torch.randn(shape).to(dtype) for shape in shapes]
    device = [leaf(tensor) for tensor in given]
    out = call(*device)
    grad = torch.randn(out.shape).to(dtype)
    out.backward(grad.npu())
    leaves = [tensor.double().requires_grad_() for tensor in given]
    wanted = formula(*leaves)
    wanted.backward(grad.double())
    # Sums of 30 terms, and two roundings: that of the result and that of what the forward stored.
    near = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}[dtype]
    pairs = zip((out, *(each.grad for each in device)), (wanted, *(each.grad for each in leaves)), strict=True)
    for got, want in pairs:
        assert got.dtype == dtype
        torch.testing.assert_close(got.detach().cpu().double(), want.detach(), rtol=near, atol=near)


def nsa(x, w, ends, block, stride):
    windows, start = [], 0
    for end in ends:
        for i in range(0 if end - start < block else (end - start - block) // stride + 1):
            tokens = x[start + i * stride : start + i * stride + block]
            windows.append((tokens * w[:, :, None]).sum(0))
        start = end
    return torch.stack(windows)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_nsa_compress(dtype, product):
    if product.startswith("Ascend950"):
        pytest.skip("refused there, see test_errors.py")
    ends, block, stride = [128, 272], 32, 16
    x, w = torch.randn(272, 2, 32).to(dtype), torch.randn(block, 2).to(dtype)
    device = [leaf(x), leaf(w)]
    y = torch_npu.npu_nsa_compress(*device, block, stride, actual_seq_len=ends)
    grad = torch.randn(y.shape).to(dtype)
    y.backward(grad.npu())

    def gradients(x, w, grad):
        leaves = [tensor.double().requires_grad_() for tensor in (x, w)]
        forward = nsa(*leaves, ends, block, stride)
        forward.backward(grad.double())
        return [forward.detach(), *(tensor.grad for tensor in leaves)]

    wanted = gradients(x, w, grad)
    terms = gradients(x.abs(), w.abs(), grad.abs())
    counts = (block, block // stride, 15 * 32)
    for got, want, term, count in zip(
        (y, device[0].grad, device[1].grad), wanted, terms, counts, strict=True
    ):
        assert_within(got, want, bound(term, count))
