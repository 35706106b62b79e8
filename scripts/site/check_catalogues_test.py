# SPDX-License-Identifier: Apache-2.0
"""Entries that are missing, left over, fuzzy, empty or of other code are found."""

import check_catalogues
import pytest

SOUND = {"a `b`": ("甲 `b`", False), "[c](d)": ("[丙](d)", False)}


def test_sound():
    assert check_catalogues.complaints(list(SOUND), SOUND) == []


@pytest.mark.parametrize(
    "change, fault",
    [
        ({"a `b`": ("甲 `b`", True)}, "`a `b`` was translated from another text"),
        ({"a `b`": ("", False)}, "`a `b`` is not translated"),
        ({"a `b`": ("甲 b", False)}, "`a `b`` has other code or links than its translation"),
        ({"[c](d)": ("丙", False)}, "`[c](d)` has other code or links than its translation"),
        ({"gone": ("去", False)}, "`gone` is no longer in the page"),
    ],
)
def test_fault(change, fault):
    assert check_catalogues.complaints(list(SOUND), {**SOUND, **change}) == [fault]


def test_a_new_text():
    assert check_catalogues.complaints([*SOUND, "new"], SOUND) == ["no entry for `new`"]


@pytest.mark.parametrize(
    "text",
    ["`ForkTest`, `a b`<br>`c`", "12 us (3.4 ms)", "64 Ki", "1.63 %", "[`a`](docs/b.md), 9: `c`"],
)
def test_what_has_no_words_needs_no_entry(text):
    assert check_catalogues.complaints([*SOUND, text], SOUND) == []
    assert check_catalogues.complaints([*SOUND, f"{text} of"], SOUND) == [f"no entry for `{text} of`"]


def test_formulas_need_no_entry():
    assert check_catalogues.complaints([*SOUND, r"\mathrm{dw} = \sum x"], SOUND) == []


def test_commands_of_a_new_operator_need_no_entry():
    """Those of the others do, and those that are no operator's."""
    new = ["openaclnn check new", "Help.", "Its option."]
    old = {"Old help.": ("旧", False)}
    others = ["openaclnn check old", *old]
    assert check_catalogues.complaints([*new, *others], old) == []
    for texts in ([*others, "Its option."], [*others, "openaclnn new", "Its option."]):
        assert check_catalogues.complaints(texts, old) == ["no entry for `Its option.`"]


def test_pages_are_files(capsys):
    assert check_catalogues.main(["--pages"]) == 0
    pages = capsys.readouterr().out.strip().split(",")
    made = [each for each in pages if each.startswith("build/")]
    assert len(pages) > 10 and made
    assert all((check_catalogues.ROOT / each).is_file() for each in set(pages) - set(made))


def test_each_page_has_a_catalogue():
    """And no other: the site would take it, and nothing would check it."""
    folder = check_catalogues.LOCALE
    found = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.po")}
    words_of_the_theme = "sphinx"
    assert found == {*check_catalogues.PAGES, words_of_the_theme}
