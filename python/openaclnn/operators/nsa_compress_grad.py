# SPDX-License-Identifier: Apache-2.0
"""NsaCompressGrad: the gradients of NsaCompress by its input and by its weight."""

import ctypes
from collections.abc import Iterable, Sequence

import numpy as np

from ..errors import InputError
from ..files.text import Text
from ..native.libraries import Toolkit
from . import nsa_compress, nsa_windows, options
from .operator import (
    Attribute,
    Demo,
    Derivative,
    Example,
    Function,
    Input,
    IntArray,
    Operator,
    Output,
    Point,
    Problem,
    Random,
    Reference,
    String,
)
from .reference import compute, doubles, empty

FUNCTION = Function(
    "aclnnNsaCompressGrad",
    (
        Input("outputGrad"),
        Input("input"),
        Input("weight"),
        IntArray("actSeqLenOptionalOptional"),
        Attribute("compressBlockSize", ctypes.c_int64),
        Attribute("compressStride", ctypes.c_int64),
        Attribute("actSeqLenType", ctypes.c_int64),
        String("layoutOptionalOptional"),
        Output("inputGradOut"),
        Output("weightGradOut"),
    ),
)


def problem(
    output_grad: np.ndarray,
    input: np.ndarray,
    weight: np.ndarray,
    act_seq_len: Sequence[int] | None = None,
    compress_block_size: int = 32,
    compress_stride: int = 16,
) -> Problem:
    """The gradients of nsa_compress by its input and by its weight, of their shapes."""
    nsa_windows.check_shapes(input, weight)
    ends = None if act_seq_len is None else list(act_seq_len)
    starts = nsa_windows.starts(ends, len(input), compress_block_size, compress_stride)
    window_elements = len(starts) * int(np.prod(input.shape[1:]))
    return Problem(
        inputs={"outputGrad": output_grad, "input": input, "weight": weight},
        attributes={
            "actSeqLenOptionalOptional": ends,
            "compressBlockSize": compress_block_size,
            "compressStride": compress_stride,
            "actSeqLenType": 0,
            "layoutOptionalOptional": None,
        },
        outputs={
            "inputGradOut": (input.shape, input.dtype),
            "weightGradOut": (weight.shape, weight.dtype),
        },
        operations=4 * compress_block_size * window_elements,
    )


def read(
    *,
    output_grad: options.file("Gradient of the output, windows x heads x width") = None,
    input: options.file("Tokens x heads x width") = None,
    weight: options.file("Block x heads") = None,
    act_seq_len: nsa_windows.Ends = None,
    compress_block_size: nsa_windows.Block = 32,
    compress_stride: nsa_windows.Stride = 16,
    shape: options.shape(nsa_windows.SHAPE_FORM, "tokens, heads and width of input") = None,
    text: options.TextFile = None,
    width: options.Width = None,
    dtype: options.dtype(options.HALVES) = None,
    seed: options.Seed = 0,
) -> Problem:
    """Reads the arguments that the command line names."""
    options.check_dtype(dtype, options.HALVES)
    files = {"output-grad": output_grad, "input": input, "weight": weight}
    options.check_source(files, list(files), text=text, shape=shape)
    options.check_companions("text", text is not None, width=width)
    sizes = (compress_block_size, compress_stride)
    if text is not None:
        nsa_windows.refuse_ends(act_seq_len)
        arrays = nsa_windows.text_arrays(Text.read(text), width or 256, sizes[0], dtype, seed)
        return _with_random_gradient(*arrays, *sizes, seed)
    ends = nsa_windows.parse_ends(act_seq_len)
    if shape is not None:
        numbers = options.extents(shape, nsa_windows.SHAPE_FORM)
        arrays = nsa_windows.random_arrays(numbers, sizes[0], dtype, seed)
        return _with_random_gradient(*arrays, ends, *sizes, seed)
    paths = {"outputGrad": output_grad, "input": input, "weight": weight}
    return problem(*options.load_floats(FUNCTION.api, paths, dtype).values(), ends, *sizes)


