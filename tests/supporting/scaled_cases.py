# SPDX-License-Identifier: Apache-2.0
"""Factors and offsets of INT8 operands and results of attention of inference.

What is scaled: `keys` with one tensor for keys and values, `apart` with one for each, `all` operands,
operands with a `rope`, or the result alone (`out`)."""

from dataclasses import dataclass

import numpy as np

from draw import Draw
from records import REALS

from openaclnn.dtypes import BFLOAT16


@dataclass
class Sizes:
    heads: int  # of key
    query_heads: int
    width: int
    narrow: int  # of value
    batches: int
    rows: int  # at least so many of each batch
    cache: tuple  # blocks and their rows, if there is one


# What is scaled, by a parameter that it needs, and beside which extras.
_SCALED = {
    "keys": ("antiquantScale", ("", "table", "list", "padding", "front")),
    "apart": ("keyAntiquantScale", ("", "table", "list", "padding", "front")),
    "all": ("deqScale1", ("", "list")),
    "rope": ("dequantScaleQuery", ("rope",)),
    "out": ("quantScale2", ("", "table", "list", "padding", "front")),
}


def scaling(d: Draw, extra: str) -> str:
    names = {each.name.removesuffix("Optional") for each in d.record.parameters}
    found = [kind for kind, (name, extras) in _SCALED.items() if name in names and extra in extras]
    found = [kind for kind in found if kind != "rope" or d.record.has_bf16]
    # Those with an INT8 query are rare otherwise.
    queries = [kind for kind in found if kind in ("all", "rope")]
    return d.one(("", "", *found * 2, *queries * 2), walk="")


def result_type(d: Draw, scaled: str) -> np.dtype:
    if scaled == "rope":
        return BFLOAT16
    return np.dtype(np.float16) if scaled == "all" else d.type(REALS[:3])


def whole_numbers(d: Draw, shape) -> np.ndarray:
    return d.random.integers(-128, 128, shape).astype(np.int8)


def numbers(d: Draw, scaled: str, extra: str, sizes: Sizes, of_rows: tuple[int, ...]) -> dict:
    """By the longest names of the parameters."""
    given = {}
    if scaled == "keys":
        mode = 0 if extra == "front" or not _has(d, "antiquantMode") else d.whole(0, 1)
        given["antiquantMode"] = mode
        width = sizes.width
        if mode == 0 and width != sizes.narrow:
            shape = ()
        else:
            shape = _shape(d, mode, sizes, width)
        given |= _pair(d, "antiquant", (2, *shape), mode)
    elif scaled == "apart":
        modes = [(0, 0), (2, 2)] + [(0, 1), (1, 1), (3, 3)] * (extra != "front")
        modes += [(4, 4), (5, 5)] * (extra == "table")
        moved = d.flag()
        for name, mode in zip(("key", "value"), d.one(modes), strict=True):
            width = sizes.width if name == "key" else sizes.narrow
            given |= _pair(d, f"{name}Antiquant", _shape(d, mode, sizes, width), mode, moved)
            given[f"{name}AntiquantMode"] = mode
    elif scaled == "all":
        given |= {f"{name}Optional": _one(d) for name in ("quantScale1", "deqScale2")}
        given["deqScale1Optional"] = _one(d) * np.float32(0.01)
    elif scaled == "rope":
        given |= {
            "dequantScaleQueryOptional": _near(d, of_rows[:-1], np.float32), "queryQuantMode": 3,
            "keyAntiquantScaleOptional": _one(d), "valueAntiquantScaleOptional": _one(d),
        }  # fmt: skip
    if scaled == "out" or (scaled in ("keys", "apart", "all") and _has(d, "quantScale2") and d.flag()):
        given |= _of_result(d, sizes)
    return given


def rows_without_keys(given: dict, rows: int) -> bool:
    counts = given.get("actualSeqLengthsOptional") if rows > 1 else None
    return counts is not None or 0 in (given.get("actualSeqLengthsKvOptional") or [1])


def _of_result(d: Draw, sizes: Sizes) -> dict:
    dtype = d.one((np.float32, BFLOAT16)) if d.first == BFLOAT16 else np.float32
    width, all_heads = sizes.narrow, sizes.query_heads
    shape = d.one(((1,), (all_heads * width,), (1, all_heads, 1, width), (all_heads, width)))
    return {
        "quantScale2Optional": d.random.uniform(5, 60, shape).astype(dtype),
        "quantOffset2Optional": d.random.integers(-9, 10, shape).astype(dtype) if d.flag() else None,
    }  # fmt: skip


def _shape(d: Draw, mode: int, sizes: Sizes, width: int) -> tuple[int, ...]:
    heads, batches = sizes.heads, sizes.batches
    rows = sizes.rows + d.whole(0, 2)
    if mode == 0:
        return d.one(((1,), (1, heads, 1, width), (heads, 1, width), (heads, width), (heads * width,)))
    if mode > 3:
        blocks, of_block, _ = sizes.cache
        return (blocks, of_block) if mode == 4 else (blocks, heads, of_block)
    return {1: (batches, rows), 2: (heads,), 3: (batches, heads, rows)}[mode]


def _pair(d: Draw, name: str, shape, mode: int, moved: bool | None = None) -> dict:
    dtype = d.first if mode in (0, 2) else np.dtype(np.float32)
    moved = d.flag() if moved is None else moved
    offset = d.random.integers(-9, 10, shape).astype(dtype) if moved else None
    return {f"{name}ScaleOptional": _near(d, shape, dtype), f"{name}OffsetOptional": offset}


def _near(d: Draw, shape, dtype) -> np.ndarray:
    """With which INT8 becomes numbers of a few units."""
    return d.random.uniform(0.004, 0.02, shape).astype(dtype)


def _one(d: Draw) -> np.ndarray:
    return _near(d, d.one(((), (1,), (1, 1))), np.float32)


def _has(d: Draw, name: str) -> bool:
    return any(each.name.removesuffix("Optional") == name for each in d.record.parameters)
