# SPDX-License-Identifier: Apache-2.0
"""Sources are read again when anything that clang-tidy sees of them has changed, and only then."""

import json
import shutil
import subprocess
import sys

import clang_tidy
import pytest

pytestmark = pytest.mark.skipif(shutil.which(clang_tidy.CLANG_TIDY) is None, reason="no clang-tidy")

CLEAN = "#pragma once\ninline int* Nothing() { return nullptr; }\n"
FINDING = CLEAN.replace("nullptr", "0")


class Tree:
    """A project of one source and one header, which main() looks at."""

    def __init__(self, root, monkeypatch):
        self.root, self.monkeypatch = root, monkeypatch
        root.mkdir()
        (root / "src").mkdir()
        (root / ".clang-tidy").write_text(
            "Checks: '-*,modernize-use-nullptr'\nWarningsAsErrors: '*'\nHeaderFilterRegex: '.*'\n")
        (root / "src/a.h").write_text(CLEAN)
        (root / "src/a.cc").write_text('#include "a.h"\nint* A() { return Nothing(); }\n')
        self.compile_with("-std=c++20")

    def compile_with(self, flag):
        source = self.root / "src/a.cc"
        command = f"ccache c++ {flag} -I{self.root}/src -o a.o -c {source}"
        (self.root / "compile_commands.json").write_text(json.dumps(
            [{"directory": str(self.root), "command": command, "file": str(source)}]))

    def looked_at(self, capsys, *options):
        clang_tidy.text_hash.cache_clear()
        clang_tidy.checks.cache_clear()
        self.monkeypatch.setattr(sys, "argv", ["clang_tidy.py", str(self.root), *options])
        code = clang_tidy.main(self.root)
        return code, capsys.readouterr().out


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Tree(tmp_path / "tree", monkeypatch)


def test_clean_is_read_once(tree, capsys):
    assert tree.looked_at(capsys) == (0, "clang-tidy: 1 files, 0 clean before, 0 with findings\n")
    assert tree.looked_at(capsys) == (0, "clang-tidy: 1 files, 1 clean before, 0 with findings\n")


def test_a_copy_elsewhere_is_the_same(tree, tmp_path, monkeypatch, capsys):
    tree.looked_at(capsys)
    assert "1 clean before" in Tree(tmp_path / "copy", monkeypatch).looked_at(capsys)[1]


@pytest.mark.parametrize("file, text", [
    ("src/a.h", CLEAN + "// said otherwise\n"),
    (".clang-tidy", "Checks: '-*,modernize-use-nullptr'\nWarningsAsErrors: '*'\n"),
])
def test_a_change_is_read(tree, file, text, capsys):
    tree.looked_at(capsys)
    (tree.root / file).write_text(text)
    assert "0 clean before" in tree.looked_at(capsys)[1]


def test_other_flags_are_read(tree, capsys):
    tree.looked_at(capsys)
    tree.compile_with("-std=c++17")
    assert "0 clean before" in tree.looked_at(capsys)[1]


def test_findings_are_told_each_time(tree, capsys):
    (tree.root / "src/a.h").write_text(FINDING)
    for _ in range(2):
        code, said = tree.looked_at(capsys)
        assert code == 1 and "use nullptr" in said and "0 clean before, 1 with findings" in said


@pytest.fixture
def committed(tree, monkeypatch):
    """All of a tree in a commit that counts as clean."""
    for command in ("init", "add .", "-c user.name=a -c user.email=a@b commit -m a"):
        subprocess.run(["git", "-C", tree.root, *command.split()], check=True, capture_output=True)
    monkeypatch.setattr(clang_tidy, "LAST_CLEAN", "HEAD")
    return tree


def test_what_a_clean_commit_has_is_not_read(committed, capsys):
    assert "1 clean before" in committed.looked_at(capsys)[1]


def test_all_is_read_where_it_is_asked_for(committed, capsys):
    assert "0 clean before" in committed.looked_at(capsys, "--all")[1]


@pytest.mark.parametrize("file, text", [
    ("src/a.h", FINDING),
    ("src/a.cc", FINDING),
    (".clang-tidy", "Checks: '-*,readability-identifier-length'\nWarningsAsErrors: '*'\n"),
])
def test_a_change_since_a_clean_commit_is_read(committed, file, text, capsys):
    (committed.root / file).write_text(text)
    assert "0 clean before" in committed.looked_at(capsys)[1]


def test_a_commit_that_git_does_not_know_is_none(committed, monkeypatch, capsys):
    monkeypatch.setattr(clang_tidy, "LAST_CLEAN", "0" * 40)
    assert "0 clean before" in committed.looked_at(capsys)[1]


def test_what_comes_too_late_is_left_out(tree, capsys):
    (tree.root / "src/a.cc").write_text('#include "a.h"\nint* A() { return 0; }\n')
    said = "clang-tidy: 1 files, 0 clean before, 0 with findings, 1 left out: -1 s are over\n"
    assert tree.looked_at(capsys, "--seconds=-1") == (0, said)
    assert tree.looked_at(capsys, "--seconds=60")[0] == 1


def test_what_has_changed_itself_comes_first(committed, monkeypatch, capsys):
    source, header = committed.root / "src/b.cc", committed.root / "src/a.h"
    source.write_text("int B() { return 1; }\n")
    header.write_text(CLEAN + "// changed\n")
    commands = json.loads((committed.root / "compile_commands.json").read_text())
    command = f"ccache c++ -o b.o -c {source}"
    commands.append({"directory": str(committed.root), "command": command, "file": str(source)})
    (committed.root / "compile_commands.json").write_text(json.dumps(commands))
    order = []
    monkeypatch.setattr(clang_tidy, "findings", lambda build, file: order.append(file.name) or "")
    committed.looked_at(capsys, "--jobs=1")
    assert order == ["b.cc", "a.cc"]


def test_no_sources_are_a_mistake(tree, capsys):
    assert tree.looked_at(capsys, "--only", "elsewhere")[0] == 1
