# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command-line tool share: running it, and files for it to read."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from openaclnn import libraries


@dataclass(frozen=True)
class Finished:
    """What a run of the tool left behind."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self):
        return json.loads(self.stdout)


@pytest.fixture
def tool(tmp_path):
    """Runs the tool in `tmp_path`; keyword arguments are environment variables."""
    libraries.find()  # these tests need the libraries: fail here, not in each command

    def run(*arguments, **environment) -> Finished:
        finished = subprocess.run(
            [sys.executable, "-m", "openaclnn", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "200", "PYTHONFAULTHANDLER": "1", **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert finished.returncode >= 0, finished  # a signal ended it
        return Finished(finished.returncode, finished.stdout, finished.stderr)

    return run


@pytest.fixture
def files(tmp_path):
    """The worked example of the operator as files: the options that name them."""
    save(tmp_path / "g.npy", np.arange(1, 7, dtype=np.float32).reshape(2, 3))
    save(tmp_path / "i.npy", np.array([1, 2]))
    return ["--grad", "g.npy", "--indices", "i.npy", "--num-weights", "4", "--padding-idx", "0"]


@pytest.fixture
def book(tmp_path) -> Path:
    """A short text."""
    path = tmp_path / "book.txt"
    path.write_text("The cat saw the dog. The dog saw a cat; the end.\n" * 50)
    return path


def save(path: Path, array: np.ndarray) -> None:
    with open(path, "wb") as file:
        np.save(file, array)
