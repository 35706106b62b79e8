# SPDX-License-Identifier: Apache-2.0
"""Measures with coverage.py a program that GCC compiles."""

import subprocess
import sys

import pytest

import coverage
from coverage import folder_of, leave_out

PROGRAM = """\
#include <string>
inline std::string Word(int i) { return std::string(40, char('a' + i)); }
template <class T>
int Sign(T i) {
  if (i > 0) return 1;
  return 0;
}
int Never(int i) {
  if (i > 0) return 1;
  return int(Word(1).size());
}
"""
MAIN = """\
#include "src/common/word.h"
int main() { return Sign(1) + Sign('a') + int(Word(2).size()) + Sign(1L) == 43 ? 0 : 1; }
"""


@pytest.fixture
def build(tmp_path, monkeypatch):
    version = subprocess.run(["g++", "-dumpversion"], capture_output=True, text=True).stdout
    if not version.startswith("12"):
        pytest.skip(f"g++ is {version}")
    for name, text in (("src/common/word.h", PROGRAM), ("main.cc", MAIN)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "build").mkdir()
    monkeypatch.chdir(tmp_path)
    compiler = ["g++", "-O0", "--coverage", "-I.", "main.cc", "-o", "build/main"]
    subprocess.run(compiler, check=True)
    subprocess.run(["build/main"], check=True)
    return "build"


def run(monkeypatch, capsys, *arguments: str) -> list[str]:
    monkeypatch.setattr(sys, "argv", ["coverage.py", *arguments])
    assert coverage.main() == 0
    return capsys.readouterr().out.splitlines()


def test_lines_and_branches_of_each_folder(build, monkeypatch, capsys):
    table = run(monkeypatch, capsys, build)
    # Sign counts once for its three types. Of 6 branches 2 are Sign's, 2 Never's, and 2 the ways on
    # from calls of Word. Those to and in the clean-up behind an exception do not count.
    assert [each.split() for each in table] == [
        [name, *"line 3 of 7 42.9 % branch 2 of 6 33.3 %".split()] for name in ("src/common", "all")
    ]
    listed = run(monkeypatch, capsys, build, "--missing", "src/common")
    assert [each.split()[1:] for each in listed if each.startswith("src/common")] == [
        ["7", "3", "42%", "6,8-10"], ["6", "2", "33%", "5,9,10"],
    ]  # fmt: skip


def test_what_only_an_exception_leads_to_does_not_count():
    numbered = [{"count": count, "branchno": number} for number, count in ((1, 1), (2, 0), (5, 0))]
    apart = {"line_number": 3, "function_name": "f<int>", "branches": numbered}
    other = {
        "line_number": 4,
        "function_name": "g",
        "branches": [dict(each) for each in numbered],
    }
    exceptions = {
        ("f<int>", "src/a.cc", 3, 2),
        ("", "src/a.cc", 3, 5),
        ("", "src/a.cc", 4, 5),
    }
    leave_out([{"file": "src/a.cc", "lines": [apart, other]}], exceptions)
    left = [
        [each["branchno"] for each in line["branches"] if "gcovr/excluded" not in each]
        for line in (apart, other)
    ]
    assert left == [[1, 5], [1, 2]]


def test_a_family_is_a_folder():
    assert folder_of("src/opapi/embedding/backward/op.cc") == "src/opapi/embedding"
    assert folder_of("src/ascendcl/watch/race.cc") == "src/ascendcl/watch"
