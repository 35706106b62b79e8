# SPDX-License-Identifier: Apache-2.0
"""Arguments of the cells of recurrences."""

import numpy as np

from cases import Case, Draw, fill
from records import REALS


def _cell(d: Draw, gates: tuple[str, ...]) -> Case:
    """Rows of a state, and of gates that are four times as wide."""
    n, width = (d.whole(0 if d.style == "empty" else 1, 6, walk=128) for _ in range(2))
    given = {}
    for each in d.record.inputs:
        shape = (n, 4 * width) if each.name in gates else (n, width)
        shape = (4 * width,) if each.name.endswith("Bias") else shape
        sample = "probability" if each.name == "storage" else "tame"
        given[each.name] = d.array(shape, d.type_of(each.name), sample)
    return Case(given, "double", {each.name: d.real() for each in d.record.outputs})


def lstm_cell(d: Draw) -> Case:
    case = _cell(d, ("inputGates", "hiddenGates"))
    if d.flag():
        case.arguments |= {"inputBias": None, "hiddenBias": None}
    return case


def lstm_cell_backward(d: Draw) -> Case:
    case = _cell(d, ("storage",))
    given = {name: None for name in ("gradHy", "gradCy") if d.whole(0, 2, walk=1) == 0}
    case.arguments |= given if len(given) < 2 else {}
    return Case(fill(d, case.arguments), "double", case.outputs)


# Sequences.


def _sequences(d: Draw, gates: int) -> tuple[dict, tuple[int, ...]]:
    """Operands, and the shape (parts, steps, batch, width)."""
    steps, batch, size, width = (d.whole(1, n, walk=w) for n, w in ((4, 64), (4, 64), (5, 128), (4, 128)))
    layers, both, biases = d.whole(1, 2, walk=1), d.flag(), d.flag(walk=True)
    directions = 1 + both
    packed = d.whole(0, 2, walk=1) == 0
    first = not packed and d.flag()
    shape = (steps * batch, size) if packed else (batch, steps, size) if first else (steps, batch, size)
    params = []
    for layer in range(layers):
        read = size if layer == 0 else directions * width
        for _ in range(directions):
            own = [(gates * width, read), (gates * width, width)] + [(gates * width,)] * (2 * biases)
            params += [d.array(each, None, "tame") for each in own]
    counts = -np.sort(-d.random.integers(0, batch + 1, steps))
    counts[0] = batch
    given = {"input": d.array(shape, None, "tame"), "params": params, "hasBiases": biases,
             "numLayers": layers, "bidirectional": both, "batchFirst": first,
             "batchSizes": counts.astype(d.one((np.int32, np.int64))) if packed else None}  # fmt: skip
    return given, (layers * directions, steps, batch, width)


def _results(given: dict, shape) -> tuple[int, ...]:
    """The shape of a layer's result."""
    _, steps, batch, width = shape
    wide = width * (1 + given["bidirectional"])
    return (batch, steps, wide) if given["batchFirst"] else (steps, batch, wide)


def _of_first_type(d: Draw) -> dict:
    return {each.name: d.first for each in d.record.outputs}


def _recurrent(d: Draw, gates: int) -> Case:
    d.first = d.one([each for each in d.record.types if each in REALS])
    given, (parts, steps, batch, width) = _sequences(d, gates)
    states = [d.array((parts, batch, width), None, "tame") for _ in range(2)]
    given |= {"hx": states if gates == 4 else states[0], "train": d.flag(walk=True), "dropout": 0.0}
    if d.one((False,), walk=True):  # a walk cannot guess how many there are
        lists = [each.name for each in d.record.outputs if each.kind == "out[]"]
        given |= {name: [np.zeros((steps, batch, width), d.first) for _ in range(parts)] for name in lists}
    return Case(given, "double", _of_first_type(d), stored=("batchSizes",))


def lstm(d: Draw) -> Case:
    return _recurrent(d, 4)


def gru(d: Draw) -> Case:
    return _recurrent(d, 3)


def _recurrent_backward(d: Draw, gates: int, lists: dict) -> dict:
    d.first = d.one([each for each in d.record.types if each in REALS])
    given, shape = _sequences(d, gates)
    parts, steps, batch, width = shape
    states = [d.array((parts, batch, width), None, "tame") for _ in range(2)]
    given |= {"hx": states if gates == 4 else states[0]}
    for name, sample in lists.items():
        given[name] = [d.array((steps, batch, width), None, sample) for _ in range(parts)]
    for name in ("gradHy", "gradCy"):
        given[name] = d.array((parts, batch, width), None, "tame")
    given["gradOutput"] = d.array(_results(given, shape), None, "tame")
    return given


