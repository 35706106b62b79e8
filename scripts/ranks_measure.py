#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures collectives between processes of this machine, beside what scripts/ranks_model.py says.

    OPENACLNN_HOME=build/install scripts/ranks_measure.py [--ranks 1,2,4,8] [--bytes 8,64K,16M]

A time is that of a call and its synchronise, the median of a rank's, on the slowest rank; the
machine's load before and after stands below the table.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ranks_model

FP32, SUM, ROOT_INFO_BYTES = 4, 0, 4108
SECONDS = 0.4  # for one collective of one size


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

    def median(self, collective: str, size: int) -> float:
        times = []
        # As many on all ranks: the first few calls say how many fit.
        for _ in range(3):
            begin = time.perf_counter()
            self.call(collective, size)
            times.append(time.perf_counter() - begin)
        for _ in range(min(1000, max(5, self.agree(SECONDS / times[-1])))):
            begin = time.perf_counter()
            self.call(collective, size)
            times.append(time.perf_counter() - begin)
        return statistics.median(times[3:])

    def agree(self, number: float) -> int:
        """Rank 0's, on all."""
        cell = (ctypes.c_float * 1)(number)
        size = ctypes.c_size_t(4)
        self.need(self.acl.aclrtMemcpy(self.send, size, cell, size, 1))
        self.call("Broadcast", 4)
        self.need(self.acl.aclrtMemcpy(cell, size, self.send, size, 2))
        return int(cell[0])


def run_rank(ranks: int, rank: int, folder: Path, collectives: list[str], sizes: list[int]) -> None:
    here = Rank(ranks, rank, folder, max(sizes) * ranks)
    rows = {f"{each} {size}": here.median(each, size) for each in collectives for size in sizes}
    print(json.dumps(rows))
    here.need(here.hccl.HcclCommDestroy(here.comm))


def measure(ranks: int, arguments: list[str]) -> dict[str, float]:
    """By collective and size, the slowest rank's."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, *sys.orig_argv[1 : sys.orig_argv.index(sys.argv[0]) + 1]]
        variables = {"OPENACLNN_NUM_THREADS": "1", **os.environ}
        processes = [
            subprocess.Popen(
                [*command, *arguments, "--place", f"{ranks},{rank},{folder}"],
                stdout=subprocess.PIPE,
                env=variables,
            )
            for rank in range(ranks)
        ]
        rows = [json.loads(process.communicate()[0]) for process in processes]
    return {key: max(row[key] for row in rows) for key in rows[0]}


def row_of(key: str, ranks: int, seconds: float, network: ranks_model.Network) -> str:
    collective, size = key.split()
    row = f"| {collective} | {int(size):,} | {ranks} | {ranks_model.shown(seconds)} |"
    if ranks == 1:
        return f"{row} - | - |"
    predicted = ranks_model.simulate(collective, ranks, int(size), network)[0].seconds
    return f"{row} {ranks_model.shown(predicted)} | {seconds / predicted:.2f} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--collectives", default="AllReduce,AllGather,Broadcast,AlltoAll")
    parser.add_argument("--ranks", default="1,2,4,8")
    parser.add_argument("--bytes", default="8,64K,1M,16M")
    parser.add_argument("--network", choices=ranks_model.NETWORKS, default="local")
    parser.add_argument("--place", help=argparse.SUPPRESS)  # of one of the processes
    chosen = parser.parse_args()
    collectives = chosen.collectives.split(",")
    sizes = [ranks_model.number(each) for each in chosen.bytes.split(",")]
    if chosen.place:
        ranks, rank, folder = chosen.place.split(",")
        run_rank(int(ranks), int(rank), Path(folder), collectives, sizes)
        return 0
    network = ranks_model.NETWORKS[chosen.network]
    before = os.getloadavg()[0]
    print("| collective | bytes | ranks | measured | predicted | measured/predicted |")
    print("|---|---:|---:|---:|---:|---:|")
    for ranks in (int(each) for each in chosen.ranks.split(",")):
        for key, seconds in measure(ranks, sys.argv[1:]).items():
            print(row_of(key, ranks, seconds, network))
    load = f"load {before:.1f} before, {os.getloadavg()[0]:.1f} after"
    print(f"\n{os.cpu_count()} processors; {load}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
