# SPDX-License-Identifier: Apache-2.0
"""The benchmark's statistics, the order of its calls, its roofs. No time is judged."""

import pytest

from openaclnn.native import libraries
from openaclnn.benchmark import measure, roofs
from openaclnn.benchmark.figures import Ratio, Spread, geometric_mean
from openaclnn.tool.roof import Roof, Statistic


def test_the_spread_is_the_quarters_around_the_median():
    found = Spread.of([5.0, 1.0, 2.0, 4.0, 3.0])
    assert found == Spread(3.0, 2.0, 4.0, 5)
    assert Spread.of([1.0, 2.0]) == Spread(1.5, 1.25, 1.75, 2)
    assert Spread.of([7.0]) == Spread(7.0, 7.0, 7.0, 1)
    assert Spread.read({"median": 3.0, "low": 2.0, "high": 4.0, "calls": 5}) == found


def test_a_ratio_is_above_one_where_the_second_is_faster():
    slow, fast = Spread(4.0, 3.0, 5.0, 9), Spread(2.0, 1.0, 2.5, 9)
    assert Ratio.of(slow, fast) == Ratio(2.0, 1.2, 5.0)
    back = Ratio.of(fast, slow)
    assert back.value == 0.5 and back.low == pytest.approx(1 / 5) and back.high < 1


def test_geometric_mean():
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4)
    assert geometric_mean([1e-300, 1e300]) == pytest.approx(1)
    assert geometric_mean([]) is None


def test_every_way_runs_once_a_round_in_an_order_that_changes():
    names = list("abcdef")
    rounds = measure.orders(names, 50, seed=1)
    assert all(sorted(each) == names for each in rounds) and len(rounds) == 50
    assert len({tuple(each) for each in rounds}) > 40
    assert rounds == measure.orders(names, 50, seed=1) != measure.orders(names, 50, seed=2)
    # Nobody always follows the same one, whose output might still be in the cache.
    found = [name for each in rounds for name in each]
    followers = {after for before, after in zip(found, found[1:], strict=False) if before == "a"}
    assert followers == set(names)


class Recorded:
    """Caches that note when they are emptied."""

    def __init__(self, log):
        self.log = log

    def empty(self):
        self.log.append("empty")


def test_caches_are_emptied_before_each_cold_call_and_warmed_before_each_warm_one():
    log = []
    ways = {"a": lambda: log.append("a")}
    effort = measure.Effort(cold=3, warm=2, sleep=0.0)
    found = measure.times(ways, measure.COLD, Recorded(log), effort, seed=1)
    assert log == ["empty", "a"] * 3 and found["a"].calls == 3
    log.clear()
    found = measure.times(ways, measure.WARM, Recorded(log), effort, seed=1)
    assert log == ["a", "a"] * 2 and found["a"].calls == 2


def test_it_sleeps_before_every_call_that_is_timed(monkeypatch):
    slept = []
    monkeypatch.setattr(measure.time, "sleep", slept.append)
    measure.times({"a": lambda: None, "b": lambda: None}, "warm", None, measure.Effort(), seed=1)
    assert slept == [0.02] * 2 * measure.Effort().warm


def test_a_slow_way_is_called_a_few_times_only(monkeypatch):
    clock = iter(range(0, 10000, 5))
    monkeypatch.setattr(measure.time, "perf_counter", lambda: float(next(clock)))
    effort = measure.Effort(warm=50, least=3, most_seconds=12.0, sleep=0.0)
    assert measure.times({"a": lambda: None}, "warm", None, effort, 1)["a"].calls == 3


def test_of_the_rivals_those_far_behind_are_called_a_few_times_only(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(measure.time, "perf_counter", lambda: now[0])

    def takes(seconds):
        return lambda: now.__setitem__(0, now[0] + seconds)

    ways = {"ours": takes(50.0), "fast": takes(1.0), "near": takes(2.5), "far": takes(3.5)}
    effort = measure.Effort(warm=8, least=3, most_seconds=1e9, hopeless=3.0, sleep=0.0)
    found = measure.times(ways, "warm", None, effort, 1, rivals=("fast", "near", "far"))
    calls = {name: each.calls for name, each in found.items()}
    assert calls == {"ours": 8, "fast": 8, "near": 8, "far": 3}


def test_something_is_done_before_each_round():
    log = []
    effort = measure.Effort(warm=2, sleep=0.0)
    ways = {"a": lambda: log.append("a")}
    measure.times(ways, "warm", None, effort, 1, each_round=lambda: log.append("round"))
    assert log == ["round", "a", "a"] * 2


def test_caches_touch_all_that_they_were_given():
    caches = measure.Caches(1 << 16)
    caches.empty()
    caches.empty()
    caches.close()
    assert sum(part.nbytes for part in caches._parts) == 1 << 16
    assert all((part == 3).all() for part in caches._parts)


def test_roofs_of_this_machine():
    found = roofs.measure(libraries.load(), 16 << 20, 1)
    speeds = [found.read, found.write, found.copy, found.triad]
    speeds += [each for each in (found.copy_streaming, found.triad_streaming) if each is not None]
    # Wide limits: what no machine reaches, and what every machine does.
    assert all(0.1 < each < 10000 for each in speeds), found
    assert 0.5 < found.multiply_add < 1e6
    assert found.dot_product_bfloat16 is None or 0.5 < found.dot_product_bfloat16 < 1e6


class FakeKit:
    """Figures of a machine that stores faster than it streams, and has dot products."""

    def function(self, name, result=None):
        return lambda *given: self._figure(name, [each.value for each in given])

    def _figure(self, name, given):
        assert given[-1] == Statistic.MEDIAN, "a row is a median, so the roof beside it is one"
        return {"openaclnn_measure_stream": 7.0}.get(name, 200.0)


def test_the_roof_takes_the_better_way_of_writing_and_of_multiplying(monkeypatch):
    def measure(kit, size, threads, of):
        assert of == Statistic.MEDIAN
        return Roof(10.0, 5.0, 100.0)

    monkeypatch.setattr(roofs.roof, "measure", measure)
    assert roofs.beside(FakeKit(), 1, 1, "float32") == Roof(10.0, 7.0, 100.0)
    assert roofs.beside(FakeKit(), 1, 1, "bfloat16") == Roof(10.0, 7.0, 200.0)


def test_the_best_roofs_are_the_most_of_each_figure():
    one = roofs.Roofs(1, 10.0, 5.0, 7.0, 8.0, 9.0, 8.0, None, 100.0, 200.0)
    other = roofs.Roofs(1, 12.0, 4.0, None, 8.0, 9.0, 8.0, None, 90.0, None)
    best = roofs.best([one, other])
    assert (best.read, best.write_streaming, best.triad_streaming) == (12.0, 7.0, None)
    assert (best.multiply_add, best.dot_product_bfloat16) == (100.0, 200.0)
