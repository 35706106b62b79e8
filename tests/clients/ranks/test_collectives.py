# SPDX-License-Identifier: Apache-2.0
"""torch-npu under torchrun: collectives, messages, DDP and FSDP2, against gloo on the CPU."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("program.py")
CHECKS = PROGRAM.read_text().count("\ndef check_")


def without_ucx():
    try:
        ctypes.CDLL("libucp.so.0")
    except OSError as error:
        return str(error)
    return None


@pytest.mark.parametrize("ranks", [2, 3])
def test_what_ranks_do_is_what_gloo_does(ranks):
    if why := without_ucx():
        print(f"ranks: LEFT OUT, {why}")
        return
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    done = subprocess.run(
        [*launcher, f"--nproc-per-node={ranks}", PROGRAM],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("done ") == CHECKS, done.stdout
