# SPDX-License-Identifier: Apache-2.0
"""Embedding and its gradient: tables of words, of users, of token types."""

import numpy as np

from ...operators import embedding, embedding_dense_backward
from ...operators.operator import Problem
from ..cases import ALL, SWEEP, TINY, Bench, Case, Ways, normal, zipf


def _indices(tokens: int, rows: int, uniform: bool) -> np.ndarray:
    if uniform:
        return np.random.default_rng(1).integers(0, rows, tokens)
    return zipf(1, tokens, rows)


def _cases(make, stated) -> tuple[Case, ...]:
    return (
        *(Case(name, make(*sizes), types) for name, sizes, types in stated),
        *(
            Case(f"sweep n {n} D 64 V {4 * n}", make(n, 64, 4 * n, False), ("float32",), SWEEP)
            for n in (16, 160, 1600, 16000, 160000)
        ),
        Case("tiny n 7 D 16 V 5", make(7, 16, 5, False), ALL, TINY),
    )


def _gradient(tokens: int, width: int, rows: int, uniform: bool):
    def problem(dtype: str) -> Problem:
        gradient = normal(0, (tokens, width), dtype)
        return embedding_dense_backward.problem(gradient, _indices(tokens, rows, uniform), rows)

    return problem


def _forward(tokens: int, width: int, rows: int, uniform: bool):
    def problem(dtype: str) -> Problem:
        return embedding.problem(normal(0, (rows, width), dtype), _indices(tokens, rows, uniform))

    return problem


def _torch_gradient(peer, problem: Problem) -> Ways:
    torch, (gradient, indices), (out,) = peer.module, peer.inputs(problem), peer.outputs(problem)
    rows = out.shape[0]
    index_out, scatter_out = torch.empty_like(out), torch.empty_like(out)
    wide = indices[:, None].expand_as(gradient)
    aten = torch.ops.aten.embedding_dense_backward.out

    def sums(gradient, indices):
        return gradient.new_zeros(rows, gradient.shape[1]).index_add(0, indices, gradient)

    return {
        "aten": lambda: (aten(gradient, indices, rows, -1, False, out=out),),
        "index_add_": lambda: (index_out.zero_().index_add_(0, indices, gradient),),
        "scatter_add_": lambda: (scatter_out.zero_().scatter_add_(0, wide, gradient),),
        "compile": peer.compiled(lambda *inputs: (sums(*inputs),), gradient, indices),
    }


def _jax_gradient(peer, problem: Problem) -> Ways:
    shape, _ = problem.outputs["out"]

    def sums(gradient, indices):
        return (peer.numpy.zeros(shape, gradient.dtype).at[indices].add(gradient),)

    return {"jit": peer.jitted(sums, *peer.inputs(problem))}


def _torch_forward(peer, problem: Problem) -> Ways:
    torch, (weight, indices), (out,) = peer.module, peer.inputs(problem), peer.outputs(problem)
    look_up = torch.nn.functional.embedding
    return {
        "index_select": lambda: (torch.index_select(weight, 0, indices, out=out),),
        "embedding": lambda: (look_up(indices, weight),),
    }


def _jax_forward(peer, problem: Problem) -> Ways:
    return {"jit": peer.jitted(lambda weight, at: (weight[at],), *peer.inputs(problem))}


_STATED = (
    ("n 2048 D 256 V 10000", (2048, 256, 10000, False), ALL),
    ("n 16384 D 768 V 30522", (16384, 768, 30522, False), ALL),
    ("n 8192 D 4096 V 32000", (8192, 4096, 32000, False), ALL[:2]),
    ("n 262144 D 64 V 1e6 uniform", (262144, 64, 10**6, True), ALL[:1]),
    ("n 16384 D 768 V 2", (16384, 768, 2, True), ALL[:1]),
)

BENCHES = (
    Bench(
        "embedding_dense_backward",
        _cases(_gradient, _STATED),
        {"torch": _torch_gradient, "jax": _jax_gradient},
        target=1.25,
    ),
    Bench(
        "embedding",
        _cases(_forward, _STATED[:3]),
        {"torch": _torch_forward, "jax": _jax_forward},
    ),
)
