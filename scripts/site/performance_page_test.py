# SPDX-License-Identifier: Apache-2.0
"""The pages of the gradients give the shares of the roof that docs/performance.md gives."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(ROOT.glob("src/opapi/*/backward/README.md"))


def measured(operator: str) -> tuple[list[str], list[str]]:
    """The numbers of its row's last two cells: shares with two threads, and with one."""
    page = (ROOT / "docs/performance.md").read_text("utf-8")
    figures = page.split("\n## Figures\n")[1].split("\n### ")[0]
    (row,) = re.findall(rf"^\| {operator} \| .*$", figures, re.MULTILINE)
    two, one = (cell.split("(")[0] for cell in row.strip("| ").split(" | ")[-2:])
    return re.findall(r"\d+", two), re.findall(r"\d+", one)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parts[-3])
def test_shares_of_the_roof_are_those_of_the_last_run(page):
    text = page.read_text("utf-8")
    operator = text.splitlines()[0].removeprefix("# ")
    (sentence,) = re.findall(r"On\s+two\s+processors\s+of\s.*?\[Performance\]", text, re.DOTALL)
    figures = sentence.replace("\n", " ").partition(": ")[2]
    two, _, one = figures.partition("with two threads")
    assert (re.findall(r"\d+", two), re.findall(r"\d+", one)) == measured(operator)
