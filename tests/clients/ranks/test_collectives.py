# SPDX-License-Identifier: Apache-2.0
"""torch-npu's ranks: collectives, messages, DDP, FSDP and DTensor, against gloo on the CPU.

Under torchrun, where the bytes go through shared memory, and between networks, over TCP alone.
"""

import ctypes
import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("program.py")
CHECKS = PROGRAM.read_text().count("\ndef check_")
NETWORKS = Path(__file__).resolve().parents[3] / "scripts/ranks_networks.py"


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
