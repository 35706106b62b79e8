# SPDX-License-Identifier: Apache-2.0
"""Mutates a source, and a project with one."""

import json
import subprocess
import sys

import mutate
from mutate import changed, makes_again, mutants, unreached


def texts(source: str) -> set[str]:
    return {changed(source, each) for each in mutants(source)}


def test_each_change_is_in_one_place():
    assert texts("a = b < c;\n") == {"a = b <= c;\n", "a = b > c;\n"}
    assert texts("if (f(a)) g();\n") == {
        "if (!(f(a))) g();\n", "if (true || (f(a))) g();\n", "if (false && (f(a))) g();\n",
    }  # fmt: skip


def test_statements_are_taken_away():
    for statement in ("f(a, b);", "x.y = z;", "a->b(c);", "++a[i];", "a += b;", "*a = b;"):
        assert texts(f"  {statement}\n") == {"  ;\n"}, statement
    for other in ("return f(a);", "int a = b;", "f(a),", "a, b);", "continue;", "const auto& a = b;"):
        assert texts(f"  {other}\n") == set(), other


def test_comments_words_and_directives_stay():
    for source in ("// a == b\n", 'f("a == 1");\n', "#if A == 1\n", "template <int k = 1>\n"):
        assert texts(source) == set()


def test_what_holds_the_object_is_made_again():
    compile_it, other = "c++ -o a.o -c a.cc", "c++ -shared -o libb.so b.o"
    archive, library = "ar qc liba.a a.o", "c++ -shared -o liba.so liba.a"
    program = "c++ -o program liba.so"  # which loads the library
    assert makes_again([compile_it, archive, library, other, program], {"a.o"}) == [archive, library]


def test_lines_that_no_test_reaches(tmp_path):
    lines = [{"line_number": 1, "count": 0}, {"line_number": 2, "count": 0}, {"line_number": 2, "count": 3}]
    (tmp_path / "src").mkdir()
    coverage = tmp_path / "coverage.json"
    coverage.write_text(json.dumps({"files": [{"file": "src/a.cc", "lines": lines}]}), "utf-8")
    assert unreached(coverage, tmp_path / "src/a.cc") == {1}
    assert unreached(coverage, tmp_path / "src/b.cc") == unreached(None, tmp_path / "src/a.cc") == set()


SOURCE = "int Least(int a, int b) {\n  int least = a;\n  if (b < a)\n    least = b;\n  return least;\n}\n"
TEST = "int Least(int, int); int main() { return Least(1, 2) == 1 && Least(2, 2) == 2 ? 0 : 1; }\n"
LISTS = """cmake_minimum_required(VERSION 3.25)
project(least CXX)
add_library(least SHARED least.cc)
add_executable(least_test least_test.cc)
target_link_libraries(least_test least)
"""


def built(folder, files: dict[str, str]):
    """Builds a project of these files."""
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    build = folder / "build"
    configure = ["cmake", "-G", "Ninja", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-S", folder, "-B", build]
    subprocess.run(configure, check=True, capture_output=True)
    subprocess.run(["cmake", "--build", build], check=True, capture_output=True)
    return build


def run(monkeypatch, capsys, *arguments) -> str:
    monkeypatch.setattr(sys, "argv", ["mutate.py", *map(str, arguments)])
    assert mutate.main() == 0
    return capsys.readouterr().out


def test_a_project(tmp_path, capsys, monkeypatch):
    build = built(tmp_path, {"least.cc": SOURCE, "least_test.cc": TEST, "CMakeLists.txt": LISTS})
    before = (build / "libleast.so").read_bytes()
    out = run(
        monkeypatch, capsys, tmp_path / "least.cc", "--build", build, "--targets", "least_test",
        "--test", build / "least_test", "--record", tmp_path / "record",
    )  # fmt: skip
    # Nobody asks for the lesser of 2 and 1.
    assert "least.cc:3: not seen: if (b < a) -> if (false && (b < a))" in out
    assert "least.cc:4: not seen: least = b; -> ;" in out
    assert "least.cc:3: not seen: if (b < a) -> if (b <= a)" in out
    assert "3 of 6 seen, 50 %; 0 the same code, 0 do not compile; 6 there are; seed 0" in out
    assert (build / "libleast.so").read_bytes() == before
    assert set(json.loads((tmp_path / "record").read_text("utf-8")).values()) == {"seen", "not seen"}


HEADER = "inline int Half(int a) {\n  return a < 2 ? 0 : 1;\n}\n"
USES = '#include "least/half.h"\nint main() { return Half(2) == 1 ? 0 : 1; }\n'


def test_a_header(tmp_path, capsys, monkeypatch):
    for folder in ("least", "test"):
        (tmp_path / folder).mkdir()
    lists = "cmake_minimum_required(VERSION 3.25)\nproject(half CXX)\n"
    lists += f"include_directories({tmp_path.parent} {tmp_path})\n"  # as programs of tests have it
    lists += "add_executable(half_test test/half_test.cc)\n"
    build = built(tmp_path, {"least/half.h": HEADER, "test/half_test.cc": USES, "CMakeLists.txt": lists})
    out = run(
        monkeypatch, capsys, tmp_path / "least/half.h", "--through", tmp_path / "test/half_test.cc",
        "--build", build, "--targets", "half_test", "--test", build / "half_test",
    )  # fmt: skip
    # 2 is not told from what is more, and 0 not asked for.
    assert "half.h:2: not seen: return a < 2 ? 0 : 1; -> return a < 1 ? 0 : 1;" in out
    assert "half.h:2: not seen: return a < 2 ? 0 : 1; -> return a < 2 ? 1 : 1;" in out
    assert "4 of 7 seen, 57 %" in out
    assert subprocess.run([build / "half_test"]).returncode == 0
