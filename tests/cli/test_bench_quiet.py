# SPDX-License-Identifier: Apache-2.0
"""When a row of the benchmark counts: what others compute, and how the roof beside it moves."""

import pytest

from openaclnn.benchmark import measure, meter, quiet
from openaclnn.benchmark.figures import Spread
from openaclnn.benchmark.quiet import Observer
from openaclnn.tool.roof import Roof

TICKS = quiet._TICKS


class FakeProc:
    """A /proc whose figures a test sets, in seconds."""

    def __init__(self, folder):
        self.folder = folder
        self.now = 0.0
        self.set(0.0, {})

    def set(self, all_busy, processes, stolen=0.0):
        idle, waiting = 10**6, 10**6  # which nobody computes in
        figures = [all_busy * TICKS, 0, 0, idle, waiting, 0, 0, stolen * TICKS, 0, 0]
        words = " ".join(str(round(each)) for each in figures)
        (self.folder / "stat").write_text(f"cpu  {words}\ncpu0 1 2 3\n")
        (self.folder / "loadavg").write_text("0.50 0.25 0.10 1/99 1234\n")
        for process, seconds in processes.items():
            place = self.folder / str(process)
            place.mkdir(exist_ok=True)
            spent = f"{round(seconds * TICKS)} 0 0 0"
            (place / "stat").write_text(f"{process} (a) b) R 1 1 1 0 -1 0 0 0 0 0 {spent} 20 0\n")


@pytest.fixture
def proc(tmp_path):
    return FakeProc(tmp_path)


def test_what_others_compute_is_seen_and_what_we_compute_is_not(proc):
    observer = Observer([7, 8, 404], proc.folder, lambda: proc.now)
    proc.set(100.0, {7: 40.0, 8: 10.0, 9: 50.0})
    since = observer.look()
    proc.now = 10.0
    proc.set(110.0, {7: 48.0, 8: 12.0, 9: 50.0})  # all of it ours
    assert observer.busy(since) == 0
    proc.set(115.0, {7: 48.0, 8: 12.0, 9: 55.0})
    assert observer.busy(since) == pytest.approx(0.5)
    proc.set(110.0, {7: 48.0, 8: 12.0}, stolen=2.0)  # by the host
    assert observer.busy(since) == pytest.approx(0.2)
    assert observer.load() == [0.5, 0.25, 0.1]


def test_a_row_counts_on_a_quiet_machine_with_a_steady_roof():
    steady = Spread(100.0, 90.0, 110.0, 9)
    assert quiet.why_not(0.01, steady) == "" == quiet.why_not(0.01, None)
    assert "0.60 processors" in quiet.why_not(0.6, steady)
    for low, high in ((50.0, 101.0), (99.0, 120.0)):
        words = quiet.why_not(0.0, Spread(100.0, low, high, 9))
        assert f"moved from {low:.3g} to {high:.3g} GB/s" in words


@pytest.fixture
def rows(monkeypatch, proc):
    """A meter whose roofs a test chooses, on a machine on which nobody else computes."""

    def make(seen, attempts=3):
        reads = iter(seen)
        monkeypatch.setattr(meter.Meter, "look", lambda *_: Roof(next(reads), 7.0, 9.0))
        effort = measure.Effort(cold=3, warm=1, sleep=0.0, attempts=attempts, pause=0.0, cache=64)
        return meter.Meter(None, 1, Observer([], proc.folder), effort)

    return make


def test_a_row_is_measured_again_when_its_roof_moved(rows):
    calls = []
    ways = {"a": lambda: calls.append(1)}
    found = rows([100, 50, 100, 100, 99, 98]).times(ways, "cold", "float32")
    assert found.counts and found.attempts == 2 and len(calls) == 6
    assert found.roof == Roof(99, 7.0, 9.0) and found.why_not == ""
    assert found.roof_read == Spread(99, 98.5, 99.5, 3)


def test_a_row_whose_roof_keeps_moving_does_not_count(rows):
    found = rows([100, 50, 10] * 3).times({"a": lambda: None}, "cold", "float32")
    assert not found.counts and found.attempts == 3 and "moved" in found.why_not


def test_no_roof_is_measured_beside_what_lies_in_caches(rows):
    found = rows([]).times({"a": lambda: None}, "warm", "float32")
    assert found.counts and found.roof is None and found.roof_read is None
