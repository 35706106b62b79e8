# SPDX-License-Identifier: Apache-2.0
"""Splits over processes of torch.distributed have the bits of one rank; the example trains."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BITS = Path(__file__).with_name("bits_over_ranks.py")
EXAMPLE = ROOT / "examples/train_text.py"
FAMILIES = {path.stem for path in BITS.with_name("over_ranks").glob("*.py")} - {"__init__", "rank"}


def run_ranks(ranks: int, *command) -> str:
    """What the ranks print, without their labels."""
    launcher = [sys.executable, "-m", "openaclnn", "run", "--ranks", str(ranks), "--"]
    done = subprocess.run(
        [*launcher, sys.executable, "-W", "ignore", *map(str, command)],
        # Ranks that compute on the CPU need not load torch-npu.
        env={**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return re.sub(r"^\[\d+\] ", "", done.stdout, flags=re.M)


@pytest.mark.parametrize(
    ("device", "backend", "ranks"),
    [
        ("cpu", "gloo", 1),
        ("cpu", "gloo", 2),
        ("cpu", "gloo", 5),
        ("npu", "gloo", 3),
        ("npu", "hccl", 1),
        ("npu", "hccl", 3),
    ],
)
def test_bits_of_one_rank(device, backend, ranks):
    said = run_ranks(ranks, BITS, device, backend, *sorted(FAMILIES)).splitlines()
    results = [line for line in said if "torch." in line]
    assert len(results) == ranks * len(FAMILIES) * 3
    assert all(line.endswith(": same") for line in results), said


def test_the_page_s_program(tmp_path):
    page = (ROOT / "docs/distributed-gradients.md").read_text()
    rest = page.split("python rank.py`:")[1].lstrip("\n")
    program = re.search(r"((^    .*\n|^\n)+)", rest, re.M)[1]
    file = tmp_path / "rank.py"
    file.write_text(textwrap.dedent(program) + "print(y[1, 0], dw.sum())\n")
    said = [line for line in run_ranks(4, file).splitlines() if "Gloo" not in line]
    assert sorted(said) == ["1.0 0.0", "1.0 0.0", "1.0 256.0", "1.0 512.0"]


@pytest.mark.parametrize(
    ("device", "backend", "ranks"), [("cpu", "gloo", 2), ("cpu", "gloo", 3), ("npu", "hccl", 2)]
)
@pytest.mark.parametrize("option", [(), ("--vocabulary-parallel",)])
def test_training(device, backend, ranks, option):
    """With every rank's own share of the batch, near one rank's losses, and alike on all ranks."""
    options = ("--steps", 8, "--device", device, "--backend", backend, *option)
    said = run_ranks(ranks, EXAMPLE, "--ranks", ranks, *options)
    assert re.search(rf"{ranks} ranks: loss [\d.]+ -> [\d.]+", said), said
    assert "the same weights on all ranks" in said
    assert float(re.search(r"differ by at most (\S+) from one rank", said)[1]) <= 1e-3
