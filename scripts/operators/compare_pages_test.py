# SPDX-License-Identifier: Apache-2.0
"""Compares declarations of operators with the statements of pages; a fault planted on either side
is named."""

from dataclasses import replace

import compare_pages
import pytest
from compare_pages import compare, declared, main, summary
from operator_records import read_topics
from page_facts import FIELDS, Facts, read_folder, read_page, read_table

RECORD = """[domain]
text = "What holds for all."

[[operator]]
name = "Turn"
page = "aclnnTurn, CANN 9"
products = ["A2", "A3", "950"]
takes = ["self: FLOAT, FLOAT16", "out: FLOAT"]
parameters = ["self: in", "dims: ints", "alpha: float", "out: out"]
types = "real"
formula = "out = self"
numpy = "self"
check = "CheckTurn"
plan = "PlanTurn"
"""
STATED = "const aclTensor *self, const aclIntArray *dims, float alpha, aclTensor *out"
FACTS = Facts("Turn", "page", "9", STATED, "self: FLOAT, FLOAT16, COMPLEX64; out: FLOAT",
              "-910 +A2 +A3 +950 -310P -310B")  # fmt: skip


@pytest.fixture
def operators(tmp_path):
    """Those of a record with some of its text replaced."""

    def operators(before="", after=""):
        assert before in RECORD
        (tmp_path / "turns").mkdir(exist_ok=True)
        (tmp_path / "turns/operators.toml").write_text(RECORD.replace(before, after))
        return declared(read_topics(tmp_path), tmp_path)

    return operators


def test_operators_are_as_pages_state_them():
    found = declared(read_topics())
    unexplained, explained, idle = compare(found, read_table())
    assert [*map(str, unexplained), *idle] == []
    assert "by nobody" in summary(found, read_table(), explained)


def test_a_fault_in_a_record_ends_with_1(monkeypatch, operators, capsys):
    wrong = operators('"dims: ints"', '"dims: int64"')
    monkeypatch.setattr(compare_pages, "declared", lambda topics: wrong)
    monkeypatch.setattr(compare_pages, "read_table", lambda: [FACTS])
    assert main(["--list"]) == 1
    assert "Turn: parameters: page has const aclIntArray* dims, here int64_t dims" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("", "", ""),
        ('"dims: ints", "alpha: float"', '"alpha: float", "dims: ints"', "page has const aclIntArray* dims"),
        ('"dims: ints"', '"axes: ints"', "page has const aclIntArray* dims, here const aclIntArray* axes"),
        ('"alpha: float"', '"alpha: double"', "page has float alpha, here double alpha"),
        ('"self: in"', '"self: in[]"', "page has const aclTensor* self, here const aclTensorList* self"),
        ('"dims: ints", ', "", "page has 4 parameters"),
        ('"out: out"]', '"out: const out"]', ""),  # every call compiles all the same
        ("FLOAT, FLOAT16", "FLOAT", "page lists FLOAT, FLOAT16 for self, here FLOAT"),
        (', "out: FLOAT"', "", "page lists FLOAT for out, here BF16, DOUBLE, FLOAT, FLOAT16"),
        ('"A2", ', '"910", "A2", ', "page leaves out 910"),
        (', "950"]', "]", "page lists 950"),
    ],
)
def test_each_difference_is_named(operators, before, after, says):
    unexplained, _, _ = compare(operators(before, after), [FACTS])
    if says:
        assert says in "\n".join(map(str, unexplained))
    else:
        assert unexplained == []


@pytest.mark.parametrize(
    ("version", "types", "products", "says"),
    [
        ("8.5.0.alpha001", "self: FLOAT", "+A2 -A3", ""),
        ("9", "self: FLOAT", "+A2", "page lists FLOAT for self, here FLOAT, FLOAT16"),
        ("9", "", "+A2 -A3", "page leaves out A3"),
        ("8.5", "out: FLOAT, FLOAT16", "", "page lists FLOAT, FLOAT16 for out, here FLOAT"),
        ("8.5", "", "+910", "page lists 910"),
    ],
)
def test_an_older_page_may_list_less_and_not_more(operators, version, types, products, says):
    facts = replace(FACTS, version=version, types=types, products=products)
    unexplained, _, _ = compare(operators(), [facts])
    assert [each.text for each in unexplained] == ([says] if says else [])


def test_a_record_without_a_version_follows_no_older_page(operators):
    facts = replace(FACTS, version="8.5", types="self: FLOAT", products="")
    unexplained, _, _ = compare(operators("aclnnTurn, CANN 9", "aclnnTurn"), [facts])
    assert [each.text for each in unexplained] == ["page lists FLOAT for self, here FLOAT, FLOAT16"]


def test_const_of_the_page_is_kept(operators):
    facts = replace(FACTS, parameters=STATED.replace("aclTensor *out", "const aclTensor *out"))
    unexplained, _, _ = compare(operators(), [facts])
    assert [each.text for each in unexplained] == ["page has const aclTensor* out, here aclTensor* out"]


def test_types_of_a_tensor_with_another_name_are_compared(operators):
    stated = STATED.replace("*self", "*input")
    facts = replace(FACTS, parameters=stated, types="input: FLOAT", products="")
    unexplained, _, _ = compare(operators(), [facts])
    assert [each.text for each in unexplained] == [
        "page has const aclTensor* input, here const aclTensor* self",
        "page lists FLOAT for self, here FLOAT, FLOAT16",
    ]


