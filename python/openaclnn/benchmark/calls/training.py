# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, attention, losses, optimisers."""

from . import Call, Device

_BOTH = ("float32", "bfloat16")


def _product(d: Device):
    x, y = d.normal(1024, 1024), d.normal(1024, 1024, seed=1)
    return lambda: x @ y


def _products(d: Device):
    x, y = d.normal(32, 256, 128), d.normal(32, 128, 256, seed=1)
    return lambda: d.torch.bmm(x, y)


def _linear_backward(d: Device):
    x, weight = d.normal(1024, 512, grad=True), d.normal(1024, 512, seed=1, grad=True)
    bias = d.normal(1024, seed=2, grad=True)
    return d.back(d.torch.nn.functional.linear(x, weight, bias), x, weight, bias)


def _attend(d: Device, q, k, v):
    """As models without a fused operator write it."""
    return d.torch.softmax(q @ k.transpose(-2, -1) * 0.125, -1) @ v


def _attention(d: Device):
    q, k, v = (d.normal(4, 8, 256, 64, seed=seed) for seed in range(3))
    return lambda: _attend(d, q, k, v)


def _attention_backward(d: Device):
    q, k, v = (d.normal(4, 8, 256, 64, seed=seed, grad=True) for seed in range(3))
    return d.back(_attend(d, q, k, v), q, k, v)


def _cross_entropy(d: Device):
    x, wanted = d.normal(), d.integers(d.n, d.n)
    return lambda: d.torch.nn.functional.cross_entropy(x, wanted)


def _cross_entropy_backward(d: Device):
    x, wanted = d.normal(grad=True), d.integers(d.n, d.n)
    return d.back(d.torch.nn.functional.cross_entropy(x, wanted), x)


def _loss(name: str) -> tuple[Call, Call]:
    def forward(d: Device):
        x, wanted = d.normal(), d.normal(seed=1).clamp(0, 1)
        function = getattr(d.torch.nn.functional, name)
        return lambda: function(x, wanted)

    def backward(d: Device):
        x, wanted = d.normal(grad=True), d.normal(seed=1).clamp(0, 1)
        return d.back(getattr(d.torch.nn.functional, name)(x, wanted), x)

    return Call(name, forward), Call(f"{name} backward", backward)


def _optimiser(name: str, **options) -> Call:
    """A step over a million parameters in eight tensors."""

    def make(d: Device):
        parameters = [d.normal(128, 1024, seed=seed, grad=True) for seed in range(8)]
        for seed, each in enumerate(parameters):
            each.grad = d.normal(128, 1024, seed=seed + 8)
        return getattr(d.torch.optim, name)(parameters, lr=1e-3, **options).step

    return Call(f"{name} of 1 M", make)


def _clipped(d: Device):
    gradients = [d.normal(128, 1024, seed=seed) for seed in range(8)]

    def clip():
        norm = d.torch.stack([each.norm() for each in gradients]).norm()
        factor = (1e6 / (norm + 1e-6)).clamp(max=1.0)
        for each in gradients:
            each.mul_(factor)

    return clip


CALLS = (
    Call("matmul", _product, _BOTH),
    Call("bmm", _products),
    Call("linear backward", _linear_backward),
    Call("attention", _attention),
    Call("attention backward", _attention_backward),
    Call("cross_entropy", _cross_entropy),
    Call("cross_entropy backward", _cross_entropy_backward),
    *_loss("mse_loss"),
    *_loss("binary_cross_entropy_with_logits"),
    *_loss("smooth_l1_loss"),
    _optimiser("AdamW"),
    _optimiser("SGD", momentum=0.9),
    Call("clipping to a norm", _clipped),
)
