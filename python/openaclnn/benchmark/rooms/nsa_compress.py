# SPDX-License-Identifier: Apache-2.0
"""Weighted sums over windows of tokens, and their gradients, windows of 32 tokens every 16.

The peers take the tokens in strips of 16: a window is two strips, so that they need no copies of
windows.
"""

from ...operators import nsa_compress, nsa_compress_grad
from ...operators.operator import Problem
from ..cases import HALVES, SWEEP, TINY, Bench, Case, Ways, normal

_BLOCK, _STRIDE = 32, 16


def _cases(make) -> tuple[Case, ...]:
    stated = ((4096, 4, 192), (32768, 4, 192), (8192, 64, 128))
    return (
        *(Case(f"T {t} N {n} D {d}", make(t, n, d), HALVES) for t, n, d in stated),
        *(
            Case(f"sweep T {t} N 1 D 64", make(t, 1, 64), ("float16",), SWEEP)
            for t in (48, 480, 4800, 48000, 480000)
        ),
        Case("tiny T 64 N 2 D 16", make(64, 2, 16), HALVES, TINY),
    )


def _forward(tokens: int, heads: int, width: int):
    def problem(dtype: str) -> Problem:
        weight = normal(1, (_BLOCK, heads), dtype)
        return nsa_compress.problem(normal(0, (tokens, heads, width), dtype), weight)

    return problem


def _gradient(tokens: int, heads: int, width: int):
    def problem(dtype: str) -> Problem:
        windows = (tokens - _BLOCK) // _STRIDE + 1
        output_grad = normal(2, (windows, heads, width), dtype)
        weight = normal(1, (_BLOCK, heads), dtype)
        input = normal(0, (tokens, heads, width), dtype)
        return nsa_compress_grad.problem(output_grad, input, weight, [tokens])

    return problem


def _sums(x, weight):
    """The forward, in words that PyTorch, JAX and NumPy have in common."""
    strips = x.reshape(-1, _STRIDE, *x.shape[1:])
    first, second = weight[:_STRIDE, :, None], weight[_STRIDE:, :, None]
    return ((strips[:-1] * first).sum(1) + (strips[1:] * second).sum(1),)


def _torch_gradients(torch):
    def gradients(g, x, weight):
        strips = x.reshape(-1, _STRIDE, *x.shape[1:])
        first, second = weight[:_STRIDE, :, None], weight[_STRIDE:, :, None]
        dx = torch.zeros_like(strips)
        dx[:-1] = g[:, None] * first
        dx[1:] += g[:, None] * second
        by_first = (strips[:-1] * g[:, None]).sum((0, 3))
        return dx.reshape(x.shape), torch.cat([by_first, (strips[1:] * g[:, None]).sum((0, 3))])

    return gradients


def _torch_forward(peer, problem: Problem) -> Ways:
    x, weight = peer.inputs(problem)
    return {"eager": lambda: _sums(x, weight), "compile": peer.compiled(_sums, x, weight)}


def _torch_gradient(peer, problem: Problem) -> Ways:
    gradients, inputs = _torch_gradients(peer.module), peer.inputs(problem)
    return {"eager": lambda: gradients(*inputs), "compile": peer.compiled(gradients, *inputs)}


def _jax_forward(peer, problem: Problem) -> Ways:
    return {"jit": peer.jitted(_sums, *peer.inputs(problem))}


def _jax_gradient(peer, problem: Problem) -> Ways:
    def gradients(g, x, weight):
        _, back = peer.module.vjp(_sums, x, weight)
        return back((g,))

    return {"jit": peer.jitted(gradients, *peer.inputs(problem))}


BENCHES = (
    Bench(
        "nsa_compress_grad",
        _cases(_gradient),
        {"torch": _torch_gradient, "jax": _jax_gradient},
        target=2.2,
    ),
    Bench(
        "nsa_compress", _cases(_forward), {"torch": _torch_forward, "jax": _jax_forward}
    ),
)
