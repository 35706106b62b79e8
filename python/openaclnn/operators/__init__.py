# SPDX-License-Identifier: Apache-2.0
"""The operators of the command-line tool: one line each, gradients first."""

from . import (
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
from .operator import Operator

OPERATORS: tuple[Operator, ...] = (
    embedding_dense_backward.OPERATOR,
    *grouped_bias_add_grad.OPERATORS,
    nsa_compress_grad.OPERATOR,
    scaled_masked_softmax_backward.OPERATOR,
    conv_tbc_backward.OPERATOR,
    embedding.OPERATOR,
    nsa_compress.OPERATOR,
    scaled_masked_softmax.OPERATOR,
    conv_tbc.OPERATOR,
)
GRADIENTS = tuple(each for each in OPERATORS if each.derivative is not None)
FORWARDS = tuple(each for each in OPERATORS if each.derivative is None)
