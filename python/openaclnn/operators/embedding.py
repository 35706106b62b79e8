# SPDX-License-Identifier: Apache-2.0
"""Embedding: out[i, :] = weight[indices[i], :]."""

import numpy as np

from ..errors import InputError
from .operator import Function, Input, Output, Problem

FUNCTION = Function("aclnnEmbedding", (Input("weight"), Input("indices"), Output("out")))


def problem(weight: np.ndarray, indices: np.ndarray) -> Problem:
    """The arguments of one call."""
    if weight.ndim != 2:
        raise InputError(f"weight shape is {weight.shape}, expected two dimensions")
    return Problem(
        inputs={"weight": weight, "indices": indices},
        attributes={},
        outputs={"out": ((*indices.shape, weight.shape[1]), weight.dtype)},
    )
