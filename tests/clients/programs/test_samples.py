# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/, as the vendor's samples are written: each built and run."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = sorted((ROOT / "examples").glob("*.c"))
# A C compiler, and the plain lines of C++ programs with the old and the newer names.
WAYS = {
    "c": ("gcc -std=c99 -Wall -Wextra -Werror", "ascendcl nnopbase opapi"),
    "plain": ("g++", "ascendcl nnopbase opapi"),
    "newer names": ("g++", "ascendcl nnopbase opapi_math opapi_nn"),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
def test_sample(build, sample, way):
    compiler, names = way
    program = build(compiler.split(), sample, names.split())
    done = subprocess.run([program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == sample.with_suffix(".out").read_text()


def test_every_operator_has_a_sample():
    def called(paths):
        return {
            n for path in paths for n in re.findall(r"(aclnn\w+)GetWork\w+\(", path.read_text())
        }

    rooms = called((ROOT / "src/opapi").glob("*/*/op.cc"))
    assert len(rooms) >= 10
    assert rooms - called(SAMPLES) == set()
