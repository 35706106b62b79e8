# SPDX-License-Identifier: Apache-2.0
"""OpenBLAS through NumPy: products of FP32 matrices."""

import numpy as np

from ...operators.operator import Problem
from ..cases import Bench, Ways
from . import Peer


class OpenBlas(Peer):
    """NumPy's `@`; other types than FP32 it multiplies in plain loops, which is no peer."""

    name = "openblas"

    def __init__(self, threads: int):
        blas = np.show_config("dicts")["Build Dependencies"]["blas"]
        if "openblas" not in blas.get("name", ""):
            raise ImportError(f"NumPy was built with {blas.get('name', 'no BLAS')}")
        self._version = blas.get("version", "")

    def version(self) -> str:
        return self._version

    def ways(self, bench: Bench, problem: Problem) -> Ways:
        return super().ways(bench, problem) if problem.dtype == "float32" else {}

    def arrays(self, outputs) -> list[np.ndarray]:
        return [each.astype(np.float64) for each in outputs]

    def inputs(self, problem: Problem) -> list[np.ndarray]:
        return list(problem.inputs.values())

    def outputs(self, problem: Problem) -> list[np.ndarray]:
        return [np.zeros(shape, dtype) for shape, dtype in problem.outputs.values()]


PEER = OpenBlas
