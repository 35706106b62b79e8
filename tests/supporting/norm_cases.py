# SPDX-License-Identifier: Apache-2.0
"""Arguments of normalisations with a sum before them or swish after them."""

from cases import Case, Draw, fill
from network_cases import _channels, _eps


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
