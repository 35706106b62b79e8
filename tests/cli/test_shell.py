# SPDX-License-Identifier: Apache-2.0
"""The tool among other commands: readers that go away, and what a program is started with."""

import os
import signal
import subprocess

import pytest
from conftest import Finished, tool_command

PIPE = f"{' '.join(tool_command('list'))} | head -n 1"


@pytest.mark.parametrize("arguments", [("list",), ("list", "--json"), ("--help",)])
def test_a_reader_that_is_gone_ends_it_quietly(arguments):
    process = subprocess.Popen(tool_command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert (process.stderr.read(), process.wait(60)) == (b"", -signal.SIGPIPE)


def test_head_gets_its_lines(tool):
    first = tool("list", COLUMNS="100").stdout.splitlines(keepends=True)[0]
    assert first.startswith("Products")
    variables = {**os.environ, "COLUMNS": "100"}
    ended = subprocess.run(
        ["bash", "-c", PIPE], env=variables, capture_output=True, text=True, timeout=60
    )
    assert Finished(ended.returncode, ended.stdout, ended.stderr) == Finished(0, first, "")


def test_programs_are_started_with_sigpipe_as_it_is_in_a_shell(tool):
    said = tool("run", "--", "sh", "-c", "grep SigIgn /proc/self/status").stdout
    assert not int(said.split()[1], 16) >> signal.SIGPIPE - 1 & 1, said


def test_no_color_and_no_terminal_mean_no_escapes(tool):
    for run in (tool("list", NO_COLOR="1"), tool("doctor"), tool("--help")):
        assert "\x1b" not in run.stdout
    assert "\x1b[3" not in tool("doctor", NO_COLOR="1", FORCE_COLOR="1").stdout


def test_a_shell_completes_names(tool):
    typed = {"COMP_WORDS": "openaclnn ch", "COMP_CWORD": "1"}
    run = tool(_OPENACLNN_COMPLETE="complete_bash", **typed)
    assert run.stdout.split() == ["check"], run


def test_an_interrupt_of_the_imports_is_quiet(new_tool, tmp_path):
    interrupt = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "typer.py").write_text(interrupt)  # found first, as it lies in the folder
    run = new_tool("list")
    assert (run.code, run.stdout, run.stderr) == (130, "", "")
