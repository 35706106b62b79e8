# SPDX-License-Identifier: Apache-2.0
"""The aclnn operators on NumPy arrays, through the C libraries of openaclnn."""

__version__ = "0.1.0"

from .api import embedding, embedding_dense_backward
from .errors import AclError, Error, InputError, ToolkitNotFound

__all__ = [
    "AclError",
    "Error",
    "InputError",
    "ToolkitNotFound",
    "embedding",
    "embedding_dense_backward",
]
