# SPDX-License-Identifier: Apache-2.0
"""The gradient of a bias that is added to groups of rows: experts, heads, sequences."""

import numpy as np

from ...operators import grouped_bias_add_grad
from ...operators.operator import Problem
from ..cases import ALL, SWEEP, TINY, Bench, Case, Ways, normal


def _listed(rows: int, width: int, groups: int):
    def problem(dtype: str) -> Problem:
        inner = np.random.default_rng(1).integers(0, rows + 1, groups - 1)
        ends = np.append(np.sort(inner), rows)
        return grouped_bias_add_grad.problem(normal(0, (rows, width), dtype), ends)

    return problem


def _equal(*shape: int):
    return lambda dtype: grouped_bias_add_grad.problem(normal(0, shape, dtype))


def _torch(peer, problem: Problem) -> Ways:
    torch, gradient, (out,) = peer.module, peer.inputs(problem)[0], peer.outputs(problem)
    if gradient.ndim == 3:
        product = torch.empty_like(out)[:, None]
        ones = torch.ones(gradient.shape[0], 1, gradient.shape[1], dtype=gradient.dtype)
        return {
            "sum": lambda: (torch.sum(gradient, 1, out=out),),
            "bmm with ones": lambda: (torch.bmm(ones, gradient, out=product)[:, 0],),
            "compile": peer.compiled(lambda gradient: (gradient.sum(1),), gradient),
        }
    ends = problem.inputs["groupIdxOptional"]
    sizes = torch.from_numpy(np.diff(ends, prepend=0))
    group = torch.repeat_interleave(torch.arange(len(ends)), sizes)
    wide, scatter_out = group[:, None].expand_as(gradient), torch.empty_like(out)

    def sums(gradient, group):
        return (gradient.new_zeros(out.shape).index_add(0, group, gradient),)

    return {
        "index_add_": lambda: (out.zero_().index_add_(0, group, gradient),),
        "scatter_add_": lambda: (scatter_out.zero_().scatter_add_(0, wide, gradient),),
        "segment_reduce": lambda: (
            torch.segment_reduce(gradient, "sum", lengths=sizes, axis=0, unsafe=True),
        ),
        "compile": peer.compiled(sums, gradient, group),
    }


def _jax(peer, problem: Problem) -> Ways:
    gradient, *ends = peer.inputs(problem)
    if not ends:
        return {"jit": peer.jitted(lambda gradient: (gradient.sum(1),), gradient)}
    groups = problem.outputs["out"][0][0]
    sizes = np.diff(problem.inputs["groupIdxOptional"], prepend=0)
    group = peer.numpy.asarray(np.repeat(np.arange(groups), sizes))

    def sums(gradient, group):
        total = peer.module.ops.segment_sum(gradient, group, groups, indices_are_sorted=True)
        return (total,)

    return {"jit": peer.jitted(sums, gradient, group)}


BENCHES = (
    Bench(
        "grouped_bias_add_grad",
        (
            Case("32768x1408, 160 groups", _listed(32768, 1408, 160)),
            Case("8192x768, 2048 groups", _listed(8192, 768, 2048)),
            Case("64x512x1024", _equal(64, 512, 1024)),
            Case("8x4096x30", _equal(8, 4096, 30)),
            *(
                Case(f"sweep {n}x64, 8 groups", _listed(n, 64, 8), ("float32",), SWEEP)
                for n in (32, 320, 3200, 32000, 320000)
            ),
            Case("tiny 9x5, 3 groups", _listed(9, 5, 3), ALL, TINY),
        ),
        {"torch": _torch, "jax": _jax},
        target=1.4,
    ),
)
