# SPDX-License-Identifier: Apache-2.0
"""ScaledMaskedSoftmax: y = softmax over the last dimension of mask ? -10000 : scale * x."""

import ctypes
from collections.abc import Iterable
from typing import Annotated

import numpy as np

from .. import dtypes
from ..files.text import Text
from ..native.libraries import Toolkit
from . import options
from .operator import (
    Attribute,
    Demo,
    Example,
    Function,
    Input,
    Operator,
    Output,
    Problem,
    Random,
    Reference,
)
from .reference import compute, doubles, empty

FUNCTION = Function(
    "aclnnScaledMaskedSoftmax",
    (
        Input("x"),
        Input("mask"),
        Attribute("scale", ctypes.c_double),
        Attribute("fixTriuMask", ctypes.c_bool),
        Output("y"),
    ),
)
SHAPE_FORM = "B,N,S1,S2"
Scale = Annotated[float, options.Option(help="Factor of what the exponential is taken of.")]

_TEXT_LENGTH = 64  # words of a paragraph
_TEXT_BATCH = 128  # paragraphs


def problem(x: np.ndarray, mask: np.ndarray, scale: float = 1.0) -> Problem:
    """softmax over the last dimension of mask ? -10000 : scale * x, of x's shape.

    x is (batch, heads, rows, columns); mask is bool, its first two dimensions those of x or 1.
    """
    return Problem(
        inputs={"x": x, "mask": mask},
        attributes={"scale": float(scale), "fixTriuMask": False},
        outputs={"y": (x.shape, x.dtype)},
    )


def read(
    *,
    x: options.file("Batch x heads x rows x columns") = None,
    mask: options.file("What to leave out, bool; batch and heads may be 1") = None,
    scale: Scale = 1.0,
    shape: options.shape(SHAPE_FORM, "of x; a fifth is masked") = None,
    text: options.TextFile = None,
    width: options.Width = None,
    dtype: options.dtype(options.FLOATS) = None,
    seed: options.Seed = 0,
) -> Problem:
    """Reads the arguments that the command line names."""
    options.check_dtype(dtype, options.FLOATS)
    files = {"x": x, "mask": mask}
    options.check_source(files, list(files), text=text, shape=shape)
    options.check_companions("text", text is not None, width=width)
    if text is not None:
        return problem(*text_arrays(Text.read(text), width or 256, dtype), scale)
    if shape is not None:
        random = np.random.default_rng(seed)
        return problem(*random_arrays(random, options.extents(shape, SHAPE_FORM), dtype), scale)
    values = options.load_floats(FUNCTION.api, {"x": x}, dtype)["x"]
    return problem(values, options.load(FUNCTION.api, "mask", mask), scale)


def random_arrays(
    random: np.random.Generator, shape: tuple[int, ...], dtype: str | None
) -> tuple[np.ndarray, np.ndarray]:
    """x, and a mask that the heads share."""
    batch, _, *plane = shape
    return options.normal(random, shape, dtype), random.random((batch, 1, *plane)) < 0.2


def text_arrays(text: Text, width: int, dtype: str | None) -> tuple[np.ndarray, np.ndarray]:
    """How alike the words of each paragraph are, by head; what fills short paragraphs is masked."""
    heads = max(1, width // 64)
    vectors, lengths = text.padded(text.embedded(width), _TEXT_LENGTH, _TEXT_BATCH)
    vectors = vectors[..., : width // heads * heads].reshape(*vectors.shape[:2], heads, -1)
    vectors = vectors.transpose(0, 2, 1, 3)
    scores = vectors @ vectors.swapaxes(2, 3) / np.sqrt(np.float32(vectors.shape[3]))
    outside = np.arange(_TEXT_LENGTH) >= lengths[:, np.newaxis]
    mask = outside[:, np.newaxis, :, np.newaxis] | outside[:, np.newaxis, np.newaxis, :]
    return scores.astype(dtypes.parse(dtype or "float32")), mask


def masked(arguments: Problem, shape: tuple[int, ...]) -> np.ndarray:
    """The mask of every element of `shape`."""
    return np.require(np.broadcast_to(arguments.inputs["mask"], shape), np.uint8, "C")


def narrowed(scale: float) -> float:
    """The scale as the operators take it."""
    with np.errstate(over="ignore"):
        return float(np.float32(scale))


def forward(
    kit: Toolkit, arguments: Problem, x: np.ndarray, roundings: np.ndarray | None = None
) -> np.ndarray:
    """The float64 reference on another x, with the mask and the scale of `arguments`."""
    y = empty(x.shape)
    scale = narrowed(arguments.attributes["scale"])
    rows = (x.size // max(x.shape[-1], 1), x.shape[-1])
    mask = masked(arguments, x.shape)
    compute(kit, "scaled_masked_softmax", doubles(x), mask, *rows, scale, y, roundings)
    return y


def reference(kit: Toolkit, arguments: Problem) -> dict[str, Reference]:
    """The result in float64, from the inputs as stored."""
    x = arguments.inputs["x"]
    roundings = empty(x.shape)
    y = forward(kit, arguments, x, roundings)
    return {"y": Reference(y, y, np.full((), x.shape[-1]), roundings)}


def demo(text: Text, width: int) -> Iterable[Problem]:
    """Attention within the text's paragraphs."""
    yield problem(*text_arrays(text, width, "float32"), 0.125)


def example() -> Example:
    """Rows of zeros, one of which has a masked element."""
    return Example(
        arrays={
            "x": np.zeros((1, 2, 2, 2), np.float32),
            "mask": np.array([[[[False, False], [False, True]]]]),
        },
        attributes={"scale": 0.5},
        outputs={"y": np.tile([[0.5, 0.5], [1, 0]], (1, 2, 1, 1))},
    )


OPERATOR = Operator(
    name="scaled_masked_softmax",
    function=FUNCTION,
    summary="Softmax over the last dimension, scaled and masked.",
    usage="--x x.npy --mask mask.npy --scale 0.125",
    problem=problem,
    read=read,
    reference=reference,
    example=example,
    demo=Demo(("float32",), demo),
    random=Random("--shape 2,3,5,70 --scale -1.5", options.FLOATS),
)
