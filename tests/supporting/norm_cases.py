# SPDX-License-Identifier: Apache-2.0
"""Arguments of normalisations with a sum before them or swish after them."""

import numpy as np

from cases import PLACES, Case, Draw, fill
from network_cases import _channels, _eps
from records import REALS


def _shapes(d: Draw):
    """The shapes of x, of gamma, and of a moment for each group."""
    d.style = "plain" if d.style == "rank 0" else d.style
    shape = d.shape(1, 3)
    count = d.whole(1, len(shape), walk=1)
    lead, last = shape[: len(shape) - count], shape[len(shape) - count :]
    return shape, last, lead + (1,) * d.whole(0, count)


def _tensors(d: Draw, shapes: dict, given: dict) -> dict:
    """Tensors of these shapes; rstd is positive."""
    for name, shape in shapes.items():
        sample = "positive" if name == "rstd" else "tame"
        given[name] = d.array(shape, d.type_of(name), sample)
    return given


def _case(d: Draw, given: dict) -> Case:
    outputs = {each.name: d.type_of(each.name) for each in d.record.outputs}
    return Case(fill(d, given), "double", outputs)


def add_rms_norm_cast(d: Draw) -> Case:
    shape, last, _ = _shapes(d)
    given = _tensors(d, {"x1": shape, "x2": shape, "gamma": last}, {"epsilon": _eps(d)})
    return _case(d, given)


def add_layer_norm(d: Draw) -> Case:
    shape, last, _ = _shapes(d)
    shapes = {"x1": shape, "x2": shape, "gamma": last, "beta": last}
    given = {
        "epsilon": _eps(d),
        "biasOptional": None,
        "additionalOutput": d.flag(walk=True),
    }
    if d.flag():
        shapes["biasOptional"] = d.one((shape, last))
    case = _case(d, _tensors(d, shapes, given))
    if not given["additionalOutput"]:
        case.room["xOut"] = shape
    return case


def add_layer_norm_backward(d: Draw) -> Case:
    shape, last, groups = _shapes(d)
    shapes = {
        "dy": shape,
        "x1": shape,
        "x2": shape,
        "rstd": groups,
        "mean": groups,
        "gamma": last,
    }
    given = {"dsumOptional": None}
    if d.flag(walk=True):
        shapes["dsumOptional"] = shape
    return _case(d, _tensors(d, shapes, given))


def deep_norm(d: Draw) -> Case:
    shape, last, _ = _shapes(d)
    given = {"epsilon": _eps(d), "alpha": d.one((0.25, 1.0, -2.0))}
    return _case(
        d, _tensors(d, {"x": shape, "gx": shape, "beta": last, "gamma": last}, given)
    )


def deep_norm_backward(d: Draw) -> Case:
    shape, last, groups = _shapes(d)
    shapes = {
        "dy": shape,
        "x": shape,
        "gx": shape,
        "gamma": last,
        "mean": groups,
        "rstd": groups,
    }
    return _case(d, _tensors(d, shapes, {"alpha": d.one((0.25, 1.0, -2.0))}))


def group_norm_silu(d: Draw) -> Case:
    groups, channels, shape = _channels(d)
    shapes = {"self": shape}
    given = {"group": groups, "eps": _eps(d), "gamma": None, "beta": None}
    shapes |= {name: (channels,) for name in ("gamma", "beta") if d.flag(walk=True)}
    return _case(d, _tensors(d, shapes, given))


def group_norm_swish(d: Draw) -> Case:
    groups, channels, shape = _channels(d)
    shapes = {"x": shape, "gamma": (channels,), "beta": (channels,)}
    given = {"numGroups": groups, "eps": _eps(d), "swishScale": d.one((1.0, 0.5, -2.0))}
    return _case(d, _tensors(d, shapes, given))


def group_norm_swish_backward(d: Draw) -> Case:
    groups, channels, shape = _channels(d)
    of = (shape[0], groups)
    shapes = {
        "dy": shape,
        "mean": of,
        "rstd": of,
        "x": shape,
        "gamma": (channels,),
        "beta": (channels,),
    }
    given = {"numGroups": groups, "swishScale": d.one((1.0, 0.5, -2.0)),
             "dgammaIsRequire": d.flag(walk=True), "dbetaIsRequire": d.flag(walk=True)}  # fmt: skip
    case = _case(d, _tensors(d, shapes, given))
    for name in ("dgamma", "dbeta"):
        if not given[f"{name}IsRequire"]:
            case.room[f"{name}Out"] = (channels,)
    return case


# BatchNorm over several devices.


def _channel_tensors(d: Draw, x: str, like_x, of_channels, optional=()):
    _, channels, shape = _channels(d)
    shapes = {
        x: shape,
        **dict.fromkeys(like_x, shape),
        **dict.fromkeys(of_channels, (channels,)),
    }
    left_out = [name for name in optional if d.flag()]
    given = _tensors(
        d, {name: own for name, own in shapes.items() if name not in left_out}, {}
    )
    return given | dict.fromkeys(left_out)


def batch_norm_stats(d: Draw) -> Case:
    given = _channel_tensors(d, "input", (), ())
    return _case(d, given | {"eps": _eps(d)} if d.record.plain("double") else given)


def batch_norm_elemt(d: Draw) -> Case:
    optional = ("weight", "bias")
    given = _channel_tensors(d, "input", (), ("mean", "invstd", *optional), optional)
    return _case(d, given | {"eps": _eps(d)})


def _reals(d: Draw, shapes: dict, positive) -> dict:
    """Tensors of float types, where the record takes integers too."""
    return {name: d.array(shape, d.type_of(name, REALS), "positive" if name in positive else "tame")
            for name, shape in shapes.items()}  # fmt: skip


