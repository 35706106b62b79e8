#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times collectives between processes of this machine beside gloo's and a bare socket's copy.

    bench/ranks/compare.py build/release/bench/ranks_bench [--ranks 2] [--least 8] [--most 256M]
        [--collectives AllReduce,AllGather] [--torch PYTHON] [--rounds 5] [--networks] [--check]

Each size is that of the larger buffer, FP32, before it is rounded up to a share for each rank; a
time is the median of a call and its synchronise, on the slowest rank, and of those the median of
all rounds. gloo is measured where --torch names a Python that has torch, ours and gloo's in turn,
the first of a round by chance; the last column has how many times ours its time was, and between
what in the rounds. A socket's time is that of so many bytes and an answer of 8. Every result is
looked at; --check does so for each type, reduction and place, and times nothing.
With --networks each rank has a network of its own (bench/ranks/ranks_networks.py), without a rate.
"""

import argparse
import contextlib
import ctypes
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import ranks_networks
from ranks_sizes import amount, count, counts, number

ROOT = Path(__file__).resolve().parents[2]
COLLECTIVES = "AllReduce,ReduceScatter,AllGather,Broadcast,AlltoAll,SendRecv"
GLOO = Path(__file__).with_name("gloo.py")

Times = dict[tuple[str, ...], float]


def variables_of(rank: int, ranks: int, apart: bool) -> dict[str, str]:
    # gloo's tensors are the CPU's.
    fixed = {"RANK": str(rank), "WORLD_SIZE": str(ranks), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    if apart:
        fixed |= ranks_networks.of_torchrun(rank, ranks) | {"UCX_TLS": "tcp,self"}
    return {"OPENACLNN_NUM_THREADS": "1", **os.environ, **fixed}


def run(
    ranks: int,
    command: list[str],
    arguments: list[str],
    networks: ranks_networks.Networks | None = None,
) -> list[Times]:
    """What each rank has measured."""
    with tempfile.TemporaryDirectory() as folder:
        processes = []
        for rank in range(ranks):
            variables = variables_of(rank, ranks, networks is not None)
            place = networks.within(rank) if networks else contextlib.nullcontext()
            # To files: a pipe that nobody reads yet would hold its rank, and all others.
            with place, open(f"{folder}/said.{rank}", "w") as said:
                started = [*command, folder, *arguments]
                processes.append(subprocess.Popen(started, stdout=said, env=variables))
        for rank, process in enumerate(processes):
            if (code := process.wait()) != 0:
                sys.exit(f"rank {rank} of {ranks} has ended with {code}, expected 0")
        said = [Path(folder, f"said.{rank}").read_text() for rank in range(ranks)]
    return [dict(map(row, text.splitlines())) for text in said]


def row(line: str) -> tuple[tuple[str, ...], float]:
    """`AllReduce FP32 SUM in 8 0.000123`, by what comes before the time."""
    *key, seconds = line.split()
    return tuple(key), float(seconds)


def slowest(of_ranks: list[Times]) -> Times:
    keys = dict.fromkeys(key for times in of_ranks for key in times)
    return {key: max(times.get(key, 0.0) for times in of_ranks) for key in keys}


def of(times: Times, collective: str, size: int, place: str | None = None) -> float | None:
    for key, seconds in times.items():
        if key[0] == collective and key[4] == str(size) and place in (None, key[3]):
            return seconds
    return None


def cells(size: int, seconds: float | None) -> str:
    """A time, and the bytes of the larger buffer a second."""
    if seconds is None:
        return " | "
    return f"{seconds * 1e6:.1f} | {size / seconds / 1e6:.0f}"


def middle(rounds: list[Times]) -> Times:
    return {key: statistics.median(times[key] for times in rounds) for key in rounds[0]}


def ratios(collective: str, size: int, ours: list[Times], gloo: list[Times]) -> str:
    """gloo's times by ours, out of place where there is that: the median of rounds, least, most."""
    place = "out" if of(ours[0], collective, size, "out") else "in"
    each = [
        gloo_s / ours_s
        for ours_of, gloo_of in zip(ours, gloo, strict=True)
        if (ours_s := of(ours_of, collective, size, place))
        and (gloo_s := of(gloo_of, collective, size))
    ]
    if not each:
        return ""
    return f"{statistics.median(each):.2g} ({min(each):.2g} to {max(each):.2g})"


def table(collective: str, our_rounds: list[Times], gloo_rounds: list[Times]) -> Iterator[str]:
    ours, gloo = middle(our_rounds), middle(gloo_rounds)
    yield f"\n## {collective}\n"
    columns = "| bytes | us | MB/s | in place, us | MB/s | gloo, us | MB/s | socket, us | MB/s |"
    yield f"{columns} gloo / ours |"
    yield "|---:|" + "---:|" * 9
    sizes = {int(key[4]) for key in ours if key[0] == collective}
    timed = {int(key[4]) for key in ours if key[0] == "Socket"} or sizes
    for size in sorted(sizes & timed):
        ways = [of(ours, collective, size, place) for place in ("out", "in")]
        ways += [of(gloo, collective, size), of(ours, "Socket", size)]
        times = " | ".join(cells(size, each) for each in ways)
        yield f"| {amount(size)} | {times} | {ratios(collective, size, our_rounds, gloo_rounds)} |"


def check(ranks: int, of_ranks: list[Times]) -> None:
    """Every rank has made the same calls; how many of each collective."""
    names = {tuple(times) for times in of_ranks}
    if len(names) != 1:
        sys.exit("the ranks have not made the same calls, expected all to")
    for collective in dict.fromkeys(key[0] for key in of_ranks[0]):
        own = [key for key in of_ranks[0] if key[0] == collective]
        kinds = len({key[1:3] for key in own})
        text = f"{len(own)} calls of {kinds} types and reductions, all right"
        print(f"{collective}, {ranks} ranks: {text}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("program")
    add("--ranks", type=counts, default="2", help="some numbers of them: 2,4")
    add("--least", type=number, default=8)
    add("--most", type=number, default="256M")
    add("--collectives", default=COLLECTIVES)
    add("--torch", metavar="PYTHON", help="that has torch, for gloo's times")
    add("--rounds", type=count, default=5, help="of ours and gloo's")
    add("--networks", action="store_true", help="one for each rank, without shared memory")
    add("--check", action="store_true")
    return parser.parse_args()


def main() -> int:
    chosen = parse()
    try:
        ctypes.CDLL("libucp.so.0")
    except OSError as error:
        print(f"ranks: LEFT OUT, {error}")
        return 0
    networks = None
    if chosen.networks:
        if why := ranks_networks.why_not():
            print(f"ranks: LEFT OUT, {why}")
            return 0
        ranks_networks.enter()
        networks = ranks_networks.Networks(max(chosen.ranks))
    arguments = [str(chosen.least), str(chosen.most), chosen.collectives]
    for ranks in chosen.ranks:
        ours = [chosen.program]
        if chosen.check:
            check(ranks, run(ranks, ours, [*arguments, "check"], networks))
            continue
        ways = {"ours": ours} | ({"gloo": [chosen.torch, str(GLOO)]} if chosen.torch else {})
        rounds = {"ours": [], "gloo": []}
        for _ in range(chosen.rounds):
            for way in random.sample(list(ways), len(ways)):
                rounds[way].append(slowest(run(ranks, ways[way], arguments, networks)))
        print(f"\n# {ranks} ranks, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
        gloo = rounds["gloo"] or [{}] * chosen.rounds
        for collective in chosen.collectives.split(","):
            print("\n".join(table(collective, rounds["ours"], gloo)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
