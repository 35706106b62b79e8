# SPDX-License-Identifier: Apache-2.0
"""Every command of README.md, docs/usage.md and docs/clients.md does what the page says, from the text
itself, also those within sentences.

README.zh-CN.md has the same commands (scripts/site/check_translation.py). The lines that build the C
example are run by tests/install/readme_example.sh, the wheel's by `make test-wheel`, and all lines of
README.md in their order, in a new Debian, by `make test-readme`.
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

from openaclnn import AclError
from openaclnn.native import call, libraries, runtime
from openaclnn.operators import embedding_dense_backward

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/install"))
import readme

README = (ROOT / "README.md").read_text("utf-8")
PAGES = [README, *((ROOT / "docs" / name).read_text("utf-8") for name in ("usage.md", "clients.md"))]
TEXT = re.sub(r"^```.*?^```$", "", "\n".join(PAGES), flags=re.M | re.S)
LINES = [re.sub(r"\s+# .*", "", each) for each in re.findall(r"^ {4}(\S.*)$", TEXT, re.M)]
BLOCKS = dict(re.findall(r"^<!-- (\S+) -->\n```\w*\n(.*?)^```$", README, re.M | re.S))
PYTHON = [sys.executable, *(["-S"] if sys.flags.no_site else [])]

TOOL = [each for each in LINES if each.startswith("openaclnn ") and not re.search("train|early", each)]
TRAINING = [each for each in LINES if each.endswith(" python train.py")]
MISTAKE = [each for each in LINES if "early_copy" in each]
MAKE = [each for each in LINES if each.startswith("make ")]
MAKE_WITHIN = sorted(set(re.findall(r"`(make [^`]+)`", TEXT)))
ONE_LINERS = [each for each in LINES if each.startswith("python -c ")]
LIBRARY = [each for each in LINES if re.match(r"import |[\w, ]+ = openaclnn\.", each)]
PIP = [each for each in LINES if each.startswith("pip ")]
# Within sentences; the others that begin so are only spoken of.
WITHIN = [
    "OPENACLNN_CAPTURE=calls openaclnn run -- ./program",
    'eval "$(openaclnn env)"',
    "openaclnn --help",
    "openaclnn --install-completion",
    "openaclnn list",
    "openaclnn call aclnnAdd --help",
    "pkg-config --cflags --libs openaclnn",
    "pytest --npu",
]
SPOKEN_OF = ["openaclnn COMMAND --help", "openaclnn check", "openaclnn run"]
REFUSALS = [each for each in LINES if re.match(r"E[A-Z]\d{4}: ", each)]
# What takes minutes is run on one operator and tiny shapes.
SMALL = {
    "openaclnn bench --all": ["--quick", "--operator", "embedding", "--threads", "1"],
    "openaclnn demo": ["--width", "16"],
}


def test_every_line_is_run_by_one_of_the_tests():
    elsewhere = [
        "python3 -m venv venv && . venv/bin/activate",  # tests/install/first_screen.sh
        "apt-get update && apt-get install -y make",  # tests/install/readme.sh
        '. .venv/bin/activate && eval "$(openaclnn env)"',
        next(each for each in LINES if each.startswith("gcc example.c")),  # readme_example.sh
        "./example",
        *(each for each in LINES if "build/clients" in each or "tests/clients/setup.sh" in each),
    ]
    run_here = TOOL + TRAINING + MAKE + PIP + REFUSALS + LIBRARY + ONE_LINERS + MISTAKE
    assert sorted(run_here + elsewhere) == sorted(LINES)


@pytest.mark.parametrize("name", readme.PAGES)
def test_readme_py_takes_every_step(name):
    found = readme.steps((ROOT / name).read_text("utf-8"))
    lines = re.findall(r"^ {4}(\S.*)$", re.sub(r"^```.*?^```$", "", README, flags=re.M | re.S), re.M)
    assert [each.text for each in found if each.kind == "run"] == [
        re.sub(r"\s+# .*", "", each) for each in lines
    ]
    assert [each.code for each in found if each.code] == [5]
    assert [each.name for each in found if each.kind == "save"] == ["example.c", "train.py"]
    shown = [each.name for each in found if each.kind == "compare"]
    assert shown == [each for each in BLOCKS if each.endswith(".out")]


_STEPS = "    true\n\n    echo 0x12; false   # exit code 1\n\n<!-- a.out -->\n```\n\n0x...\n```\n"


@pytest.mark.parametrize(
    "page, said",
    [
        (_STEPS, []),
        (_STEPS.replace("true", "false"), ["`false` ended with 1, expected 0:\n"]),
        (_STEPS.replace("exit code", "code"), ["`echo 0x12; false` ended with 1, expected 0:\n0x12\n"]),
        (_STEPS.replace("0x...", "0x... more"), ["a.out: `0x... more` was not printed, but:\n0x12\n"]),
    ],
)
def test_readme_py_finds_what_fails(tmp_path, monkeypatch, page, said):
    monkeypatch.setattr(readme, "_HOME", str(tmp_path))
    monkeypatch.setattr(readme, "_STEPS", str(tmp_path))
    todo = readme.steps(page)
    subprocess.run(["bash", "-c", readme.script(todo)], check=False)
    assert readme.judged(todo, tmp_path) == said


def test_the_first_page_is_short():
    assert len(README.split()) < 900


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
    (folder / "data").symlink_to(ROOT / "data")
    shutil.copy("/bin/true", folder / "program")
    gradient = "openaclnn call embedding_dense_backward --grad "
    grad = shlex.split(next(each for each in TOOL if each.startswith(gradient)))[1:]
    run = partial(run_tool, folder)
    for trace in ("t.json", "t-0.json", "t-1.json"):
        assert run(*grad, OPENACLNN_TRACE=trace).code == 0
    captured = run("run", "--", *PYTHON, "-m", "openaclnn", *grad, OPENACLNN_CAPTURE="calls")
    assert captured.code == 0, captured
    bench = ["bench", "--all", *SMALL["openaclnn bench --all"]]
    for name in ("before.json", "after.json"):
        assert run(*bench, "--figures", name).code == 0
    return folder


@pytest.mark.parametrize("line", TOOL)
def test_commands_of_the_tool(folder, line):
    more = next((options for begin, options in SMALL.items() if line.startswith(begin)), [])
    ended = run_tool(folder, *shlex.split(line)[1:], *more)
    assert ended.code == 0, ended
    if line.startswith("openaclnn explain"):
        begin = BLOCKS["explain.out"].partition("[...]")[0].split()
        assert ended.stdout.split()[: len(begin)] == begin
    for option, file in re.findall(r"--(out|y|figures) (\S+)", line):
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


@pytest.mark.parametrize("line", sorted(set(ONE_LINERS)))
def test_one_liners(shell, line):
    ended = shell(line)
    assert (ended.returncode, ended.stdout) == (0, BLOCKS["python.out"]), ended


def test_the_mistake(shell, tmp_path):
    """The lines are those of the example; without the places of code the words are those shown."""
    source = (ROOT / "examples/mistakes/early_copy.c").read_text("utf-8")
    assert all(line.strip() in source for line in BLOCKS["early_copy.c"].splitlines())
    assert BLOCKS["early_copy.out"] == (ROOT / "examples/mistakes/early_copy.out").read_text("utf-8")
    build, run = MISTAKE
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    built = shell(f'eval "$(openaclnn env)"\n{build}')
    assert built.returncode == 0, built
    ended = shell(run)
    said = re.sub(r"^ +from \S+\n", "", re.sub(r"\b0x[0-9a-f]+", "0x...", ended.stderr), flags=re.M)
    assert ended.returncode == 5 and said.startswith(BLOCKS["early_copy.out"]), ended


def test_the_picture(tmp_path):
    """scripts/site/wrong_row.py draws it, with the red row."""
    picture = tmp_path / "wrong_row.svg"
    command = [*PYTHON, ROOT / "scripts/site/wrong_row.py", picture]
    path = {"PYTHONPATH": os.pathsep.join([str(ROOT / "python"), *sys.path])}
    ended = subprocess.run(command, env=os.environ | path, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended
    first = (ROOT / "docs/figures/wrong_row.svg").read_text("utf-8").partition(">")[0]
    assert "Red: outside the bound" in first and picture.read_text("utf-8").startswith(first)


def test_the_figures():
    """Those of the first page are those of the pages that record them."""
    conformance = (ROOT / "CONFORMANCE.md").read_text("utf-8")
    passed = re.search(r"([\d,]+) of ([\d,]+) cases pass", README)
    assert f"{passed[1]} of {passed[2]} cases passed".replace(",", "") in conformance
    alone, preloading = re.search(r"unmodified torch-npu (.*); (.*) need `", README).groups()
    for versions, settings in ((alone, "(?!.*LD_PRELOAD).*"), (preloading, ".*LD_PRELOAD=.*")):
        for version in versions.split(", "):
            row = rf"`torch-npu {re.escape(version)}\.\S+` \|{settings}\| \d+ \| none \|"
            assert re.search(row, conformance), version
    calls, ratio = re.search(r"(\d+) training calls: on average ([\d.]+) times as fast", README).groups()
    performance = (ROOT / "docs/performance.md").read_text("utf-8")
    assert f"| {calls} calls of training through torch-npu against PyTorch on the CPU | {ratio} |" in performance
    support = libraries.load().support
    assert len(support.operators) + len(support.supporting) > int(re.search(r"more than (\d+)", README)[1])


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


@pytest.mark.parametrize("line", MAKE + MAKE_WITHIN)
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
    clients = [each for each in LINES if each.startswith("tests/clients/setup.sh")]
    assert clients == [f"tests/clients/setup.sh {' '.join(_versions(extras['torch'][:2]))}"]
    assert "${1:-dist}" in (ROOT / "scripts/packaging/wheel.sh").read_text()


def _versions(pins: list[str]) -> list[str]:
    return [each.partition("==")[2] for each in pins]


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
        "import openaclnn.native.runtime, openaclnn.native.meta, openaclnn.native.libraries\n"
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
