# SPDX-License-Identifier: Apache-2.0
"""Plants a fault for each thing that a record may not say, and watches the reader name it."""

import pytest
from operator_records import read_topics

DOMAIN = '[domain]\ntext = "What holds for all."\n'
GOOD = {
    "name": '"Turn"',
    "parameters": '["self: in", "dim: int64", "out: out"]',
    "types": '"real"',
    "formula": '"out = self"',
    "numpy": '"self"',
    "check": '"CheckTurn"',
    "plan": '"PlanTurn"',
}
BY_EXPRESSION = {"check": None, "plan": None, "expression": '"kTurn"'}


def record(**fields):
    """A good one but for the fields given; None leaves one out."""
    given = {**GOOD, **fields}
    lines = (f"{key} = {value}\n" for key, value in given.items() if value is not None)
    return "[[operator]]\n" + "".join(lines)


@pytest.fixture
def read(tmp_path):
    """Reads a folder of records, each text the file of a topic."""

    def read(*texts):
        for number, text in enumerate(texts):
            (tmp_path / f"topic{number}").mkdir()
            (tmp_path / f"topic{number}/operators.toml").write_text(text)
        return read_topics(tmp_path)

    return read


def refused(read, *texts):
    """The complaint about the only file that is wrong."""
    with pytest.raises(SystemExit) as refusal:
        read(*texts)
    (line,) = str(refusal.value).splitlines()
    path, _, fault = line.partition("/operators.toml: ")
    assert path.endswith(f"topic{len(texts) - 1}")
    return fault


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"types": '["FLOAT", "BF16"]', "header": '"turn_v2"', "inplace": "true"},
        {"parameters": '["self: in?", "by: scalar?", "way: string?", "out: const out"]',
         "modes": '{ way = ["", "back"] }'},
        BY_EXPRESSION | {"values": '["dim"]', "engine": '"Foreach"'},
        BY_EXPRESSION | {"values": '["PowerOf(dim)"]', "shape": '"Turning"'},
        {"members": '{ dim = "axis" }', "constants": "{ twice = true, dims = 2 }"},
        {"over": '["self"]', "about": '{ dim = "which" }', "samples": '{ self = "positive" }'},
        {"inplace": "true", "about": '{ selfRef = "which" }', "cases": '"along"'},
        {"one_value": '["out"]'},
        {"part": '["self", "out"]'},
        {"parameters": '["self: in", "out: out", "more: const out"]', "shared": '["out", "more"]'},
        {"parameters": '["self: in", "by: scalar", "out: out"]', "as_given": '["by"]'},
        {"parameters": '["self: in", "by: scalar", "out: out"]', "factors": '["by"]'},
        {"copied": '["self"]', "updated": '["out"]'},
        {"modes": "{ dim = [0, 1] }"},
        {"uses": '{ self = "dim > 0 ? unused : all", out = "dim > 0 ? read : dim ? part : all" }'},
        {"parameters": '["self: in", "which: bools", "out: out?"]', "asked": '"which"'},
        {"parameters": '["selfRef: out", "by: in[]"]', "written": '["selfRef"]', "part": '["by"]'},
        {"page": '"aclnnTurn, CANN 8.5"', "url": '"https://a.example/b/aclnnTurn.md"'},
        {"page": '"aclnnTurn, CANN 8.5"', "products": '["910", "A2"]',
         "takes": '["self, out: FLOAT, UINT64", "self on 310P: FLOAT16"]', "lacks": '["UINT64"]'},
        {"page": '"aclnnTurn"', "takes": '["self: FLOAT"]', "also": '["self: BF16, FLOAT16"]'},
        {"page": '"aclnnTurn"', "inplace": "true", "takes": '["self: FLOAT", "selfRef: BF16"]'},
    ],
)
def test_good_records(read, fields):
    assert read(DOMAIN + record(**fields))


