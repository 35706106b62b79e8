#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures collectives between processes of this machine, beside what bench/ranks/ranks_model.py says.

    OPENACLNN_HOME=build/install bench/ranks/ranks_measure.py [--ranks 1,2,4,8] [--bytes 8,64K,16M]
        [--networks local,tcp,tcp-1G,tcp-10G,tcp-10G-1ms]

The tables of docs/distributed.md: a time is that of a call and its synchronise, the median of a
rank's, on the slowest rank, and in brackets the model's. `local` is shared memory; the others give
each rank a network of its own (bench/ranks/ranks_networks.py), with links of that rate and delay.
"""

import argparse
import contextlib
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import ranks_model
import ranks_networks
from ranks_networks import Link, Networks
from ranks_sizes import amount, counts, numbers

LINKS = {
    "local": None,
    "tcp": Link(),
    "tcp-1G": Link("1gbit"),
    "tcp-10G": Link("10gbit"),
    "tcp-10G-1ms": Link("10gbit", 1.0),
}
FP32, SUM, ROOT_INFO_BYTES = 4, 0, 4108

def on_the_wire() -> tuple[int, int]:
    """Bytes that this rank's link has sent and received; 0 where it has none."""
    for line in Path("/proc/self/net/dev").read_text().splitlines():
        if line.strip().startswith("eth0:"):
            numbers = line.split(":")[1].split()
            return int(numbers[8]), int(numbers[0])
    return 0, 0


