# SPDX-License-Identifier: Apache-2.0
"""Every command of README.md does what it says, from the text itself, also those within sentences.

README.zh-CN.md has the same commands (scripts/check_translation.py). The lines that build the C
example are run by tests/install/readme_example.sh, the wheel's by `make test-wheel`.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from conftest import run_tool, save, write_book

from openaclnn import AclError, call, libraries, runtime
from openaclnn.operators import embedding_dense_backward

ROOT = Path(__file__).resolve().parents[2]
TEXT = re.sub(r"^```.*?^```$", "", (ROOT / "README.md").read_text("utf-8"), flags=re.M | re.S)
LINES = [re.sub(r"\s+# .*", "", each) for each in re.findall(r"^ {4}(\S.*)$", TEXT, re.M)]
PYTHON = [sys.executable, *(["-S"] if sys.flags.no_site else [])]

TOOL = [each for each in LINES if each.startswith("openaclnn ") and "train.py" not in each]
TRAINING = [each for each in LINES if each.endswith(" python train.py")]
MAKE = [each for each in LINES if each.startswith("make ")]
ONE_LINERS = [each for each in LINES if each.startswith("python -c ")]
LIBRARY = [each for each in LINES if re.match(r"import |[\w, ]+ = openaclnn\.", each)]
PIP = [each for each in LINES if each.startswith("pip ")]
# Within sentences; the others that begin so are only spoken of.
WITHIN = [
    "OPENACLNN_CAPTURE=calls openaclnn run -- ./program",
    'eval "$(openaclnn env)"',
    "openaclnn --install-completion",
    "openaclnn env",
    "openaclnn call aclnnAdd --help",
    "pkg-config --cflags --libs openaclnn",
    "pytest --npu",
]
SPOKEN_OF = ["openaclnn run", "openaclnn run --check"]
REFUSALS = [each for each in LINES if re.match(r"E[A-Z]\d{4}: ", each)]
# What takes minutes is run on one operator and tiny shapes.
SMALL = {
    "openaclnn bench --all": ["--quick", "--operator", "embedding", "--threads", "1"],
    "openaclnn demo": ["--width", "16"],
}


def test_every_line_is_run_by_one_of_the_tests():
    elsewhere = [
        "python3 -m venv venv && . venv/bin/activate",  # tests/install/first_screen.sh
        "apt-get install git make ca-certificates",  # what a clone and its Makefile need
        ". $HOME/openaclnn/set_env.sh",  # tests/install/readme_example.sh
        next(each for each in LINES if each.startswith("gcc ")),
        "./example",
    ]
    assert sorted(TOOL + TRAINING + MAKE + PIP + REFUSALS + elsewhere + LIBRARY + ONE_LINERS) == sorted(LINES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """What the commands read."""
    folder = tmp_path_factory.mktemp("readme")
    random = np.random.default_rng(0)
    save(folder / "g.npy", random.standard_normal((50, 8), np.float32))
    save(folder / "i.npy", random.integers(0, 1000, 50))
    save(folder / "x.npy", random.standard_normal((2, 3, 8, 8), np.float32))
    save(folder / "mask.npy", random.random((2, 1, 8, 8)) < 0.2)
    write_book(folder)
    shutil.copy("/bin/true", folder / "program")
    grad = shlex.split(next(each for each in TOOL if " grad " in each))[1:]
    run = partial(run_tool, folder)
    for trace in ("t.json", "t-0.json", "t-1.json"):
        assert run(*grad, OPENACLNN_TRACE=trace).code == 0
    captured = run("run", "--", *PYTHON, "-m", "openaclnn", *grad, OPENACLNN_CAPTURE="calls")
    assert captured.code == 0, captured
    bench = ["bench", "--all", *SMALL["openaclnn bench --all"]]
    for name in ("before.json", "after.json"):
        assert run(*bench, "--json", name).code == 0
    return folder


@pytest.mark.parametrize("line", TOOL)
def test_commands_of_the_tool(folder, line):
    more = next((options for begin, options in SMALL.items() if line.startswith(begin)), [])
    ended = run_tool(folder, *shlex.split(line)[1:], *more)
    assert ended.code == 0, ended
    for option, file in re.findall(r"--(out|y|json) (\S+)", line):
        assert (folder / file).stat().st_size > 0, option


@pytest.fixture
def shell(tmp_path):
    """Runs a line in a folder with a program, a training and a test, where names are found."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, module in (("openaclnn", "-m openaclnn"), ("pytest", "-m pytest"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec {shlex.join(PYTHON)} {module} "$@"\n')
        (programs / name).chmod(0o755)
    shutil.copy("/bin/true", tmp_path / "program")
    (tmp_path / "train.py").write_text(
        "import ctypes, os, pathlib\n"
        "ctypes.CDLL('libascendcl.so')\n"
        "pathlib.Path('trained-' + os.environ.get('RANK', 'alone')).touch()\n"
    )
    (tmp_path / "test_it.py").write_text(
        "import ctypes, pytest\n"
        "@pytest.mark.npu(torch=False)\n"
        "def test_it(): ctypes.CDLL('libopapi.so')\n"
    )
    variables = {
        **os.environ,
        "HOME": str(tmp_path),
        "OPENACLNN_HOME": str(libraries.find().resolve()),
        "PATH": f"{programs}:{os.environ['PATH']}",
    }

    def run(line: str) -> subprocess.CompletedProcess:
        # The last command would replace the shell, for which --install-completion looks.
        command = ["bash", "-euc", f"{line}\n:"]
        return subprocess.run(
            command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=120
        )

    return run


