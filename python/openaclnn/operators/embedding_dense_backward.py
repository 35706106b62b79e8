# SPDX-License-Identifier: Apache-2.0
"""EmbeddingDenseBackward: out[v, :] = (1 / s_v) * sum of grad[i, :] over all i with index v."""

import ctypes
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from .. import dtypes, libraries, npy
from ..errors import Error, InputError
from ..text import Text
from .operator import Attribute, Function, Input, Operator, Output, Problem, Reference

FUNCTION = Function(
    "aclnnEmbeddingDenseBackward",
    (
        Input("grad"),
        Input("indices"),
        Attribute("numWeights", ctypes.c_uint64),
        Attribute("paddingIdx", ctypes.c_uint64),
        Attribute("scaleGradByFreq", ctypes.c_bool),
        Output("out"),
    ),
)
NO_PADDING = -1
FLOATS = ("float32", "bfloat16", "float16")


def problem(
    grad: np.ndarray,
    indices: np.ndarray,
    num_weights: int,
    padding_idx: int = NO_PADDING,
    scale_grad_by_freq: bool = False,
    out_dtype: np.dtype | None = None,
    note: str = "",
) -> Problem:
    """The arguments of one call, with the shapes checked that out's shape is made from."""
    tokens = int(np.prod(grad.shape[:-1], dtype=object))
    if grad.ndim == 0 or tokens != indices.size:
        raise InputError(
            f"grad shape is {grad.shape}, expected {indices.size} rows, one for each index"
            f" of indices {indices.shape}"
        )
    if not 0 <= num_weights < 2**63:
        raise InputError(f"num_weights is {num_weights}, expected 0 or more")
    return Problem(
        inputs={"grad": grad, "indices": indices},
        attributes={
            "numWeights": num_weights,
            "paddingIdx": padding_idx,
            "scaleGradByFreq": bool(scale_grad_by_freq),
        },
        outputs={"out": ((num_weights, grad.shape[-1]), np.dtype(out_dtype or grad.dtype))},
        note=note or ("scaled" if scale_grad_by_freq else ""),
    )


def read(
    *,
    grad: Annotated[
        Path | None, typer.Option(help="Gradient of the output, .npy, tokens x width.")
    ] = None,
    indices: Annotated[Path | None, typer.Option(help="Token indices, .npy.")] = None,
    text: Annotated[
        Path | None,
        typer.Option(help="Take the indices from this text: its words, numbered by frequency."),
    ] = None,
    num_weights: Annotated[
        int | None,
        typer.Option(min=0, help="Rows of the embedding table; with --text, its vocabulary."),
    ] = None,
    padding_idx: Annotated[
        int, typer.Option(help="Row whose gradient stays zero; negative: none.")
    ] = NO_PADDING,
    scale_grad_by_freq: Annotated[
        bool, typer.Option("--scale-grad-by-freq", help="Divide each row by its index's count.")
    ] = False,
    dtype: Annotated[
        str | None,
        typer.Option(help=f"Compute in {', '.join(FLOATS)}; default: the type of the file."),
    ] = None,
    vocab: Annotated[
        int | None,
        typer.Option(min=1, help="With --text: at most this many words; rarer ones are the last."),
    ] = None,
    width: Annotated[
        int | None,
        typer.Option(min=1, help="With --text and no --grad: width of a random one (256)."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random gradient.")] = 0,
) -> Problem:
    """Reads the arguments that the command line names."""
    if dtype is not None and dtype not in FLOATS:
        raise InputError(f"--dtype is {dtype}, expected one of {', '.join(FLOATS)}")
    tokens, rows = _read_indices(indices, text, num_weights, vocab)
    if grad is not None:
        if width is not None:
            raise InputError("--width is for a random gradient, expected it without --grad")
        gradient = _load_gradient(grad, dtype)
    elif text is not None:
        gradient = _random_gradient(len(tokens), width or 256, seed)
        gradient = gradient.astype(dtypes.parse(dtype or "float32"))
    else:
        raise InputError("expected --grad FILE with --indices")
    return problem(gradient, tokens, rows, padding_idx, scale_grad_by_freq)


def _read_indices(
    indices: Path | None, text: Path | None, num_weights: int | None, vocab: int | None
) -> tuple[np.ndarray, int]:
    """The indices and the rows of the table."""
    if (indices is None) == (text is None):
        raise InputError("expected either --indices FILE or --text FILE")
    if text is not None:
        words = Text.read(text, vocab)
        return words.indices, words.vocabulary if num_weights is None else num_weights
    if vocab is not None:
        raise InputError("--vocab is for --text, expected it without --indices")
    if num_weights is None:
        raise InputError("expected --num-weights N with --indices")
    allowed = libraries.load().support.dtypes(FUNCTION.api, "indices")
    return npy.load(indices, "indices", allowed), num_weights


def _load_gradient(path: Path, dtype: str | None) -> np.ndarray:
    allowed = libraries.load().support.dtypes(FUNCTION.api, "grad")
    if dtype is None:
        return npy.load(path, "grad", allowed)
    return npy.load(path, "grad", [*allowed, "float64"]).astype(dtypes.parse(dtype))


def _random_gradient(tokens: int, width: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((tokens, width), dtype=np.float32)


def reference(kit: libraries.Toolkit, arguments: Problem) -> dict[str, Reference]:
    """The gradient in float64, from the inputs as stored."""
    grad = np.require(arguments.inputs["grad"], np.float64, "C")
    indices = np.require(arguments.inputs["indices"], np.int64, "C")
    shape, _ = arguments.outputs["out"]
    rows, width = shape
    value, magnitude = np.empty(shape), np.empty(shape)
    terms = np.empty(rows, np.int64)
    status = kit.function("openaclnn_reference_embedding_dense_backward")(
        ctypes.c_void_p(grad.ctypes.data),
        ctypes.c_void_p(indices.ctypes.data),
        ctypes.c_int64(indices.size),
        ctypes.c_int64(width),
        ctypes.c_uint64(rows),
        ctypes.c_uint64(arguments.attributes["paddingIdx"]),
        ctypes.c_int(arguments.attributes["scaleGradByFreq"]),
        ctypes.c_void_p(value.ctypes.data),
        ctypes.c_void_p(magnitude.ctypes.data),
        ctypes.c_void_p(terms.ctypes.data),
    )
    if status != 0:
        raise Error(f"the reference of {FUNCTION.api} returned {status}")
    return {"out": Reference(value, magnitude, terms[:, np.newaxis])}


def demo(text: Text, width: int) -> Iterable[Problem]:
    """The gradient of an embedding of the text's words, in every dtype."""
    gradient = _random_gradient(len(text.indices), width, seed=0)
    for name in FLOATS:
        for scale in (False, True):
            typed = gradient.astype(dtypes.parse(name))
            yield problem(typed, text.indices, text.vocabulary, scale_grad_by_freq=scale)


OPERATOR = Operator(
    name="embedding_dense_backward",
    function=FUNCTION,
    summary="Gradient of an embedding table.",
    example="--grad g.npy --indices i.npy --num-weights 30522",
    read=read,
    reference=reference,
    demo=demo,
)