class Rank:
    """One process: a communicator, a stream, two buffers."""

    def __init__(self, ranks: int, rank: int, folder: Path, most: int):
        home = Path(os.environ["OPENACLNN_HOME"]) / "lib64"
        self.acl = ctypes.CDLL(str(home / "libascendcl.so"), ctypes.RTLD_GLOBAL)
        self.hccl = ctypes.CDLL(str(home / "libhccl.so"))
        self.acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self.ranks, self.rank, self.folder = ranks, rank, folder
        self.stream, self.comm = ctypes.c_void_p(), ctypes.c_void_p()
        self.send, self.recv = ctypes.c_void_p(), ctypes.c_void_p()
        self.need(self.acl.aclInit(None))
        self.need(self.acl.aclrtSetDevice(0))
        self.need(self.acl.aclrtCreateStream(ctypes.byref(self.stream)))
        size = ctypes.c_size_t(most)
        for buffer in (self.send, self.recv):
            self.need(self.acl.aclrtMalloc(ctypes.byref(buffer), size, 0))
            self.need(self.acl.aclrtMemset(buffer, size, 0, size))
        self.meet()

    def need(self, code: int) -> None:
        if code != 0:
            raise RuntimeError(f"{code} {self.acl.aclGetRecentErrMsg()}")

    def meet(self) -> None:
        info = ctypes.create_string_buffer(ROOT_INFO_BYTES)
        path = self.folder / "info"
        if self.rank == 0:
            self.need(self.hccl.HcclGetRootInfo(info))
            path.with_suffix(".new").write_bytes(info.raw)
            path.with_suffix(".new").rename(path)
        while not path.exists():
            time.sleep(0.001)
        info.raw = path.read_bytes()
        comm = ctypes.byref(self.comm)
        self.need(self.hccl.HcclCommInitRootInfo(self.ranks, info, self.rank, comm))

    def call(self, collective: str, size: int) -> None:
        count = ctypes.c_uint64(size // ranks_model.ELEMENT)
        send, recv = self.send, self.recv
        words = {
            "AllReduce": (send, recv, count, FP32, SUM),
            "Reduce": (send, recv, count, FP32, SUM, 0),
            "ReduceScatter": (send, recv, count, FP32, SUM),
            "AllGather": (send, recv, count, FP32),
            "AlltoAll": (send, count, FP32, recv, count, FP32),
            "Broadcast": (send, count, FP32, 0),
            "Scatter": (send, recv, count, FP32, 0),
        }[collective]
        self.need(getattr(self.hccl, f"Hccl{collective}")(*words, self.comm, self.stream))
        self.need(self.acl.aclrtSynchronizeStream(self.stream))

    def measure(self, collective: str, size: int, patience: float) -> tuple[float, float]:
        """The median of the times, and the bytes that a call sends or receives."""
        # As many on all ranks: the first few calls say how many fit.
        times = [self.seconds(collective, size) for _ in range(3)]
        calls = min(1000, max(5, self.agree(patience / times[-1])))
        before = on_the_wire()
        times = [self.seconds(collective, size) for _ in range(calls)]
        ways = zip(before, on_the_wire(), strict=True)
        return statistics.median(times), max(after - first for first, after in ways) / calls

    def seconds(self, collective: str, size: int) -> float:
        begin = time.perf_counter()
        self.call(collective, size)
        return time.perf_counter() - begin

    def agree(self, number: float) -> int:
        """Rank 0's, on all."""
        cell = (ctypes.c_float * 1)(number)
        size = ctypes.c_size_t(4)
        self.need(self.acl.aclrtMemcpy(self.send, size, cell, size, 1))
        self.call("Broadcast", 4)
        self.need(self.acl.aclrtMemcpy(cell, size, self.send, size, 2))
        return int(cell[0])


def run_rank(ranks: int, rank: int, folder: Path, chosen: argparse.Namespace) -> None:
    here = Rank(ranks, rank, folder, max(chosen.bytes) * ranks)
    rows = {
        f"{each} {size}": here.measure(each, size, chosen.seconds)
        for each in chosen.collectives
        for size in chosen.bytes
    }
    print(json.dumps(rows))
    here.need(here.hccl.HcclCommDestroy(here.comm))


def start(ranks: int, arguments: list[str], networks: Networks | None) -> list[subprocess.Popen]:
    command = [sys.executable, *sys.orig_argv[1 : sys.orig_argv.index(sys.argv[0]) + 1]]
    variables = {"OPENACLNN_NUM_THREADS": "1", **os.environ}
    if networks:
        variables["UCX_TLS"] = "tcp,self"
    processes = []
    for rank in range(ranks):
        with networks.within(rank) if networks else contextlib.nullcontext():
            place = [*command, *arguments, "--place", f"{ranks},{rank}"]
            processes.append(subprocess.Popen(place, stdout=subprocess.PIPE, env=variables))
    return processes


def measure(
    ranks: int, arguments: list[str], networks: Networks | None
) -> dict[str, tuple[float, float]]:
    """By collective and size, the slowest rank's time and the busiest one's bytes."""
    with tempfile.TemporaryDirectory() as folder:
        processes = start(ranks, [*arguments, "--folder", folder], networks)
        said = [process.communicate()[0] for process in processes]
    for rank, process in enumerate(processes):
        if process.returncode != 0:
            sys.exit(f"rank {rank} of {ranks} has ended with {process.returncode}, expected 0")
    rows = [json.loads(each) for each in said]
    return {key: tuple(map(max, zip(*(row[key] for row in rows), strict=True))) for key in rows[0]}


def cell(key: str, ranks: int, seconds: float, network: ranks_model.Network) -> tuple[str, float]:
    """Of a table, and how many times the model's the time is."""
    if ranks == 1:
        return ranks_model.shown(seconds), 1.0
    collective, size = key.split()
    predicted = ranks_model.simulate(collective, ranks, int(size), network)[0].seconds
    return f"{ranks_model.shown(seconds)} ({ranks_model.shown(predicted)})", seconds / predicted


def wire_of(key: str, ranks: int, carried: float) -> float:
    """Bytes on the busiest rank's link for one of the least."""
    collective, size = key.split()
    return carried / ranks_model.least_bytes(collective, ranks, int(size))


def report(results: dict[int, dict], network: ranks_model.Network) -> Iterator[str]:
    ranks = list(results)
    columns = "".join(f" {count} |" for count in ranks)
    yield f"| collective | bytes |{columns}"
    yield "|---|---:|" + "---:|" * len(ranks)
    ratios = {count: [] for count in ranks}
    for key in results[ranks[0]]:
        collective, size = key.split()
        cells = []
        for count in ranks:
            text, ratio = cell(key, count, results[count][key][0], network)
            cells.append(text)
            ratios[count].append(ratio)
        yield f"| `{collective}` | {amount(int(size))} | {' | '.join(cells)} |"
    yield ""
    for count in (each for each in ranks if each > 1):
        mean = statistics.geometric_mean(ratios[count])
        least, most = min(ratios[count]), max(ratios[count])
        yield f"{count} ranks: {mean:.2f} times the model's ({least:.2f} to {most:.2f})"
    yield from report_wire(results)


def report_wire(results: dict[int, dict]) -> Iterator[str]:
    """Of the largest size, where links have counted it."""
    largest = max(int(key.split()[1]) for key in results[next(iter(results))])
    for count, rows in results.items():
        carried = {
            key.split()[0]: wire_of(key, count, row[1])
            for key, row in rows.items()
            if key.endswith(f" {largest}") and row[1]
        }
        if carried:
            text = ", ".join(f"{each} {times:.2f}" for each, times in carried.items())
            yield f"{count} ranks, bytes on the wire for one of the least: {text}"


def measure_on(name: str, ranks: list[int], arguments: list[str]) -> None:
    link = LINKS[name]
    print(f"\n## {name}\n", flush=True)
    if link and (why := ranks_networks.why_not(link)):
        print(f"LEFT OUT, {why}")
        return
    networks = Networks(max(ranks), link) if link else None
    before = os.getloadavg()[0]
    # Of one rank no network knows.
    counts = [count for count in ranks if count > 1 or not link]
    results = {count: measure(count, arguments, networks) for count in counts}
    print("\n".join(report(results, ranks_model.NETWORKS[name])))
    load = f"load {before:.1f} before, {os.getloadavg()[0]:.1f} after"
    print(f"{os.cpu_count()} processors; {load}", flush=True)
    if networks:
        networks.close()


def some_of(known: Iterable[str]) -> Callable[[str], list[str]]:
    def names(text: str) -> list[str]:
        if unknown := set(text.split(",")) - set(known):
            raise argparse.ArgumentTypeError(f"is {unknown.pop()}, expected {', '.join(known)}")
        return text.split(",")

    return names


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    collectives = some_of(ranks_model.COLLECTIVES)
    add("--collectives", type=collectives, default="AllReduce,AllGather,Broadcast,AlltoAll")
    add("--ranks", type=counts, default="1,2,4,8")
    add("--bytes", type=numbers, default="8,64K,1M,16M")
    add("--networks", type=some_of(LINKS), default=",".join(LINKS), help="some of %(default)s")
    add("--seconds", type=float, default=0.4, help="for one collective of one size")
    add("--place", type=numbers, help=argparse.SUPPRESS)  # of one of the processes
    add("--folder", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main() -> int:
    chosen = parse(sys.argv[1:])
    if chosen.place:
        run_rank(*chosen.place, chosen.folder, chosen)
        return 0
    if any(LINKS[name] for name in chosen.networks) and ranks_networks.why_not() is None:
        ranks_networks.enter()
    for name in chosen.networks:
        measure_on(name, chosen.ranks, sys.argv[1:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
