# SPDX-License-Identifier: Apache-2.0
"""The operators as Python functions on NumPy arrays.

Each returns new arrays. What an operator refuses raises AclError, with the operator's own message;
shapes that give no shape of a result raise InputError, a ValueError.
"""

from collections.abc import Sequence

import numpy as np

from . import call, operators, runtime
from .operators.operator import Function, Problem


def _run(function: Function, problem: Problem) -> tuple[np.ndarray, ...]:
    return tuple(call.run(runtime.start(), function, problem).values())


def embedding(weight: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The rows of `weight` that `indices` name: indices.shape + (width,)."""
    room = operators.embedding
    (out,) = _run(room.FUNCTION, room.problem(np.asarray(weight), np.asarray(indices)))
    return out


def embedding_dense_backward(
    grad: np.ndarray,
    indices: np.ndarray,
    num_weights: int,
    padding_idx: int = operators.embedding_dense_backward.NO_PADDING,
    scale_grad_by_freq: bool = False,
    out_dtype: np.dtype | None = None,
) -> np.ndarray:
    """The gradient of an embedding table: (num_weights, width).

    out[v] = sum of grad[i] over the tokens i with indices[i] == v, divided by their number if
    scale_grad_by_freq. Row padding_idx stays zero; a negative one means none.
    """
    room = operators.embedding_dense_backward
    arrays = (np.asarray(grad), np.asarray(indices))
    problem = room.problem(*arrays, num_weights, padding_idx, scale_grad_by_freq, out_dtype)
    (out,) = _run(room.FUNCTION, problem)
    return out


def grouped_bias_add_grad(
    grad_y: np.ndarray, group_idx: np.ndarray | None = None, group_idx_type: str | None = None
) -> np.ndarray:
    """The gradient of a bias that is added to groups of rows: (groups, width).

    With group_idx, int32 or int64, grad_y is (rows, width); the list holds the end of each group,
    or with group_idx_type "sizes" their sizes. Without it grad_y is (groups, rows, width). With a
    group_idx_type ("ends" or "sizes") the second version of the operator runs.
    """
    room = operators.grouped_bias_add_grad
    group_idx = None if group_idx is None else np.asarray(group_idx)
    function = room.FUNCTION if group_idx_type is None else room.FUNCTION_V2
    (out,) = _run(function, room.problem(np.asarray(grad_y), group_idx, group_idx_type))
    return out


def nsa_compress(
    input: np.ndarray,
    weight: np.ndarray,
    act_seq_len: Sequence[int] | None = None,
    compress_block_size: int = 32,
    compress_stride: int = 16,
) -> np.ndarray:
    """Weighted sums over windows of tokens: (windows, heads, width).

    input is (tokens, heads, width), weight (block, heads), both float16 or bfloat16. act_seq_len
    holds the ends of the segments, across which no window goes; without it there is one.
    """
    room = operators.nsa_compress
    arrays = (np.asarray(input), np.asarray(weight))
    problem = room.problem(*arrays, act_seq_len, compress_block_size, compress_stride)
    (output,) = _run(room.FUNCTION, problem)
    return output


def nsa_compress_grad(
    output_grad: np.ndarray,
    input: np.ndarray,
    weight: np.ndarray,
    act_seq_len: Sequence[int] | None = None,
    compress_block_size: int = 32,
    compress_stride: int = 16,
) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of nsa_compress by its input and by its weight, of their shapes."""
    room = operators.nsa_compress_grad
    arrays = (np.asarray(output_grad), np.asarray(input), np.asarray(weight))
    problem = room.problem(*arrays, act_seq_len, compress_block_size, compress_stride)
    input_grad, weight_grad = _run(room.FUNCTION, problem)
    return input_grad, weight_grad


def scaled_masked_softmax(x: np.ndarray, mask: np.ndarray, scale: float = 1.0) -> np.ndarray:
    """softmax over the last dimension of mask ? -10000 : scale * x, of x's shape.

    x is (batch, heads, rows, columns); mask is bool, its first two dimensions those of x or 1.
    """
    room = operators.scaled_masked_softmax
    (y,) = _run(room.FUNCTION, room.problem(np.asarray(x), np.asarray(mask), scale))
    return y


def scaled_masked_softmax_backward(
    grad_output: np.ndarray, y: np.ndarray, mask: np.ndarray, scale: float = 1.0
) -> np.ndarray:
    """The gradient of scaled_masked_softmax by x, from its result y:

    mask ? 0 : scale * (g * y - y * sum of g * y over the last dimension), g = grad_output.
    """
    room = operators.scaled_masked_softmax_backward
    arrays = (np.asarray(grad_output), np.asarray(y), np.asarray(mask))
    (out,) = _run(room.FUNCTION, room.problem(*arrays, scale))
    return out


def conv_tbc(
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    pad: int = 0,
    cube_math_type: int = 0,
) -> np.ndarray:
    """A convolution over time: (times + 2 * pad + 1 - taps, batch, channels out).

    input is (times, batch, channels in), weight (taps, channels in, channels out), bias (channels
    out). cube_math_type says in which type products are taken: 0 that of the arrays, 1 a lower one
    where the product has it, 2 float16, 3 HF32.
    """
    room = operators.conv_tbc
    arrays = (np.asarray(input), np.asarray(weight), np.asarray(bias))
    (out,) = _run(room.FUNCTION, room.problem(*arrays, pad, cube_math_type))
    return out


def conv_tbc_backward(
    grad: np.ndarray,
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    pad: int = 0,
    cube_math_type: int = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradients of conv_tbc by input, weight and bias, of their shapes.

    grad is the gradient of conv_tbc's result; the values of bias are not used.
    """
    room = operators.conv_tbc_backward
    arrays = (np.asarray(each) for each in (grad, input, weight, bias))
    grad_input, grad_weight, grad_bias = _run(
        room.FUNCTION, room.problem(*arrays, pad, cube_math_type)
    )
    return grad_input, grad_weight, grad_bias
