# SPDX-License-Identifier: Apache-2.0
"""The inputs that `make fuzz` has found for the readers of files, without a fuzzer."""

import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parents[1] / "fuzz"
sys.path.append(str(FUZZ))

import readers


@pytest.mark.parametrize("target", readers.TARGETS)
def test_corpus(target, tmp_path):
    inputs = readers.seeds(FUZZ / "corpus" / f"{target}.txt")
    assert inputs
    for data in inputs:
        readers.attempt(target, data, tmp_path)
