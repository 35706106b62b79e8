# SPDX-License-Identifier: Apache-2.0
"""The site has an example of every supporting operator, which is what the functions give."""

import json
import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import generate_help_examples
import numpy as np
import operator_traffic
import pytest
import record_examples
import records
from operator_records import read_topics

from openaclnn.tool import any_operator, operator_help, results
from openaclnn.native import declared, libraries
from openaclnn import ops
from openaclnn.files import tensor_files
from openaclnn.dtypes import BFLOAT16
from openaclnn.operators import OPERATORS

EXAMPLES = record_examples.examples()
HEADERS = cache(declared.operators)


# Heads of 64 and 192 elements and caches are too long to be printed.
WITHOUT = {
    "aclnnNsaCompressWithCache",
    "aclnnNsaSelectedAttentionGrad",
}


def test_every_operator_has_one():
    assert EXAMPLES.keys() == {each.api for each in records.load()} - WITHOUT


def parts(text: str) -> tuple[str, str]:
    """The call, and what stands below it."""
    lines = text.splitlines()
    typed = [line[4:] for line in lines if line.startswith((">>> ", "... "))]
    return "\n".join(typed), "\n".join(lines[len(typed) :])


WHOLE = [api for api, each in EXAMPLES.items() if "..." not in parts(each.python)[1]]


@pytest.mark.parametrize("api", WHOLE)
def test_its_call_gives_what_stands_below_it(api):
    call, given = parts(EXAMPLES[api].python)
    names = {**vars(np), "bfloat16": BFLOAT16}
    expected = [eval(each, names) for each in re.split(r"\n(?=array\()", given)]
    got = record_examples.arrays([eval(call, {"np": np, "ops": ops})])
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6, rtol=1e-6)


def test_its_bytes_are_those_of_a_trace(tmp_path):
    """At most, where a record leaves open what is touched; a result may be shorter than its room."""
    calls = [parts(each.python)[0] for each in EXAMPLES.values()]
    program = "import numpy as np\nfrom openaclnn import ops\n" + "\n".join(calls)
    trace = tmp_path / "t.json"
    variables = {**os.environ, "OPENACLNN_TRACE": str(trace)}
    subprocess.run([sys.executable, "-"], input=program, text=True, env=variables, check=True)
    events = json.loads(trace.read_text())
    traced = {each["name"]: each["args"] for each in events if each.get("cat") == "task"}
    operators = {each.api: each for topic in read_topics() for each in topic.operators}
    for api, each in EXAMPLES.items():
        read, written = traced[api]["bytes_read"], traced[api]["bytes_written"]
        if operator_traffic.may_be_less(operators[api]):
            found = any(one.how == "part" for one in operator_traffic.written(operators[api]))
            assert read <= each.bytes_read and (written <= each.bytes_written or found), api
        else:
            assert (read, written) == (each.bytes_read, each.bytes_written), api


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where files go; headers are read once, where a command reads them each time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(declared, "operators", HEADERS)
    return tmp_path


def loaded(path, output: str) -> np.ndarray:
    name = f":{output}" if tensor_files.takes_several(path) else ""
    return tensor_files.load(f"{path}{name}", output)


@pytest.mark.parametrize("api", EXAMPLES)
def test_its_command_gives_the_same(api, folder):
    """The same numbers, or where they are drawn results of the same shapes and types."""
    program, verb, name, *options = shlex.split(EXAMPLES[api].command.replace("\\\n", ""))
    assert (program, verb, name) == ("openaclnn", "call", api)
    call, _ = parts(EXAMPLES[api].python)
    expected = record_examples.arrays([eval(call, {"np": np, "ops": ops})])
    called = any_operator.call_by_name(api, options)
    results.leave({}, called.found, called.files, json=False)
    files = called.files
    single_first = sorted(files, key=lambda output: "." in output)
    got = [loaded(files[output], output) for output in single_first]
    for one, other in zip(got, expected, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        if "random:" not in EXAMPLES[api].command:
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("api", [*EXAMPLES][::60])
def test_its_command_runs_as_it_is_typed(api, folder):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ended = subprocess.run(
        ["bash", "-ec", EXAMPLES[api].command], env={**os.environ, "PATH": path}, capture_output=True
    )
    assert ended.returncode == 0 and any(folder.iterdir()), ended


def test_those_of_the_help_are_these():
    assert generate_help_examples.text(EXAMPLES) == generate_help_examples.FILE.read_text("utf-8")


@pytest.mark.parametrize("api", [*EXAMPLES, *(each.function.api for each in OPERATORS)])
def test_the_example_of_its_help_runs(api, folder):
    """As it is printed, with no file there."""
    said = operator_help.text(api, HEADERS(libraries.find() / "include")[api], width=10_000)
    (line,) = re.findall(r"^Example: (.*)$", said, re.M)
    program, verb, name, *options = shlex.split(line)
    assert (program, verb, name) == ("openaclnn", "call", api)
    assert any_operator.call_by_name(api, options).found


def test_none_is_long():
    lines = [line for each in EXAMPLES.values() for line in each.markdown.splitlines()]
    assert len(lines) / len(EXAMPLES) < 16
