# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command-line tool share: running it, and files for it to read."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
import started

from openaclnn.tool import bench, cli
from openaclnn.native import libraries


@dataclass(frozen=True)
class Finished:
    """What a run of the tool left behind."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self):
        return json.loads(self.stdout)


def tool_command(*arguments) -> list[str]:
    """The command line of the tool, with the same openaclnn as this process has."""
    site = ["-S"] if sys.flags.no_site else []
    return [sys.executable, *site, "-m", "openaclnn", *map(str, arguments)]


def run_tool(folder: Path, *arguments, **environment) -> Finished:
    """Runs the tool in `folder`; keyword arguments are environment variables."""
    libraries.find()  # these tests need the libraries: fail here, not in each command
    with tempfile.TemporaryDirectory() as said:
        code = _started().run([*map(str, arguments)], folder, _variables(environment), Path(said))
        files = (Path(said) / name for name in ("stdout", "stderr"))
        finished = Finished(code, *(file.read_text() for file in files))
    assert code >= 0, finished  # a signal ended it
    return finished


@cache
def _started() -> started.Tool:
    return started.Tool()


def _variables(changed: dict[str, str]) -> dict[str, str]:
    return {**os.environ, "COLUMNS": "200", **changed}


@pytest.fixture
def tool(tmp_path):
    """Runs the tool in `tmp_path`, in a process of its own."""
    return partial(run_tool, tmp_path)


@pytest.fixture
def new_tool(tmp_path):
    """The same from the start of Python on, for what its imports see."""

    def run(*arguments, **environment) -> Finished:
        variables = _variables(environment)
        command = tool_command(*arguments)
        ended = subprocess.run(
            command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=120
        )
        return Finished(ended.returncode, ended.stdout, ended.stderr)

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
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # as Python begins, not as the tool ends
        return Finished(ended.value.code, *capsys.readouterr())

    return run


def refused(run: Finished, code: int, *parts: str) -> None:
    """The run failed with one line that holds `parts`, and printed nothing else."""
    assert (run.code, run.stdout) == (code, ""), run
    assert run.stderr.startswith("openaclnn: ") and run.stderr.count("\n") == 1, run.stderr
    for part in parts:
        assert part in run.stderr, run.stderr


def findings(run: Finished) -> dict[str, tuple[str, str]]:
    """What `openaclnn doctor --json` has looked at: verdict and detail."""
    return {each["what"]: (each["verdict"], each["detail"]) for each in run.json["findings"]}


@pytest.fixture
def files(tmp_path):
    """The worked example of EmbeddingDenseBackward as files: the options that name them."""
    save(tmp_path / "g.npy", np.arange(1, 7, dtype=np.float32).reshape(2, 3))
    save(tmp_path / "i.npy", np.array([1, 2]))
    return ["--grad", "g.npy", "--indices", "i.npy", "--num-weights", "4", "--padding-idx", "0"]


@pytest.fixture
def book(tmp_path) -> Path:
    """A short text."""
    return write_book(tmp_path)


def write_book(folder: Path) -> Path:
    path = folder / "book.txt"
    paragraph = "The cat saw the dog. The dog saw a cat; the end.\n"
    path.write_text(
        "\n".join([paragraph * 30, paragraph, paragraph * 2, paragraph, paragraph * 16])
    )
    return path


@pytest.fixture(scope="session")
def demo_on_910(tmp_path_factory) -> Finished:
    """The demonstration as the product that lacks the most of what any has."""
    folder = tmp_path_factory.mktemp("demo")
    options = ("--text", write_book(folder), "--width", "16", "--soc", "Ascend910A", "--json")
    return run_tool(folder, "demo", *options)


@pytest.fixture(scope="session")
def runs_on_910(demo_on_910):
    """The dtypes of an operator's rows in it, by the name of the C function."""

    def dtypes(api: str) -> list[str]:
        rows = [each for each in demo_on_910.json["runs"] if each["operator"] == api]
        return [next(iter(each["inputs"].values()))["dtype"] for each in rows]

    return dtypes


def save(path: Path, array: np.ndarray) -> None:
    with open(path, "wb") as file:
        np.save(file, array)


def doubles(*arrays) -> list[np.ndarray]:
    return [np.asarray(each).astype(np.float64) for each in arrays]


def within(got: np.ndarray, expected, relative: float = 0.02) -> bool:
    """Near enough that another formula would be seen; the bound itself is `openaclnn check`'s."""
    expected = np.asarray(expected)
    scale = np.abs(expected).max(initial=1e-30)
    return (
        got.shape == expected.shape
        and np.abs(got.astype(float) - expected).max() < relative * scale
    )


@pytest.fixture(scope="module")
def taken(tmp_path_factory):
    """A gradient's call, captured once for the tests of a module."""
    folder = tmp_path_factory.mktemp("taken")
    program = (
        "import numpy as np, openaclnn\n"
        "grad = np.arange(1, 7, dtype=np.float32).reshape(2, 3)\n"
        "openaclnn.embedding_dense_backward(grad, np.array([1, 2]), 4, 0)"
    )
    command = [sys.executable, "-m", "openaclnn", "run", "--", sys.executable, "-c", program]
    environment = {**os.environ, "OPENACLNN_CAPTURE": str(folder)}
    subprocess.run(command, env=environment, check=True, timeout=60)
    return folder / "000001-aclnnEmbeddingDenseBackward"


@pytest.fixture
def gradient(taken, tmp_path):
    """A copy of it."""
    return shutil.copytree(taken, tmp_path / "gradient")


def change(folder, edit):
    """Edits the call.json of a captured call."""
    document = json.loads((folder / "call.json").read_text())
    edit(document)
    (folder / "call.json").write_text(json.dumps(document))