def _with_random_gradient(
    input: np.ndarray,
    weight: np.ndarray,
    ends: list[int] | None,
    block: int,
    stride: int,
    seed: int,
) -> Problem:
    windows = len(nsa_windows.starts(ends, len(input), block, stride))
    random = np.random.default_rng(seed + 1)
    gradient = options.normal(random, (windows, *input.shape[1:]), input.dtype.name)
    return problem(gradient, input, weight, ends, block, stride)


def _starts(arguments: Problem) -> np.ndarray:
    attributes = arguments.attributes
    return nsa_windows.starts(
        attributes["actSeqLenOptionalOptional"],
        len(arguments.inputs["input"]),
        attributes["compressBlockSize"],
        attributes["compressStride"],
    )


def reference(kit: Toolkit, arguments: Problem) -> dict[str, Reference]:
    """Both gradients in float64, from the inputs as stored."""
    starts = _starts(arguments)
    shape, block = arguments.inputs["input"].shape, arguments.attributes["compressBlockSize"]
    expected = (len(starts), *shape[1:])
    if arguments.inputs["outputGrad"].shape != expected:
        got = arguments.inputs["outputGrad"].shape
        raise InputError(f"outputGrad shape is {got}, expected {expected}")
    outputs = [empty(each) for each, _ in arguments.outputs.values()]
    magnitudes = [empty(each) for each, _ in arguments.outputs.values()]
    inputs = map(doubles, arguments.inputs.values())
    sizes = (*shape, block, len(starts))
    compute(kit, "nsa_compress_grad", *inputs, starts, *sizes, *outputs, *magnitudes)
    covering = np.bincount(
        (starts[:, np.newaxis] + np.arange(block)).reshape(-1), minlength=shape[0]
    )
    terms = (covering[:, np.newaxis, np.newaxis], np.full((), len(starts) * shape[2]))
    found = map(Reference, outputs, magnitudes, terms)
    return dict(zip(arguments.outputs, found, strict=True))


def point(kit: Toolkit, arguments: Problem) -> Point:
    """NsaCompress at the input and the weight."""
    upstream, *variables = map(doubles, arguments.inputs.values())
    sizes = [arguments.attributes[each] for each in ("compressBlockSize", "compressStride")]
    ends = arguments.attributes["actSeqLenOptionalOptional"]
    compression = nsa_compress.problem(*variables, ends, *sizes)
    return Point(
        variables=dict(zip(arguments.outputs, variables, strict=True)),
        forward=lambda at: nsa_compress.forward(kit, compression, *at.values()),
        upstream=upstream,
        exact=arguments,
    )


def small() -> Iterable[Problem]:
    """Segments with several windows, with one, with none, empty; tokens under no window."""
    for name in options.HALVES:
        arrays = nsa_windows.random_arrays((130, 2, 16), 32, name, seed=0)
        yield _with_random_gradient(*arrays, [0, 20, 85, 85, 120, 130], 32, 16, seed=0)


def demo(text: Text, width: int) -> Iterable[Problem]:
    """Windows over the text's words, none across the end of a paragraph, in every dtype."""
    for name in options.HALVES:
        block = nsa_windows.DEMO_BLOCK
        arrays = nsa_windows.text_arrays(text, width, block, name)
        yield _with_random_gradient(*arrays, block, 16, seed=0)


def example() -> Example:
    """Ones: a token has a gradient for each window over it, two but at the ends of a segment."""
    covered = np.full((272, 64, 128), 2.0)
    for begin in (0, 112, 128, 256):
        covered[begin : begin + 16] = 1
    ones = {"output_grad": (15, 64, 128), "input": (272, 64, 128), "weight": (32, 64)}
    return Example(
        arrays={name: np.ones(shape, np.float16) for name, shape in ones.items()},
        attributes={"act_seq_len": [0, 128, 272]},
        outputs={"inputGradOut": covered, "weightGradOut": np.full((32, 64), 1920.0)},
    )


OPERATOR = Operator(
    name="nsa_compress_grad",
    function=FUNCTION,
    summary="Gradients of weighted sums over windows of tokens.",
    usage="--output-grad g.npy --input x.npy --weight w.npy --act-seq-len 128,272",
    problem=problem,
    read=read,
    reference=reference,
    example=example,
    demo=Demo(options.HALVES, demo),
    random=Random("--shape 174,5,16 --act-seq-len 0,62,174", options.HALVES),
    derivative=Derivative(point, small),
)
