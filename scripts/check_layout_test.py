# SPDX-License-Identifier: Apache-2.0
"""Builds small trees, each with one fault, and watches the layout check name it."""

import subprocess

import check_layout
import cpp_source
import pytest

SPDX = "SPDX-License-Identifier: Apache-2.0"
CC = f"// {SPDX}\n// Says what the file is.\n"
PY = f'# {SPDX}\n"""Says what the file is."""\n'


def good_tree():
    """The files of a tree without faults: one room, and tests that outweigh it."""
    tree = {f"src/opapi/add/{name}": CC for name in check_layout.ROOM_FILES if name != "README.md"}
    tree |= {
        "src/opapi/add/README.md": "# Add\n",
        "src/ascendcl/event.cc": CC,
        "src/ascendcl/event.h": CC,
        "src/nnopbase/tensor.h": CC,
        "src/kernels/lanes-inl.h": CC,
        "tests/runtime/event_test.cc": CC + "\n" * 480,
        "python/openaclnn/cli.py": PY,
    }
    return tree


def check(tmp_path, files):
    """The violations of good_tree() with `files` in place of or beside its own, as text."""
    for path, text in {**good_tree(), **files}.items():
        if text is not None:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
    sources = check_layout.read_tree(tmp_path)
    return [str(v) for rule in check_layout.RULES for v in rule(sources)]


def function_of(lines, name="F"):
    return f"int {name}(int a) {{\n" + "  ++a;\n" * (lines - 2) + "}\n"


def test_good_tree_has_no_violations(tmp_path):
    assert check(tmp_path, {}) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"src/ascendcl/event.cc": CC + "int x;\n" * 499},
            "src/ascendcl/event.cc:501: 501 lines, at most 500",
        ),
        ({"CMakeLists.txt": f"# {SPDX}\n" + "# A build file.\n" * 150}, "CMakeLists.txt:151: 151"),
        (
            {"src/ascendcl/event.cc": CC + function_of(61)},
            "src/ascendcl/event.cc:3: function F has 61 lines, at most 60",
        ),
        (
            {"python/openaclnn/cli.py": PY + "def f():\n" + "    pass\n" * 60},
            "python/openaclnn/cli.py:3: function f has 61 lines",
        ),
        (
            {"src/ascendcl/event.cc": CC + "#define ACL_X 1\n"},
            "src/ascendcl/event.cc:3: #define ACL_X: src/ has",
        ),
        (
            {"src/ascendcl/event.cc": CC + "#define ROW(n) \\\n  for (;;) n\n" + "int x;\n" * 490},
            "src/ascendcl/event.cc:3: #define ROW holds a loop",
        ),
        ({"src/ascendcl/event.cc": "// Says what the file is.\n"}, "event.cc:1: no SPDX"),
        ({"python/openaclnn/__init__.py": ""}, "python/openaclnn/__init__.py:1: no SPDX"),
        ({"Makefile": "all:\n"}, "Makefile:1: no SPDX"),
        ({"scripts/a.sh": f"#!/bin/sh\n# {SPDX}\nset -e\n"}, "scripts/a.sh:3: no sentence"),
        ({"src/ascendcl/event.cc": f"// {SPDX}\n#include <a>\n"}, "event.cc:2: no sentence"),
        ({"python/openaclnn/a.py": f"# {SPDX}\nimport os\n"}, "openaclnn/a.py:2: no sentence"),
        (
            {"src/ascendcl/event.cc": CC + "class EventHelper {};\n"},
            "event.cc:3: EventHelper: 'Helper' says nothing",
        ),
        ({"python/openaclnn/cli.py": PY + "golden_rows = 1\n"}, "cli.py:3: golden_rows: 'golden'"),
        ({"src/kernels/row_utils.h": CC}, "src/kernels/row_utils.h:1: src/kernels/row_utils.h"),
        (
            {"src/ascendcl/event.cc": CC + '#include "nnopbase/tensor.h"\n'},
            "src/ascendcl/event.cc:3: ascendcl includes nnopbase",
        ),
        (
            {"src/nnopbase/tensor.h": CC + '#include "../kernels/lanes-inl.h"\n'},
            "src/nnopbase/tensor.h:3: nnopbase includes kernels",
        ),
        (
            {
                **{f"src/opapi/mul/{name}": CC for name in check_layout.ROOM_FILES},
                "src/opapi/mul/op.cc": CC + '#include "opapi/add/op.h"\n',
            },
            "src/opapi/mul/op.cc:3: the room of mul includes the room of add",
        ),
        (
            {
                "src/nnopbase/tensor.h": CC + '#include "support/buffer.h"\n',
                "tests/support/buffer.h": CC,
            },
            "src/nnopbase/tensor.h:3: implementation includes a test's file",
        ),
        ({"src/common/a.h": CC}, "src/common/a.h:1: src/common is not in LAYERS"),
        ({"src/opapi/add/bench.cc": None}, "src/opapi/add:1: no bench.cc"),
        ({"tests/runtime/event_test.cc": CC}, ".:1: "),
        ({"docs/a.md": "see /" + "work/x\n"}, "work/' is a path of one machine"),
        ({"docs/a.md": "no newline"}, "docs/a.md:1: no newline at the end"),
    ],
)
def test_each_rule_fires_once(tmp_path, files, expected):
    violations = check(tmp_path, files)
    assert len(violations) == 1
    assert expected in violations[0]


