# SPDX-License-Identifier: Apache-2.0
"""The roof: the least time that measured speeds of memory and arithmetic allow."""

import numpy as np
import pytest

from openaclnn.native import libraries
from openaclnn.tool import roof
from openaclnn.tool.bench import Sample, Timing
from openaclnn.operators.operator import Problem

FLOAT16 = np.dtype(np.float16)
INPUTS = {"a": np.zeros((10, 100), np.float32), "b": np.zeros(1000, np.int64)}
OUTPUTS = {"out": ((30, 100), FLOAT16)}
ROOF = roof.Roof(read=12, write=3, multiply_add=100)


def test_reads_at_read_bandwidth_and_writes_at_write_bandwidth():
    problem = Problem(INPUTS, {}, OUTPUTS)
    assert (problem.read_bytes, problem.write_bytes) == (12000, 6000)
    assert problem.shapes == "10x100, 1000 -> 30x100"
    assert ROOF.seconds(problem) == pytest.approx(1e-6 + 2e-6)
    assert ROOF.limit(problem) == "memory"


def test_arithmetic_is_the_roof_where_it_takes_longer():
    assert ROOF.limit(Problem(INPUTS, {}, OUTPUTS, operations=299_000)) == "memory"
    problem = Problem(INPUTS, {}, OUTPUTS, operations=400_000)
    assert ROOF.seconds(problem) == pytest.approx(4e-6) and ROOF.limit(problem) == "FMA"
    timing = Timing.of(problem, ROOF, Sample.of([1e-5] * 3), sets=1)
    assert timing.roof_share == pytest.approx(0.4) and timing.gigaflops == pytest.approx(40)
    faster = timing.under(problem, roof.Roof(read=12, write=3, multiply_add=200))
    assert faster.roof_share == pytest.approx(0.3) and faster.roof_limit == "memory"
    assert faster.calls == 3


def test_a_sample_keeps_its_least_and_its_spread():
    sample = Sample.of([4.0, 1.0, 2.0, 3.0, 100.0])
    assert (sample.median, sample.minimum, sample.calls) == (3.0, 1.0, 5)
    assert sample.spread == pytest.approx((4 - 2) / 3)
    assert Sample.of([2.0]) == Sample(2.0, 2.0, 0.0, 1)


def test_the_roof_is_the_best_that_was_seen():
    seen = [roof.Roof(1, 5, 30), roof.Roof(2, 4, 10)]
    assert roof.best(seen) == roof.Roof(2, 5, 30)


@pytest.mark.parametrize("of", roof.Statistic)
def test_roof_of_this_machine(of):
    found = roof.measure(libraries.load(), 64 << 20, of=of)
    # Wide limits: what no machine reaches, and what every machine does.
    assert 0.1 < found.read < 10000 and 0.1 < found.write < 10000
    assert 0.5 < found.multiply_add < 1e6
