# SPDX-License-Identifier: Apache-2.0
"""PyTorch on the CPU: its own functions, and torch.compile."""

import numpy as np

from ... import dtypes
from ...operators.operator import Problem
from . import Peer


class Torch(Peer):
    """Inputs are NumPy's memory; outputs are its own, one for each way."""

    name = "torch"

    def __init__(self, threads: int):
        import torch

        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        torch.set_num_interop_threads(1)
        self.module = torch

    def arrays(self, outputs) -> list[np.ndarray]:
        return [each.double().numpy() for each in outputs]

    def inputs(self, problem: Problem) -> list:
        return [self._tensor(each) for each in problem.inputs.values()]

    def outputs(self, problem: Problem) -> list:
        """Memory for each, touched."""
        return [
            self.module.zeros(shape, dtype=self._dtype(dtype))
            for shape, dtype in problem.outputs.values()
        ]

    def compiled(self, function, *inputs):
        """Compiled at the first call, which is not measured."""
        self.module._dynamo.reset()
        run = self.module.compile(function, dynamic=False)
        return lambda: run(*inputs)

    def _tensor(self, array: np.ndarray):
        if array.dtype == dtypes.parse("bfloat16"):  # which NumPy itself does not have
            return self.module.from_numpy(array.view(np.int16)).view(self.module.bfloat16)
        return self.module.from_numpy(array)

    def _dtype(self, dtype: np.dtype):
        return getattr(self.module, dtype.name)


PEER = Torch
