# SPDX-License-Identifier: Apache-2.0
"""The model of collectives against a simulation by single events, closed forms, and the plans."""

import heapq
import itertools
import math
import random
import re
from pathlib import Path

import numpy as np
import pytest
import ranks_model
from ranks_model import COLLECTIVES, Network, plan, simulate

PLANS = Path(__file__).resolve().parents[2] / "tests/hccl/plan/plans.txt"
QUIET = Network(latency=0.0, bandwidth=1e30, overhead=0.0, step=0.0, reduce=1e30)


class Events:
    """One rank's steps, one event after the other, in the order of time."""

    def __init__(self, collective, ranks, size, network, root):
        self.network, self.ranks = network, ranks
        self.steps = list(plan(collective, ranks, size, root))
        self.heap, self.counter = [], itertools.count()
        self.sends, self.receives = [0.0] * ranks, [0.0] * ranks
        self.at, self.ready, self.end = [0] * ranks, [0.0] * ranks, 0.0
        self.left = [[self.of_rank(step, rank) for step in self.steps] for rank in range(ranks)]
        self.waits = [True] * ranks

    def of_rank(self, step, rank):
        both = [moves for moves in (step.ahead, step.moves) if moves is not None]
        return sum(int((m[rank] > 0).sum() + (m[:, rank] > 0).sum()) for m in both)

    def push(self, time, *event):
        heapq.heappush(self.heap, (time, next(self.counter), *event))

    def begin(self, time, rank, index, moves):
        network, share = self.network, self.network.share(self.ranks)
        others = [(rank + 1 + i) % self.ranks for i in range(self.ranks - 1)]
        for peer in others if moves is not None else ():
            if not (size := int(moves[rank, peer])):
                continue
            byte = max(1 / network.bandwidth, share / network.copy)
            cost = network.overhead * share + size * byte
            self.sends[rank] = max(self.sends[rank], time) + cost
            latency = network.latency * (3 if size >= ranks_model.RENDEZVOUS else 1)
            comes = self.sends[rank] - size * byte + latency
            self.push(comes, "comes", rank, peer, index, cost)
            if self.steps[index].gate:
                self.push(self.sends[rank], "done", rank, index)

    def done(self, time, rank, index):
        self.left[rank][index] -= 1
        self.advance(time, rank)

    def advance(self, time, rank):
        """As Operation::Advance has it."""
        while self.waits[rank] and self.at[rank] < len(self.steps):
            index = self.at[rank]
            if self.left[rank][index]:
                return
            self.waits[rank] = False
            step = self.steps[index]
            share = self.network.share(self.ranks)
            time = time + self.network.step * share * (self.of_rank(step, rank) > 0)
            following = self.steps[index + 1] if index + 1 < len(self.steps) else None
            if following and not step.gate:
                self.begin(time, rank, index + 1, following.ahead)
            reduced = np.broadcast_to(step.reduced, self.ranks)[rank]
            time += reduced * (share / self.network.reduce)
            if following and step.gate:
                self.begin(time, rank, index + 1, following.ahead)
            if following:
                self.begin(time, rank, index + 1, following.moves)
            self.at[rank] += 1
            self.end = max(self.end, time)
            self.push(time, "goes on", rank)

    def run(self):
        for rank in range(self.ranks):
            self.begin(0.0, rank, 0, self.steps[0].moves)
        for rank in range(self.ranks):
            self.advance(0.0, rank)
        while self.heap:
            time, _, what, rank, *rest = heapq.heappop(self.heap)
            if what == "comes":
                peer, index, cost = rest
                self.receives[peer] = max(self.receives[peer], time) + cost
                self.push(self.receives[peer], "done", peer, index)
                if not self.steps[index].gate:
                    self.push(self.receives[peer] + self.network.latency, "done", rank, index)
            elif what == "done":
                self.done(time, rank, *rest)
            else:
                self.waits[rank] = True
                self.advance(time, rank)
        assert all(at == len(self.steps) for at in self.at)
        return self.end


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_is_what_single_events_give(collective):
    choose = random.Random(collective)
    for _ in range(12):
        ranks = choose.randint(2, 7)
        size = choose.choice([8, 4096, 65536, 300_000, 9_000_000])
        network = Network(
            latency=10 ** choose.uniform(-6, -3),
            bandwidth=10 ** choose.uniform(8, 10),
            overhead=10 ** choose.uniform(-7, -5),
            step=10 ** choose.uniform(-6, -4),
            reduce=10 ** choose.uniform(9, 10),
            cores=choose.choice([None, None, 2]),
            copy=choose.choice([math.inf, 1e9]),
        )
        root = choose.randrange(ranks)
        cost, _ = simulate(collective, ranks, size, network, root)
        # A rank that is early may send before another's earlier step: the model keeps their order.
        by_events = Events(collective, ranks, size, network, root).run()
        assert cost.seconds == pytest.approx(by_events, rel=0.05)


