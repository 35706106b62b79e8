# SPDX-License-Identifier: Apache-2.0
"""ScaledMaskedSoftmaxBackward: out = mask ? 0 : scale * (g * y - y * sum of g * y)."""

import ctypes
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from .. import dtypes
from ..files.text import Text
from ..native import libraries
from ..native.libraries import Toolkit
from . import options
from . import scaled_masked_softmax as softmax
from .operator import (
    Attribute,
    Demo,
    Derivative,
    Example,
    Function,
    Input,
    Operator,
    Output,
    Point,
    Problem,
    Random,
    Reference,
)
from .reference import compute, doubles, empty

FUNCTION = Function(
    "aclnnScaledMaskedSoftmaxBackward",
    (
        Input("gradOutput"),
        Input("y"),
        Input("mask"),
        Attribute("scale", ctypes.c_double),
        Attribute("fixTriuMask", ctypes.c_bool),
        Output("out"),
    ),
)


def problem(
    grad_output: np.ndarray, y: np.ndarray, mask: np.ndarray, scale: float = 1.0
) -> Problem:
    """The gradient of scaled_masked_softmax by x, from its result y:

    mask ? 0 : scale * (g * y - y * sum of g * y over the last dimension), g = grad_output.
    """
    return Problem(
        inputs={"gradOutput": grad_output, "y": y, "mask": mask},
        attributes={"scale": float(scale), "fixTriuMask": False},
        outputs={"out": (grad_output.shape, grad_output.dtype)},
    )


def read(
    *,
    grad_output: options.file("Gradient of the output, batch x heads x rows x columns") = None,
    y: options.file("The output, of the same shape") = None,
    mask: options.file("What was left out, bool; batch and heads may be 1") = None,
    scale: softmax.Scale = 1.0,
    shape: options.shape(softmax.SHAPE_FORM, "of y; a fifth is masked") = None,
    text: options.TextFile = None,
    width: options.Width = None,
    dtype: options.dtype(options.FLOATS) = None,
    seed: options.Seed = 0,
) -> Problem:
    """Reads the arguments that the command line names."""
    options.check_dtype(dtype, options.FLOATS)
    files = {"grad-output": grad_output, "y": y, "mask": mask}
    options.check_source(files, list(files), text=text, shape=shape)
    options.check_companions("text", text is not None, width=width)
    dtype_or_default = dtype or options.FLOATS[0]
    if text is not None:
        arrays = softmax.text_arrays(Text.read(text), width or 256, None)
        return _after(softmax.problem(*arrays, scale), dtype_or_default, seed)
    if shape is not None:
        random = np.random.default_rng(seed)
        arrays = softmax.random_arrays(random, options.extents(shape, softmax.SHAPE_FORM), None)
        return _after(softmax.problem(*arrays, scale), dtype_or_default, seed)
    floats = options.load_floats(FUNCTION.api, {"gradOutput": grad_output, "y": y}, dtype)
    return problem(*floats.values(), options.load(FUNCTION.api, "mask", mask), scale)


def _after(forward: Problem, dtype: str, seed: int) -> Problem:
    """The gradient that follows a forward call: its y, and a random gradient of that."""
    y = softmax.forward(libraries.load(), forward, forward.inputs["x"]).astype(dtypes.parse(dtype))
    gradient = options.normal(np.random.default_rng(seed + 1), y.shape, dtype)
    return problem(gradient, y, forward.inputs["mask"], forward.attributes["scale"])


def reference(kit: Toolkit, arguments: Problem) -> dict[str, Reference]:
    """The gradient in float64, from the inputs as stored."""
    shape, _ = arguments.outputs["out"]
    value, magnitude = empty(shape), empty(shape)
    gradient, y = (doubles(arguments.inputs[each]) for each in ("gradOutput", "y"))
    rows = (value.size // max(shape[-1], 1), shape[-1])
    scale = softmax.narrowed(arguments.attributes["scale"])
    mask = softmax.masked(arguments, shape)
    compute(
        kit, "scaled_masked_softmax_backward", gradient, y, mask, *rows, scale, value, magnitude
    )
    return {"out": Reference(value, magnitude, np.full((), shape[-1]))}


def point(kit: Toolkit, arguments: Problem) -> Point:
    """ScaledMaskedSoftmax at a random x, whose y replaces that of the arguments."""
    shape, _ = arguments.outputs["out"]
    x = np.random.default_rng(1).standard_normal(shape)
    at_x = softmax.problem(x, arguments.inputs["mask"], arguments.attributes["scale"])
    y = softmax.forward(kit, at_x, x)
    return Point(
        variables={"out": x},
        forward=lambda variables: softmax.forward(kit, at_x, variables["out"]),
        upstream=doubles(arguments.inputs["gradOutput"]),
        exact=replace(arguments, inputs={**arguments.inputs, "y": y}),
        step=1e-3 / max(1.0, abs(softmax.narrowed(arguments.attributes["scale"]))),
    )


def small() -> Iterable[Problem]:
    """Rows with and without masked elements."""
    for name, scale in zip(options.FLOATS, (0.5, 1.0, -2.0), strict=True):
        arrays = softmax.random_arrays(np.random.default_rng(0), (2, 2, 5, 19), None)
        yield _after(softmax.problem(*arrays, scale), name, seed=0)


def demo(text: Text, width: int) -> Iterable[Problem]:
    """The gradient of attention within the text's paragraphs, in every dtype."""
    arrays = softmax.text_arrays(text, width, None)
    for name in options.FLOATS:
        yield _after(softmax.problem(*arrays, 0.125), name, seed=0)


def example() -> Example:
    """1 to 16 as the gradient and as y, which need not be a softmax; every other row masked."""
    counted = np.arange(1, 17, dtype=np.float32).reshape(2, 2, 2, 2)
    masked = np.tile([[True, True], [False, False]], (2, 2, 1, 1))
    rows = [
        [0, 0],
        [-66, -84],
        [0, 0],
        [-742, -840],
        [0, 0],
        [-2794, -3036],
        [0, 0],
        [-6990, -7440],
    ]
    return Example(
        arrays={"grad_output": counted, "y": counted, "mask": masked},
        outputs={"out": np.array(rows, np.float64).reshape(2, 2, 2, 2)},
    )


OPERATOR = Operator(
    name="scaled_masked_softmax_backward",
    function=FUNCTION,
    summary="Gradient of a scaled, masked softmax.",
    usage="--grad-output g.npy --y y.npy --mask mask.npy --scale 0.125",
    problem=problem,
    read=read,
    reference=reference,
    example=example,
    demo=Demo(options.FLOATS, demo),
    random=Random("--shape 2,3,5,70 --scale 0.3", options.FLOATS),
    derivative=Derivative(point, small),
)
