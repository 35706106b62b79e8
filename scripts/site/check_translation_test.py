# SPDX-License-Identifier: Apache-2.0
"""A translation that is not of the text as it is now is found."""

import check_translation
import pytest

ENGLISH = """# Page

Hello.

<!-- Written by a script: from here -->
one
<!-- to here -->

## Try it

    make run    # quick
"""
CHINESE = check_translation.stamped(
    ENGLISH,
    "<!-- translation: intro -->\n你好。\n\n<!-- translation: Try it -->\n    make run    # 快\n",
)


def test_current():
    assert check_translation.complaints(ENGLISH, CHINESE) == []
    assert check_translation.complaints(ENGLISH.replace("one", "two"), CHINESE) == []


@pytest.mark.parametrize(
    "english, chinese, said",
    [
        (ENGLISH.replace("Hello", "Good day"), CHINESE, "section intro was written for another"),
        (ENGLISH + "More.\n", CHINESE, "section Try it was written for another"),
        (ENGLISH + "\n## New\n", CHINESE, "no section New"),
        (ENGLISH, CHINESE.replace("make run", "make test"), "has the line `make test`"),
        (ENGLISH, CHINESE + "\n    make test\n", "has 2 lines of code, expected 1"),
        (ENGLISH, CHINESE.replace("好", "好 `x`"), "section intro names `x` in one language"),
        (ENGLISH, CHINESE.replace("Try it", "Other"), "section Other is not in README.md"),
    ],
)
def test_what_is_out_of_date(english, chinese, said):
    assert any(each.startswith(said) for each in check_translation.complaints(english, chinese))
