# SPDX-License-Identifier: Apache-2.0
"""Arguments of what factorises matrices."""

import numpy as np

from cases import Case, Draw


def qr(d: Draw) -> Case:
    m, n = (d.whole(0 if d.style == "empty" else 1, 6) for _ in range(2))
    batch = tuple(d.whole(1, 3) for _ in range(d.whole(0, 2)))
    x = d.array((*batch, m, n), None, "unit" if d.style == "plain" else "tame")
    x = np.where(np.isfinite(x.astype(np.float64)), x, 0).astype(x.dtype)
    diagonal = np.arange(min(m, n))
    x[..., diagonal, diagonal] += np.asarray(9).astype(x.dtype)  # far from singular
    return Case({"self": x, "mode": d.whole(0, 2)}, "double", {"Q": d.first, "R": d.first})
