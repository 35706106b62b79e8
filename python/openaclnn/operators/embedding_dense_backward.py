# SPDX-License-Identifier: Apache-2.0
"""EmbeddingDenseBackward: out[v, :] = (1 / s_v) * sum of grad[i, :] over all i with index v."""

import ctypes
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import numpy as np

from .. import dtypes
from ..errors import InputError
from ..files.text import Text
from ..native import libraries
from . import embedding, options
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


def problem(
    grad: np.ndarray,
    indices: np.ndarray,
    num_weights: int,
    padding_idx: int = NO_PADDING,
    scale_grad_by_freq: bool = False,
    out_dtype: np.dtype | None = None,
) -> Problem:
    """The gradient of an embedding table: (num_weights, width).

    out[v] = sum of grad[i] over the tokens i with indices[i] == v, divided by their number if
    scale_grad_by_freq. Row padding_idx stays zero; a negative one means none.
    """
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
        note="scaled" if scale_grad_by_freq else "",
    )


def read(
    *,
    grad: options.file("Gradient of the output, tokens x width") = None,
    indices: options.file("Token indices") = None,
    text: Annotated[
        Path | None,
        options.Option(help="Take the indices from this text: its words, numbered by frequency."),
    ] = None,
    num_weights: Annotated[
        int | None,
        options.Option(min=0, help="Rows of the embedding table; with --text, its vocabulary."),
    ] = None,
    padding_idx: Annotated[
        int, options.Option(help="Row whose gradient stays zero; negative: none.")
    ] = NO_PADDING,
    scale_grad_by_freq: Annotated[
        bool, options.Option("--scale-grad-by-freq", help="Divide each row by its index's count.")
    ] = False,
    dtype: options.dtype(options.FLOATS) = None,
    vocab: Annotated[
        int | None,
        options.Option(min=1, help="With --text: at most this many words; rarer ones are the last."),
    ] = None,
    width: Annotated[
        int | None,
        options.Option(min=1, help="With --text and no --grad: width of a random one (256)."),
    ] = None,
    shape: embedding.Shape = None,
    seed: options.Seed = 0,
) -> Problem:
    """Reads the arguments that the command line names."""
    options.check_dtype(dtype, options.FLOATS)
    if shape is not None:
        options.check_alone(
            "shape", grad=grad, indices=indices, text=text, num_weights=num_weights, vocab=vocab,
            width=width,
        )  # fmt: skip
        random = np.random.default_rng(seed)
        tokens, rows, columns = embedding.extents(shape)
        gradient = options.normal(random, (tokens, columns), dtype)
        indices = embedding.draw(random, tokens, rows)
        return problem(gradient, indices, rows, padding_idx, scale_grad_by_freq)
    tokens, rows = _read_indices(indices, text, num_weights, vocab)
    if grad is not None:
        if width is not None:
            raise InputError("--width is for a random gradient, expected it without --grad")
        gradient = options.load_floats(FUNCTION.api, {"grad": grad}, dtype)["grad"]
    elif text is not None:
        random = np.random.default_rng(seed)
        gradient = options.normal(random, (len(tokens), width or 256), dtype)
    else:
        raise InputError("expected --grad FILE with --indices")
    return problem(gradient, tokens, rows, padding_idx, scale_grad_by_freq)


def _read_indices(
    indices: Path | None, text: Path | None, num_weights: int | None, vocab: int | None
) -> tuple[np.ndarray, int]:
    """The indices and the rows of the table."""
    if (indices is None) == (text is None):
        raise InputError("expected either --indices FILE, --text FILE or --shape T,V,D")
    if text is not None:
        words = Text.read(text, vocab)
        return words.indices, words.vocabulary if num_weights is None else num_weights
    if vocab is not None:
        raise InputError("--vocab is for --text, expected it without --indices")
    if num_weights is None:
        raise InputError("expected --num-weights N with --indices")
    return options.load(FUNCTION.api, "indices", indices), num_weights


def reference(kit: libraries.Toolkit, arguments: Problem) -> dict[str, Reference]:
    """The gradient in float64, from the inputs as stored."""
    shape, _ = arguments.outputs["out"]
    rows, width = shape
    indices = embedding.checked_rows(arguments.inputs["indices"], rows)
    value, magnitude = empty(shape), empty(shape)
    terms = np.empty(rows, np.int64)
    attributes = (arguments.attributes[each] for each in ("paddingIdx", "scaleGradByFreq"))
    sizes = (indices.size, width, rows, *map(int, attributes))
    grad = doubles(arguments.inputs["grad"])
    compute(kit, "embedding_dense_backward", grad, indices, *sizes, value, magnitude, terms)
    return {"out": Reference(value, magnitude, terms[:, np.newaxis])}


def point(kit: libraries.Toolkit, arguments: Problem) -> Point:
    """Embedding at a random table; padding and scaling change what flows back into it."""
    shape, _ = arguments.outputs["out"]
    indices = embedding.checked_rows(arguments.inputs["indices"], shape[0])
    upstream = doubles(arguments.inputs["grad"]).reshape(*indices.shape, shape[1])
    weight = np.where(indices == arguments.attributes["paddingIdx"], 0.0, 1.0)
    if arguments.attributes["scaleGradByFreq"]:
        weight /= np.bincount(indices.reshape(-1), minlength=1)[indices]
    return Point(
        variables={"out": np.random.default_rng(1).standard_normal(shape)},
        forward=lambda variables: embedding.forward(kit, variables["out"], indices),
        upstream=upstream * weight[..., np.newaxis],
        exact=arguments,
    )


def small() -> Iterable[Problem]:
    """Rows with many tokens, with few, with none; padding; scaling."""
    for name, padding, scale in zip(
        options.FLOATS, (NO_PADDING, 2, 0), (False, True, False), strict=True
    ):
        random = np.random.default_rng(0)
        indices = np.minimum(random.geometric(0.3, (4, 9)) - 1, 11)
        yield problem(options.normal(random, (4, 9, 6), name), indices, 12, padding, scale)


def demo(text: Text, width: int) -> Iterable[Problem]:
    """The gradient of an embedding of the text's words, in every dtype."""
    gradient = options.normal(np.random.default_rng(0), (len(text.indices), width), None)
    for name in options.FLOATS:
        yield problem(gradient.astype(dtypes.parse(name)), text.indices, text.vocabulary)
    yield problem(gradient, text.indices, text.vocabulary, scale_grad_by_freq=True)


def example() -> Example:
    """Two tokens, one in each of two rows."""
    grad = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    return Example(
        arrays={"grad": grad, "indices": np.array([1, 2])},
        attributes={"num_weights": 4, "padding_idx": 0},
        outputs={"out": np.array([[0, 0, 0], [1, 2, 3], [4, 5, 6], [0, 0, 0]])},
    )


OPERATOR = Operator(
    name="embedding_dense_backward",
    function=FUNCTION,
    summary="Gradient of an embedding table.",
    usage="--grad g.npy --indices i.npy --num-weights 30522",
    problem=problem,
    read=read,
    reference=reference,
    example=example,
    demo=Demo((*options.FLOATS, "float32"), demo),
    random=Random("--shape 57,9,7 --padding-idx 2 --scale-grad-by-freq", options.FLOATS),
    derivative=Derivative(point, small),
)