def lstm_backward(d: Draw) -> Case:
    given = _recurrent_backward(d, 4, {"i": "probability", "j": "probability", "f": "probability",
                                       "o": "probability", "h": "probability", "c": "tame", "tanhC": "probability"})
    for name in ("gradHy", "gradCy", "gradOutput"):
        given[name] = None if d.whole(0, 3, walk=1) == 0 else given[name]
    given |= {"dropout": 0.0, "train": True, "outputMask": None}
    if d.one((False,), walk=True):  # a walk cannot guess how many there are
        given["gradParams"] = [np.zeros_like(each) for each in given["params"]]
    return Case(given, "double", _of_first_type(d), stored=("batchSizes",))


def gru_backward(d: Draw) -> Case:
    given = _recurrent_backward(d, 3, {"r": "probability", "z": "probability", "n": "probability",
                                       "hn": "tame", "h": "probability"})
    del given["gradCy"]
    return Case(given, "double", _of_first_type(d), stored=("batchSizes",))


def rescaled_qkv(d: Draw) -> Case:
    heads, each = d.whole(1, 3, walk=8), d.whole(1, 4, walk=32)
    batch, steps = d.whole(0 if d.style == "empty" else 1, 3, walk=4), d.whole(1, 4, walk=128)
    given = {"qkv": d.array((batch, steps, 3 * heads * each), None, "tame"), "numHeads": heads,
             "qkvBias": d.array((3 * heads * each,), d.type_of("qkvBias"), "tame")}  # fmt: skip
    return Case(given, "double", {each.name: d.real() for each in d.record.outputs})


# Linear attention.


def _delta(d: Draw, walk: int) -> tuple[dict, tuple[int, int, int]]:
    """Operands, and the shape of a state; keys are short, so that states stay small."""
    d.first = d.one([each for each in d.record.types if each in REALS])
    key_heads, share = d.whole(1, 2, walk=4), d.whole(1, 2, walk=2)
    heads, key_width, width = key_heads * share, d.whole(1, 4, walk=64), d.whole(1, 3, walk=64)
    lengths = d.random.integers(0, d.whole(4, 4, walk=walk), d.whole(1, 3, walk=8)).astype(np.int32)
    lengths[-1] += lengths.sum() == 0
    tokens = int(lengths.sum())
    keys = d.array((tokens, key_heads, key_width), None, "probability")
    given = {"query": d.array(keys.shape, None, "probability"), "actualSeqLengths": lengths,
             "key": (keys.astype(np.float64) / 4).astype(keys.dtype), "scale": 0.5,
             "value": d.array((tokens, heads, width), None, "tame"),
             "beta": d.array((tokens, heads), None, "probability") if d.flag() else None,
             "g": -np.abs(d.array((tokens, heads), np.float32, "probability")) if d.flag() else None}  # fmt: skip
    return given, (heads, width, key_width)


def delta_rule(d: Draw) -> Case:
    given, shape = _delta(d, walk=256)
    states = (len(given["actualSeqLengths"]), *shape)
    given["initialState"] = d.array(states, None, "tame") if d.flag() else None
    return Case(given, "double", {"out": d.first, "finalState": d.first}, stored=("actualSeqLengths",))


def recurrent_delta_rule(d: Draw) -> Case:
    """Each token has a state of its own, as sequences that are drawn from do."""
    given, shape = _delta(d, walk=16)
    lengths = given["actualSeqLengths"]
    tokens = int(lengths.sum())
    count = tokens + d.whole(0, 2)
    given["stateRef"] = d.array((count, *shape), None, "tame")
    given["ssmStateIndices"] = d.random.permutation(count)[:tokens].astype(np.int32)
    accepted = np.array([d.whole(1, max(int(n), 1)) for n in lengths], np.int32)
    given["numAcceptedTokens"] = accepted if d.flag() else None
    given["gk"] = -d.array((tokens, shape[0], shape[2]), np.float32, "probability") if d.flag() else None
    stored = ("actualSeqLengths", "ssmStateIndices", "numAcceptedTokens")
    return Case(given, "double", {"out": d.first}, stored=stored)
