# SPDX-License-Identifier: Apache-2.0
"""One rank of compare.py that calls gloo, by torch.distributed: the same collectives and sizes.

    RANK=0 WORLD_SIZE=2 python gloo.py FOLDER LEAST MOST COLLECTIVES
"""

import os
import statistics
import sys
import time
from collections.abc import Callable

import torch
import torch.distributed as dist

RANK, RANKS = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
BYTES = 4


def send_recv(send: torch.Tensor, recv: torch.Tensor) -> None:
    after, before = (RANK + 1) % RANKS, (RANK - 1) % RANKS
    if RANK % 2 == 0:
        dist.send(send, after)
    dist.recv(recv, before)
    if RANK % 2 == 1:
        dist.send(send, after)


def calls(count: int) -> dict[str, Callable[[], object]]:
    """By name, of as many elements in the larger buffer."""
    share = -(-count // RANKS)
    whole, other = torch.ones(share * RANKS), torch.ones(share * RANKS)
    part = torch.ones(share)
    return {
        "AllReduce": lambda: dist.all_reduce(whole[:count]),
        "ReduceScatter": lambda: dist.reduce_scatter_tensor(part, whole),
        "AllGather": lambda: dist.all_gather_into_tensor(whole, part),
        "Broadcast": lambda: dist.broadcast(whole[:count], RANKS - 1),
        "AlltoAll": lambda: dist.all_to_all_single(other, whole),
        "SendRecv": lambda: send_recv(whole[:count], other[:count]),
    }


def seconds(call: Callable[[], object], size: int) -> float:
    call()
    times = []
    for _ in range(min(200, max(5, (256 << 20) // (size + 1)))):  # as rank.h has it
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def main() -> None:
    folder, least, most, collectives = sys.argv[1:]
    torch.set_num_threads(1)
    store = dist.FileStore(f"{folder}/gloo", RANKS)
    dist.init_process_group("gloo", store=store, rank=RANK, world_size=RANKS)
    sizes = [int(least)]
    while sizes[-1] * 4 < int(most):
        sizes.append(sizes[-1] * 4)
    for name in collectives.split(","):
        for size in [*sizes, int(most)]:
            call = calls(size // BYTES)[name]
            print(f"{name} FP32 - out {size} {seconds(call, size):.9f}", flush=True)
    dist.barrier()
    # Else its threads live when the process ends: "terminate called without an active exception".
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
