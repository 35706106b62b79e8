# SPDX-License-Identifier: Apache-2.0
"""The roof: the least time that a measured bandwidth allows."""

import numpy as np
import pytest

from openaclnn import libraries, roof
from openaclnn.operators.operator import Problem

FLOAT16 = np.dtype(np.float16)


def test_reads_at_read_bandwidth_and_writes_at_write_bandwidth():
    inputs = {"a": np.zeros((10, 100), np.float32), "b": np.zeros(1000, np.int64)}
    problem = Problem(inputs, {}, {"out": ((30, 100), FLOAT16)})
    assert (problem.read_bytes, problem.write_bytes) == (12000, 6000)
    assert problem.shapes == "10x100, 1000 -> 30x100"
    bandwidth = roof.Bandwidth(read=12, write=3, copy=5)
    assert bandwidth.seconds(problem) == pytest.approx(1e-6 + 2e-6)


def test_bandwidth_of_this_machine():
    bandwidth = roof.measure(libraries.load(), 64 << 20)
    # Wide limits: what no memory reaches, and what every memory does.
    for each in (bandwidth.read, bandwidth.write, bandwidth.copy):
        assert 0.1 < each < 10000
