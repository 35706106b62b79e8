# SPDX-License-Identifier: Apache-2.0
"""The language model of examples/train_text.py: gradients, loss curves, equal bits every time."""

import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "examples"))
import train_text

TEXT = (ROOT / "data/alice29.txt").read_bytes()
RUNS, STEPS = 10, 12


@pytest.fixture(autouse=True)
def fp32(product, as_it_comes):
    if product.startswith("Ascend950"):
        pytest.skip("NSA compression is on A2 only; its refusal has a test of its own")
    torch.npu.conv.allow_hf32 = False


def test_gradients_are_those_of_the_cpu():
    assert train_text.compare_gradients(train_text.Npu(), train_text.Cpu(), TEXT)


def test_loss_curves_are_those_of_the_cpu():
    npu, _ = train_text.train(train_text.Npu(), TEXT, 30)
    cpu, _ = train_text.train(train_text.Cpu(), TEXT, 30)
    assert train_text.largest_difference(npu, cpu) <= 1e-3
    assert npu[-1] < npu[0] - 1


def test_every_run_gives_the_same_bits():
    runs = (train_text.train(train_text.Npu(), TEXT, STEPS) for _ in range(RUNS))
    assert len({train_text.bits(*run) for run in runs}) == 1
