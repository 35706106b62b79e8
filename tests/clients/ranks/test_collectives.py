# SPDX-License-Identifier: Apache-2.0
"""torch-npu's ranks: collectives, messages, DDP, FSDP and DTensor, against gloo on the CPU.

Under torchrun, where the bytes go through shared memory, and between networks, over TCP alone.
"""

import ctypes
import functools
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("program.py")
CHECKS = PROGRAM.read_text().count("\ndef check_")
NETWORKS = Path(__file__).resolve().parents[3] / "bench/ranks/ranks_networks.py"


@pytest.fixture(autouse=True)
def ucx():
    try:
        ctypes.CDLL("libucp.so.0")
    except OSError as error:
        pytest.skip(f"LEFT OUT, {error}")


def bits_of(ranks, *command):
    """What the ranks say of the bits that came, each rank once, when all checks are done."""
    done = subprocess.run(
        [sys.executable, *command],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    if "LEFT OUT" in done.stdout:
        pytest.skip(done.stdout.strip())
    assert done.stdout.count("done ") == CHECKS, done.stdout
    said = sorted(re.findall(r"bits of rank (\d+): (\w{64})", done.stdout))
    assert [int(rank) for rank, _ in said] == list(range(ranks)), done.stdout
    return said


def under_torchrun(ranks):
    launcher = ["-m", "torch.distributed.run", "--standalone"]
    return bits_of(ranks, *launcher, f"--nproc-per-node={ranks}", PROGRAM)


once = functools.cache(under_torchrun)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 8])
def test_what_ranks_do_is_what_gloo_does(ranks):
    once(ranks)


def test_another_run_has_the_same_bits():
    assert under_torchrun(3) == once(3)


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_same_between_networks_over_tcp(ranks):
    arguments = ("--ranks", str(ranks), "--each", "--", sys.executable, PROGRAM)
    assert bits_of(ranks, NETWORKS, *arguments) == once(ranks)


DEATH = """
import os, signal, time
import torch, torch_npu
import torch.distributed as dist

dist.init_process_group("hccl")
ones = torch.ones(1000, device="npu")
dist.all_reduce(ones)
torch.npu.synchronize()
if dist.get_rank() == 1:
    os.kill(os.getpid(), signal.SIGKILL)
try:
    dist.all_reduce(ones)
    torch.npu.synchronize()
except RuntimeError as error:
    print("raised:", error, flush=True)
time.sleep(60)
"""


def test_the_watchdog_says_who_has_died():
    """Of torch-npu: it asks for the error of each communicator, and ends the process."""
    ranks = []
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for rank in range(2):
        place = {"RANK": rank, "WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", DEATH],
            env=os.environ | {name: str(value) for name, value in place.items()},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        ranks.append(process)
    said = [process.communicate(timeout=120)[0] for process in ranks]
    assert ranks[1].returncode == -signal.SIGKILL, said[1]
    assert ranks[0].returncode == -signal.SIGABRT, said[0]
    assert re.search("raised: .*507057", said[0]), said[0]
    words = r"watchdog thread terminated .*: rank 1 of communicator \S+ has died"
    assert re.search(words, said[0]), said[0]
