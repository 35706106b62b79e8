# SPDX-License-Identifier: Apache-2.0
"""What the benchmark measures of an operator, and which peers it times. No time is judged."""

import sys

import numpy as np

from openaclnn.native import call, runtime
from openaclnn.benchmark import cases, measure, meter, peers, quiet, row
from openaclnn.operators import OPERATORS
from openaclnn.tool.roof import Roof

NAMES = sorted({each.operator for each in cases.benches()})


def test_what_is_measured_of_operators():
    known = {each.name for each in OPERATORS}
    assert len(NAMES) >= 9 and set(NAMES) <= known
    for bench in cases.benches():
        kinds = {each.kind for each in bench.cases}
        assert kinds == {cases.STATED, cases.SWEEP, cases.TINY}
        assert sum(each.kind == cases.SWEEP for each in bench.cases) == 5  # four decades


def test_indices_are_drawn_as_words_are():
    found = cases.zipf(0, 20000, 1000)
    assert found.min() >= 0 and found.max() < 1000 and found.dtype == np.int64
    counts = np.sort(np.bincount(found, minlength=1000))[::-1]
    assert counts[0] > 5 * counts[20] > 0


def test_peers_that_cannot_be_loaded_are_missing(monkeypatch):
    for name in ("torch", "jax"):
        monkeypatch.setitem(sys.modules, name, None)
    found, missing = peers.find(1)
    assert {each.peer for each in missing} >= {"torch", "jax"} and all(e.why for e in missing)
    assert "torch" not in {each.name for each in found}


class FakePeer:
    """One way that is right, one that is wrong, one that fails."""

    name = "fake"

    def __init__(self, right):
        self.right = right

    def ways(self, bench, problem):
        return {"right": lambda: self.right, "wrong": lambda: self.right * 2, "bad": self.fail}

    def fail(self):
        raise RuntimeError("not today\nnor tomorrow")

    def arrays(self, outputs):
        return [outputs]


def test_only_peers_that_compute_the_same_are_timed(monkeypatch):
    monkeypatch.setattr(meter.Meter, "look", lambda *_: Roof(10.0, 10.0, 10.0))
    (bench,) = cases.benches([NAMES[0]])
    (tiny,) = (each for each in bench.cases if each.kind == cases.TINY)
    problem = tiny.problem("float32")
    started = runtime.start()
    function = next(each for each in OPERATORS if each.name == bench.operator).function
    outputs = call.run(started, function, problem)
    right = np.concatenate([each.astype(np.float64).reshape(-1) for each in outputs.values()])
    effort = measure.Effort(1, 1, 1, sleep=0.0, attempts=1, pause=0.0, cache=1 << 16)
    found = meter.Meter(None, 1, quiet.Observer([]), effort)
    rows = list(
        row.rows(started, [FakePeer(right)], found, bench, tiny, "float32")
    )
    found.close()
    assert [each["state"] for each in rows] == ["cold", "warm"]
    assert rows[0]["roof_share"] > 0 and "roof_share" not in rows[1]
    for each in rows:
        assert list(each["times"]) == [row.OURS, row.SECOND_PHASE, "fake right"]
        assert each["fastest_peer"] == "fake right" and each["ratio"].value > 0
        assert each["refused"]["fake bad"] == "RuntimeError: not today"
        assert each["refused"]["fake wrong"].startswith("differs by 1")
