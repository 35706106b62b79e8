# SPDX-License-Identifier: Apache-2.0
"""What is outside its bound is red in a terminal, and nothing is where all is well."""

import numpy as np
import pytest

RED = "\x1b[1;31m"
CHECK = ("check", "embedding_dense_backward", "--shape", "9,4,3")


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_check(here, tmp_path):
    call = ("call", "embedding_dense_backward", "--shape", "9,4,3", "--out", "out.npy")
    assert here(*call).code == 0
    assert RED not in here(*CHECK, "--out", "out.npy").stdout
    out = np.load(tmp_path / "out.npy")
    out[2, 1] += 1
    np.save(tmp_path / "out.npy", out)
    run = here(*CHECK, "--out", "out.npy")
    red = [line for line in run.stdout.splitlines() if RED in line]
    assert run.code == 1 and len(red) == 3, run
    for line, word in zip(red, ("OUTSIDE", "elements outside", "[2, 1]"), strict=True):
        assert word in line


def test_derivatives(here, monkeypatch):
    assert RED not in here(*CHECK[:2], "--derivatives").stdout
    monkeypatch.setattr("openaclnn.gradcheck.Derivation.ok", False)
    assert RED in here(*CHECK[:2], "--derivatives").stdout
