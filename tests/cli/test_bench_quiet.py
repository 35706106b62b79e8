# SPDX-License-Identifier: Apache-2.0
"""When a row of the benchmark counts: what others compute, and how the roof beside it moves."""

import pytest

from openaclnn.benchmark import measure, meter, quiet, roofs
from openaclnn.benchmark.quiet import Observer

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
    assert quiet.judge(0.01, 95.0, 100.0).counts
    busy = quiet.judge(0.6, 95.0, 100.0)
    assert not busy.counts and "0.60 processors" in busy.why_not
    moved = quiet.judge(0.0, 50.0, 100.0)
    assert not moved.counts and "50 GB/s, 100 at best" in moved.why_not


@pytest.fixture
def rows(monkeypatch, proc):
    """A meter whose roofs a test chooses, on a machine on which nobody else computes."""

    def make(seen, attempts=3):
        figures = iter(seen)
        monkeypatch.setattr(roofs, "small", lambda *_: next(figures))
        effort = measure.Effort(1, 1, 1, 1.0, 0.0, attempts, 0.0, 1 << 20, 1 << 20, 1 << 16)
        return meter.Meter(None, 1, Observer([], proc.folder), effort)

    return make


def test_a_row_is_measured_again_when_its_roof_moved(rows):
    calls = []
    found = rows([100, 50, 100, 99]).times({"a": lambda: calls.append(1)}, "cold")
    assert found["counts"] and found["attempts"] == 2 and len(calls) == 2
    assert found["small_roof"] == 99 and found["why_not"] == ""


def test_a_row_whose_roof_stays_low_does_not_count(rows):
    found = rows([100, 50, 50, 50, 50, 50]).times({"a": lambda: None}, "cold")
    assert not found["counts"] and found["attempts"] == 3 and "at best" in found["why_not"]


def test_the_best_roof_is_kept_from_row_to_row(rows):
    found = rows([100, 100, 60, 60], attempts=1)
    assert found.times({"a": lambda: None}, "cold")["counts"]
    assert not found.times({"a": lambda: None}, "cold")["counts"]