def test_median_is_bounded(tmp_path):
    files = {path: CC + "int x;\n" * 150 for path in good_tree() if path.endswith(".cc")}
    files["tests/runtime/event_test.cc"] = CC + "int x;\n" * 450
    violations = check(tmp_path, files)
    assert any("median file has 152 lines, at most 150" in v for v in violations)


@pytest.mark.parametrize(
    "files",
    [
        {"src/ascendcl/error_table.cc": CC + "// a row\n" * 600, "tests/a.cc": CC + "\n" * 490,
         "tests/b.cc": CC + "\n" * 490},
        {"include/acl/acl_rt.h": CC + "int f(void);\n" * 900},
        {"src/ascendcl/event.cc": CC + function_of(60)},
        {"src/ascendcl/event.h": CC + "#ifndef EVENT_H_\n#define EVENT_H_\n#endif\n"},
        {"src/kernels/lanes-inl.h": CC + "#define OPENACLNN_TARGET_AVX2 1\n"},
        {"src/ascendcl/event.cc": CC + '// A helper\nauto s = "golden"; /* naive */ int util;\n'},
        {"src/opapi/add/op.cc": CC + '#include "op.h"\n#include "kernels/lanes-inl.h"\n'},
        {"src/opapi/registry.cc": CC + '#include "opapi/add/op.h"\n'},
        {"src/opapi/add/test.cc": CC + '#include "support/a.h"\n', "tests/support/a.h": CC},
        {"docs/a.md": "$HOME/home/ https://a.b/home/ my/work/x ../shared/x\n"},
        {"data/text.txt": "no newline"},
    ],
)
def test_what_is_allowed(tmp_path, files):
    assert check(tmp_path, files) == []


def test_ignored_files_are_not_read(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    files = {".gitignore": "/build/\n", "build/a.cc": "int x;\n", ".venv/b.py": "x = 1\n"}
    assert [v.split(":")[0] for v in check(tmp_path, files)] == [".venv/b.py"]


def test_main_prints_figures_and_violations(tmp_path, capsys):
    check(tmp_path, {"docs/a.md": "no newline"})
    assert check_layout.main([str(tmp_path)]) == 1
    output = capsys.readouterr().out
    assert "lines a file, median" in output
    assert output.endswith("docs/a.md:1: no newline at the end\nlayout: 1 violations\n")


def functions_in(text):
    return [tuple(f) for f in cpp_source.functions(cpp_source.strip_literals(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int F() { return 1; }\n", [(1, "F", 1)]),
        ("template <class T = Box<int>>\nT F(T a) {\n}\n", [(1, "F", 3)]),
        ("namespace a {\nnamespace {\nint F(int a,\n      int b) {\n}\n}\n}\n", [(3, "F", 3)]),
        ('extern "C" {\nint f(void) {\n}\n}\n', [(2, "f", 2)]),
        ("class A final : public B<int> {\n public:\n  void G() const {\n  }\n};\n", [(3, "G", 2)]),
        ("A::A(int x)\n    : x_(x), y_{1}, z_{} {\n  Go();\n}\n", [(1, "A::A", 4)]),
        ("bool operator==(A a, A b) {\n}\n", [(1, "operator==", 2)]),
        ("A& A::operator=(A&& a) noexcept {\n}\n", [(1, "A::operator=", 2)]),
        ("auto F(int a) -> Box<int> {\n}\n", [(1, "F", 2)]),
        ("void F(Box a = {}) {\n}\n", [(1, "F", 2)]),
        ("TEST(Event, Records) {\n}\n", [(1, "TEST(Event, Records)", 2)]),
        ("const auto kRow = [](int a) {\n  return a;\n};\n", [(1, "kRow", 3)]),
        ("void F() {\n  auto g = [&] {\n  };\n  if (x) {\n  }\n}\n", [(1, "F", 6)]),
        ("constexpr Row kRows[] = {\n  {F(1), 2},\n};\nenum class A { kB };\n", []),
        ("MACRO(x)\nclass A : public B<decltype(1)> {\n  void F() {\n  }\n};\n", [(3, "F", 2)]),
        ("struct A F(int a) {\n}\n", [(1, "F", 2)]),
        ("struct A { int x{1}; int y = 2; };\nint z{3};\n", []),
        ("#if A\nint F(int a) {\n#else\nint F() {\n#endif\n}\nint G() {\n}\n",
         [(4, "F", 3), (7, "G", 2)]),
        ("#define A(x) { \\\n  x\nint F() {\n}\n", [(3, "F", 2)]),
        ("int F() {\n  // }\n  g('}', \"}\", R\"(})\", 1'000);\n}\n", [(1, "F", 4)]),
    ],
)
def test_functions(text, expected):
    assert functions_in(text) == expected


def test_macros_join_continuations_and_know_guards():
    text = "#ifndef A_H_\n#define A_H_\n#define B(x) \\\n  x\n#ifndef C\n#define C 1\n#endif\n"
    found = [(m.line, m.name, m.is_guard) for m in cpp_source.macros(text)]
    assert found == [(2, "A_H_", True), (3, "B", False), (6, "C", False)]
