# SPDX-License-Identifier: Apache-2.0
"""`openaclnn bench --all` and `--compare`: what they write, print and refuse. No time is judged."""

import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import refused, run_tool, tool_command

from openaclnn.benchmark import cases, document, row
from openaclnn.errors import ExitCode

NAMES = sorted({each.operator for each in cases.benches()})
QUICK = ("bench", "--all", "--quick", "--operator", NAMES[0], "--threads", "1")
PYTHON = {"OPENACLNN_BENCH_PYTHON": sys.executable}  # that of the tests: it has no peers


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The document and the tables of a quick run."""
    folder = tmp_path_factory.mktemp("bench")
    run = run_tool(folder, *QUICK, "--figures", "out.json", "--markdown", "out\n.md", **PYTHON)
    assert run.code == 0 and run.stdout == "out\\n.md: the tables\n", run
    return document.read(folder / "out.json"), (folder / "out\n.md").read_text()


def test_a_run_has_all_that_its_readers_need(found):
    written, _ = found
    assert written["machine"]["processors"] >= 1 and written["versions"]["openaclnn"]
    assert written["quiet"]["quick"] and len(written["quiet"]["load"]) == 3
    (roofs,) = written["roofs"]
    assert roofs["threads"] == 1 and roofs["read"] > 0 and roofs["triad"] > 0
    (bench,) = cases.benches([NAMES[0]])
    (tiny,) = (each for each in bench.cases if each.kind == cases.TINY)
    got = [(each["dtype"], each["state"]) for each in written["rows"]]
    assert got == [(dtype, state) for dtype in tiny.dtypes for state in ("cold", "warm")]
    for each in written["rows"]:
        assert each["times"][row.OURS]["calls"] == 2 and each["times"][row.OURS]["median"] > 0
        assert each["attempts"] >= 1
        assert each["state"] == "warm" or each["roof_share"] > 0
        assert each["counts"] == (each["why_not"] == "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_was_measured_before_ctrl_c_is_written(number, tmp_path):
    run = subprocess.Popen(
        tool_command(*QUICK, "--figures", "out.json"),
        cwd=tmp_path,
        env=os.environ | PYTHON,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not run.stderr.readline().startswith(NAMES[0]):  # where others compute, that comes first
        assert run.poll() is None
    run.send_signal(number)
    out, _ = run.communicate(timeout=60)
    assert run.returncode == ExitCode.RUNTIME
    ended = {"what": "operators", "threads": 1, "code": -number}
    written = document.read(tmp_path / "out.json")
    assert written["failed"] == [ended] and written["rows"][0]["operator"] == NAMES[0]
    assert f"FAILED: operators on 1 threads ended with {-number}." in out


def test_missing_peers_are_named(found):
    written, text = found
    missing = {each["peer"] for each in written["missing"]}
    for peer in ("torch", "jax"):
        assert (peer in missing) == (find_spec(peer) is None)
        assert (f"Missing: {peer} (" in text) == (peer in missing)


def test_the_tables_name_every_row(found):
    written, text = found
    assert text.startswith("# openaclnn bench\n")
    assert "A quick run: its figures say nothing." in text
    heading = text.split(f"## {NAMES[0]}\n")[1]
    assert heading.count("| tiny ") == len(written["rows"])
    assert "## The roofs" in text and "## Geometric means" in text


def test_plots_need_matplotlib(here, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setenv("OPENACLNN_BENCH_PYTHON", str(python))
    refused(here(*QUICK, "--plots", "plots"), 4, f"{python} has no matplotlib", "bench/setup.sh")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ((), "expected an operator, --all, --walk, --drawn, or --compare"),
        (("--all", "--compare", "a", "b"), "expected an operator, --all, --walk, --drawn, or --compare"),
        (("--all", "--operator", "nothing"), "no operator 'nothing', expected one of "),
        (("--all", "--threads", "two"), "--threads is 'two'"),
        (("--all", "--threads", "0"), "--threads has 0"),
        (("--all", "--figures", "nowhere/out.json"), "nowhere/out.json: no folder nowhere"),
        (("--compare", "a.json", "b.json"), "a.json: No such file"),
    ],
)
def test_refusals(here, arguments, part):
    refused(here("bench", *arguments), 2, part)


def test_two_runs_are_compared(found, tmp_path, here):
    document.write(found[0], tmp_path / "a.json")
    run = here("bench", "--compare", "a.json", "a.json")
    assert run.code == 0 and f"{len(found[0]['rows'])} rows in both" in run.stdout
    assert "1.00" in run.stdout


def test_the_cost_of_the_checks_is_a_ratio_of_each_row():
    script = Path(__file__).resolve().parents[2] / "bench/check_cost.py"
    options = [each for each in QUICK if each not in ("bench", "--all")]
    site = ["-S"] if sys.flags.no_site else []
    done = subprocess.run(
        [sys.executable, *site, script, *options],
        env={**os.environ, **PYTHON},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "| row | off, us | fast | full | off again |"
    assert len(lines) > 6 and all(line.count("|") == 6 for line in lines)
    assert lines[2].startswith(f"| {NAMES[0]} tiny ")
    assert lines[-4].startswith("| geometric mean, cold |")
    assert lines[-1].startswith("| median, warm |")
