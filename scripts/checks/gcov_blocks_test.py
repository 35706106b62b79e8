# SPDX-License-Identifier: Apache-2.0
"""Reads with gcov_blocks.py a program that GCC compiles."""

import re
import subprocess

import pytest

from gcov_blocks import exceptional

PROGRAM = """\
#include <string>
std::string Word(int i) { return std::string(40, char('a' + i)); }
std::string Either(bool first) {
  return first ? Word(1) + Word(2) : Word(3) + Word(4);
}
int Caught(int i) {
  try {
    return Word(i).size() > 3 ? 1 : 2;
  } catch (...) {
    return i > 0 ? 3 : 4;
  }
}
template <class T>
int Sized(T i) {
  return Word(i).size() + Word(2 * i).size();
}
int Both() { return Sized('a') + Sized(1); }
"""


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graph")
    (folder / "a.cc").write_text(PROGRAM)
    version = subprocess.run(["g++", "-dumpversion"], capture_output=True, text=True).stdout
    if not version.startswith("12"):
        pytest.skip(f"g++ is {version}")
    subprocess.run(["g++", "-O0", "--coverage", "-c", "a.cc"], cwd=folder, check=True)
    return folder / "a.gcno"


def listed(graph) -> dict[tuple[int, int], str]:
    """The counts of gcov for each call and branch of a.cc, by line and number."""
    run = subprocess.run(
        ["gcov", "-abct", "a.gcno"], cwd=graph.parent, capture_output=True, text=True, check=True
    )
    found, line = {}, 0
    for text in run.stdout.split("Source:a.cc\n")[1].split("Source:")[0].splitlines():
        if match := re.match(r"(call|branch) +(\d+)", text):
            found[line, int(match[2])] = match[1]
        elif match := re.match(r"[^:]+: +(\d+):", text):
            line = int(match[1])
    return found


def test_numbers_are_gcovs(graph):
    places = exceptional(graph, "a.cc")
    said = listed(graph)
    assert places and {said[place[2:]] for place in places} == {"branch"}
    left = {place for place, kind in said.items() if kind == "branch"} - {place[2:] for place in places}
    of_line = {number: [each for line, each in sorted(left) if line == number] for number in (4, 8, 10)}
    # The choice, the results of either side, and how each call without an exception goes on.
    assert len(of_line[4]) > 4 and len([each for _, _, line, each in places if line == 4]) > 4
    assert len(of_line[8]) == 2 + 1, "the choice, and Word's way on"
    assert len(of_line[10]) == 2, "a handler is code"


def test_instances_are_counted_apart(graph):
    apart = {name for name, _, line, _ in exceptional(graph, "a.cc") if line == 15}
    assert apart == {"int Sized<char>(char)", "int Sized<int>(int)"}


def test_other_files_are_refused(tmp_path):
    (tmp_path / "b.gcno").write_bytes(b"oncg*31A" + bytes(40))
    with pytest.raises(SystemExit, match="of another compiler"):
        exceptional(tmp_path / "b.gcno", "src/")
