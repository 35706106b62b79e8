# SPDX-License-Identifier: Apache-2.0
"""Arguments of operators that know channels, a tensor's dimension 1, of limits of norms, and of
what makes complex numbers; distances."""

import numpy as np

from bounded import DOUBLE, Bounded
from cases import PLACES, Case, Draw, _dim
from judge import stored
from networks import norm
from records import REALS


def _weight(d: Draw, shape) -> np.ndarray:
    """One number, or one for each channel, in some shape."""
    count = shape[1] if len(shape) > 1 and d.flag(walk=True) else 1
    lead, behind = (1,) * d.whole(0, 1, walk=0), (1,) * d.whole(0, 2, walk=0)
    return d.array(() if count == 1 and d.flag() else (*lead, count, *behind), d.type(), "tame")


def prelu(d: Draw) -> Case:
    shape = d.shape(0, 4, walk=(8, 64, 64, 64))
    given = {"self": d.array(shape), "weight": _weight(d, shape)}
    return Case(given, "float", {"out": d.type()})


def prelu_backward(d: Draw) -> Case:
    shape = d.shape(0, 4, walk=(8, 64, 64, 64))
    weight = _weight(d, shape).astype(d.first)
    given = {"gradOutput": d.array(d.within(shape)), "self": d.array(shape), "weight": weight}
    return Case(given, "double", {"gradInput": d.first, "gradWeight": d.first})


def channel_shuffle(d: Draw) -> Case:
    shape, groups = list(d.shape(3, 5, 3, walk=(8, 8, 64, 64))), d.whole(1, 3, walk=8)
    shape[1] *= groups
    given = {"self": d.array(shape), "groups": groups}
    return Case(given, "stored", {"out": d.first})


def _limit(d: Draw, scalars: bool) -> tuple:
    """An order and the largest norm."""
    order = np.float32(np.inf) if d.whole(0, 3, walk=1) == 0 else d.scalar("order", REALS[:1])
    most = np.float32(0) if d.whole(0, 5, walk=1) == 0 else d.scalar("positive", REALS[:1])
    return (order, most) if scalars else (float(order), float(most))


def renorm(d: Draw) -> Case:
    shape = d.shape(1)
    order, most = _limit(d, True)
    given = {d.record.inputs[0].name: d.array(shape), "p": order, "dim": _dim(d, len(shape)),
             "maxNorm": most}  # fmt: skip
    return Case(given, "double", {each.name: d.first for each in d.record.outputs})


def embedding_renorm(d: Draw) -> Case:
    types = REALS[:3]
    d.first = d.first if d.first in types else d.one(types)
    rows, count = d.whole(1, 5, walk=8192), 0 if d.style == "empty" else d.whole(0, 6, walk=4096)
    order, most = _limit(d, False)
    given = {"selfRef": d.array((rows, d.whole(1, 5, walk=256))), "maxNorm": most, "normType": order,
             "indices": d.random.integers(0, rows, count).astype(d.one(PLACES))}  # fmt: skip
    return Case(given, "double", stored=("indices",))


def made_complex(d: Draw) -> Case:
    """Of FLOAT; a C++ test makes those of DOUBLE."""
    shape, dtype = d.shape(), np.dtype(np.float32)
    shapes = [shape, shape if d.record.name == "Polar" else d.within(shape)]
    given = {each.name: d.array(own, dtype)
             for each, own in zip(d.record.inputs, shapes, strict=True)}  # fmt: skip
    return Case(given, "stored", {"out": np.dtype(np.complex64)})


def _order(d: Draw) -> float:
    return d.one((0.0, 1.0, 2.0, 3.0, 1.5, float("inf")), walk=2.0)


def _rows(d: Draw, walk: int = 1024) -> int:
    return 0 if d.style == "empty" and d.flag() else d.whole(1, 5, walk=walk)


def cdist(d: Draw) -> Case:
    width, batch = _rows(d, 64), tuple(d.whole(1, 3) for _ in range(d.whole(0, 2, walk=0)))
    given = {name: d.array((*d.within(batch), _rows(d), width), None, "tame")
             for name in ("x1", "x2")}  # fmt: skip
    given |= {"p": _order(d), "compute_mode": d.whole(0, 2, walk=2)}
    return Case(given, "double", {"out": d.first})


def cdist_backward(d: Draw) -> Case:
    batch, width = tuple(d.whole(1, 3) for _ in range(d.whole(0, 2, walk=0))), _rows(d, 16)
    x1 = d.array((*d.within(batch), _rows(d, 512), width), None, "tame")
    x2 = d.array((*batch, _rows(d, 512), width), None, "tame")
    order = _order(d)
    apart = x1.astype(np.float64)[..., :, None, :] - x2.astype(np.float64)[..., None, :, :]
    distances = norm(Bounded(apart, DOUBLE), order, -1, False).value
    given = {"x1": x1, "x2": x2, "p": order, "cdist": stored(distances, d.first),
             "grad": d.array(distances.shape, None, "tame")}  # fmt: skip
    return Case(given, "double", {"out": d.first})


def pdist(d: Draw) -> Case:
    given = {"self": d.array((_rows(d), _rows(d, 64)), None, "tame"), "p": _order(d)}
    return Case(given, "double", {"out": d.first})
