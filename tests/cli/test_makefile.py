# SPDX-License-Identifier: Apache-2.0
"""`make help` is short, and `make help-all` has every target that says what it does."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def targets(name: str) -> list[str]:
    ended = subprocess.run(["make", "-s", name], cwd=ROOT, capture_output=True, text=True, check=True)
    assert max(map(len, ended.stdout.splitlines())) <= 80
    return re.findall(r"^  make ([a-z0-9-]+) ", ended.stdout, re.M)


def test_help_has_six_targets_and_says_where_the_others_are():
    *first, last = targets("help")
    assert len(first) == 6 and last == "help-all"


def test_help_all_has_every_target():
    text = (ROOT / "Makefile").read_text()
    said = re.findall(r"^([a-z0-9-]+):.*##\*? ", text, re.M)
    assert targets("help-all") == said and {*targets("help")} <= {*said}
    phony = set(" ".join(re.findall(r"^\.PHONY: (.*)", text, re.M)).split())
    assert {*said, "help"} == phony


def test_docs_are_made_of_what_is_built():
    assert re.search(r"^docs: build\b", (ROOT / "Makefile").read_text(), re.M)
