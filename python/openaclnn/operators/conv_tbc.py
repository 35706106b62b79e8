# SPDX-License-Identifier: Apache-2.0
"""ConvTbc: out[t, b, :] = bias + sum over taps k of self[t + k - pad, b, :] @ weight[k]."""

import ctypes
from collections.abc import Iterable

import numpy as np

from ..errors import InputError
from ..files.text import Text
from ..native.libraries import Toolkit
from . import conv_geometry, options
from .conv_geometry import Geometry
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
    "aclnnConvTbc",
    (
        Input("self"),
        Input("weight"),
        Input("bias"),
        Attribute("pad", ctypes.c_int64),
        Output("out"),
        Attribute("cubeMathType", ctypes.c_int8),
    ),
)


def problem(
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    pad: int = 0,
    cube_math_type: int = 0,
) -> Problem:
    """A convolution over time: (times + 2 * pad + 1 - taps, batch, channels out).

    input is (times, batch, channels in), weight (taps, channels in, channels out), bias (channels
    out). cube_math_type says in which type products are taken: 0 that of the arrays, 1 a lower one
    where the product has it, 2 float16, 3 HF32.
    """
    geometry = Geometry.of(input, weight, pad, "self")
    if bias.shape != (geometry.out_channels,):
        raise InputError(f"bias shape is {bias.shape}, expected ({geometry.out_channels},)")
    return Problem(
        inputs={"self": input, "weight": weight, "bias": bias},
        attributes={"pad": pad, "cubeMathType": cube_math_type},
        outputs={"out": (geometry.out_shape, input.dtype)},
        operations=geometry.operations,
    )


def read(
    *,
    self: options.file("Times x batch x channels in") = None,
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
    files = {"self": self, "weight": weight, "bias": bias}
    options.check_source(files, list(files), text=text, shape=shape)
    options.check_companions("text", text is not None, width=width)
    options.check_companions("shape", shape is not None, kernel=kernel)
    if text is not None:
        arrays = conv_geometry.text_arrays(Text.read(text), width or 256, dtype)
    elif shape is not None:
        arrays = conv_geometry.random_arrays(shape, kernel, dtype, seed)
    else:
        arrays = options.load_floats(FUNCTION.api, files, dtype).values()
    return problem(*arrays, pad, cube_math_type)


def forward(
    kit: Toolkit,
    geometry: Geometry,
    operands: tuple[np.ndarray, np.ndarray, np.ndarray],
    magnitude: np.ndarray | None = None,
) -> np.ndarray:
    """The float64 reference on operands that are rounded already."""
    out = empty(geometry.out_shape)
    compute(kit, "conv_tbc", *map(doubles, operands), *geometry.sizes, out, magnitude)
    return out


def reference(kit: Toolkit, arguments: Problem) -> dict[str, Reference]:
    """The result in float64, from the inputs as stored and then rounded as cubeMathType says."""
    input, weight, bias = arguments.inputs.values()
    geometry = Geometry.of(input, weight, arguments.attributes["pad"])
    rounded = conv_geometry.rounding(kit, input.dtype, arguments.attributes["cubeMathType"])
    magnitude = empty(geometry.out_shape)
    value = forward(kit, geometry, (rounded(input), rounded(weight), bias), magnitude)
    terms = 1 + geometry.in_channels * geometry.meetings_by_output
    return {"out": Reference(value, magnitude, terms[:, np.newaxis, np.newaxis])}


def demo(text: Text, width: int) -> Iterable[Problem]:
    """Three words at a time along the text's paragraphs."""
    yield problem(*conv_geometry.text_arrays(text, width, "float32"), pad=1)


def example() -> Example:
    """Three taps on ones; the two ends lack one."""
    ones = {"self": (5, 1, 2), "weight": (3, 2, 2), "bias": (2,)}
    return Example(
        arrays={name: np.ones(shape, np.float32) for name, shape in ones.items()},
        attributes={"pad": 1},
        outputs={"out": np.repeat([5.0, 7, 7, 7, 5], 2).reshape(5, 1, 2)},
    )


OPERATOR = Operator(
    name="conv_tbc",
    function=FUNCTION,
    summary="Convolution over time.",
    usage="--self x.npy --weight w.npy --bias b.npy --pad 1",
    problem=problem,
    read=read,
    reference=reference,
    example=example,
    demo=Demo(("float32",), demo),
    random=Random("--shape 11,3,7 --kernel 4,9 --pad 2", options.FLOATS),
)
