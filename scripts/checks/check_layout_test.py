# SPDX-License-Identifier: Apache-2.0
"""Builds small trees, each with one fault, and watches the layout check name it.

Every rule has a fault of its own here, and only that rule finds it: without the rule the test of
its fault is red.
"""

import subprocess
from pathlib import Path

import check_layout
import pytest
from layout import sizes
from layout.source import read_tree
from layout_faults import ALLOWED, PLANTED
from layout_faults.tree import write


def check(tmp_path, files):
    """Pairs of rule and violation for good_tree() with `files` in place of or beside its own."""
    sources = write(tmp_path, files)
    return [(rule.__name__, str(v)) for rule in check_layout.RULES for v in rule(sources)]


def test_good_tree_has_no_violations(tmp_path):
    assert check(tmp_path, {}) == []


def test_every_rule_has_a_planted_violation():
    names = [rule.__name__ for rule in check_layout.RULES]
    assert sorted(names) == sorted(PLANTED)
    assert all(PLANTED.values())


@pytest.mark.parametrize(
    ("rule", "files", "expected"),
    [(rule, *fault) for rule, faults in PLANTED.items() for fault in faults],
)
def test_each_rule_alone_finds_its_fault(tmp_path, rule, files, expected):
    violations = check(tmp_path, files)
    assert [name for name, _ in violations] == [rule]
    assert expected in violations[0][1]


@pytest.mark.parametrize("files", ALLOWED)
def test_what_is_allowed(tmp_path, files):
    assert check(tmp_path, files) == []


def test_reasons_for_large_folders_are_needed():
    """One that is not needed any more would hide the next folder that grows."""
    counts = sizes.files_by_folder(read_tree(Path(__file__).parents[2]))
    assert {counts[folder] > sizes.MAX_FOLDER_FILES for folder in sizes.LARGE_FOLDERS} <= {True}


def test_ignored_files_are_not_read(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    files = {".gitignore": "/build/\n", "build/a.cc": "int x;\n", ".venv/b.py": "x = 1\n"}
    assert [v.split(":")[0] for _, v in check(tmp_path, files)] == [".venv/b.py"]


def test_main_prints_figures_and_violations(tmp_path, capsys):
    write(tmp_path, {"docs/a.md": "no newline"})
    assert check_layout.main([str(tmp_path)]) == 1
    output = capsys.readouterr().out
    for figure in ("lines a file, median", "include cycles", "runs that two rooms share",
                   "edits outside a new room", "edits outside a new record"):
        assert figure in output
    assert output.endswith("docs/a.md:1: no newline at the end\nlayout: 1 violations\n")