def test_time_is_the_closed_form():
    latency = Network(1.0, 1e30, 0.0, 0.0, 1e30)
    # Few elements come with the headers; many behind them, asked for first and with an answer.
    assert simulate("AllReduce", 5, 8, latency)[0].seconds == pytest.approx(1)
    assert simulate("AllGather", 5, 8192, latency)[0].seconds == pytest.approx(5)
    bandwidth = Network(0.0, 100.0, 0.0, 0.0, 1e30)
    assert simulate("AllGather", 2, 1000, bandwidth)[0].seconds == pytest.approx(10.32)
    work = Network(0.0, 1e30, 0.0, 0.0, 100.0)
    assert simulate("AllReduce", 3, 400, work)[0].seconds == pytest.approx(12)
    steps = Network(0.0, 1e30, 0.0, 1.0, 1e30)
    assert simulate("Scatter", 3, 400, steps)[0].seconds == pytest.approx(1)
    assert simulate("Scatter", 3, 9000, steps)[0].seconds == pytest.approx(2)
    each = Network(0.0, 1e30, 1.0, 0.0, 1e30)
    # Out and in.
    assert simulate("AllGather", 2, 8, each)[0].seconds == pytest.approx(2)


def test_processors_are_shared():
    one = Network(0.0, math.inf, 1e-6, 1e-5, 1e9, cores=2, copy=1e9)
    assert one.share(2) == 1 and one.share(8) == 4
    alone = Network(0.0, 1e9 / 4, 4e-6, 4e-5, 1e9 / 4)
    ours, theirs = (simulate("AllReduce", 8, 1 << 20, each)[0].seconds for each in (one, alone))
    assert ours == pytest.approx(theirs)
    # A link is a rank's own: what limits is the slower of both.
    for bandwidth, limit in ((125e6, 125e6), (1e9, 1e9 / 4)):
        assert Network(0.0, bandwidth, 0, 0, 1, cores=2, copy=1e9).byte(8) == 1 / limit


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("ranks", [2, 3, 64])
def test_nothing_is_less_than_the_least(collective, ranks):
    for size in (8, 64 << 10, 4 << 20):
        cost, wire = simulate(collective, ranks, size, ranks_model.NETWORKS["10G"])
        assert cost.seconds > cost.least_seconds
        assert cost.bytes >= cost.least_bytes
        assert wire.sent.sum() == wire.received.sum()


def test_no_link_stands_idle():
    """All to all: as ranks begin with the next one, none waits for what another one gets."""
    for collective in ("AllGather", "AlltoAll"):
        cost, _ = simulate(collective, 32, 1 << 20, Network(0.0, 1e9, 0.0, 0.0, 1e30))
        assert cost.seconds < 1.001 * cost.least_seconds


def test_many_bytes_are_near_the_least():
    for collective in ("AllReduce", "ReduceScatter", "AllGather", "AlltoAll", "Scatter"):
        cost, _ = simulate(collective, 16, 4 << 20, QUIET)
        assert cost.bytes < 1.001 * cost.least_bytes


def test_plans_are_those_of_the_library():
    """tests/hccl/plan/plan_test.cc writes the lines and holds src/hccl to them."""
    lines = [line for line in PLANS.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) > 100
    for line in lines:
        collective, *words = re.split(r"[ :;]+", line)
        ranks, size, root, steps = (int(words[i]) for i in (1, 3, 5, 7))
        sent = [int(each) for each in words[9 : 9 + ranks]]
        messages = [int(each) for each in words[10 + ranks :]]
        _, wire = simulate(collective, ranks, size, QUIET, root)
        assert wire.sent.tolist() == sent, line
        assert wire.messages.tolist() == messages, line
        assert len(list(plan(collective, ranks, size, root))) == steps, line


def test_prints_a_table(capsys):
    arguments = ["--collectives", "AllReduce,Scatter", "--ranks", "2,4", "--bytes", "8,1M"]
    assert ranks_model.main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + 8
    assert "| AllReduce | 4 | 1,048,576 |" in lines[5]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--ranks", "1"], "--ranks is 1, expected numbers from 2 on"),
        (["--collectives", "Gather"], "--collectives is Gather, expected some of AllReduce"),
        (["--network", "modem"], "invalid choice: 'modem'"),
    ],
)
def test_refuses(arguments, says, capsys):
    with pytest.raises(SystemExit):
        ranks_model.main(arguments)
    assert says in capsys.readouterr().err


def test_times_have_units():
    times = [ranks_model.shown(each) for each in (2.5, 1.25e-3, 4e-5)]
    assert times == ["2.5 s", "1.25 ms", "40 us"]
