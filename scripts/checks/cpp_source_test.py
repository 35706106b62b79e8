# SPDX-License-Identifier: Apache-2.0
"""Reads small C++ texts and looks at the functions and macros that are found in them."""

import cpp_source
import pytest


def functions_in(text):
    return [tuple(f) for f in cpp_source.functions(text)]


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
        ("void F() noexcept try {\n} catch (...) {\n}\n", [(1, "F", 3)]),
        ("const Row kRows[] = {\n  {1, [](int a) {\n  }},\n};\n", [(2, "a lambda", 2)]),
        ("ROW(1)\nROW(2)\nint F(int a) {\n}\n", [(3, "F", 2)]),
        ("__attribute__((visibility(\"default\"))) int* F(int a) {\n}\n", [(1, "F", 2)]),
        ("int F() {\n  // }\n  g('}', \"}\", R\"(})\", 1'000);\n}\n", [(1, "F", 4)]),
    ],
)
def test_functions(text, expected):
    assert functions_in(text) == expected


def test_macros_join_continuations_and_know_guards():
    text = "#ifndef A_H_\n#define A_H_\n#define B(x) \\\n  x\n#ifndef C\n#define C 1\n#endif\n"
    found = [(m.line, m.name, m.is_guard) for m in cpp_source.macros(text)]
    assert found == [(2, "A_H_", True), (3, "B", False), (6, "C", False)]


def test_comments_go_and_strings_stay():
    text = 'f("//"); // a\n/* b\n */ g(\'"\');\n'
    assert cpp_source.strip_comments(text) == 'f("//");  \n \n g(\'"\');\n'
