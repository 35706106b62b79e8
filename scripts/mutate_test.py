# SPDX-License-Identifier: Apache-2.0
"""What mutate.py makes of a source."""

from mutate import changed, mutants


def texts(source: str) -> set[str]:
    return {changed(source, each) for each in mutants(source)}


def test_each_change_is_in_one_place():
    assert texts("a = b < c;\n") == {"a = b <= c;\n", "a = b > c;\n"}
    assert texts("if (f(a)) g();\n") == {
        "if (!(f(a))) g();\n", "if (true || (f(a))) g();\n", "if (false && (f(a))) g();\n",
    }  # fmt: skip


def test_comments_words_and_directives_stay():
    for source in ("// a == b\n", 'f("a == 1");\n', "#if A == 1\n", "template <int k = 1>\n"):
        assert texts(source) == set()
