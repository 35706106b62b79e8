# SPDX-License-Identifier: Apache-2.0
"""The scaled, masked softmax of attention, and its gradient."""

import numpy as np

from ...operators import scaled_masked_softmax, scaled_masked_softmax_backward
from ...operators.operator import Problem
from ..cases import ALL, SWEEP, TINY, Bench, Case, Ways, normal

_SCALE = 0.125
_LEFT_OUT = -10000.0


def _cases(make) -> tuple[Case, ...]:
    stated = (
        ((8, 16, 512, 512), (8, 1), ALL[:2]),
        ((1, 4, 2048, 4096), (1, 1), ALL[:2]),
        ((1, 16, 2048, 2048), (1, 1), ALL),
        ((2, 12, 128, 128), (2, 1), ALL[:2]),
    )
    return (
        *(
            Case("x".join(map(str, s)) + f", mask {m[0]}x{m[1]}", make(s, m), types)
            for s, m, types in stated
        ),
        *(
            Case(f"sweep 1x1x{r}x256", make((1, 1, r, 256), (1, 1)), ("float32",), SWEEP)
            for r in (8, 80, 800, 8000, 80000)
        ),
        Case("tiny 1x2x3x8", make((1, 2, 3, 8), (1, 1)), ALL, TINY),
    )


def _mask(shape: tuple[int, ...], of: tuple[int, int]) -> np.ndarray:
    """A fifth is left out."""
    return np.random.default_rng(1).random((*of, *shape[2:])) < 0.2


def _forward(shape: tuple[int, ...], of: tuple[int, int]):
    def problem(dtype: str) -> Problem:
        x = normal(0, shape, dtype)
        return scaled_masked_softmax.problem(x, _mask(shape, of), _SCALE)

    return problem


def _gradient(shape: tuple[int, ...], of: tuple[int, int]):
    def problem(dtype: str) -> Problem:
        mask = _mask(shape, of)
        x = np.exp(normal(0, shape, "float32")) * ~mask
        y = (x / np.maximum(x.sum(-1, keepdims=True), 1e-30)).astype(normal(0, (), dtype).dtype)
        return scaled_masked_softmax_backward.problem(normal(2, shape, dtype), y, mask, _SCALE)

    return problem


def _torch_forward(peer, problem: Problem) -> Ways:
    torch, (x, mask), (out,) = peer.module, peer.inputs(problem), peer.outputs(problem)
    scaled = torch.empty_like(x)

    def eager():
        torch.mul(x, _SCALE, out=scaled).masked_fill_(mask, _LEFT_OUT)
        return (torch.softmax(scaled, -1, out=out),)

    def formula(x, mask):
        return ((x * _SCALE).masked_fill(mask, _LEFT_OUT).softmax(-1),)

    return {"eager": eager, "compile": peer.compiled(formula, x, mask)}


def _torch_gradient(peer, problem: Problem) -> Ways:
    torch, (g, y, mask), (out,) = peer.module, peer.inputs(problem), peer.outputs(problem)
    filled = torch.empty_like(out)
    aten = torch.ops.aten._softmax_backward_data.out

    def multiplied():
        aten(g, y, -1, y.dtype, grad_input=out)
        return (out.mul_((~mask).to(out.dtype) * _SCALE),)

    def masked():
        aten(g, y, -1, y.dtype, grad_input=filled)
        return (filled.mul_(_SCALE).masked_fill_(mask, 0),)

    def formula(g, y, mask):
        products = g.float() * y
        back = (products - y * products.sum(-1, keepdim=True)) * _SCALE
        return (torch.where(mask, 0, back).to(y.dtype),)

    compiled = peer.compiled(formula, g, y, mask)
    return {"backward, mul_": multiplied, "backward, masked_fill_": masked, "compile": compiled}


def _jax_forward(peer, problem: Problem) -> Ways:
    def formula(x, mask):
        return (peer.module.nn.softmax(peer.numpy.where(mask, _LEFT_OUT, x * _SCALE), -1),)

    return {"jit": peer.jitted(formula, *peer.inputs(problem))}


def _jax_gradient(peer, problem: Problem) -> Ways:
    def formula(g, y, mask):
        products = (g * y).astype("float32")
        back = (products - y * products.sum(-1, keepdims=True)) * _SCALE
        return (peer.numpy.where(mask, 0, back).astype(y.dtype),)

    return {"jit": peer.jitted(formula, *peer.inputs(problem))}


BENCHES = (
    Bench(
        "scaled_masked_softmax_backward",
        _cases(_gradient),
        {"torch": _torch_gradient, "jax": _jax_gradient},
        target=2.0,
    ),
    Bench(
        "scaled_masked_softmax", _cases(_forward), {"torch": _torch_forward, "jax": _jax_forward}
    ),
)