@pytest.mark.parametrize(
    ("types", "says"),
    [
        ("self on A2: FLOAT, BF16; self on 910: FLOAT", []),
        ("self on A2: FLOAT", ["page lists FLOAT for self on A2, here BF16, FLOAT"]),
        ("self on 910: FLOAT, BF16", ["page lists BF16, FLOAT for self on 910, here FLOAT"]),
        ("out on 310P: FLOAT, FLOAT16, DOUBLE", []),
        ("out on A2: FLOAT, FLOAT16, DOUBLE",
         ["page lists DOUBLE, FLOAT, FLOAT16 for out on A2, here BF16, DOUBLE, FLOAT, FLOAT16"]),
    ],
)  # fmt: skip
def test_a_family_lacks_types_that_others_have(operators, types, says):
    found = operators('"self: FLOAT, FLOAT16", "out: FLOAT"', '"self: FLOAT, BF16"')
    unexplained, _, _ = compare(found, [replace(FACTS, types=types)])
    assert [each.text for each in unexplained] == says


def test_a_record_explains_and_explains_nothing_else(operators):
    reason = 'differs = { takes = "halves are not turned" }\nproducts'
    given = operators("products", reason)
    explained = compare(given, [replace(FACTS, types="self: FLOAT")])
    assert not explained[0] and len(explained[1]) == 1 and not explained[2]
    assert compare(given, [FACTS])[2] == ["Turn: differs: takes explains no difference"]


@pytest.mark.parametrize(
    ("passed", "says"),
    [
        ("aclTensor*, aclIntArray*, float, aclTensor*", ""),
        ("aclTensor*, ?, real, aclTensor*", ""),
        ("aclTensor*, aclIntArray*, double, aclTensor*", "op-plugin passes double, here alpha is float"),
        ("aclTensor*, aclTensor*, float, aclTensor*", "op-plugin passes aclTensor*, here dims is"),
        ("aclTensor*, float, aclTensor*", "op-plugin has 3 parameters"),
    ],
)
def test_clients_tell_order_and_types(operators, passed, says):
    unexplained, _, _ = compare(operators(), [Facts("Turn", "op-plugin", "1", passed)])
    assert says in "\n".join(map(str, unexplained)) if says else unexplained == []


LIST = """aclnnTurn
支持的产品型号
  • Atlas 训练系列产品
  • Atlas A2 训练系列产品/Atlas 800I A2 推理产品
功能说明
turns
函数原型
  • aclnnStatus aclnnTurnGetWorkspaceSize(const aclTensor *self, float alpha, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor)

aclnnTurnGetWorkspaceSize

  • 参数说明
    • self(aclTensor*, 计算输入):turned, shape as out.
      • Atlas 训练系列产品:数据类型支持FLOAT、FLOAT16。
      • Atlas A2 训练系列产品/Atlas 800I A2 推理产品:数据类型支持FLOAT、FLOAT16、BFLOAT16。
    • alpha(float, 计算输入):how far.
    • out(aclTensor*, 计算输出):数据类型支持FLOAT。shape is that of self.
  • 返回值
"""
MARKED = """<h1>aclnnTurn</h1><h2>产品支持情况</h2><table>
<tr><td>Atlas A3 训练系列产品/Atlas A3 推理系列产品</td><td>√</td></tr>
<tr><td>Atlas 推理系列产品</td><td>×</td></tr></table><h2>功能说明</h2><p>turns</p>
<h2>函数原型</h2><pre>aclnnStatus aclnnTurnGetWorkspaceSize(
  const aclTensor *self,
  aclTensor *out,
  uint64_t *workspaceSize,
  aclOpExecutor **executor)</pre>
<h2>aclnnTurnGetWorkspaceSize</h2><table>
<tr><td>self</td><td>input</td><td>INT32, FLOAT32</td></tr><tr><td>out</td><td>output</td><td>INT32</td></tr>
</table><p>返回值</p>"""


def test_a_page_with_lists_is_read():
    (facts,) = read_page(LIST, "8.1")
    assert facts.parameters == "const aclTensor *self, float alpha, aclTensor *out"
    assert facts.declared == [("const aclTensor*", "self"), ("float", "alpha"), ("aclTensor*", "out")]
    assert facts.listed == {
        ("self", "910"): {"FLOAT", "FLOAT16"},
        ("self", "A2"): {"FLOAT", "FLOAT16", "BF16"},
        ("out", ""): {"FLOAT"},
    }
    assert facts.products == "+910 +A2 -310P -310B"


def test_a_saved_page_with_tables_is_read(tmp_path, capsys):
    (tmp_path / "9").mkdir()
    (tmp_path / "9/aclnnTurn.html").write_text(MARKED)
    (facts,) = read_folder(tmp_path)
    assert facts.listed == {("self", ""): {"INT32", "FLOAT"}, ("out", ""): {"INT32"}}
    assert (facts.version, facts.products) == ("9", "+A3 -310P")
    assert main(["--read", str(tmp_path)]) == 0
    assert capsys.readouterr().out == facts.line()


def test_a_page_without_a_row_of_a_parameter_is_read():
    prose = "aclnnTurnGetWorkspaceSize\n\nTurns self by alpha.\n\n返回值\n"
    before = LIST[: LIST.index("aclnnTurnGetWorkspaceSize\n\n  • 参数说明")]
    (facts,) = read_page(before + prose, "8.1")
    assert facts.declared == [("const aclTensor*", "self"), ("float", "alpha"), ("aclTensor*", "out")]
    assert facts.listed == {}


def test_a_line_of_the_table_has_its_fields(tmp_path):
    head = "\t".join(FIELDS) + "\n"
    (tmp_path / "turns.tsv").write_text(head + FACTS.line())
    assert read_table(tmp_path) == [FACTS]
    (tmp_path / "turns.tsv").write_text(head + "Turn\tpage\n")
    with pytest.raises(SystemExit, match="turns.tsv:2: has 2 fields, expected 7"):
        read_table(tmp_path)
