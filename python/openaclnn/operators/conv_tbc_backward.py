# SPDX-License-Identifier: Apache-2.0
"""ConvTbcBackward: the gradients of ConvTbc by its input, its weight and its bias."""

import ctypes
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..errors import InputError
from ..files.text import Text
from ..native.libraries import Toolkit
from . import conv_geometry, conv_tbc, options
from .conv_geometry import Geometry
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
    "aclnnConvTbcBackward",
    (
        Input("self"),
        Input("input"),
        Input("weight"),
        Input("bias"),
        Attribute("pad", ctypes.c_int64),
        Attribute("cubeMathType", ctypes.c_int8),
        Output("gradInput"),
        Output("gradWeight"),
        Output("gradBias"),
    ),
)


def problem(
    grad: np.ndarray,
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    pad: int = 0,
    cube_math_type: int = 0,
) -> Problem:
    """The gradients of conv_tbc by input, weight and bias, of their shapes.

    grad is the gradient of conv_tbc's result; the values of bias are not used.
    """
    geometry = Geometry.of(input, weight, pad)
    if grad.shape != geometry.out_shape:
        raise InputError(f"self shape is {grad.shape}, expected {geometry.out_shape}")
    variables = {"gradInput": input, "gradWeight": weight, "gradBias": bias}
    return Problem(
        inputs={"self": grad, "input": input, "weight": weight, "bias": bias},
        attributes={"pad": pad, "cubeMathType": cube_math_type},
        outputs={name: (each.shape, each.dtype) for name, each in variables.items()},
        operations=2 * geometry.operations,
    )


def read(
    *,
    self: options.file("Gradient of the output, times out x batch x channels out") = None,
    input: options.file("Times x batch x channels in") = None,
    weight: options.file("Taps x channels in x channels out") = None,
    bias: options.file("Channels out") = None,
    pad: conv_geometry.Pad = 0,
    cube_math_type: conv_geometry.CubeMathType = 0,
    shape: options.shape(conv_geometry.SHAPE_FORM, conv_geometry.SHAPE_HELP) = None,
    kernel: conv_geometry.Kernel = None,
    text: options.TextFile = None,
    width: options.Width = None,
    dtype: options.dtype(options.FLOATS) = None,
    seed: options.Seed = 0,
) -> Problem:
    """Reads the arguments that the command line names."""
    options.check_dtype(dtype, options.FLOATS)
    files = {"self": self, "input": input, "weight": weight, "bias": bias}
    options.check_source(files, list(files), text=text, shape=shape)
    options.check_companions("text", text is not None, width=width)
    options.check_companions("shape", shape is not None, kernel=kernel)
    if text is not None:
        arrays = conv_geometry.text_arrays(Text.read(text), width or 256, dtype)
        return _with_random_gradient(*arrays, pad, cube_math_type, seed)
    if shape is not None:
        arrays = conv_geometry.random_arrays(shape, kernel, dtype, seed)
        return _with_random_gradient(*arrays, pad, cube_math_type, seed)
    arrays = options.load_floats(FUNCTION.api, files, dtype).values()
    return problem(*arrays, pad, cube_math_type)


def _with_random_gradient(
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    pad: int,
    cube_math_type: int,
    seed: int,
) -> Problem:
    shape = Geometry.of(input, weight, pad).out_shape
    grad = options.normal(np.random.default_rng(seed + 1), shape, input.dtype.name)
    return problem(grad, input, weight, bias, pad, cube_math_type)


def reference(kit: Toolkit, arguments: Problem) -> dict[str, Reference]:
    """The gradients in float64, from the inputs as stored and then rounded as cubeMathType says;
    that of the bias sums self as stored."""
    grad, input, weight, _ = arguments.inputs.values()
    geometry = Geometry.of(input, weight, arguments.attributes["pad"])
    rounded = conv_geometry.rounding(kit, grad.dtype, arguments.attributes["cubeMathType"])
    operands = [rounded(grad), doubles(grad), rounded(input), rounded(weight)]
    values = [empty(shape) for shape, _ in arguments.outputs.values()]
    magnitudes = [empty(shape) for shape, _ in arguments.outputs.values()]
    compute(kit, "conv_tbc_backward", *operands, *geometry.sizes, *values)
    compute(kit, "conv_tbc_backward", *map(abs, operands), *geometry.sizes, *magnitudes)
    terms = (
        (geometry.out_channels * geometry.meetings_by_input)[:, np.newaxis, np.newaxis],
        (geometry.batch * geometry.meetings_by_tap)[:, np.newaxis, np.newaxis],
        np.full((), geometry.out_length * geometry.batch),
    )
    return dict(zip(arguments.outputs, map(Reference, values, magnitudes, terms), strict=True))


def point(kit: Toolkit, arguments: Problem) -> Point:
    """ConvTbc at the input, the weight and the bias."""
    upstream, *variables = map(doubles, arguments.inputs.values())
    geometry = Geometry.of(*variables[:2], arguments.attributes["pad"])
    keeping_dtype = {**arguments.attributes, "cubeMathType": 0}
    return Point(
        variables=dict(zip(arguments.outputs, variables, strict=True)),
        forward=lambda at: conv_tbc.forward(kit, geometry, tuple(at.values())),
        upstream=upstream,
        exact=replace(arguments, attributes=keeping_dtype),
    )


def small() -> Iterable[Problem]:
    """More padding than taps, less, and none; rounded operands."""
    for name, pad, cube_math_type in zip(options.FLOATS, (2, 1, 0), (0, 2, 0), strict=True):
        arrays = conv_geometry.random_arrays("9,3,5", "4,7", name, seed=0)
        found = _with_random_gradient(*arrays, pad, cube_math_type, seed=0)
        yield replace(found, note="as float16" if cube_math_type else "")


def demo(text: Text, width: int) -> Iterable[Problem]:
    """The gradient of three words at a time along the text's paragraphs, in every dtype."""
    for name in options.FLOATS:
        arrays = conv_geometry.text_arrays(text, width, name)
        yield _with_random_gradient(*arrays, pad=1, cube_math_type=0, seed=0)


def example() -> Example:
    """One tap on ones."""
    ones = {"self": (5, 1, 2), "input": (5, 1, 2), "weight": (1, 2, 2), "bias": (2,)}
    return Example(
        arrays={name: np.ones(shape, np.float32) for name, shape in ones.items()},
        outputs={
            "gradInput": np.full((5, 1, 2), 2.0),
            "gradWeight": np.full((1, 2, 2), 5.0),
            "gradBias": np.full(2, 5.0),
        },
    )


OPERATOR = Operator(
    name="conv_tbc_backward",
    function=FUNCTION,
    summary="Gradients of a convolution over time.",
    usage="--self g.npy --input x.npy --weight w.npy --bias b.npy --pad 1",
    problem=problem,
    read=read,
    reference=reference,
    example=example,
    demo=Demo(options.FLOATS, demo),
    random=Random("--shape 11,3,7 --kernel 4,9 --pad 2", options.FLOATS),
    derivative=Derivative(point, small),
)
