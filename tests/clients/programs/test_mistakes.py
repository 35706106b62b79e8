# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/mistakes/: each makes one, and is told what it is."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MISTAKES = sorted((ROOT / "examples/mistakes").glob("*.c"))
ENDS_BY = {"device_pointer": -signal.SIGSEGV}


COMPILER = "gcc -std=c99 -Wall -Wextra -Werror".split()
LIBRARIES = ["ascendcl", "nnopbase", "opapi"]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.stem)
def test_mistake(build, mistake, monkeypatch):
    # As `openaclnn run --check full` sets them.
    monkeypatch.setenv("OPENACLNN_CHECK", "full")
    monkeypatch.setenv("OPENACLNN_REPORT_API_ERRORS", "explicit")
    program = build(COMPILER, mistake, LIBRARIES)
    done = subprocess.run(
        [program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60
    )
    # Who called it is told by places in the program, which differ from build to build.
    told = re.sub("^         from .*\n", "", done.stdout, flags=re.M)
    assert done.returncode == ENDS_BY.get(mistake.stem, 0)
    assert re.sub("0x[0-9a-f]+", "0x...", told) == mistake.with_suffix(".out").read_text()


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.stem)
def test_no_mistake_is_called_none(build, mistake):
    command = ["-m", "openaclnn", "run", "--check", "full", "--", build(COMPILER, mistake, LIBRARIES)]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 5, done.stderr
    assert re.search("openaclnn: check summary: [1-9]", done.stderr), done.stderr


def test_each_mistake_is_marked():
    assert len(MISTAKES) >= 10
    assert [each.stem for each in MISTAKES if "/* here" not in each.read_text()] == []
