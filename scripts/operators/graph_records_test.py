# SPDX-License-Identifier: Apache-2.0
"""Reads records of operators by their graph names, and makes C++ of them."""

import generate_graph_operators
import pytest
from graph_records import read_records

API = {
    "Add": ("aclnnop/aclnn_add.h",
            ["const aclTensor*", "const aclTensor*", "const aclScalar*", "aclTensor*"],
            ["self", "other", "alpha", "out"]),
    "InplaceCopy": ("aclnnop/aclnn_copy.h", ["aclTensor*", "const aclTensor*"], ["selfRef", "src"]),
    "Mean": ("aclnnop/aclnn_mean.h",
             ["const aclTensor*", "const aclIntArray*", "bool", "aclDataType", "aclTensor*"],
             ["self", "dims", "keepDims", "dtype", "out"]),
}  # fmt: skip


def record(**more):
    fields = {"name": '"Grow"', "inputs": '["x", "y?"]', "outputs": '["z"]',
              "calls": '["Add(x, y, 1, z)"]', "numpy": '"x + y"', "cases": '["x=normal(2)"]'}  # fmt: skip
    lines = (f"{key} = {value}\n" for key, value in (fields | more).items() if value)
    return "[[operator]]\n" + "".join(lines)


@pytest.fixture(name="read")
def fixture_read(tmp_path):
    def read(*records):
        path = tmp_path / "operators.toml"
        path.write_text("\n".join(records))
        return read_records(path)

    return read


@pytest.mark.parametrize(
    ("more", "says"),
    [({"numpy": ""}, "numpy is missing"), ({"speed": "1"}, "are no fields"),
     ({"inputs": '["x: axis"]'}, "expected a name"), ({"calls": '["add(x)"]'}, "expected \"Operator"),
     ({"attributes": '["p: float"]'}, "expected \"name: kind"), ({"lets": '["t"]'}, "expected \"name ="),
     ({"expects": '["x.rank() == 2"]'}, "expected \"condition"), ({"only": "{ p = 1 }"}, "an attribute"),
     ({"outputs": '["=w"]'}, "the name of an input"), ({"outputs": '["x"]'}, "are names twice"),
     ({"inputs": '["x...", "y..."]'}, "expected one"), ({"inputs": '"x"'}, "is a str, expected a list")],
)  # fmt: skip
def test_a_wrong_field_is_named(read, more, says):
    with pytest.raises(SystemExit, match="Grow: ") as raised:
        read(record(**more))
    assert says in str(raised.value)


def test_an_operator_is_there_once(read):
    with pytest.raises(SystemExit, match="there twice"):
        read(record(), record())


def test_a_family_differs_in_call_and_formula(read):
    family = ('[[family]]\ninputs = ["x"]\noutputs = ["y"]\ncases = ["x=normal(2)"]\n'
              '[family.operators]\nSin = ["Sin", "np.sin(x)"]\nCos = ["Cos", "np.cos(x)"]\n')  # fmt: skip
    cos, sin = read(family)
    assert (cos.name, sin.name) == ("Cos", "Sin")
    assert (sin.calls[0].operator, sin.calls[0].arguments) == ("Sin", ["x", "y"])


def test_calls_have_the_arguments_of_a_header(read):
    for calls, says in (('["Adds(x, 1, z)"]', "a header declares"), ('["Add(x, z)"]', "expected 4")):
        with pytest.raises(SystemExit) as raised:
            generate_graph_operators.table(read(record(calls=calls)), API)
        assert says in str(raised.value)


def test_a_call_is_made_of_what_it_names(read):
    attributes, lets = '["axes: integers = {}", "keep: flag = false"]', '["all = axes.empty()"]'
    calls = '["if !all: Mean(x, {0, 1}, keep, z.dtype, z)"]'
    made = generate_graph_operators.table(
        read(record(attributes=attributes, lets=lets, calls=calls)), API
    )
    plan = made[made.index("PlanGrow0") : made.index("}\n", made.index("PlanGrow0"))]
    for line in ("attribute<Dims>(0, Dims{})", "attribute<bool>(1, false)", "const auto all = axes.empty()",
                 "if (!(!all)) return 0;", "IntArrayOf({0, 1})", "static_cast<aclDataType>(z.dtype)"):  # fmt: skip
        assert line in plan
    assert "input(1)" not in plan
    assert "aclnnop/aclnn_mean.h" in made


def test_an_output_that_is_an_input_is_copied_last(read):
    made = read(record(outputs='["=x"]', calls='["Add(x, y, 1, x)"]'))[0]
    assert made.calls[-1].operator == "InplaceCopy"
    assert made.calls[-1].condition == "x_out.data != x.data"


def test_refusals_name_the_operand(read):
    expects = '["x.rank() == 2: x rank is {x.rank()}, expected 2"]'
    made = generate_graph_operators.table(read(record(expects=expects)), API)
    assert "if (!(x.rank() == 2))" in made
    assert 'ACL_ERROR_OP_INPUT_NOT_MATCH, Concat("x rank is ", x.rank(), ", expected 2")' in made
