# SPDX-License-Identifier: Apache-2.0
"""With --json what ends the tool is a JSON object as well, with the exit code that it has."""

import pytest
from conftest import refused


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (("call", "Abs", "--self", "none.npy"), 2, "none.npy: No such file"),
        (("call", "Softmx", "--self", "none.npy"), 2, "did you mean"),
        (("check", "embedding", "--frobnicate"), 2, "--frobnicate"),
        (("list", "--soc", "Ascend1"), 2, "Ascend1"),
        (("list", "noSuchThing"), 2, "noSuchThing"),
        (("nothing",), 2, "no command nothing"),
    ],
)
def test_a_refusal(here, arguments, code, part):
    run = here(*arguments, "--json")
    error = run.json["error"]
    assert run.code == code == error["exit_code"] and part in error["message"]
    assert run.stderr == f"openaclnn: {error['message']}\n"
    refused(here(*arguments), code, part)


def test_what_an_operator_refuses_has_its_code(here):
    run = here("call", "Add", "--self", "[1, 2]", "--other", "[1, 2, 3]", "--alpha", "1", "--json")
    error = run.json["error"]
    assert (run.code, error["exit_code"], error["code"]) == (2, 2, 161002), run
    assert error["function"] == "aclnnAddGetWorkspaceSize"


def test_an_option_of_a_program_is_its_own(here):
    refused(here("run", "--", "no-such-program", "--json"), 2, "no-such-program")