@pytest.mark.parametrize("line", TRAINING)
def test_trainings(shell, tmp_path, line):
    ended = shell(line)
    assert ended.returncode == 0, ended
    ranks = re.search(r"--ranks (\d+)", line)
    names = [str(rank) for rank in range(int(ranks[1]))] if ranks else ["alone"]
    assert {each.name for each in tmp_path.glob("trained-*")} == {f"trained-{each}" for each in names}


@pytest.mark.parametrize("line", ONE_LINERS)
def test_one_liners(shell, line):
    ended = shell(line)
    assert (ended.returncode, ended.stdout) == (0, "[4. 6.]\n"), ended


def test_commands_within_sentences_are_these():
    prose = re.sub(r"^ {4}.*$", "", TEXT, flags=re.M)
    named = re.findall(r"`((?:\w+=\S+ )?(?:eval|openaclnn|pkg-config|pytest) [^`]+)`", prose)
    assert set(named) == {*WITHIN, *SPOKEN_OF}


@pytest.mark.parametrize("line", WITHIN)
def test_commands_within_sentences(shell, line):
    """What they leave is looked at by their own tests."""
    ended = shell(f'eval "$(openaclnn env)"\n{line}' if line.startswith("pkg-config") else line)
    assert ended.returncode == 0, ended
    if line.startswith("pkg-config"):
        assert "-lopapi" in ended.stdout
    if line.startswith("pytest"):
        assert "1 passed" in ended.stdout, ended


@pytest.mark.parametrize("line", MAKE)
def test_targets_exist(line):
    command = ["make", "-n", *shlex.split(line)[1:]]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0 and ended.stdout, ended


def test_packages_are_those_of_the_project():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {word for line in PIP for word in line.split() if "==" in word}
    assert named and named <= {*extras["torch"], *extras["mindspore"]}
    client = (ROOT / "tests/clients/mindspore.py").read_text()
    assert f'VERSION = "{extras["mindspore"][0].partition("==")[2]}"' in client
    assert {"pip install .", "pip install dist/openaclnn-*$(uname -m).whl"} <= set(PIP)
    assert "${1:-dist}" in (ROOT / "scripts/wheel.sh").read_text()


def test_refusals_have_these_words():
    found = []
    problem = embedding_dense_backward.problem(np.ones((2, 3), np.float32), np.array([1, 2]), 4, 0)
    wide = replace(problem, outputs={"out": ((4, 5), np.dtype(np.float32))})
    outside = replace(problem, inputs={**problem.inputs, "indices": np.array([1, 7])})
    for each in (wide, outside):
        with pytest.raises(AclError) as raised:
            call.run(runtime.start(), embedding_dense_backward.FUNCTION, each)
        found.append(str(raised.value))
    assert found == REFUSALS


def test_python():
    """From `import openaclnn` on, in a process that has imported nothing of it."""
    program = (
        "import sys, numpy as np\n"
        "random = np.random.default_rng(0)\n"
        "x = random.standard_normal((272, 2, 16)).astype(np.float16)\n"
        "w = random.standard_normal((32, 2)).astype(np.float16)\n"
        "g = random.standard_normal((15, 2, 16)).astype(np.float16)\n"
        "assert not [each for each in sys.modules if each.startswith('openaclnn')]\n"
        + "\n".join(LIBRARY)
        + "\nprint(dx.shape, dw.shape, np.array_equal(z, x + x))\n"
    )
    ended = subprocess.run([*PYTHON, "-c", program], capture_output=True, text=True)
    assert ended.stdout == "(272, 2, 16) (32, 2) True\n", ended


def test_the_library_needs_numpy_alone(tmp_path):
    """A training script that imports openaclnn has none of what the command line needs."""
    (tmp_path / "hide.py").write_text(
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.split('.')[0] in ('typer', 'rich', 'ml_dtypes', 'pydantic', 'click'):\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
        "import numpy as np, openaclnn\n"
        "for name in openaclnn.__all__: getattr(openaclnn, name)\n"
        "for name in dir(openaclnn.ops): getattr(openaclnn.ops, name)\n"
        "import openaclnn.runtime, openaclnn.meta, openaclnn.libraries\n"
        "print(openaclnn.embedding(np.eye(3, dtype=np.float32), [2, 0]).tolist())\n"
        "print(openaclnn.ops.add([1.0], [2.0], 1).tolist())\n"
        "try: openaclnn.dtypes.parse('bfloat16')\n"
        "except openaclnn.InputError as error: print(error)\n"
    )
    ended = subprocess.run(
        [*PYTHON, "hide.py"], cwd=tmp_path, env=os.environ, capture_output=True, text=True
    )
    assert ended.stdout == (
        "[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]\n[3.0]\n"
        "dtype bfloat16 needs the Python package ml_dtypes, which is not here\n"
    ), ended
