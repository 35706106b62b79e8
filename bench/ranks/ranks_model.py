#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What collectives of libhccl.so cost over many ranks: time, and bytes on the wire.

    bench/ranks/ranks_model.py [--network 10G] [--ranks 2,64,4096] [--bytes 8,1M,256M] [--root 0]

The messages are those that src/hccl plans (tests/hccl/plan/plans.txt holds both to that), each with the
times at which it leaves and has arrived. A rank sends in the order of its plan, one message after
the other, and receives in the order in which they come; a send from the program's memory is done
when the receiver says so.
Ranks are alike and networks have no middle: nothing is said of switches, losses or other traffic.
"""

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from ranks_sizes import numbers

ELEMENT = 4  # bytes: FP32
HEADER = 32  # bytes, by which ranks compare what they call (src/hccl/communicator/agreement.h)
RIDING = (8 << 10) - HEADER  # bytes of a first message that go with it
SMALL = 16 << 10  # bytes up to which all is sent to all that need the result
PIECE = 1 << 20  # bytes of a slice that are under way at a time
SLICED_BROADCAST = 64 << 10
LINE = 64  # elements, or bytes of a broadcast, that a slice is a multiple of
RENDEZVOUS = 8 << 10  # bytes from which UCX asks the receiver first


@dataclass(frozen=True)
class Network:
    """Seconds, and bytes a second; `cores` of one machine that all ranks share, or None."""

    latency: float
    bandwidth: float  # of a rank's link, each way
    overhead: float  # of a processor, for each message, on either side
    step: float  # of a step: a thread is woken
    reduce: float  # bytes of all inputs that a rank adds in a second
    cores: int | None = None
    copy: float = math.inf  # bytes that a processor moves in a second

    def byte(self, ranks: int) -> float:
        """Seconds of one: the link's, or a processor's where that is slower."""
        return max(1 / self.bandwidth, self.share(ranks) / self.copy)

    def share(self, ranks: int) -> float:
        """What a processor's second costs where ranks outnumber the cores."""
        return max(1.0, ranks / self.cores) if self.cores else 1.0


# `local` is fitted to what 2 processes took on the machine of docs/distributed.md, `tcp` to what 2, 4
# and 8 took over links without a rate (bench/ranks/ranks_measure.py, least squares of the logarithms); a
# rank's processor copies what it sends and what it receives, so that its bandwidth is that of both
# at once. All of the others is assumed.
TCP = Network(0.5e-6, math.inf, 50e-6, 1.1e-6, 1e9, cores=2, copy=1.1e9)
NETWORKS = {
    "local": Network(0.5e-6, math.inf, 18e-6, 2.6e-6, 1.6e9, cores=2, copy=3.6e9),
    "tcp": TCP,
    "tcp-1G": replace(TCP, bandwidth=125e6),
    "tcp-10G": replace(TCP, bandwidth=1.25e9),
    "tcp-10G-1ms": replace(TCP, latency=1e-3, bandwidth=1.25e9),
    "1G": Network(50e-6, 125e6, 2e-6, 20e-6, 6e9),
    "10G": Network(20e-6, 1.25e9, 2e-6, 20e-6, 6e9),
    "10G-1ms": Network(1e-3, 1.25e9, 2e-6, 20e-6, 6e9),
    "100G": Network(2e-6, 12.5e9, 1e-6, 20e-6, 6e9),
}


@dataclass
class Step:
    """Bytes from each rank (row) to each (column), 0 where no message is; `reduced` by rank."""

    moves: np.ndarray
    ahead: np.ndarray | None = None  # begun before the work of the step before
    reduced: np.ndarray | float = 0.0
    # Nothing of the next step begins before this one's work is done, and what is sent, from memory
    # of the operation's own, need not be answered.
    gate: bool = False

    def messages(self) -> np.ndarray:
        """How many each rank sends and receives."""
        both = [moves > 0 for moves in (self.ahead, self.moves) if moves is not None]
        return sum(there.sum(axis=0) + there.sum(axis=1) for there in both)


def to_all(sizes: np.ndarray, senders: np.ndarray | None = None) -> np.ndarray:
    """Messages of the senders to all others, of as many bytes as their receiver's."""
    messages = np.tile(sizes, (len(sizes), 1))
    if senders is not None:
        messages[~senders] = 0
    np.fill_diagonal(messages, 0)
    return messages


def slices(count: int, ranks: int, each: int) -> np.ndarray:
    """How many elements of each rank's slice there are."""
    begin = np.minimum(count, np.arange(ranks, dtype=np.int64) * each)
    return np.minimum(count, begin + each) - begin