FIELDS = [
    ("colour", '"red"', "is 'red', expected one of the fields name, header"),
    *((key, None, "is missing, expected ") for key in ("name", "parameters", "types", "formula")),
    ("numpy", None, "is missing, expected an expression of NumPy"),
    ("name", '"hy pot"', "is 'hy pot', expected a name in CamelCase"),
    ("name", '"aclnnTurn"', "is 'aclnnTurn', expected a name in CamelCase, without aclnn"),
    ("name", "3", "is 3, expected a name in CamelCase"),
    ("header", '"Turn"', "is 'Turn', expected a name in snake case"),
    ("inplace", '"yes"', "is 'yes', expected true or false"),
    ("parameters", '["self: inn", "out: out"]', "expected a list of \"name: kind\" with one of in"),
    ("parameters", '["self in", "out: out"]', "expected a list of \"name: kind\" with one of in"),
    ("parameters", '"self: in"', "is 'self: in', expected a list of"),
    ("parameters", '["self: in", "self: int", "out: out"]', "is 'self: int', expected each name"),
    ("parameters", '["dim: int64?", "out: out"]', "is 'dim: int64?', expected ? after what may be"),
    ("parameters", '["self: in"]', "is ['self: in'], expected an output among them"),
    ("types", '"numerics"', "is 'numerics', expected numeric, real, complex, movable, numeric64 or a list of FLOAT"),
    ("types", '["FLOT"]', "is ['FLOT'], expected numeric, real, complex, movable, numeric64 or a list of FLOAT"),
    ("types", "[]", "is [], expected numeric, real, complex, movable, numeric64 or a list of FLOAT"),
    ("formula", '" "', "is ' ', expected what is computed, in words"),
    ("numpy", '"self +"', "is 'self +', expected an expression of NumPy"),
    ("numpy", '"out = self"', "is 'out = self', expected an expression of NumPy"),
    ("cases", '"the same"', "is 'the same', expected a name"),
    ("samples", '{ slef = "positive" }', "is 'slef', expected one of self, dim, out"),
    ("samples", '["self"]', "is ['self'], expected a table of names"),
    ("check", None, "is missing, expected check and plan, or an expression"),
    ("plan", None, "is missing, expected check and plan, or an expression"),
    ("check", '"TurnCheck"', "is 'TurnCheck', expected the name of a C++ function"),
    ("plan", '"Plan Turn"', "is 'Plan Turn', expected the name of a C++ function"),
    ("shape", '"turn shape"', "is 'turn shape', expected the name of a struct"),
    ("engine", '"Foreach"', "is 'Foreach', expected only with an expression"),
    ("values", '["dim"]', "is ['dim'], expected only with an expression"),
    ("members", '{ dmi = "axis" }', "is 'dmi', expected one of self, dim, out"),
    ("members", '{ dim = "self" }', "is 'self', expected a name that no other member has"),
    ("members", '{ dim = "an axis" }', "expected a table of names"),
    ("constants", "{ dim = 2 }", "is 'dim', expected a name that no other member has"),
    ("constants", "{ half = 0.5 }", "is {'half': 0.5}, expected a table of integers and truth"),
    ("over", '["dim"]', "is 'dim', expected one of self"),
    ("one_value", '["self"]', "is 'self', expected one of out"),
    ("one_value", '["out", "out"]', "is ['out', 'out'], expected a list of the output"),
    ("shared", '["out"]', "is ['out'], expected a list of two outputs or more"),
    ("shared", '["self", "out"]', "is 'self', expected one of out"),
    ("as_given", '["dim"]', "is 'dim', expected one of none"),
    ("factors", '["dim"]', "is 'dim', expected one of none"),
    ("part", '["dim"]', "is 'dim', expected a tensor that is in or out, once"),
    ("part", '["self", "self"]', "is 'self', expected a tensor that is in or out, once"),
    ("copied", '["out"]', "is 'out', expected a tensor that is in, once"),
    ("updated", '["self"]', "is 'self', expected a tensor that is out, once"),
    ("written", '"out"', "is 'out', expected a list of tensors"),
    ("uses", '["self"]', "is ['self'], expected a table of \"condition ? use : use\""),
    ("uses", '{ self = "unused" }', "expected a table of \"condition ? use : use\""),
    ("uses", '{ dim = "dim ? all : unused" }', "is 'dim', expected one of self, out"),
    ("uses", '{ self = "dim ? read : all" }', "is 'read', expected one of all, part, unused, copied"),
    ("uses", '{ out = "dim ? copied : all" }', "is 'copied', expected one of all, part, unused, upd"),
    ("uses", '{ self = "self ? all : unused" }', "is 'self', expected a condition of dim"),
    ("asked", '"dim"', "is 'dim', expected flags before the first output"),
    ("asked", '"which"', "is 'which', expected flags before the first output"),
    ("parameters", '["selfRef: out"]', "is 'selfRef', expected to be named by one of part, unused"),
    ("about", '{ axis = "which" }', "is 'axis', expected one of self, dim, out"),
    ("modes", '{ axis = [0, 1] }', "is 'axis', expected one of self, dim, out"),
    ("modes", '{ self = [0, 1] }', "is 'self', expected a string, or a number that names one"),
    ("modes", '{ dim = 2 }', "is {'dim': 2}, expected a table of lists, of strings or of numbers"),
    ("modes", '{ dim = [] }', "is {'dim': []}, expected a table of lists, of strings or of numbers"),
    ("modes", '{ dim = [0, "one"] }', "expected a table of lists, of strings or of numbers"),
    ("about", '{ selfRef = "which" }', "is 'selfRef', expected one of self, dim, out"),
    ("about", "{ dim = 2 }", "is {'dim': 2}, expected a table of texts"),
    ("page", '""', "is '', expected the vendor's page and its version"),
    ("products", '["A2", "A4"]', "expected a list of 910, A2, A3, 950, 310P, 310B"),
    ("products", '["A2"]', "expected only with the page that says so"),
    ("takes", '["self: FLOAT"]', "expected only with the page that says so"),
    ("differs", '{ takes = "why" }', "expected only with the page that says so"),
    ("differs", '{ types = "why" }', "expected a table of reasons for parameters, takes, products"),
    ("takes", '["self FLOAT"]', 'expected a list of "tensors: types"'),
    ("takes", '["self on A4: FLOAT"]', 'expected a list of "tensors: types"'),
    ("takes", '["self: BFLOAT16"]', 'expected a list of "tensors: types"'),
    ("url", '"aclnnTurn.md"', "is 'aclnnTurn.md', expected where that page is"),
    ("url", '"https://a.example/aclnnTurn.md"', "expected the address of a page"),
]


