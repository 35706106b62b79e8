# SPDX-License-Identifier: Apache-2.0
"""Tensors to and from the device, how they print, and the operators around the gradients."""

import pytest
import torch
import torch.nn.functional as F
import torch_npu


def test_the_device_is_there(product):
    assert torch.npu.is_available()
    assert torch.npu.device_count() == 1
    assert torch_npu.npu.get_device_name(0) == product


def test_copies():
    x = torch.randn(3, 4, 5)
    assert torch.equal(x.npu().cpu(), x)
    assert torch.equal(x.npu().permute(2, 0, 1).cpu(), x.permute(2, 0, 1))
    assert torch.equal(x.npu().half().cpu(), x.half())
    assert torch.equal(x.npu()[:, 1:3].clone().cpu(), x[:, 1:3])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64, torch.bool])
def test_print(dtype):
    x = torch.tensor([[0, 1, 2.5], [-3, 4, 500]]).to(dtype)
    values, _, suffix = str(x).partition(", dtype=")
    wanted = values.removesuffix(")") + ", device='npu:0'"
    assert str(x.npu()) == (f"{wanted}, dtype={suffix}" if suffix else f"{wanted})")


# Expressions of x (2, 3), b (4, 5, 6), t (makes a tensor on the device) and dev.
EXPRESSIONS = """
x + 1; x - 1; 2 - x; x + x; x * x; x / (x + 1); 1 / (x + 1); x // 2; x % 2; -x; abs(x - 3)
x ** 2; x.sqrt(); (x + 1).rsqrt(); x.exp(); (x + 1).log(); x.tanh(); x.sigmoid(); x.erf(); x.floor()
F.relu(x - 2); F.silu(x); F.gelu(x, approximate='tanh'); x.clamp(1, 2); x.clamp_min(2); torch.maximum(x, 5 - x)
x > 2; x == x; x != 2; ~(x > 2); (x > 2) & (x < 5); torch.isfinite(x / x); torch.isnan(x / x)
torch.isclose(x, x + 1e-9); torch.allclose(x, x); torch.equal(x, x); torch.equal(x, x + 1)
x.sum(); x.sum(0, keepdim=True); x.mean(); x.mean(1); x.max(); x.min(); x.amax(1); x.argmax(1)
x.max(1)[1]; x.min(0)[0]; (x > 2).any(); (x > 2).all(); (x > 2).sum(); b.sum((0, 2))
x.half() * 3; x.bfloat16() + x.bfloat16(); x.int() + 1; x.long() * 2; x.to(torch.uint8)
torch.softmax(x, 1); torch.log_softmax(b, 1); F.scaled_dot_product_attention(b, b, b)
x @ x.t(); b @ b.transpose(1, 2); torch.addmm(x[:, :1], x, x.t()); F.linear(b, b[0]); x @ x[0]
F.cross_entropy(x, t([1, 2])); F.nll_loss(x, t([0, 2]), reduction='sum')
torch.zeros(3, device=dev); torch.ones(3, device=dev); torch.full((2,), 3.0, device=dev)
torch.arange(5, device=dev); torch.arange(0, 1, 0.25, device=dev); torch.cat([x, x], 1)
torch.stack([x, x]); x.repeat(2, 1); torch.tril(b); torch.triu(b, 1); x.t().contiguous()
x.masked_fill(x > 2, -1.0); x.masked_select(x > 2); torch.where(x > 2, x, -x); (x > 2).nonzero()
x.index_select(0, t([1, 0])); x.gather(1, t([[1], [0]])); F.embedding(t([1, 0]), x)
x.lerp(x + 1, 0.3); torch.addcmul(x, x, x, value=0.5); x.flatten()[::2].clone(); x.tolist()
"""


@pytest.mark.parametrize(
    "expression", [e.strip() for e in EXPRESSIONS.replace("\n", ";").split(";") if e.strip()]
)
def test_expression(expression):
    x, b = torch.arange(6.0).reshape(2, 3), torch.randn(4, 5, 6)

    def value(dev):
        names = {"x": x.to(dev), "b": b.to(dev), "dev": dev, "F": F, "torch": torch}
        return eval(expression, names | {"t": lambda values: torch.tensor(values, device=dev)})

    wanted, got = value("cpu"), value("npu")
    torch.npu.synchronize()
    if not isinstance(wanted, torch.Tensor):
        assert got == wanted
        return
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    assert torch.allclose(got.cpu().double(), wanted.double(), 1e-5, 1e-6, equal_nan=True)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_optimizer_steps(name):
    def train(dev):
        torch.manual_seed(1)
        model = torch.nn.Linear(7, 5)
        model = model.to(dev)
        optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.1, weight_decay=0.01)
        x, y = torch.randn(8, 7).to(dev), torch.randint(0, 5, (8,)).to(dev)
        for _ in range(5):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        return model.weight.detach().cpu()

    assert torch.allclose(train("npu"), train("cpu"), 1e-4, 1e-5)


def test_random_numbers():
    torch.manual_seed(3)
    first = torch.rand(10000, device="npu").cpu()
    torch.manual_seed(3)
    assert torch.equal(torch.rand(10000, device="npu").cpu(), first)
    assert 0 <= first.min() and first.max() < 1 and abs(first.mean() - 0.5) < 0.02
    normal = torch.randn(10000, device="npu").cpu()
    assert abs(normal.mean()) < 0.05 and abs(normal.std() - 1) < 0.05
    assert set(torch.randint(2, 5, (1000,), device="npu").cpu().tolist()) == {2, 3, 4}


def test_events_and_streams():
    stream, event = torch.npu.Stream(), torch.npu.Event()
    x = torch.ones(1000, device="npu")
    with torch.npu.stream(stream):
        stream.wait_stream(torch.npu.default_stream())
        y = x + 1
        event.record()
    event.synchronize()
    assert event.query() and torch.equal(y.cpu(), torch.full((1000,), 2.0))
