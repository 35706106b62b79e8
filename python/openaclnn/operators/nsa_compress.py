# SPDX-License-Identifier: Apache-2.0
"""NsaCompress: output[i, n, :] = sum over r of weight[r, n] * input[start_i + r, n, :]."""

import ctypes
from collections.abc import Iterable, Sequence

import numpy as np

from ..files.text import Text
from ..native.libraries import Toolkit
from . import nsa_windows, options
from .operator import (
    Attribute,
    Demo,
    Example,
    Function,
    Input,
    IntArray,
    Operator,
    Output,
    Problem,
    Random,
    Reference,
    String,
)
from .reference import compute, doubles, empty

FUNCTION = Function(
    "aclnnNsaCompress",
    (
        Input("input"),
        Input("weight"),
        IntArray("actSeqLenOptional"),
        String("layoutOptional"),
        Attribute("compressBlockSize", ctypes.c_int64),
        Attribute("compressStride", ctypes.c_int64),
        Attribute("actSeqLenType", ctypes.c_int64),
        Output("output"),
    ),
)


def problem(
    input: np.ndarray,
    weight: np.ndarray,
    act_seq_len: Sequence[int] | None = None,
    compress_block_size: int = 32,
    compress_stride: int = 16,
) -> Problem:
    """Weighted sums over windows of tokens: (windows, heads, width).

    input is (tokens, heads, width), weight (block, heads), both float16 or bfloat16. act_seq_len
    holds the ends of the segments, across which no window goes; without it there is one.
    """
    nsa_windows.check_shapes(input, weight)
    ends = [len(input)] if act_seq_len is None else list(act_seq_len)
    starts = nsa_windows.starts(ends, len(input), compress_block_size, compress_stride)
    shape = (len(starts), *input.shape[1:])
    return Problem(
        inputs={"input": input, "weight": weight},
        attributes={
            "actSeqLenOptional": ends,
            "layoutOptional": None,
            "compressBlockSize": compress_block_size,
            "compressStride": compress_stride,
            "actSeqLenType": 0,
        },
        outputs={"output": (shape, input.dtype)},
        operations=2 * compress_block_size * int(np.prod(shape)),
    )


def read(
    *,
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
    files = {"input": input, "weight": weight}
    options.check_source(files, list(files), text=text, shape=shape)
    options.check_companions("text", text is not None, width=width)
    sizes = (compress_block_size, compress_stride)
    if text is not None:
        nsa_windows.refuse_ends(act_seq_len)
        arrays = nsa_windows.text_arrays(Text.read(text), width or 256, sizes[0], dtype, seed)
        return problem(*arrays, *sizes)
    ends = nsa_windows.parse_ends(act_seq_len)
    if shape is not None:
        numbers = options.extents(shape, nsa_windows.SHAPE_FORM)
        return problem(*nsa_windows.random_arrays(numbers, sizes[0], dtype, seed), ends, *sizes)
    return problem(
        **options.load_floats(FUNCTION.api, files, dtype),
        act_seq_len=ends,
        compress_block_size=sizes[0],
        compress_stride=sizes[1],
    )


def forward(
    kit: Toolkit,
    arguments: Problem,
    input: np.ndarray,
    weight: np.ndarray,
    magnitude: np.ndarray | None = None,
) -> np.ndarray:
    """The float64 reference on other values of the same shapes."""
    attributes = arguments.attributes
    block = attributes["compressBlockSize"]
    starts = nsa_windows.starts(
        attributes["actSeqLenOptional"], len(input), block, attributes["compressStride"]
    )
    output = empty((len(starts), *input.shape[1:]))
    sizes = (*input.shape, block, len(starts))
    compute(kit, "nsa_compress", doubles(input), doubles(weight), starts, *sizes, output, magnitude)
    return output


def reference(kit: Toolkit, arguments: Problem) -> dict[str, Reference]:
    """The result in float64, from the inputs as stored."""
    shape, _ = arguments.outputs["output"]
    magnitude = empty(shape)
    value = forward(kit, arguments, **arguments.inputs, magnitude=magnitude)
    terms = np.full((), arguments.attributes["compressBlockSize"])
    return {"output": Reference(value, magnitude, terms)}


def demo(text: Text, width: int) -> Iterable[Problem]:
    """Windows over the text's words, none across the end of a paragraph."""
    yield problem(*nsa_windows.text_arrays(text, width, nsa_windows.DEMO_BLOCK, "float16"))


def example() -> Example:
    """Ones, in windows of 32: each sum is 32."""
    return Example(
        arrays={
            "input": np.ones((272, 4, 16), np.float16),
            "weight": np.ones((32, 4), np.float16),
        },
        attributes={"act_seq_len": [0, 128, 272]},
        outputs={"output": np.full((15, 4, 16), 32.0)},
    )


OPERATOR = Operator(
    name="nsa_compress",
    function=FUNCTION,
    summary="Weighted sums over windows of tokens.",
    usage="--input x.npy --weight w.npy --act-seq-len 128,272",
    problem=problem,
    read=read,
    reference=reference,
    example=example,
    demo=Demo(("float16",), demo),
    random=Random("--shape 174,5,16 --act-seq-len 0,62,174", options.HALVES),
)
