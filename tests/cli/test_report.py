# SPDX-License-Identifier: Apache-2.0
"""Tables fit the width that there is, and numbers in them stay whole."""

import pytest
import typer.main

from openaclnn.tool import cli, report
from openaclnn.operators import GRADIENTS

VARIABLE = "COLUMNS"


@pytest.mark.parametrize(
    "said, width", [("80", 80), ("200", 200), (None, 140), ("", 140), ("0", 140), ("wide", 140)]
)
def test_columns_are_honoured_without_a_terminal(monkeypatch, said, width):
    monkeypatch.delenv(VARIABLE, raising=False)
    if said is not None:
        monkeypatch.setenv(VARIABLE, said)
    assert report.console().width == width


@pytest.mark.parametrize("operator", [each.name for each in GRADIENTS])
def test_derivatives_fit_eighty_columns(here, monkeypatch, operator):
    monkeypatch.setenv(VARIABLE, "80")
    problems = here("check", operator, "--derivatives", "--json").json["problems"]
    lines = here("check", operator, "--derivatives").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    rows = [line.split() for line in lines if line.split()[-1:] == ["ok"]]
    expected = [row for problem in problems for row in problem["derivatives"]]
    for found, row in zip(rows, expected, strict=True):
        numbers = (row["reference_ratio"], row["operator_ratio"], row["accuracy"]["bound_ratio"])
        tried = str(row["tried"])
        assert found[-6:] == [row["output"], tried, *map(report.number, numbers), "ok"]
    assert any("verdict" in line for line in lines)


def commands(command, name=""):
    """(name, command) of all that the tool does."""
    if hasattr(command, "commands"):
        for each, inner in command.commands.items():
            yield from commands(inner, f"{name} {each}".strip())
    else:
        yield name, command


def test_every_command_but_run_prints_json():
    every = dict(commands(typer.main.get_command(cli.app)))
    options = {name: {o for p in each.params for o in p.opts} for name, each in every.items()}
    assert [name for name in options if "--json" not in options[name]] == ["run"]
