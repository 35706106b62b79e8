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

from openaclnn import bench, cli, libraries


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
def here(monkeypatch, capsys, tmp_path):
    """Runs the tool in this process, in `tmp_path`, with a bench that takes no time to speak of."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(bench, "ROUNDS", 1)
    monkeypatch.setattr(bench, "_ROUND_SECONDS", 1e-3)
    monkeypatch.setattr(bench, "_working_set", lambda: 1 << 20)

    def run(*arguments) -> Finished:
        monkeypatch.setattr(sys, "argv", ["openaclnn", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return Finished(ended.value.code, *capsys.readouterr())

    return run


def refused(run: Finished, code: int, *parts: str) -> None:
    """The run failed with one line that holds `parts`, and printed nothing else."""
    assert (run.code, run.stdout) == (code, ""), run
    assert run.stderr.startswith("openaclnn: ") and run.stderr.count("\n") == 1, run.stderr
    for part in parts:
        assert part in run.stderr, run.stderr


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
    paragraph = "The cat saw the dog. The dog saw a cat; the end.\n"
    path.write_text(
        "\n".join([paragraph * 30, paragraph, paragraph * 2, paragraph, paragraph * 16])
    )
    return path


def save(path: Path, array: np.ndarray) -> None:
    with open(path, "wb") as file:
        np.save(file, array)
