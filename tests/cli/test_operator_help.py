# SPDX-License-Identifier: Apache-2.0
"""`openaclnn call NAME --help`: the options of one operator, and what its header says of them."""

import pytest
from conftest import refused

from openaclnn.native import declared, libraries
from openaclnn.tool import operator_help

SOFTMAX = """\
Usage: openaclnn call aclnnSoftmax --self TENSOR --dim INT64 [--out FILE]

Softmax.

    out = exp(self) / sum over dim of exp(self)

self: operand; FLOAT16, FLOAT, DOUBLE, BFLOAT16
dim: a dimension of self; negative ones count from the end
out: result

--shape SHAPE[:DTYPE]: random arrays for inputs that are left out, such as 2,3:float16
--soc NAME: the product to simulate
--json: print one JSON object, nothing else

Example: openaclnn call aclnnSoftmax --self '[[-3.25, 4.75]]' --dim -1
Types: openaclnn list aclnnSoftmax
How tensors are given: openaclnn call --help
"""


@pytest.mark.parametrize("asked", [("aclnnSoftmax", "--help"), ("-h", "aclnnSoftmax"), ("softmax", "-h"),
                                   ("aclnnSoftmax", "--dim", "0", "--help")])  # fmt: skip
def test_it_is_of_the_operator_that_is_named(here, asked):
    run = here("call", *asked)
    assert (run.code, run.stdout.rstrip(), run.stderr) == (0, SOFTMAX.rstrip(), "")


def test_without_an_operator_it_says_how_tensors_are_given(here):
    assert "random:2,3:int64" in here("call", "--help").stdout


def test_an_operator_that_is_not_there(here):
    refused(here("call", "aclnnSoftmx", "--help"), 2, "aclnnSoftmx is not known", "aclnnSoftmax")


def test_what_is_missing_is_named_with_its_type_and_values(here):
    two = ("--self", "[1.0]", "--mat2", "[1.0]")
    values = "--cubeMathType INT8: 0 keep the types, 1 allow lower precision, 2 use FLOAT16, 3 use HF32"
    refused(here("call", "Matmul", *two), 2, "--cubeMathType is missing", values)
    refused(here("call", "Softmax", "--self", "[1.0]"), 2, "--dim INT64: a dimension of self; negative ones")


def test_options_are_whole_and_what_may_be_null_is_in_brackets(here, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    usage = here("call", "aclnnGroupedBiasAddGradV2", "--help").stdout.partition("\n\n")[0]
    assert usage.splitlines() == [
        "Usage: openaclnn call aclnnGroupedBiasAddGradV2 --gradY TENSOR",
        "    [--groupIdxOptional TENSOR] --groupIdxType INT64 [--out FILE]",
    ]
    assert "--x TENSOR ... [--out FILE ...]" in here("call", "aclnnForeachAbs", "--help").stdout


def test_lines_of_a_formula_stay_apart(here):
    said = here("call", "aclnnScaledMaskedSoftmaxBackward", "--help").stdout
    assert "\n    t   = g*y" in said and "\n    out = mask ? 0 : scale * t\n" in said


def test_what_the_header_breaks_is_one_sentence(here):
    said = here("call", "aclnnFlashAttentionScore", "--help").stdout  # in 200 columns
    assert "\ndropMaskOptional: UINT8: a bit for each score, 0 drops it; used if the prob" in said


@pytest.mark.parametrize("width", [72, 80])
def test_every_operator_has_all_options_in_any_window(width):
    every = declared.operators(libraries.find() / "include")
    for api, operator in every.items():
        text = operator_help.text(api, operator, width)
        assert max(map(len, text.splitlines())) <= width, text
        usage = text.partition("\n\n")[0].replace("[", "")
        named = [word[2:] for word in usage.split() if word.startswith("--")]
        assert named == [each.name for each in operator.arguments], api
        assert all(line.startswith("    --") for line in usage.splitlines()[1:]), usage


@pytest.mark.parametrize(
    ("verb", "does"),
    [
        ("check", "Compare an operator with"),
        ("bench", "Time an operator"),
    ],
)
def test_a_verb_says_once_what_it_does(here, verb, does):
    """Not with each of its operators."""
    assert here(verb, "--help").stdout.count(does) == 1
