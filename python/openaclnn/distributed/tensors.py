# SPDX-License-Identifier: Apache-2.0
"""Tensors of torch as the arrays that splits work on; operators run on their own memory.

Those of the NPU do so on the current stream, in the libraries that torch-npu has loaded; those of
the CPU by way of NumPy.
"""

import ctypes
from collections.abc import Sequence

import numpy as np
import torch

from .. import autograd, dtypes
from ..native import libraries, meta
from ..operators import VERSIONS
from ..operators.operator import Input, IntArray, Output, Parameter, Problem, String
from .arrays import NumpyArrays


class TensorArrays:
    """Tensors of one device."""

    float32 = torch.float32
    bfloat16 = torch.bfloat16

    def __init__(self, device: torch.device):
        self._device = device

    def concatenate(self, parts: Sequence[torch.Tensor], axis: int) -> torch.Tensor:
        return torch.cat(list(parts), axis)

    def zeros(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        return torch.zeros(tuple(shape), dtype=dtype, device=self._device)

    def cast(self, array: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        return array.to(dtype)

    def copy(self, array: torch.Tensor) -> torch.Tensor:
        return array.clone()

    def take(self, array: torch.Tensor, rows: np.ndarray) -> torch.Tensor:
        return array.index_select(0, self.from_host(rows))

    def from_host(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(self._device)

    def to_host(self, array: torch.Tensor) -> np.ndarray:
        return to_numpy(array.cpu())

    def run(self, operator: str, *operands, **attributes):
        """openaclnn.<operator> on tensors."""
        if self._device.type != "cpu":
            return _run(self._device, operator, operands, attributes)
        arrays = [to_numpy(each) if _is_tensor(each) else each for each in operands]
        results = NumpyArrays.run(operator, *arrays, **attributes)
        if isinstance(results, tuple):
            return tuple(map(_from_numpy, results))
        return _from_numpy(results)


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """The array of a tensor of the CPU; NumPy has bfloat16 from ml_dtypes."""
    dtype = _numpy_dtype(tensor.dtype)
    if dtype == dtypes.BFLOAT16:
        return tensor.contiguous().view(torch.int16).numpy().view(dtype)
    return tensor.numpy()


def _from_numpy(array: np.ndarray) -> torch.Tensor:
    if array.dtype == dtypes.BFLOAT16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _numpy_dtype(dtype: torch.dtype) -> np.dtype:
    return dtypes.parse(str(dtype).removeprefix("torch."))


def _is_tensor(operand) -> bool:
    return isinstance(operand, torch.Tensor)


def _run(device: torch.device, name: str, operands: Sequence, attributes: dict):
    """A call on the current stream."""
    operator = VERSIONS[name][0]
    # The problem is made from operands that have the shapes and types, no memory.
    described = [_described(each) if _is_tensor(each) else each for each in operands]
    problem = operator.problem(*described, **attributes)
    tensors = {id(one): tensor for one, tensor in zip(described, operands, strict=True)}
    given = {key: tensors[id(one)] for key, one in problem.inputs.items()}
    for key, (shape, dtype) in problem.outputs.items():
        given[key] = torch.empty(shape, dtype=getattr(torch, dtype.name), device=device)
    parameters = operator.function.parameters
    arguments = [_argument(each, problem, given) for each in parameters]
    try:
        autograd.call(operator.function.api, *(getattr(each, "handle", each) for each in arguments))
    finally:
        for each in arguments:
            if isinstance(each, meta.IntArray):
                each.close()
    results = tuple(given[key] for key in problem.outputs)
    return results if len(results) > 1 else results[0]


def _described(tensor: torch.Tensor) -> np.ndarray:
    return np.broadcast_to(np.zeros((), _numpy_dtype(tensor.dtype)), tuple(tensor.shape))


def _argument(parameter: Parameter, problem: Problem, tensors: dict):
    """A tensor, or what ctypes passes."""
    if isinstance(parameter, Input | Output):
        return tensors[parameter.name]
    value = problem.attributes[parameter.name]
    match parameter:
        case String():
            return ctypes.c_char_p(None if value is None else value.encode())
        case IntArray():
            empty = value is None
            return ctypes.c_void_p() if empty else meta.IntArray(libraries.load(), value)
    return parameter.ctype(value)
