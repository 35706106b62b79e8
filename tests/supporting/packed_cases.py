# SPDX-License-Identifier: Apache-2.0
"""Arguments of attention of packed sequences."""

import numpy as np

from cases import Case, Draw, fill
from network_cases import BYTES, shifts, sinks
from packed import blocks_of
from records import REALS

MODES = (0, 1, 2, 3, 4, 6, 7, 8)


def _ends(d: Draw, count: int, most: int, left_out: int) -> tuple[list[int], int]:
    """Ends of sequences, the last ones left out, and of all rows."""
    lengths = [0 if d.whole(0, 4, walk=1) == 0 else d.whole(1, most, walk=128) for _ in range(count)]
    if d.style == "empty":
        lengths = [0] * count
    ends = [int(end) for end in np.cumsum(lengths)]
    rows = ends[-1] + (d.whole(0, 2, walk=0) if left_out or d.flag() else 0)
    return ends[: count - left_out] + [0] * left_out, rows


def _ropes(d: Draw, names, shapes) -> dict:
    """Of queries and of keys: both or none."""
    found = [each for each in names if "Rope" in each]
    if not found or (found[0].endswith("Optional") and d.flag(walk=True)):
        return {}
    width = d.whole(1, 3, walk=64)
    return {name: d.array((*shape[:2], width), None, "tame")
            for name, shape in zip(found, shapes, strict=True)}  # fmt: skip


def packed_attention(d: Draw, gradient: bool = False) -> Case:
    served, heads, width = d.whole(1, 2, walk=1), d.whole(1, 2, walk=8), d.whole(1, 5, walk=64)
    count = d.whole(1, 4, walk=4)
    left_out = d.whole(0, count - 1, walk=0) if d.flag() else 0
    long = 150 if d.style == "long" else 6
    row_ends, rows = _ends(d, count, 6, left_out)
    key_ends, keys = _ends(d, count, long, left_out)
    keys = max(keys, 1)
    d.first = d.type(REALS[:3])
    narrow = d.one((width, d.whole(1, width)))
    shapes = [(rows, heads * served, width), (keys, heads, width), (keys, heads, narrow),
              (rows, heads * served, narrow)]  # fmt: skip
    names = [each.name for each in d.record.inputs]
    tensors = ["query", "keyIn" if gradient else "key", "value", "dy"]
    given = dict.fromkeys(names)
    given |= {name: d.array(shape, None, "tame") for name, shape in zip(tensors, shapes, strict=True)
              if name in names}  # fmt: skip
    given |= _ropes(d, names, shapes[:2])
    blocks = blocks_of(row_ends, key_ends, rows, keys)[:count]
    sizes = [(r.stop - r.start, k.stop - k.start) for r, k in blocks]
    longest = tuple(max(each) + d.whole(0, 2, walk=0) for each in zip(*sizes, strict=True))
    mode, keep = d.one(MODES, walk=3), d.one((1.0, 1.0, 0.5))
    mask = d.array(longest, d.one((BYTES, np.dtype(bool))), "mask")
    given["attenMaskOptional"] = None if d.flag(walk=True) else mask
    bits = heads * served * sum(r * k for r, k in sizes)
    drops = d.random.integers(0, 256, -(-bits // 8)).astype(np.uint8)
    given["dropMaskOptional"] = drops if keep < 1 and d.flag() else None
    given |= shifts(d, (count, heads * served, rows, keys), True) | sinks(d, heads * served)
    given |= {
        "prefixOptional": [d.whole(0, k) for _, k in sizes] if mode == 6 or d.flag() else None,
        "actualSeqQLenOptional": row_ends, "actualSeqKvLenOptional": key_ends,
        "scaleValue": 0.5, "keepProb": keep, "preTokens": d.whole(-2, 9),
        "nextTokens": d.whole(-2, 9), "headNum": heads * served, "inputLayout": "TND",
        "sparseMode": mode, "innerPrecise": 0,
    }  # fmt: skip
    for each in d.record.plain("string"):
        given.setdefault(each.name, d.one(d.record.modes[each.name]))
    outputs = {each.name: d.first for each in d.record.outputs if not each.optional}
    if given.get("sinkOptional") is not None:
        outputs["dsinkOut"] = np.dtype(np.float32)
    if any("Rope" in name and given[name] is not None for name in names):
        outputs |= {"dqRopeOut": d.first, "dkRopeOut": d.first}
    if not gradient:
        outputs |= {"softmaxMaxOut": d.one(REALS[::3]), "softmaxSumOut": d.one(REALS[::3])}
    stored = ("dropMaskOptional", "attenMaskOptional", "keepProb")
    return Case(fill(d, given), "float", outputs, stored=stored)


def packed_attention_backward(d: Draw) -> Case:
    return packed_attention(d, True)


def ring_update(d: Draw) -> Case:
    layout = d.one(("SBH", "TND"))
    heads, width = d.whole(1, 3, walk=8), d.whole(1, 8, walk=64)
    d.first = d.type(REALS[:3])
    ends, rows = _ends(d, d.whole(1, 3, walk=4), 4, 0)
    batches = d.whole(1, 3, walk=2)
    shape = (rows, heads, width) if layout == "TND" else (rows, batches, heads * width)
    sums = (rows, heads) if layout == "TND" else (batches, heads, rows)

    def numbers(sample: str):
        return np.repeat(d.array((*sums, 1), np.float32, sample), 8, axis=-1)

    given = {"inputLayoutOptional": layout, "actualSeqQlenOptional": np.array(ends, np.int64)}
    far = d.one((0, -200))  # from the 0 of a part without keys
    for part in ("prev", "cur"):
        sees = np.repeat(d.random.random((*sums, 1)) < 0.8, 8, axis=-1)  # some rows see no key
        given |= {
            f"{part}AttnOut": d.array(shape, None, "tame"),
            f"{part}SoftmaxMax": np.where(sees, numbers("tame") + far, 0).astype(np.float32),
            f"{part}SoftmaxSum": np.where(sees, numbers("positive"), 0).astype(np.float32),
        }  # fmt: skip
    if layout == "SBH" and d.flag():
        given["actualSeqQlenOptional"] = None
    float32 = np.dtype(np.float32)
    outputs = {"attnOutOut": d.first, "softmaxMaxOut": float32, "softmaxSumOut": float32}
    return Case(fill(d, given), "double", outputs, stored=("actualSeqQlenOptional",))
