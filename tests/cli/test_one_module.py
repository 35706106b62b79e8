# SPDX-License-Identifier: Apache-2.0
"""A module in `operators` is all that Python needs to know an operator: verbs, function, tests.

The package is copied and a module added, that of one operator under another name.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import openaclnn
from openaclnn.native import libraries

NAME = "sample_lookup"
TWIN = "embedding"


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    """A folder with a copy of openaclnn that has one module more."""
    folder = tmp_path_factory.mktemp("package")
    source = Path(openaclnn.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__", "cann")
    operators = shutil.copytree(source, folder / "openaclnn", ignore=ignored) / "operators"
    text = (operators / f"{TWIN}.py").read_text()
    assert text.count(f'name="{TWIN}"') == 1
    (operators / f"{NAME}.py").write_text(text.replace(f'name="{TWIN}"', f'name="{NAME}"'))
    return folder


def python(package: Path, *arguments: str) -> str:
    """What Python prints that finds the copy first, whatever is installed."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(package), *filter(None, sys.path)]),
        "OPENACLNN_HOME": str(libraries.find()),
        "COLUMNS": "200",
    }
    command = [sys.executable, "-S", "-P", *arguments]  # -S: no finder of an editable install
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_it_is_a_function(package):
    program = (
        "import openaclnn, pydoc\n"
        f"print(openaclnn.__file__, *openaclnn.{NAME}([[1.0, 2], [3, 4]], [1]))\n"
        f"assert '{NAME}' in openaclnn.__all__ and '{NAME}' in dir(openaclnn)\n"
        f"pydoc.help(openaclnn.{NAME})"
    )
    said = python(package, "-c", program)
    assert said.startswith(f"{package}/openaclnn/__init__.py [3. 4.]")
    assert f"{NAME}(weight: numpy.ndarray, indices: numpy.ndarray) -> numpy.ndarray" in said
    assert "The rows of `weight`" in said


@pytest.mark.parametrize("verb", ["call", "check", "bench"])
def test_it_is_a_command(package, verb):
    assert verb == "call" or NAME in python(package, "-m", "openaclnn", verb, "--help")
    said = python(package, "-m", "openaclnn", verb, NAME, "--help")
    assert f"Example: openaclnn {verb} {NAME} --weight w.npy --indices i.npy" in said


@pytest.mark.parametrize("file", ["test_operators.py", "test_api.py"])
def test_the_tests_of_every_operator_run_for_it(package, file):
    tests = Path(__file__).with_name(file)
    options = ("-m", "pytest", "-v", "-p", "no:cacheprovider", "--import-mode=prepend")
    said = python(package, *options, "-k", NAME, str(tests))
    passed = set(re.findall(rf"::(\w+)\[.*{NAME}.*\] PASSED", said))
    wanted = {
        "test_operators.py": {
            "test_worked_example",
            "test_check_of_files",
            "test_text_is_an_input",
            "test_arrays_of_no_numbers",
            "test_broken_files",
        },
        "test_api.py": {
            "test_function_and_help",
            "test_example",
            "test_strided_arrays",
            "test_threads",
        },
    }
    assert wanted[file] <= passed, said
