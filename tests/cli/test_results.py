# SPDX-License-Identifier: Apache-2.0
"""Where the results of `openaclnn call` go: printed, files, standard output."""

import io
import os
import subprocess
import sys

import numpy as np
import pytest
from conftest import refused, save, tool_command

A = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(autouse=True)
def operands(tmp_path):
    save(tmp_path / "a.npy", A)


@pytest.mark.parametrize("name", ["aclnnMul", "Mul", "mul"])
def test_a_small_result_is_printed_whole(here, tmp_path, name):
    run = here("call", name, "--self", "[[1, 2.5], [-3, 4]]", "--other", "0.5")
    assert (run.code, run.stdout) == (0, "out float32 (2, 2)\n    [[0.5, 1.25], [-1.5, 2.0]]\n"), run
    again = here("call", name, "--self", run.stdout.splitlines()[1].strip(), "--other", "2.0")
    assert "[[1.0, 2.5], [-3.0, 4.0]]" in again.stdout, "what is printed can be read again"
    assert [each.name for each in tmp_path.iterdir()] == ["a.npy"]


def test_of_a_large_one_the_first_values(here):
    run = here("call", "Abs", "--self", "random:100,3")
    head, values = run.stdout.splitlines()
    assert head == "out float32 (100, 3)" and values.count(",") == 8 and values.endswith(", ...")


def test_other_kinds(here):
    assert "[true, false]" in here("call", "LogicalNot", "--self", "[false, true]").stdout
    assert here("call", "Abs", "--self", "-3").stdout == "out int64 ()\n    3\n"
    assert here("call", "Abs", "--self", "[]:float16").stdout == "out float16 (0,)\n    []\n"


def test_json_says_shape_type_and_first_values(here):
    run = here("call", "Abs", "--self", "random:100,3", "--json")
    (out,) = run.json["outputs"].values()
    assert run.json["operator"] == "aclnnAbs" and run.json["files"] == {}
    assert (out["shape"], out["dtype"], len(out["first"])) == ([100, 3], "float32", 8)
    assert here("call", "Abs", "--self", "[-1.5]", "--json").json["outputs"]["out"]["first"] == [1.5]


def test_an_operator_with_a_room_is_printed_alike(here, files):
    run = here("call", "embedding_dense_backward", *files)
    expected = "[[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [0.0, 0.0, 0.0]]"
    assert run.stdout == f"out float32 (4, 3)\n    {expected}\n", run
    said = here("call", "embedding_dense_backward", *files, "--json").json
    assert said["operator"] == "aclnnEmbeddingDenseBackward" and said["attributes"]["numWeights"] == 4
    assert said["outputs"]["out"]["first"] == [0, 0, 0, 1, 2, 3, 4, 5]


def test_some_in_files_others_printed(here, tmp_path):
    run = here("call", "Aminmax", "--self=a.npy", "--dim=1", "--keep-dim=false", "--min=m.npy")
    assert run.stdout == "m.npy: min float32 (2,)\nmax float32 (2,)\n    [2.0, 5.0]\n", run
    assert np.array_equal(np.load(tmp_path / "m.npy"), [0, 3])


def test_lists_and_what_is_worked_on(here):
    run = here("call", "ForeachAbs", "--x=[-1.0]", "--x=[2.0, -3.0]")
    assert run.stdout == "out.0 float32 (1,)\n    [1.0]\nout.1 float32 (2,)\n    [2.0, 3.0]\n", run
    run = here("call", "InplaceNeg", "--selfRef", "[1, 2]:float16")
    assert run.stdout == "selfRef float16 (2,)\n    [-1.0, -2.0]\n", run
    refused(here("call", "InplaceNeg"), 2, "--selfRef is missing")


@pytest.mark.parametrize("operator", ["aclnnAbs", "conv"])
def test_standard_output_is_an_npy_file(tmp_path, operator):
    """Of a pipe, in which nothing can be sought."""
    if operator == "conv":
        arguments = ("scaled_masked_softmax", "--shape", "1,1,2,32", "--y", "-")
    else:
        arguments = (operator, "--self", "a.npy", "--out", "-")
    command = tool_command("call", *arguments)
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, b"")
    found = np.load(io.BytesIO(ended.stdout))
    assert found.dtype == np.float32 and (operator == "conv" or np.array_equal(found, A))


def test_standard_output_is_refused_where_it_is_taken(here, monkeypatch):
    run = here("call", "Abs", "--self=a.npy", "--out=-", "--json")
    assert run.code == 2 and "where --json prints" in run.json["error"]["message"]
    two = ("call", "Aminmax", "--self=a.npy", "--dim=1", "--keepDim=true", "--min=-", "--max=-")
    refused(here(*two), 2, "expected one for standard output")


def test_a_terminal_gets_no_bytes(tmp_path):
    leader, follower = os.openpty()
    command = tool_command("call", "Abs", "--self", "a.npy", "--out", "-")
    ended = subprocess.run(
        command, cwd=tmp_path, stdout=follower, stderr=subprocess.PIPE, text=True, timeout=60
    )
    os.close(follower)
    os.close(leader)
    assert ended.returncode == 2 and "which is a terminal" in ended.stderr, ended


def test_a_parameter_is_spelled_as_options_are(here):
    run = here("call", "ArgMax", "--self=a.npy", "--dim=1", "--keep-dim", "false")
    assert run.stdout == "out int32 (2,)\n    [2, 2]\n", run
    both = here("call", "ArgMax", "--self=a.npy", "--dim=1", "--keep-dim=false", "--keepDim=true")
    refused(both, 2, "--keepDim is given twice")


def test_help_of_a_room_needs_no_toolkit(tool):
    run = tool("call", "conv_tbc", "--help", OPENACLNN_HOME="/nowhere")
    assert run.code == 0 and "--kernel" in run.stdout and "Example: openaclnn call conv_tbc" in run.stdout
    assert sys.flags.no_site or "--install-completion" not in run.stdout
