# SPDX-License-Identifier: Apache-2.0
"""JAX on the CPU, everything under jit."""

import numpy as np

from ...operators.operator import Problem
from . import Peer


class Jax(Peer):
    """Arrays are its own. It uses the processors that the process is bound to."""

    name = "jax"

    def __init__(self, threads: int):
        import jax
        import jax.numpy

        self.module = jax
        self.numpy = jax.numpy

    def arrays(self, outputs) -> list[np.ndarray]:
        return [np.asarray(each).astype(np.float64) for each in outputs]

    def inputs(self, problem: Problem) -> list:
        return [self.numpy.asarray(each) for each in problem.inputs.values()]

    def jitted(self, function, *inputs):
        """Compiled at the first call, which is not measured."""
        run, wait = self.module.jit(function), self.module.block_until_ready
        return lambda: wait(run(*inputs))


PEER = Jax
