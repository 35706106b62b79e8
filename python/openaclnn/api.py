# SPDX-License-Identifier: Apache-2.0
"""The operators as Python functions."""

import numpy as np

from . import call, runtime
from .operators import embedding as embedding_forward
from .operators import embedding_dense_backward as embedding_gradient


def embedding_dense_backward(
    grad: np.ndarray,
    indices: np.ndarray,
    num_weights: int,
    padding_idx: int = embedding_gradient.NO_PADDING,
    scale_grad_by_freq: bool = False,
    out_dtype: np.dtype | None = None,
) -> np.ndarray:
    """The gradient of an embedding table: (num_weights, width).

    out[v] = sum of grad[i] over the tokens i with indices[i] == v, divided by their number if
    scale_grad_by_freq. Row padding_idx stays zero; a negative one means none.
    """
    problem = embedding_gradient.problem(
        np.asarray(grad),
        np.asarray(indices),
        num_weights,
        padding_idx,
        scale_grad_by_freq,
        out_dtype,
    )
    return call.run(runtime.start(), embedding_gradient.FUNCTION, problem)["out"]


def embedding(weight: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The rows of `weight` that `indices` name: indices.shape + (width,)."""
    problem = embedding_forward.problem(np.asarray(weight), np.asarray(indices))
    return call.run(runtime.start(), embedding_forward.FUNCTION, problem)["out"]
