# SPDX-License-Identifier: Apache-2.0
"""Generates code and headers from records of operators."""

import json

import generate_operators
import operator_headers
import pytest
from operator_records import read_topic, read_topics

DOMAIN = '[domain]\ntext = "What holds for all."\n[about]\nself = "operand"\n'


@pytest.fixture(name="topic_of")
def fixture_topic_of(tmp_path):
    def topic_of(*records):
        path = tmp_path / "turning/operators.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(DOMAIN + "".join(f"[[operator]]\n{each}\n" for each in records))
        return read_topic(path)

    return topic_of


def record(name="Turn", parameters='"self: in", "dim: int64", "out: out"', more="", numpy="self"):
    return (
        f'name = "{name}"\nparameters = [{parameters}]\ntypes = "real"\nformula = "out = self"\n'
        f'numpy = "{numpy}"\n'
        f'check = "CheckTurn"\nplan = "PlanTurn"\n{more}'
    )


def test_an_operator_in_place_is_the_same_record(topic_of):
    turn, in_place = topic_of(record(more="inplace = true")).operators
    assert (turn.api, in_place.api) == ("aclnnTurn", "aclnnInplaceTurn")
    assert [each.name for each in in_place.parameters] == ["selfRef", "dim"]
    assert in_place.formula == "selfRef = selfRef"
    assert turn.header == in_place.header == "turn"
    assert generate_operators.members_of("TurnParams", [turn, in_place]).keys() == {
        "self", "dim", "out"
    }


@pytest.mark.parametrize(
    ("name", "header"),
    [("ForeachAddScalarV2", "foreach_add_scalar_v2"), ("NLLLoss2d", "nll_loss2d"),
     ("InplaceMul", "mul"), ("ReflectionPad1dBackward", "reflection_pad1d_backward")],
)
def test_headers_are_named_in_snake_case(topic_of, name, header):
    assert topic_of(record(name)).operators[0].header == header


def test_over_counts_tensors_alone(topic_of):
    parameters = '"n: int64", "self: in", "value: scalar", "other: in", "out: out"'
    operators = topic_of(record(parameters=parameters, more='over = ["other"]')).operators
    assert operators[0].may_alias == 0b10


def test_shared_counts_tensors_alone(topic_of):
    parameters = '"self: in", "n: int64", "first: out", "second: out"'
    operators = topic_of(record(parameters=parameters, more='shared = ["first", "second"]'))
    assert operators.operators[0].shared == 0b110


@pytest.mark.parametrize(
    ("more", "read", "in_place"),
    [("", "", ", OPENACLNN_UPDATED"), ('part = ["self"]\n', ", OPENACLNN_PART", ", OPENACLNN_PART"),
     ('copied = ["self"]\n', ", OPENACLNN_COPIED", ", OPENACLNN_UPDATED")],
)
def test_in_place_what_was_there_is_read_as_self_is(topic_of, more, read, in_place):
    text = generate_operators.structs(topic_of(record(more=more + "inplace = true")))
    assert f'self(In("self", self{read}))' in text
    assert f'self(Out("selfRef", selfRef{in_place}))' in text
    assert 'out(Out("out", out))' in text


def test_modes_are_looked_at_by_name(topic_of):
    parameters = '"self: in", "by: int64", "far: int8", "way: string", "dtype: dtype", "out: out"'
    more = 'modes = { by = ["none", "mean"], far = [0, 2, 4], way = [""] }'
    text = generate_operators.entries(topic_of(record(parameters=parameters, more=more)))
    for lines in (
        'params->Mode("by", by, {0, 1},\n                 "none (0) or mean (1)");',
        'params->Mode("far", far, {0, 2, 4},\n                 "0, 2 or 4");',
        'params->Mode("way", way, {""},\n                 "an empty one");',
        'params->Type("dtype", dtype);',
    ):
        assert lines in text


def test_arguments_that_say_what_is_read(topic_of):
    parameters = '"self: in", "beta: scalar", "mean: out", "out: out"'
    more = '''uses = { self = "beta.number ? all : unused", mean = "beta.real ? updated : read" }
inplace = true
members = { beta = "factor" }'''
    text = generate_operators.structs(topic_of(record(parameters=parameters, more=more)))
    assert 'self(In("self", self))' in text
    for line in (
        "Use(this->self, this->factor.number ? OPENACLNN_ALL : OPENACLNN_UNUSED);",
        "Use(this->self, this->factor.number ? OPENACLNN_UPDATED : OPENACLNN_ALL);",
        "Use(this->mean, this->factor.real ? OPENACLNN_UPDATED : OPENACLNN_READ);",
    ):
        assert line in text


def test_a_list_that_is_used_by_an_argument(topic_of):
    more = 'uses = { parts = "all ? all : unused" }'
    text = generate_operators.structs(topic_of(record(parameters='"self: in", "all: bool", "parts: out[]"', more=more)))
    use = "Use(*each, this->all ? OPENACLNN_ALL : OPENACLNN_UNUSED);"
    assert f"    for (const Tensor* each : this->parts.tensors) {{\n      {use}\n    }}\n" in text