def rounded_slice(count: int, ranks: int) -> int:
    each = -(-count // ranks)
    return -(-each // LINE) * LINE


def sliced(whole: np.ndarray, each: int, gather: np.ndarray | None) -> Iterator[Step]:
    """Slice j to rank j, which reduces it, by pieces; then to those that `gather` has."""
    ranks = len(whole)
    piece = max(1, min(each, PIECE // ELEMENT))
    pieces = -(-each // piece)
    before = None  # elements of the piece that is to be gathered
    for index in range(pieces + 1):
        now = np.clip(whole - index * piece, 0, piece) if index < pieces else None
        if now is None and gather is None:
            return
        moves = np.zeros((ranks, ranks), np.int64)
        if before is not None and gather is not None:
            moves = to_all(before * ELEMENT).T.copy()
            moves[:, ~gather] = 0
        ahead = to_all(now * ELEMENT) if now is not None else None
        yield Step(moves, ahead, now * ELEMENT * ranks if now is not None else 0.0)
        before = now


def only(ranks: int, root: int) -> np.ndarray:
    return np.arange(ranks) == root


def reduction(ranks: int, size: int, gather: np.ndarray) -> Iterator[Step]:
    """Of `size` bytes, to those that `gather` has."""
    if size <= SMALL:
        moves = to_all(np.where(gather, size, 0))
        yield Step(moves, reduced=np.where(gather, float(size * ranks), 0.0))
        return
    each = rounded_slice(size // ELEMENT, ranks)
    yield from sliced(slices(size // ELEMENT, ranks, each), each, gather)


def broadcast(ranks: int, size: int, root: int) -> Iterator[Step]:
    is_root = only(ranks, root)
    if ranks == 2 or size < SLICED_BROADCAST:
        yield Step(to_all(np.full(ranks, size), is_root))
        return
    parts = slices(size, ranks, rounded_slice(size, ranks))
    yield Step(to_all(parts, is_root))
    moves = to_all(parts).T.copy()
    moves[:, root] = 0
    yield Step(moves)


def plan(collective: str, ranks: int, size: int, root: int = 0) -> Iterator[Step]:
    """Steps of the collective; `size` is in bytes, of the count of the function of the API."""
    steps = elements(collective, ranks, size, root)
    first = next(steps)
    headers = to_all(np.full(ranks, HEADER))
    for moves in (first.ahead, first.moves):
        if moves is not None:
            headers += np.where(moves <= RIDING, moves, 0)
            moves[moves <= RIDING] = 0
    yield Step(headers, gate=True)
    yield first
    yield from steps


def elements(collective: str, ranks: int, size: int, root: int) -> Iterator[Step]:
    """What is moved beside the headers, none of it with them yet."""
    everybody = np.full(ranks, True)
    match collective:
        case "AllReduce":
            yield from reduction(ranks, size, everybody)
        case "Reduce":
            yield from reduction(ranks, size, only(ranks, root))
        case "ReduceScatter":
            each = size // ELEMENT
            yield from sliced(np.full(ranks, each, np.int64), each, None)
        case "AllGather" | "AlltoAll":
            yield Step(to_all(np.full(ranks, size)))
        case "Broadcast":
            yield from broadcast(ranks, size, root)
        case "Scatter":
            yield Step(to_all(np.full(ranks, size), only(ranks, root)))
        case _:
            raise ValueError(f"collective is {collective!r}, expected one of {COLLECTIVES}")


COLLECTIVES = (
    "AllReduce", "Reduce", "ReduceScatter", "AllGather", "AlltoAll", "Broadcast", "Scatter",
)  # fmt: skip


def least_bytes(collective: str, ranks: int, size: int) -> float:
    """That some rank has to send or to receive, whatever the way."""
    if collective == "AllReduce":
        return 2 * (ranks - 1) / ranks * size
    if collective in ("Reduce", "Broadcast"):
        return size
    return (ranks - 1) * size


@dataclass
class Wire:
    """When each rank can send and receive again, and what it has sent."""

    network: Network
    ranks: int
    sends: np.ndarray = field(init=False)
    receives: np.ndarray = field(init=False)
    sent: np.ndarray = field(init=False)
    received: np.ndarray = field(init=False)
    messages: np.ndarray = field(init=False)

    def __post_init__(self):
        self.sends, self.receives = np.zeros(self.ranks), np.zeros(self.ranks)
        self.sent, self.received = np.zeros(self.ranks, np.int64), np.zeros(self.ranks, np.int64)
        self.messages = np.zeros(self.ranks, np.int64)

    def move(self, begin: np.ndarray, sizes: np.ndarray | None, own: bool = False) -> np.ndarray:
        """When each rank's messages, of those that all begin now, have been moved."""
        if sizes is None or not sizes.any():
            return begin
        there = sizes > 0
        self.sent += sizes.sum(axis=1)
        self.received += sizes.sum(axis=0)
        self.messages += there.sum(axis=1)
        network, share = self.network, self.network.share(self.ranks)
        byte = network.byte(self.ranks)
        cost = (network.overhead * share + sizes * byte) * there
        left = np.maximum(begin, self.sends)[:, None] + self._in_turn(cost)
        self.sends = np.where(there.any(axis=1), left.max(axis=1), self.sends)
        left -= sizes * byte  # its first byte
        left += network.latency * np.where(sizes >= RENDEZVOUS, 3, 1)
        arrived = self._receive(np.where(there, left, np.inf), cost)
        arrived[~there] = -np.inf
        sent = self.sends if own else arrived.max(axis=1) + network.latency
        done = np.maximum(arrived.max(axis=0), sent)
        return np.maximum(begin, done)

    def _in_turn(self, cost: np.ndarray) -> np.ndarray:
        """What a rank has spent when it is done with each other; it begins with the next rank."""
        spent = np.empty_like(cost)
        for rank in range(self.ranks):
            turned = np.cumsum(np.roll(cost[rank], -rank - 1))
            spent[rank] = np.roll(turned, rank + 1)
        return spent

    def _receive(self, comes: np.ndarray, cost: np.ndarray) -> np.ndarray:
        """When each message is there: a rank takes them one after the other, as they come."""
        order = np.argsort(comes, axis=0, kind="stable")
        comes = np.take_along_axis(comes, order, axis=0)
        spent = np.cumsum(np.take_along_axis(cost, order, axis=0), axis=0)
        waited = comes.copy()
        waited[1:] -= spent[:-1]
        waited[0] = np.maximum(waited[0], self.receives)
        ends = np.maximum.accumulate(waited, axis=0) + spent
        finite = np.where(np.isfinite(ends), ends, -np.inf).max(axis=0)
        self.receives = np.maximum(self.receives, finite)
        arrived = np.empty_like(ends)
        np.put_along_axis(arrived, order, ends, axis=0)
        return arrived


@dataclass(frozen=True)
class Cost:
    seconds: float
    least_seconds: float
    bytes: int  # that the busiest rank sends or receives
    least_bytes: float
    messages: int  # that the busiest rank sends


def simulate(
    collective: str, ranks: int, size: int, network: Network, root: int = 0
) -> tuple[Cost, Wire]:
    """From when all ranks call until the last one is done."""
    wire = Wire(network, ranks)
    share = network.share(ranks)
    steps = plan(collective, ranks, size, root)
    step = next(steps)
    now = np.zeros(ranks)
    done = wire.move(now, step.moves, own=True)
    while step is not None:
        following = next(steps, None)
        # Who has no messages in it goes on at once.
        now = np.maximum(now, done) + network.step * share * (step.messages() > 0)
        ahead, moves = (following.ahead, following.moves) if following else (None, None)
        done = now if step.gate else wire.move(now, ahead)
        now = now + step.reduced * (share / network.reduce)
        if step.gate:
            done = wire.move(now, ahead)
        done = np.maximum(done, wire.move(now, moves))
        step = following
    least = least_bytes(collective, ranks, size)
    cost = Cost(
        float(now.max()),
        network.latency + least * network.byte(1),
        int(max(wire.sent.max(), wire.received.max())),
        least,
        int(wire.messages.max()),
    )
    return cost, wire


def shown(value: float) -> str:
    """With a unit, in three digits."""
    for unit, least in (("s", 1.0), ("ms", 1e-3)):
        if value >= least:
            return f"{value / least:.3g} {unit}"
    return f"{value * 1e6:.3g} us"


def table(collectives: list[str], ranks: list[int], sizes: list[int], network: Network, root: int):
    yield "| collective | ranks | bytes | time | least | bytes a rank | of least | messages |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for collective in collectives:
        for size in sizes:
            for count in ranks:
                cost, _ = simulate(collective, count, size, network, root)
                yield (
                    f"| {collective} | {count} | {size:,} | {shown(cost.seconds)} "
                    f"| {shown(cost.least_seconds)} | {cost.bytes:,} "
                    f"| {cost.bytes / cost.least_bytes:.3g} | {cost.messages:,} |"
                )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--collectives", default="AllReduce", help=",".join(COLLECTIVES))
    parser.add_argument("--ranks", default="2,4,8,64,512,4096")
    parser.add_argument("--bytes", default="8,64K,16M")
    parser.add_argument("--root", type=int, default=0, help="of Reduce, Broadcast and Scatter")
    parser.add_argument("--network", choices=NETWORKS, default="10G")
    chosen = parser.parse_args(arguments)
    network = NETWORKS[chosen.network]
    ranks = [int(each) for each in chosen.ranks.split(",")]
    if min(ranks) < 2 or chosen.root >= min(ranks):
        parser.error(f"--ranks is {chosen.ranks}, expected numbers from 2 on, above the root")
    sizes = numbers(chosen.bytes)
    collectives = chosen.collectives.split(",")
    if unknown := set(collectives) - set(COLLECTIVES):
        parser.error(f"--collectives is {unknown.pop()}, expected some of {', '.join(COLLECTIVES)}")
    for line in table(collectives, ranks, sizes, network, chosen.root):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
