# SPDX-License-Identifier: Apache-2.0
"""What a shell completes: commands, operators, their options, topics, products."""

import pytest

from openaclnn.native import libraries
from openaclnn.operators import OPERATORS


@pytest.fixture
def completed(tool):
    def run(typed: str, **environment) -> list[str]:
        words = typed.split(" ")
        line = {"COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
        ended = tool(_OPENACLNN_COMPLETE="complete_bash", **line, **environment)
        return ended.stdout.split()

    return run


def test_commands(completed):
    assert completed("openaclnn ch") == ["check"]
    assert "grad" not in completed("openaclnn gr")


def test_all_operators_of_call_and_list(completed):
    apis = libraries.load().support.apis
    assert completed("openaclnn call aclnn") == apis and len(apis) > 500
    without = [each.removeprefix("aclnn") for each in apis if each.startswith("aclnnMat")]
    assert completed("openaclnn call Mat") == without and "Matmul" in without
    rooms = {each.name for each in OPERATORS}
    assert rooms <= set(completed("openaclnn call ")) and rooms == set(completed("openaclnn check "))
    assert completed("openaclnn call matm") == [each.lower() for each in without if each.startswith("Matm")]
    assert {"matmul", "aclnnMatmul"} <= {*completed("openaclnn list m"), *completed("openaclnn list aclnnM")}


def test_products(completed):
    products = [*libraries.load().support.products]
    for command in ("call Abs --soc ", "check embedding --soc ", "list --soc ", "demo --soc ", "run --soc "):
        assert completed(f"openaclnn {command}") == products, command
    assert completed("openaclnn call Abs --soc Ascend310P") == [
        each for each in products if each.startswith("Ascend310P")
    ]


def test_options_of_the_operator_that_is_named(completed):
    assert {"--self", "--other", "--alpha", "--json", "--soc"} <= set(completed("openaclnn call Add --"))
    assert completed("openaclnn call Add --al") == ["--alpha"]
    assert "--num-weights" in completed("openaclnn call embedding_dense_backward --num")
    assert completed("openaclnn call NoSuch --al") == []


def test_without_the_libraries_there_is_little(completed):
    nowhere = {"OPENACLNN_HOME": "/nowhere"}
    assert set(completed("openaclnn call ", **nowhere)) == {each.name for each in OPERATORS}
    assert completed("openaclnn list --soc ", **nowhere) == []
