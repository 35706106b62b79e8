# SPDX-License-Identifier: Apache-2.0
"""The formulas of records in LaTeX: each has one, and the notation keeps what binds to what."""

import ast
import dataclasses
import re

import pytest
import record_formulas
from operator_records import read_topics

OPERATORS = {each.api: each for topic in read_topics() for each in topic.operators}


def of(numpy: str, api: str = "aclnnAdd") -> str:
    """The record of an operator with that expression."""
    operator = OPERATORS[api]
    changed = dataclasses.replace(operator, record={**operator.record, "numpy": numpy})
    return record_formulas.latex(changed).replace(r"\mathrm", "")


@pytest.mark.parametrize("api", OPERATORS)
def test_every_operator_has_a_formula(api):
    text = record_formulas.latex(OPERATORS[api])
    assert text.count("{") == text.count("}") and "@" not in text
    left = text.removeprefix(r"\begin{aligned}").partition("&" if "&=" in text else " ")[0]
    assert re.match(r"\\mathrm\{\w+\}|[A-Za-z](?:_\{| |$)", left)
    assert record_formulas.markdown(OPERATORS[api])


@pytest.mark.parametrize(
    ("numpy", "latex"),
    [
        ("self - (other - alpha)", r"{self} - ({other} - {alpha})"),
        ("self - other - alpha", r"{self} - {other} - {alpha}"),
        ("self * (other + 1)", r"{self} \cdot ({other} + 1)"),
        ("(self / 3 + 0.5) * other", r"\left(\frac{{self}}{3} + 0.5\right) \cdot {other}"),
        ("(self + 1) ** 2", r"({self} + 1)^{2}"),
        ("-self * other", r"-{self} \cdot {other}"),
        ("other * -self", r"{other} \cdot (-{self})"),
        ("np.exp(-self)", r"e^{-{self}}"),
        ("np.square(self - other)", r"({self} - {other})^{2}"),
        ("self * np.maximum(other, 0)", r"{self} \cdot \max({other}, 0)"),
        ("self - np.remainder(self, other)",
         r"{self} - \left({self} - \left\lfloor \frac{{self}}{{other}} \right\rfloor"
         r" \cdot {other}\right)"),
        ("1 - other * np.sum(self, axis=1)", r"1 - {other} \cdot \sum_{\text{dim } 1} {self}"),
        ("self == other", r"[{self} = {other}]"),
        ("(self > 0) & (other > 0)", r"[({self} > 0) \land ({other} > 0)]"),
        ("np.where(self > 0, 1, np.where(self < 0, -1, 0))",
         r"\begin{cases}1 & \text{if } {self} > 0 \\ -1 & \text{if } {self} < 0"
         r" \\ 0 & \text{otherwise}\end{cases}"),
        ("self.shape[0]", r"\operatorname{shape}({self})[0]"),
        ("self * 1e-12", r"{self} \cdot 10^{-12}"),
    ],
)  # fmt: skip
def test_what_binds_to_what_is_kept(numpy, latex):
    assert of(numpy) == f"{{out}} = {latex}"


def test_the_rule_that_says_most_is_taken():
    assert r"\left\lfloor" not in of("np.power(self, other)")
    assert of("scatter(self, 0, other, alpha, 1)") != of("scatter(self, 0, other, alpha, 2)")


def test_an_operator_in_place_reads_what_it_writes():
    assert record_formulas.latex(OPERATORS["aclnnInplaceRelu"]) == (
        r"\mathrm{selfRef} \leftarrow \max(\mathrm{selfRef}, 0)"
    )


def test_what_a_formula_needs_is_text_on_a_page():
    page = record_formulas.markdown(OPERATORS["aclnnPdist"])
    block, _, notes = page.partition("```\n\n")
    assert block.startswith("```{math}\n\\mathrm{out}_{k} = ") and "quad" not in page
    assert notes == (
        "- {math}`(i, j)`: the {math}`k`-th of the pairs {math}`i < j`, in order of {math}`i`,"
        " then of {math}`j`\n"
    )


def test_words_within_braces_are_no_text_on_a_page():
    with pytest.raises(record_formulas.FormulaError, match="within braces"):
        record_formulas._said_below(r"m = \frac{\text{length}}{2}")


def test_an_unknown_function_is_named():
    for expression in ("bessel(self)", "self.bessel", "np.bessel(self, 1)"):
        with pytest.raises(record_formulas.FormulaError, match="aclnnAdd: latex.toml .*bessel"):
            of(expression)


def test_each_rule_is_of_some_operator():
    nodes = [
        node
        for each in OPERATORS.values()
        for node in ast.walk(ast.parse(" ".join(each.record["numpy"].split()), mode="eval"))
    ]
    unused = [
        ast.unparse(pattern)
        for pattern, _ in record_formulas.rules()
        if not any(record_formulas.fits(pattern, node, {}) for node in nodes)
    ]
    assert unused == []
