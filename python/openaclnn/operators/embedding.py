# SPDX-License-Identifier: Apache-2.0
"""Embedding: out[i, :] = weight[indices[i], :]."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import numpy as np

from ..errors import InputError
from ..files.text import Text
from ..native.libraries import Toolkit
from . import options
from .operator import (
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
from .reference import compute, doubles, empty, whole

FUNCTION = Function("aclnnEmbedding", (Input("weight"), Input("indices"), Output("out")))
_FORM = "T,V,D"
Shape = options.shape(_FORM, "tokens, rows and width of the table")


def problem(weight: np.ndarray, indices: np.ndarray) -> Problem:
    """The rows of `weight` that `indices` name: indices.shape + (width,)."""
    if weight.ndim != 2:
        raise InputError(f"weight shape is {weight.shape}, expected two dimensions")
    return Problem(
        inputs={"weight": weight, "indices": indices},
        attributes={},
        outputs={"out": ((*indices.shape, weight.shape[1]), weight.dtype)},
    )


def read(
    *,
    weight: options.file("The table, rows x width") = None,
    indices: options.file("The row of each token") = None,
    text: Annotated[
        Path | None,
        options.Option(help="Take the indices from this text: its words, numbered by frequency."),
    ] = None,
    vocab: Annotated[
        int | None,
        options.Option(min=1, help="With --text: at most this many words; rarer ones are the last."),
    ] = None,
    width: options.Width = None,
    shape: Shape = None,
    dtype: options.dtype(options.FLOATS) = None,
    seed: options.Seed = 0,
) -> Problem:
    """Reads the arguments that the command line names."""
    options.check_dtype(dtype, options.FLOATS)
    files = {"weight": weight, "indices": indices}
    options.check_source(files, list(files), text=text, shape=shape)
    options.check_companions("text", text is not None, width=width, vocab=vocab)
    if text is not None:
        return _from_text(Text.read(text, vocab), width or 256, dtype, seed)
    if shape is not None:
        random = np.random.default_rng(seed)
        tokens, rows, columns = extents(shape)
        table = options.normal(random, (rows, columns), dtype)
        return problem(table, draw(random, tokens, rows))
    table = options.load_floats(FUNCTION.api, {"weight": weight}, dtype)["weight"]
    return problem(table, options.load(FUNCTION.api, "indices", indices))


def _from_text(text: Text, width: int, dtype: str | None, seed: int) -> Problem:
    table = options.normal(np.random.default_rng(seed), (text.vocabulary, width), dtype)
    return problem(table, text.indices)


def extents(shape: str) -> tuple[int, int, int]:
    """Tokens, rows of the table, its width."""
    tokens, rows, width = options.extents(shape, _FORM)
    if tokens > 0 and rows == 0:
        raise InputError(f"--shape is {shape}, expected a table with rows for its tokens")
    return tokens, rows, width


def draw(random: np.random.Generator, tokens: int, rows: int) -> np.ndarray:
    """A row of the table for each token: after what is larger, for which there may be no memory."""
    return random.integers(max(rows, 1), size=tokens)


def checked_rows(indices: np.ndarray, rows: int) -> np.ndarray:
    """The row of each token as int64, all of them in the table."""
    outside = ~((-1 < indices) & (indices < rows))  # fractions are cut off; NaN is outside
    if outside.any():
        value = indices[outside].flat[0]
        raise InputError(f"indices value is {value}, expected 0 <= value < {rows}")
    return whole(indices)


def forward(kit: Toolkit, weight: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The float64 reference; indices are whole and in the table."""
    out = empty((*indices.shape, weight.shape[1]))
    compute(kit, "embedding", doubles(weight), indices, indices.size, weight.shape[1], out)
    return out


def reference(kit: Toolkit, arguments: Problem) -> dict[str, Reference]:
    """The rows in float64; they are copies, in which nothing is rounded."""
    weight = arguments.inputs["weight"]
    out = forward(kit, weight, checked_rows(arguments.inputs["indices"], len(weight)))
    return {"out": Reference(out, np.zeros_like(out), np.zeros((), np.int64))}


def demo(text: Text, width: int) -> Iterable[Problem]:
    """A vector for each of the text's words."""
    yield _from_text(text, width, "float32", seed=0)


def example() -> Example:
    """The last row and the first."""
    weight = np.arange(6.0, dtype=np.float32).reshape(3, 2)
    return Example(
        arrays={"weight": weight, "indices": np.array([2, 0])},
        outputs={"out": np.array([[4, 5], [0, 1]])},
    )


OPERATOR = Operator(
    name="embedding",
    function=FUNCTION,
    summary="Rows of a table.",
    usage="--weight w.npy --indices i.npy",
    problem=problem,
    read=read,
    reference=reference,
    example=example,
    demo=Demo(("float32",), demo),
    random=Random("--shape 57,9,7", options.FLOATS),
)
