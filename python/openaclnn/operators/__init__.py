# SPDX-License-Identifier: Apache-2.0
"""The operators of the command-line tool: one line each."""

from . import embedding_dense_backward
from .operator import Operator

OPERATORS: tuple[Operator, ...] = (embedding_dense_backward.OPERATOR,)
