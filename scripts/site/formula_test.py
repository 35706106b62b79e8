# SPDX-License-Identifier: Apache-2.0
"""Formulas of plain text become LaTeX, and what is none is refused with its place."""

import re

import formula
import operator_formulas
import pytest

ROOMS = sorted(operator_formulas.ROOT.glob("src/opapi/*/*ward/README.md"))


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("y[i,:] = w[idx[i],:]", r"y_{i, \text{:}} = w_{\mathrm{idx}_{i}, \text{:}}"),
        ("dx = (1/s_v) * 2", r"\mathrm{dx} = \frac{1}{s_{v}} \cdot 2"),
        ("a = b - (c + d)", r"a = b - (c + d)"),
        ("a = b * -c / d", r"a = \frac{b \cdot -c}{d}"),
        ("y = e^(z - max z)", r"y = e^{z - \max z}"),
        ("y = e_{j-1}", r"y = e_{j - 1}"),
        ("y = start_i[k]", r"y = \mathrm{start}_{i}[k]"),
        (
            "y = sum over i with i = v, v != p and k < D, of g[i] * h",
            r"y = \sum_{i,\ i = v,\ v \ne p,\ k < D} g_{i} \cdot h",
        ),
        ("y = sum over the last axis of g", r"y = \sum_{\text{the last axis}} g"),
        (
            "y = m ? 0 : s * t",
            r"y = \begin{cases}0 & \text{if } m \\ s \cdot t & \text{otherwise}\end{cases}",
        ),
        ("a = b\nc = d", r"\begin{aligned}a &= b \\ c &= d\end{aligned}"),
        ("a = b\n    + c", "a = b + c"),
        (
            "a = b\n    where 0 <= t < T_in",
            r"\begin{aligned}a &= b \\ &\quad \text{where}\ 0 \le t < T_{\mathrm{in}}\end{aligned}",
        ),
        ("a = b  for every i", r"\begin{aligned}a &= b \\ &\quad \text{for every}\ i\end{aligned}"),
    ],
)
def test_latex(text, wanted):
    assert formula.latex(text) == wanted


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("y = a b", "found b, expected its end"),
        ("y = (a", "found its end, expected \\)"),
        ("y = a +", "found its end, expected a value"),
        ("y = a % b", "'%' at 6 is no part of a formula"),
        ("y = sum over k a[k]", "lacks the `of`"),
        ("y = sum over columns k of a[k]", "k follows a name"),
        ("y = ]", "found ], expected a value"),
    ],
)
def test_what_is_no_formula(text, complaint):
    with pytest.raises(formula.FormulaError, match=complaint):
        formula.latex(text)


@pytest.mark.parametrize("path", ROOMS, ids=lambda each: "/".join(each.parts[-3:-1]))
def test_each_page_has_its_formulas(path):
    """That of its text, and by the parameters' names those of the operator and of its pair."""
    page = operator_formulas.page(path, path.read_text("utf-8"))
    pair = len(list(path.parent.parent.glob("*/README.md")))
    assert page.count("```{math}") == 1 + pair == page.count("Shapes: ") + 1
    assert "Gradient, `aclnn" in page and ("Forward, `aclnn" in page) == (pair == 2)
    assert page.index("```{math}") < page.index("## By the names") < page.index("Products: ")


def test_what_a_header_says_beside_its_formula():
    header = operator_formulas.ROOT / "include/aclnnop/aclnn_embedding_dense_backward.h"
    before, _, behind = operator_formulas.of_header(header).partition("```{math}")
    assert "`aclnnEmbeddingDenseBackward`:\n\nWith grad flattened to (M, D)" in before
    assert "s_v is 1, or with" in behind and "Every tensor" not in behind and "Phase 1" not in before


def test_shapes():
    page = operator_formulas.of_header(
        operator_formulas.ROOT / "include/aclnnop/aclnn_scaled_masked_softmax.h"
    )
    grouped = operator_formulas.ROOT / "include/aclnnop/aclnn_grouped_bias_add_grad.h"
    either = "`gradY` (R, H) with groupIdxOptional, else (G, C, H), "
    assert f"Shapes: {either}" in operator_formulas.of_header(grouped)
    shape = "(B, N, S1, S2)"
    assert f"Shapes: `x` {shape}, `mask` (B or 1, N or 1, S1, S2), `y` {shape}.\n" in page


def test_words_in_chinese():
    assert formula.in_chinese(r"\text{windows}\ i \text{:}") == r"\text{窗口}\ i \text{:}"
    drawn = "".join(operator_formulas.page(each, each.read_text("utf-8")) for each in ROOMS)
    words = re.findall(r"\\text\{([^}]*)\}", formula.in_chinese(drawn))
    assert "其中" in words and {each for each in words if re.search("[a-z]", each)} == {"token"}
