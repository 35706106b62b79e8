# SPDX-License-Identifier: Apache-2.0
"""The aclnn operators on NumPy arrays, through the C libraries of openaclnn."""

__version__ = "0.1.0"

from .api import (
    conv_tbc,
    conv_tbc_backward,
    embedding,
    embedding_dense_backward,
    grouped_bias_add_grad,
    nsa_compress,
    nsa_compress_grad,
    scaled_masked_softmax,
    scaled_masked_softmax_backward,
)
from .errors import AclError, Error, InputError, ToolkitNotFound

__all__ = [
    "AclError",
    "Error",
    "InputError",
    "ToolkitNotFound",
    "conv_tbc",
    "conv_tbc_backward",
    "embedding",
    "embedding_dense_backward",
    "grouped_bias_add_grad",
    "nsa_compress",
    "nsa_compress_grad",
    "scaled_masked_softmax",
    "scaled_masked_softmax_backward",
]