@pytest.mark.parametrize("parameter", ["way: string", "sparseMode: int64", "cubeMathType: int8"])
def test_what_names_a_mode_has_modes(read, parameter):
    text = record(parameters=f'["self: in", "{parameter}", "out: out"]')
    name = parameter.partition(":")[0]
    assert refused(read, DOMAIN + text) == f"Turn: modes: is missing, expected those of {name}"


def test_modes_are_those_of_the_file_but_for_a_record_s_own(read):
    parameters = '["self: in", "way: string", "out: out"]'
    one = record(parameters=parameters)
    other = record(parameters=parameters, modes='{ way = ["b"] }', name='"Other"')
    (topic,) = read(f'{DOMAIN}[modes]\nway = ["a"]\n' + one + other)
    assert [each.modes for each in topic.operators] == [{"way": ["a"]}, {"way": ["b"]}]


def test_modes_of_no_operator(read):
    modes = "[modes]\nway = [0]\n"
    assert refused(read, DOMAIN + modes + record()).startswith("[modes]: way: is [0], expected a par")


@pytest.mark.parametrize(("key", "value", "says"), FIELDS)
def test_a_field_that_cannot_be(read, key, value, says):
    fault = refused(read, DOMAIN + record(**{key: value}))
    name = "operator 1" if (key, value) == ("name", None) else GOOD["name"].strip('"')
    name = fault.partition(":")[0] if key == "name" and value else name
    assert fault.startswith(f"{name}: {key}: ") and says in fault


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"engine": '"Elemntwise"'}, "engine: is 'Elemntwise', expected one of Elementwise"),
        ({"expression": '"Turn"'}, "expression: is 'Turn', expected the name of a C++ constant"),
        ({"plan": '"PlanTurn"'}, "plan: is 'PlanTurn', expected only without an expression"),
        ({"values": '["dmi"]'}, "values: is 'dmi', expected one of dim"),
        ({"values": '["self"]'}, "values: is 'self', expected one of dim"),
        ({"values": '["F(dmi)"]'}, "values: is 'F(dmi)', expected one of dim"),
        ({"values": '["F(dim"]'}, "values: is ['F(dim'], expected a list of parameters or"),
        ({"uses": '{ self = "dim ? all : unused" }'}, "uses: is {'self': 'dim ? all : unused'}, expec"),
    ],
)
def test_what_engines_do_not_take(read, fields, says):
    assert refused(read, DOMAIN + record(**BY_EXPRESSION | fields)).startswith(f"Turn: {says}")


