# SPDX-License-Identifier: Apache-2.0
"""Arguments of what factorises matrices."""

import numpy as np

from cases import Case, Draw


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
