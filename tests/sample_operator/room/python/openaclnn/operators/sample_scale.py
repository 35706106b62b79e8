# SPDX-License-Identifier: Apache-2.0
"""SampleScale: out = scale * self."""

import ctypes
from collections.abc import Iterable
from typing import Annotated

import numpy as np

from ..libraries import Toolkit
from ..text import Text
from . import options
from .operator import (
    Attribute, Demo, Example, Function, Input, Operator, Output, Problem, Random, Reference,
)
from .reference import compute, doubles, empty

FUNCTION = Function(
    "aclnnSampleScale", (Input("self"), Attribute("scale", ctypes.c_double), Output("out"))
)
SHAPE_FORM = "M,N"


def problem(x: np.ndarray, scale: float = 1.0) -> Problem:
    """`x` times `scale`: an array of x's shape and dtype."""
    return Problem(
        inputs={"self": x}, attributes={"scale": float(scale)}, outputs={"out": (x.shape, x.dtype)}
    )


def read(
    *,
    x: options.file("Any shape") = None,
    scale: Annotated[float, options.Option(help="Factor of each element.")] = 1.0,
    shape: options.shape(SHAPE_FORM, "of x") = None,
    dtype: options.dtype(options.FLOATS) = None,
    seed: options.Seed = 0,
) -> Problem:
    """Reads the arguments that the command line names."""
    options.check_dtype(dtype, options.FLOATS)
    options.check_source({"x": x}, ["x"], shape=shape)
    if shape is not None:
        extents = options.extents(shape, SHAPE_FORM)
        return problem(options.normal(np.random.default_rng(seed), extents, dtype), scale)
    return problem(options.load_floats(FUNCTION.api, {"self": x}, dtype)["self"], scale)


def reference(kit: Toolkit, arguments: Problem) -> dict[str, Reference]:
    """The products in float64, each rounded once."""
    x = arguments.inputs["self"]
    out = empty(x.shape)
    scale = float(np.float32(arguments.attributes["scale"]))
    compute(kit, "sample_scale", doubles(x), x.size, scale, out)
    return {"out": Reference(out, np.abs(out), np.ones((), np.int64))}


def demo(text: Text, width: int) -> Iterable[Problem]:
    """The vectors of the text's words, halved."""
    yield problem(text.embedded(width).astype(np.float32), 0.5)


def example() -> Example:
    """Halves."""
    return Example(
        arrays={"x": np.arange(6, dtype=np.float32).reshape(2, 3)},
        attributes={"scale": 0.5},
        outputs={"out": np.array([[0, 0.5, 1], [1.5, 2, 2.5]])},
    )


OPERATOR = Operator(
    name="sample_scale",
    function=FUNCTION,
    summary="A tensor times a number.",
    usage="--x x.npy --scale 0.5",
    problem=problem,
    read=read,
    reference=reference,
    example=example,
    demo=Demo(("float32",), demo),
    random=Random("--shape 33,65 --scale 0.3", options.FLOATS),
)
