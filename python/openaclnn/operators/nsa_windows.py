# SPDX-License-Identifier: Apache-2.0
"""Windows over segments of the token axis: what NSA compression and its gradient share."""

import math
from typing import Annotated

import numpy as np

from ..errors import InputError
from ..files.text import Text
from . import options

SHAPE_FORM = "T,N,D"

Ends = Annotated[
    str | None,
    options.Option(
        "--act-seq-len", metavar="E,...", help="Ends of the segments, the last T; default: one."
    ),
]
DEMO_BLOCK = 32  # tokens of a window over a text
_UNIT = 16  # of what the operators are given in tokens
_MOST_BLOCK = 128

Block = Annotated[
    int,
    options.Option(
        "--compress-block-size",
        min=_UNIT,
        max=_MOST_BLOCK,
        unit=_UNIT,
        help=f"Tokens of a window, a multiple of {_UNIT}.",
    ),
]
Stride = Annotated[
    int,
    options.Option(
        "--compress-stride",
        min=_UNIT,
        max=_MOST_BLOCK,
        unit=_UNIT,
        help=f"Tokens from a window to the next, a multiple of {_UNIT}.",
    ),
]


def parse_ends(text: str | None) -> list[int] | None:
    """The numbers of --act-seq-len."""
    if text is None:
        return None
    form = ",".join("E" * len(text.split(",")))
    return list(options.extents(text, form, "--act-seq-len"))


def refuse_ends(text: str | None) -> None:
    """A text has segments of its own."""
    if text is not None:
        raise InputError(f"--act-seq-len is {text}, expected it without --text")


def starts(ends: list[int] | None, tokens: int, block: int, stride: int) -> np.ndarray:
    """The first token of each window."""
    if stride < 1 or block < 1:
        raise InputError(
            f"compressBlockSize is {block} and compressStride {stride}, expected more than 0"
        )
    begin, found = 0, [np.empty(0, np.int64)]
    for end in ends or [tokens]:
        if not begin <= end <= tokens:
            raise InputError(
                f"actSeqLenOptional value is {end}, expected {begin} to {tokens}, input's tokens"
            )
        found.append(np.arange(begin, end - block + 1, stride, np.int64))
        begin = end
    if begin != tokens:
        raise InputError(
            f"actSeqLenOptional ends at {begin}, expected {tokens}, the tokens of input"
        )
    return np.concatenate(found)


def check_shapes(tokens: np.ndarray, weight: np.ndarray) -> None:
    """Refuses shapes that give no shape of an output."""
    if tokens.ndim != 3:
        raise InputError(f"input shape is {tokens.shape}, expected tokens x heads x width")
    if weight.ndim != 2 or weight.shape[1] != tokens.shape[1]:
        raise InputError(
            f"weight shape is {weight.shape}, expected block x {tokens.shape[1]}, heads of input"
        )


def random_arrays(
    shape: tuple[int, ...], block: int, dtype: str | None, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """An input and a weight."""
    random = np.random.default_rng(seed)
    dtype = dtype or options.HALVES[0]
    return options.normal(random, shape, dtype), options.normal(random, (block, shape[1]), dtype)


def text_arrays(
    text: Text, width: int, block: int, dtype: str | None, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """The words' vectors, cut into heads, a weight, and the ends of the paragraphs."""
    if width % 16 != 0:
        raise InputError(f"--width is {width}, expected a multiple of 16")
    head = math.gcd(width, 64)
    vectors = text.embedded(width).reshape(-1, width // head, head)
    _, weight = random_arrays((0, width // head, head), block, dtype, seed)
    return vectors.astype(weight.dtype), weight, text.paragraph_ends.tolist()
