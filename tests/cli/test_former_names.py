# SPDX-License-Identifier: Apache-2.0
"""Names of an earlier release: they do what they did, and say what they are called now."""

import numpy as np
import pytest
from conftest import run_tool
from worked import BY_NAME

from openaclnn.operators import FORWARDS, GRADIENTS

GRADIENT, FORWARD = GRADIENTS[0].name, FORWARDS[0].name


def hint(former: str, now: str) -> str:
    return f"openaclnn: {former} is {now} now; the next release has the new name alone\n"


@pytest.mark.parametrize(("verb", "name"), [("grad", GRADIENT), ("forward", FORWARD)])
def test_grad_and_forward(here, tmp_path, verb, name):
    worked = BY_NAME[name]
    run = here(verb, name, *worked.arguments(tmp_path), *worked.writes)
    assert run.code == 0
    assert run.stderr == hint(f"openaclnn {verb} {name}", f"openaclnn call {name}")
    for option, expected in worked.outputs.values():
        assert np.array_equal(np.load(tmp_path / f"{option}.npy"), expected)
    assert here("call", name, *worked.arguments(tmp_path), *worked.writes).stdout == run.stdout


def test_gradcheck(here):
    run = here("gradcheck", GRADIENT, "--json")
    now = here("check", GRADIENT, "--derivatives", "--json")
    assert (run.code, run.stdout) == (0, now.stdout) and now.stderr == ""
    assert run.stderr == hint(f"openaclnn gradcheck {GRADIENT}", f"openaclnn check {GRADIENT} --derivatives")


def test_list_of_an_operator(here):
    run = here("list", "--operator", "aclnnAdd")
    assert run.stdout == here("list", "aclnnAdd").stdout
    assert run.stderr == hint("openaclnn list --operator aclnnAdd", "openaclnn list aclnnAdd")


def test_figures_of_the_bench(tmp_path):
    quick = ("bench", "--all", "--quick", "--operator", "embedding", "--threads", "1")
    python = {"OPENACLNN_BENCH_PYTHON": __import__("sys").executable}
    run = run_tool(tmp_path, *quick, "--json", "out.json", **python)
    assert run.code == 0 and hint("--json out.json", "--figures out.json") in run.stderr
    assert run.stdout.startswith("# openaclnn bench") and (tmp_path / "out.json").is_file()
    printed = run_tool(tmp_path, *quick, "--json", **python)
    assert printed.json["format"] == "openaclnn bench" and "--figures" not in printed.stderr


def test_they_are_not_shown(here):
    said = here("--help").stdout
    assert not [name for name in ("grad ", "forward ", "gradcheck") if f"│ {name}" in said]
    assert "gradcheck" not in here("chck").stderr