def test_an_address_is_of_the_page(read):
    text = record(page='"aclnnTurn, CANN 8.5"', url='"https://a.example/aclnnReturn.md"')
    assert refused(read, DOMAIN + text).endswith("aclnnReturn.md', expected the address of aclnnTurn")


@pytest.mark.parametrize(
    ("takes", "says"),
    [
        ('["x: FLOAT"]', "'x', expected one of self, out, once"),
        ('["dim: FLOAT"]', "'dim', expected one of self, out, once"),
        ('["self: FLOAT", "out, self: BF16"]', "'self', expected one of self, out, once"),
        ('["self on A2: FLOAT"]', "'self on A2', expected the types of all families too"),
        ('["self: INT8, UINT64"]', "'INT8, UINT64', expected a type of self that the operator takes"),
    ],
)
def test_types_are_of_tensors_and_of_the_operator(read, takes, says):
    text = record(page='"aclnnTurn, CANN 8.5"', takes=takes)
    assert refused(read, DOMAIN + text) == f"Turn: takes: is {says}"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({}, "lacks: is missing, expected what `takes` lists beyond `types`: UINT64"),
        ({"lacks": '["UINT64", "COMPLEX64"]'},
         "lacks: is ['UINT64', 'COMPLEX64'], expected what `takes` lists beyond `types`: UINT64"),
        ({"lacks": '["UINT64"]', "also": '["self: FLOAT"]'},
         "also: is 'self: FLOAT', expected a type that `takes` does not list for a tensor there"),
        ({"lacks": '["UINT64"]', "also": '["out: FLOAT"]'},
         "also: is 'out: FLOAT', expected a type that `takes` does not list for a tensor there"),
        ({"lacks": '["UINT64"]', "also": '["self: QINT8"]'},
         "also: is 'QINT8', expected a type that the operator takes"),
    ],
)  # fmt: skip
def test_what_is_not_computed_is_named(read, fields, says):
    """A type of the page that the operator does not take; what a client shows is computed."""
    text = record(page='"aclnnTurn, CANN 8.5"', takes='["self: FLOAT, UINT64"]', **fields)
    assert refused(read, DOMAIN + text) == f"Turn: {says}"


@pytest.mark.parametrize("parameters", ['["x: in", "out: out"]', '["self: in", "y: out"]'])
def test_in_place_is_self_and_out(read, parameters):
    text = DOMAIN + record(inplace="true", parameters=parameters)
    assert refused(read, text).startswith("Turn: inplace: is True, expected only where self is")


def test_names_are_there_once(read):
    again = record() + record(inplace="true")
    assert refused(read, DOMAIN + again).startswith("Turn: name: is 'Turn', expected a name that")


@pytest.mark.parametrize("name", ['"Turn"', '"InplaceTurn"'])
def test_names_are_there_once_in_all_topics(read, name):
    texts = DOMAIN + record(inplace="true"), DOMAIN + record(name=name)
    expected = f"{name[1:-1]}: name: is '{name[1:-1]}', expected a name that no record has yet"
    assert refused(read, *texts) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[domain\n", "Expected ']' at the end of a table declaration (at line 1"),
        (record(), "the file: domain: is missing, expected a table"),
        (DOMAIN, "the file: operator: is missing, expected [[operator]]"),
        (DOMAIN + "[domian]\n" + record(), "the file: domian: is {}, expected one of the fields"),
        ("[domain]\n" + record(), "[domain]: text: is missing, expected what holds for all"),
        (DOMAIN + "include = []\n" + record(), "[domain]: include: is [], expected one of the"),
        (DOMAIN + 'includes = ["math"]\n' + record(), "[domain]: includes: is ['math'], expected"),
        ('[about]\naxis = "which"\n' + DOMAIN + record(), "[about]: axis: is 'which', expected a "),
        ("operator = [3]\n" + DOMAIN, "operator 1: operator: is 3, expected [[operator]]"),
    ],
)
def test_a_file_that_cannot_be(read, text, says):
    assert refused(read, text).startswith(says)


def test_all_faults_of_a_file_are_told(read):
    with pytest.raises(SystemExit) as refusal:
        read(DOMAIN + record(types=None, numpy='"("') + record(name='"Other"', inplace="1"))
    assert [line.split(": ")[2] for line in str(refusal.value).splitlines()] == [
        "types", "numpy", "inplace",
    ]
