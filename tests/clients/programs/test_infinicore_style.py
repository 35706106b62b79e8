# SPDX-License-Identifier: Apache-2.0
"""Executors made once and run with new addresses on many streams, as InfiniCore does."""

import os
import subprocess
from pathlib import Path

import pytest


@pytest.mark.parametrize("threads", ["1", "4"])
def test_repeatable_executors(build, threads):
    source = Path(__file__).with_name("infinicore_style.cc")
    program = build(["g++"], source, ["ascendcl", "nnopbase", "opapi"])
    environment = os.environ | {"OPENACLNN_NUM_THREADS": threads}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "200 of 200 results right, 8 streams\n"