def test_flags_that_may_be_null(topic_of):
    text = generate_operators.structs(topic_of(record(parameters='"self: in", "which: bools?", "out: out"')))
    assert 'which == nullptr ? std::vector<bool>() : Bools("which", which)' in text


def test_outputs_that_flags_ask_for(topic_of):
    parameters = '"self: in", "which: bools", "first: out?", "second: out?"'
    text = generate_operators.structs(topic_of(record(parameters=parameters, more='asked = "which"')))
    assert 'self(In("self", self))' in text
    assert 'first(OptionalOut("first", first, Asked(this->which, 0)))' in text
    assert 'second(OptionalOut("second", second, Asked(this->which, 1)))' in text


def test_operators_of_a_shape_have_its_tensors_in_one_order(topic_of):
    other = record("Back", '"out: out", "self: in"')
    with pytest.raises(SystemExit, match="Back: parameters: is out, self, expected self, out"):
        generate_operators.structs(topic_of(record(), other))


BY_PAGE = '''page = "aclnnTurn, CANN 8.5"
products = ["A2", "A3", "310P"]
takes = ["self: FLOAT, BF16, UINT64", "self on 310P: FLOAT16", "out: FLOAT, FLOAT16, DOUBLE"]
lacks = ["UINT64"]
inplace = true
'''


def test_products_and_types_are_those_of_the_page(topic_of):
    """The types are those that the operator takes; types that no page lists are left open."""
    topic = topic_of(record(more=BY_PAGE), record("Other"))
    turn, _, other = topic.operators
    text = generate_operators.entries(topic)
    for line in (
        '    {"", {kNone, ~kNone, ~kNone, kNone, ~kNone, kNone}},',
        '    {"self", {kNone, Dtypes(ACL_FLOAT, ACL_BF16), Dtypes(ACL_FLOAT, ACL_BF16), kNone,',
        '        Dtypes(ACL_FLOAT16), kNone}},',
        '    {"out", {kNone, Dtypes(ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE),',
        '    {"selfRef", {kNone, Dtypes(ACL_FLOAT), Dtypes(ACL_FLOAT), kNone, Dtypes(ACL_FLOAT16), kNone}},',
        '    {"aclnnTurn", kSupportOfTurn},',
        '    {"aclnnInplaceTurn", kSupportOfInplaceTurn},',
        '    {"aclnnOther", kEverywhere},',
    ):
        assert line in text
    assert turn.families == ["A2", "A3", "310P"] and len(other.families) == 6
    words = [turn.types_in_words(each) for each in turn.parameters]
    assert words == ["FLOAT, BFLOAT16 (310P: FLOAT16)", "", "FLOAT, FLOAT16, DOUBLE"]
    assert not any(other.types_in_words(each) for each in other.parameters)


def test_headers_say_products_and_types(topic_of):
    (page,) = operator_headers.pages([topic_of(record(more=BY_PAGE))]).values()
    for line in ("@param[in] self operand; FLOAT, BFLOAT16 (310P: FLOAT16)",
                 "@retval 561003 the product is not one of A2, A3, 310P."):
        assert line in page


def test_headers_say_what_parameters_are(topic_of):
    (page,) = operator_headers.pages([topic_of(record())]).values()
    for line in ("What holds for all.", "@param[in] self operand", "@param[out] out tensor",
                 "161001 self, out, workspaceSize or executor is null."):
        assert line in page
    assert max(map(len, page.splitlines())) <= 100


def test_headers_say_which_outputs_are_read(topic_of):
    parameters = '"self: in", "mean: out", "rest: out", "sum: out", "out: out"'
    more = 'part = ["mean", "rest"]\nupdated = ["sum"]'
    text = record(parameters=parameters, more=more, numpy="norm(self, mean, out.shape)")
    (page,) = operator_headers.pages([topic_of(text)]).values()
    for line in ("[in] self", "[in,out] mean", "[out] rest", "[in,out] sum", "[out] out"):
        assert f"@param{line} " in page


def test_files_that_no_record_stands_for_go(tmp_path):
    sources, headers = tmp_path / "generated", tmp_path / "include"
    stale = headers / "aclnnop/aclnn_gone.h"
    stale.parent.mkdir(parents=True)
    stale.write_text("")
    generate_operators.main(sources, headers)
    assert not stale.exists() and (headers / "aclnnop/aclnn_add.h").is_file()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    generate_operators.main(sources, headers)
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}


def test_topics_name_every_operator_and_say_what_they_hold():
    topics = read_topics()
    made = json.loads(generate_operators.topics_json(topics))
    apis = [each.api for topic in topics for each in topic.operators]
    assert [name for topic in made for name in topic["operators"]] == apis
    for topic in made:
        assert topic["about"].endswith(".") and not topic["about"].startswith("#"), topic["name"]
