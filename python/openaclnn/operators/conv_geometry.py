# SPDX-License-Identifier: Apache-2.0
"""The geometry that the convolution over time, batch and channels shares with its gradient."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from .. import dtypes
from ..dtypes import FLOAT_FORMATS, FloatFormat
from ..errors import InputError
from ..files.text import Text
from ..native.libraries import Toolkit
from . import options

SHAPE_FORM = "T,B,C_IN"
SHAPE_HELP = "times, batch and channels of the forward's input"

Pad = Annotated[
    int,
    options.Option(min=0, max=options.MOST, help="Zeros before the first time and after the last."),
]
CubeMathType = Annotated[
    int,
    options.Option(
        min=0, max=3, help="0 keep the dtype, 1 allow lower precision, 2 use FP16, 3 use HF32."
    ),
]
Kernel = Annotated[
    str | None,
    options.Option("--kernel", metavar="L,C_OUT", help="With --shape: taps and outputs (3,C_IN)."),
]

_HF32 = FloatFormat(12, -126, 127)
_FP16 = FLOAT_FORMATS[np.dtype(np.float16)]
_TEXT_CHANNELS = 64
_TEXT_LENGTH = 64  # words of a paragraph
_TEXT_BATCH = 128  # paragraphs


@dataclass(frozen=True)
class Geometry:
    """The sizes of one convolution."""

    in_length: int
    batch: int
    in_channels: int
    out_channels: int
    taps: int
    pad: int

    @classmethod
    def of(
        cls, input: np.ndarray, weight: np.ndarray, pad: int, operand: str = "input"
    ) -> "Geometry":
        if input.ndim != 3:
            raise InputError(f"{operand} shape is {input.shape}, expected times x batch x channels")
        if weight.ndim != 3 or weight.shape[1] != input.shape[2]:
            raise InputError(
                f"weight shape is {weight.shape}, expected taps x {input.shape[2]} x channels out"
            )
        geometry = cls(*input.shape, weight.shape[2], weight.shape[0], pad)
        if pad < 0 or geometry.out_length < 0:
            raise InputError(
                f"pad is {pad}, expected 0 or more, and enough for {geometry.taps} taps on"
                f" {geometry.in_length} times"
            )
        return geometry

    @property
    def sizes(self) -> tuple[int, ...]:
        """As the references take them."""
        channels = (self.in_channels, self.out_channels)
        return (self.in_length, self.batch, *channels, self.taps, self.pad)

    @property
    def out_length(self) -> int:
        return self.in_length + 2 * self.pad + 1 - self.taps

    @property
    def out_shape(self) -> tuple[int, int, int]:
        return (self.out_length, self.batch, self.out_channels)

    @property
    def meetings_by_tap(self) -> np.ndarray:
        """For each tap, how often it meets an input, and not a zero of the padding."""
        first = self.pad - np.arange(self.taps)  # the time out at which it meets the first input
        return _overlap(first, self.in_length, self.out_length)

    @property
    def meetings_by_output(self) -> np.ndarray:
        """For each time out, how many taps meet an input."""
        return _overlap(self.pad - np.arange(self.out_length), self.in_length, self.taps)

    @property
    def meetings_by_input(self) -> np.ndarray:
        """For each time in, how many taps meet an output."""
        last = self.pad + np.arange(self.in_length)  # the tap that meets the first output
        return _overlap(last + 1 - self.out_length, self.out_length, self.taps)

    @property
    def operations(self) -> int:
        """Multiplications and additions of one product over all meetings."""
        products = int(self.meetings_by_tap.sum()) * self.batch
        return 2 * products * self.in_channels * self.out_channels


def _overlap(begins: np.ndarray, length: int, room: int) -> np.ndarray:
    """How much of each [begin, begin + length) lies in [0, room)."""
    inside = np.minimum(begins + length, room) - np.maximum(begins, 0)
    return np.maximum(inside, 0)


def rounding(
    kit: Toolkit, dtype: np.dtype, cube_math_type: int
) -> Callable[[np.ndarray], np.ndarray]:
    """How the operands of the products are rounded, by the table of cubeMathType."""
    old = kit.configuration()["family"] == "910"
    single = dtype == np.float32
    form = None
    if single and cube_math_type in (1, 3):
        form = _FP16 if old else _HF32
    elif cube_math_type == 2 and dtype != np.float16:
        form = _FP16
    if form is None:
        return lambda array: np.require(array, np.float64, "C")

    def rounded(array: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.require(form.round(array.astype(np.float64)), np.float64, "C")

    return rounded


def random_arrays(
    shape: str, kernel: str | None, dtype: str | None, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An input, a weight and a bias."""
    extents = options.extents(shape, SHAPE_FORM)
    taps, out_channels = (
        options.extents(kernel, "L,C_OUT", "--kernel") if kernel else (3, extents[2])
    )
    random = np.random.default_rng(seed)
    shapes = (extents, (taps, extents[2], out_channels), (out_channels,))
    return tuple(options.normal(random, each, dtype) for each in shapes)


def text_arrays(
    text: Text, width: int, dtype: str | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The words' vectors, time along each paragraph; three taps of a random weight, and a bias."""
    channels = min(width, _TEXT_CHANNELS)
    batch, _ = text.padded(text.embedded(channels), _TEXT_LENGTH, _TEXT_BATCH)
    input = np.ascontiguousarray(batch.transpose(1, 0, 2)).astype(dtypes.parse(dtype or "float32"))
    random = np.random.default_rng(1)
    weight = options.normal(random, (3, channels, channels), dtype)
    return input, weight, options.normal(random, (channels,), dtype)
