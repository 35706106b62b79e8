# SPDX-License-Identifier: Apache-2.0
"""The convolution over time, and its gradients; as products of matrices by oneDNN and OpenBLAS."""

from collections.abc import Iterator

from ...operators import conv_tbc, conv_tbc_backward
from ...operators.operator import Problem
from ..cases import ALL, SWEEP, TINY, Bench, Case, Ways, normal


def _cases(make) -> tuple[Case, ...]:
    stated = (((64, 16, 256, 256, 3), ALL), ((256, 16, 512, 1024, 3), ALL[:2]))
    return (
        *(
            Case(f"T {t} B {b} {i}>{o} L {taps}", make(t, b, i, o, taps), types)
            for (t, b, i, o, taps), types in stated
        ),
        *(
            Case(f"sweep T {t} B 4 64>64 L 3", make(t, 4, 64, 64, 3), ("float32",), SWEEP)
            for t in (4, 40, 400, 4000, 40000)
        ),
        Case("tiny T 5 B 2 4>6 L 3", make(5, 2, 4, 6, 3), ALL, TINY),
    )


def _forward(times: int, batch: int, channels_in: int, channels_out: int, taps: int):
    def problem(dtype: str) -> Problem:
        weight = normal(1, (taps, channels_in, channels_out), dtype)
        bias = normal(2, (channels_out,), dtype)
        return conv_tbc.problem(normal(0, (times, batch, channels_in), dtype), weight, bias, 1)

    return problem


def _gradient(times: int, batch: int, channels_in: int, channels_out: int, taps: int):
    forward = _forward(times, batch, channels_in, channels_out, taps)

    def problem(dtype: str) -> Problem:
        before = forward(dtype)
        shape, _ = before.outputs["out"]
        return conv_tbc_backward.problem(normal(3, shape, dtype), *before.inputs.values(), 1)

    return problem


def _taps(x, out, taps: int) -> Iterator[tuple[int, slice, slice]]:
    """The rows of the input and of the output that meet at each tap, with a padding of 1; a row is
    of one time and one of the batch."""
    times, batch, out_times = x.shape[0], x.shape[1], out.shape[0]
    for tap in range(taps):
        begin, end = max(0, tap - 1), min(times, out_times + tap - 1)
        at = (begin + 1 - tap) * batch
        yield tap, slice(begin * batch, end * batch), slice(at, at + (end - begin) * batch)


def _products(x, weight, bias, out):
    """The forward by one product a tap; what `@` is depends on the arrays."""
    rows, of = out.reshape(-1, out.shape[-1]), x.reshape(-1, x.shape[-1])
    rows[:] = bias
    for tap, from_rows, to_rows in _taps(x, out, len(weight)):
        rows[to_rows] += of[from_rows] @ weight[tap]
    return (out,)


def _gradient_products(g, x, weight, outputs):
    """The gradients by two products a tap."""
    dx, dweight, dbias = outputs
    into, rows = dx.reshape(-1, dx.shape[-1]), g.reshape(-1, g.shape[-1])
    of = x.reshape(-1, x.shape[-1])
    into[:] = 0
    for tap, from_rows, to_rows in _taps(x, g, len(weight)):
        into[from_rows] += rows[to_rows] @ weight[tap].T
        dweight[tap] = of[from_rows].T @ rows[to_rows]
    dbias[:] = rows.sum(0)
    return outputs


def _torch_forward(peer, problem: Problem) -> Ways:
    torch, inputs, (out,) = peer.module, peer.inputs(problem), peer.outputs(problem)
    return {
        "conv_tbc": lambda: (torch.conv_tbc(*inputs, 1),),
        "GEMM a tap": lambda: _products(*inputs, out),
    }


def _torch_gradient(peer, problem: Problem) -> Ways:
    torch, (g, x, weight, bias) = peer.module, peer.inputs(problem)
    outputs, aten = peer.outputs(problem), torch.ops.aten.conv_tbc_backward
    return {
        "aten": lambda: aten(g, x, weight, bias, 1),
        "GEMM a tap": lambda: _gradient_products(g, x, weight, outputs),
    }


def _padded_products(peer):
    def forward(x, weight, bias):
        padded = peer.numpy.pad(x, ((1, 1), (0, 0), (0, 0)))
        length = padded.shape[0] + 1 - weight.shape[0]
        return sum(padded[k : k + length] @ weight[k] for k in range(weight.shape[0])) + bias

    return forward


def _jax_forward(peer, problem: Problem) -> Ways:
    forward = _padded_products(peer)
    return {"jit": peer.jitted(lambda *inputs: (forward(*inputs),), *peer.inputs(problem))}


def _jax_gradient(peer, problem: Problem) -> Ways:
    forward = _padded_products(peer)

    def gradients(g, x, weight, bias):
        _, back = peer.module.vjp(forward, x, weight, bias)
        return back(g)

    return {"jit": peer.jitted(gradients, *peer.inputs(problem))}


def _numpy_forward(peer, problem: Problem) -> Ways:
    inputs, (out,) = peer.inputs(problem), peer.outputs(problem)
    return {"GEMM a tap": lambda: _products(*inputs, out)}


def _numpy_gradient(peer, problem: Problem) -> Ways:
    (g, x, weight, _), outputs = peer.inputs(problem), peer.outputs(problem)
    return {"GEMM a tap": lambda: _gradient_products(g, x, weight, outputs)}


BENCHES = (
    Bench(
        "conv_tbc_backward",
        _cases(_gradient),
        {"torch": _torch_gradient, "jax": _jax_gradient, "openblas": _numpy_gradient},
        target=1.0,
    ),
    Bench(
        "conv_tbc",
        _cases(_forward),
        {"torch": _torch_forward, "jax": _jax_forward, "openblas": _numpy_forward},
    ),
)
