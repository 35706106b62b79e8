# SPDX-License-Identifier: Apache-2.0
"""Arguments of what factorises matrices."""

import numpy as np

from cases import _WHOLE, Case, Draw
from records import REALS


def qr(d: Draw) -> Case:
    m, n = (d.whole(0 if d.style == "empty" else 1, 6, walk=128) for _ in range(2))
    batch = tuple(d.whole(1, 3) for _ in range(d.whole(0, 2, walk=0)))
    x = d.array((*batch, m, n), None, "unit" if d.style == "plain" else "tame")
    x = np.where(np.isfinite(x.astype(np.float64)), x, 0).astype(x.dtype)
    diagonal = np.arange(min(m, n))
    x[..., diagonal, diagonal] += np.asarray(9).astype(x.dtype)  # far from singular
    return Case({"self": x, "mode": d.whole(0, 2, walk=0)}, "double", {"Q": d.first, "R": d.first})


def svd(d: Draw) -> Case:
    m, n = (d.whole(0 if d.style == "empty" else 1, 6, walk=128) for _ in range(2))
    batch = tuple(d.whole(1, 3) for _ in range(d.whole(0, 2, walk=0)))
    # Singular values far from each other, and so from 0.
    draw = d.random.normal
    left, right = (np.linalg.qr(draw(size=(*batch, each, each)))[0] for each in (m, n))
    values = np.zeros((m, n))
    np.fill_diagonal(values, 2.0 ** -np.arange(min(m, n)))
    x = (left @ values @ right).astype(d.first)
    given = {"input": x, "fullMatrices": d.flag(), "computeUV": d.flag(walk=True)}
    outputs = {"sigma": d.first, "u": d.first, "v": d.first}
    room = {} if given["computeUV"] or d.flag() else {"u": (m, m), "v": (n, n)}
    return Case(given, "double", outputs, room=room)


def _square(d: Draw) -> np.ndarray:
    n = d.whole(0 if d.style == "empty" else 1, 6, walk=128)
    batch = tuple(d.whole(1, 3) for _ in range(d.whole(0, 2, walk=0)))
    parts = d.random.uniform(-1, 1, (2, *batch, n, n))
    x = parts[0] + 1j * parts[1] if d.first.kind == "c" else parts[0]
    return x + 3 * np.eye(n) * d.one((1, -1))  # far from singular


def square(d: Draw) -> Case:
    x = np.flip(_square(d), -2) if d.flag() else _square(d)
    outputs = {each.name: d.first for each in d.record.outputs}
    return Case({"self": x.astype(d.first)}, "complex" if d.first.kind == "c" else "double", outputs)


def positive_definite(d: Draw) -> Case:
    x = _square(d)
    x = (x @ np.swapaxes(x, -1, -2)).astype(d.first)
    x = np.tril(x) + np.swapaxes(np.tril(x, -1), -1, -2)
    return Case({"self": x, "upper": d.flag()}, "double", {"out": d.first})


def addr(d: Draw) -> Case:
    n, m = (d.whole(0 if d.style == "empty" else 1, 6, walk=1024) for _ in range(2))
    real = d.first in REALS
    name = "selfRef" if d.record.in_place else "self"
    shape = (n, m) if d.record.in_place else d.within((n, m))
    given = {name: d.array(shape, None, "tame"), "vec1": d.array((n,), None, "small"),
             "vec2": d.array((m,), None, "small")}  # fmt: skip
    types = REALS if real else _WHOLE
    given |= {each: d.scalar("small", types) for each in ("beta", "alpha")}
    return Case(given, "double" if real else "integer", {"out": d.first})


def transpose_batch_matmul(d: Draw) -> Case:
    d.first = d.first if d.first in REALS[:3] else REALS[0]
    parts, own = d.whole(1, 3, walk=2), d.whole(1, 3, walk=2)
    m, k, n = (d.whole(0 if d.style == "empty" else 1, 40, walk=256) for _ in range(3))
    order = d.one([[0, 1, 2], [1, 0, 2]])
    shape = (parts * own, m, k)
    given = {"x1": d.array(tuple(shape[i] for i in order), None, "tame"),
             "x2": d.array((parts * own, k, n), None, "tame"), "biasOptional": None,
             "scaleOptional": None, "permX1": order, "permX2": [0, 1, 2], "permY": [1, 0, 2],
             "cubeMathType": 0, "batchSplitFactor": parts}  # fmt: skip
    return Case(given, "stored", {"out": d.first})