def _moments(d: Draw, case: dict, optional: bool):
    """The running moments, and the types of results."""
    outputs = {each.name: d.type_of(each.name, REALS) for each in d.record.outputs}
    for name in ("runningMean", "runningVar"):
        if optional and d.flag():
            case[name] = None
    return outputs


def batch_norm_gather(d: Draw) -> Case:
    d.first = d.type_of("input", REALS)
    _, channels, shape = _channels(d)
    devices = d.whole(1, 3, walk=4)
    shapes = {"input": shape, "mean": (devices, channels), "invstd": (devices, channels),
              "runningMean": (channels,), "runningVar": (channels,)}  # fmt: skip
    given = _reals(d, shapes, ("invstd", "runningVar"))
    given["invstd"] = np.minimum(given["invstd"].astype(np.float64), 1).astype(
        given["invstd"].dtype
    )
    counts = d.random.integers(2, 50, devices).astype(d.one((*REALS[:1], *PLACES)))
    given |= {"counts": counts, "momentum": d.one((0.1, 0.0, 1.0)), "eps": _eps(d)}
    outputs = _moments(d, given, True)
    return Case(fill(d, given), "double", outputs)


def sync_batch_norm_gather(d: Draw) -> Case:
    d.first = d.type_of("totalSum", REALS)
    channels, devices = d.whole(1, 5, walk=64), d.whole(1, 3, walk=4)
    of = (devices, channels)
    shapes = {
        "totalSum": of,
        "totalSquareSum": of,
        "runningMean": of[1:],
        "runningVar": of[1:],
    }
    given = _reals(d, shapes, ("runningVar",))
    counts = d.random.integers(2, 50, devices).astype(np.int32)
    sums = given["totalSum"].astype(np.float64)
    squares = sums * sums + counts[:, None]
    given["totalSquareSum"] = squares.astype(given["totalSquareSum"].dtype)
    given |= {
        "sampleCount": counts,
        "momentum": d.one((0.125, 0.0, 1.0)),
        "eps": d.one((0.5, 2.0**-10)),
    }
    outputs = _moments(d, given, False)
    return Case(fill(d, given), "double", outputs)


def batch_norm_reduce_backward(d: Draw) -> Case:
    given = _channel_tensors(
        d, "input", ("gradOut",), ("mean", "invstd", "weight"), ("weight",)
    )
    channels = given["mean"].shape
    asked = {name: d.flag(walk=True) for name in ("inputG", "weightG", "biasG")}
    case = _case(d, given | asked)
    for flag, names in (
        ("inputG", ("sumDy", "sumDyXmu")),
        ("weightG", ("gradWeight",)),
        ("biasG", ("gradBias",)),
    ):
        if not asked[flag] and d.flag():
            case.room |= dict.fromkeys(names, channels)
    return case


def batch_norm_elemt_backward(d: Draw) -> Case:
    d.first = d.type_of("gradOut", REALS)
    _, channels, shape = _channels(d)
    names = ("mean", "invstd", "weight", "sumDy", "sumDyXmu")
    given = _reals(
        d,
        {"gradOut": shape, "input": shape, **dict.fromkeys(names, (channels,))},
        ("invstd",),
    )
    if d.flag():
        given["weight"] = None
    given["counter"] = d.random.integers(1, 50, d.whole(1, 3)).astype(
        d.one((np.dtype(np.int32), *REALS[:1]))
    )
    return Case(fill(d, given), "double", {"gradInput": d.type_of("gradInput", REALS)})


# Hyper-connections.


def _streams(d: Draw) -> tuple[dict, tuple[int, ...]]:
    lead = tuple(d.whole(1, 3, walk=1024) for _ in range(d.whole(1, 2, walk=1)))
    streams, width = d.whole(1, 4, walk=4), d.whole(1, 5, walk=512)
    shapes = {"x": (*lead, streams, width), "hRes": (*lead, streams, streams), "hOut": (*lead, width),
              "hPost": (*lead, streams)}  # fmt: skip
    given = {name: d.array(shape, d.type_of(name), "tame") for name, shape in shapes.items()}
    if d.whole(0, 2, walk=1) == 0:
        given["hRes"] = None
    return given, shapes["x"]


def mhc_post(d: Draw) -> Case:
    return Case(_streams(d)[0], "double", {"y": d.real()})


def mhc_post_backward(d: Draw) -> Case:
    given, shape = _streams(d)
    given["gradY"] = d.array(shape, d.real(), "tame")
    return Case(given, "double", {each.name: d.real() for each in d.record.outputs})


def _squares(d: Draw) -> tuple[tuple[int, ...], int]:
    lead = tuple(d.whole(1, 3, walk=2**14) for _ in range(d.whole(1, 2, walk=1)))
    return lead, d.whole(1, 8, walk=4)


def mhc_sinkhorn(d: Draw) -> Case:
    lead, n = _squares(d)
    given = {"x": d.array((*lead, n, n), None, "tame"), "eps": d.one((1e-6, 0.01)), "numIters": d.whole(1, 4)}
    count = 2 * given["numIters"] * int(np.prod(lead)) * 8
    case = Case(given, "double", {"y": d.real()})
    if d.flag():
        case.outputs |= {"normOut": d.real(), "sumOut": d.real()}
        case.shapes |= {"normOut": (count * n,), "sumOut": (count,)}
    return case


def mhc_sinkhorn_backward(d: Draw) -> Case:
    """Any matrices, not those of a forward."""
    lead, n = _squares(d)
    count = 2 * d.whole(1, 2) * int(np.prod(lead)) * 8
    given = {"gradY": d.array((*lead, n, n), None, "tame"), "norm": d.array((count * n,), d.real(), "positive"),
             "sum": d.array((count,), d.real(), "positive")}  # fmt: skip
    return Case(given, "double", {"gradX": d.real()})
