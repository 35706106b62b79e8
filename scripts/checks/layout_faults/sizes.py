# SPDX-License-Identifier: Apache-2.0
"""Faults of sizes: files, functions, macros, tests."""

from layout_faults.tree import CC, PY, SPDX, good_tree


def function_of(lines, name="F"):
    return f"int {name}(int a) {{\n" + "  ++a;\n" * (lines - 2) + "}\n"


PLANTED = {
    "check_file_size": [
        (
            {"src/ascendcl/stream/event.cc": CC + "int x;\n" * 499},
            "src/ascendcl/stream/event.cc:501: 501 lines, at most 500",
        )
    ],
    "check_build_file_size": [
        ({"CMakeLists.txt": f"# {SPDX}\n" + "# A build file.\n" * 150}, "CMakeLists.txt:151: 151")
    ],
    "check_median_size": [
        (
            {p: CC + "\n" * 150 for p in good_tree() if p.endswith((".cc", ".h"))}
            | {f"tests/abi/{i}_test.cc": CC + "\n" * 450 for i in range(10)},
            "median file has 152 lines, at most 150",
        )
    ],
    "check_folder_size": [
        (
            {f"src/common/{i}.h": CC for i in range(25)},  # beside status.h
            "src/common:1: 26 files of code beside its rooms, at most 25",
        ),
        ({f"scripts/{i}.py": PY for i in range(26)}, "scripts:1: 26 files of code"),
    ],
    "check_function_size": [
        (
            {"src/ascendcl/stream/event.cc": CC + function_of(61)},
            "src/ascendcl/stream/event.cc:3: function F has 61 lines, at most 60",
        ),
        (
            {"src/ascendcl/stream/event.cc": CC + "const int kX = [] {\n" + "  Do();\n" * 60 + "}();\n"},
            "src/ascendcl/stream/event.cc:3: function a lambda has 62 lines",
        ),
        (
            {"python/openaclnn/cli.py": PY + "def f():\n" + "    pass\n" * 60},
            "python/openaclnn/cli.py:3: function f has 61 lines",
        ),
    ],
    "check_macro_rate": [
        (
            {"src/ascendcl/stream/event.cc": CC + "#define ACL_X 1\n"},
            "src/ascendcl/stream/event.cc:3: #define ACL_X: src/ has",
        )
    ],
    "check_macro_loops": [
        (
            {"src/ascendcl/stream/event.cc": CC + "#define ROW(n) \\\n  for (;;) n\n" + "int x;\n" * 490},
            "src/ascendcl/stream/event.cc:3: #define ROW holds a loop",
        )
    ],
    "check_test_ratio": [({"tests/ascendcl/event_test.cc": CC}, ".:1: ")],
}

ALLOWED = [
    {"src/ascendcl/report/error_table.cc": CC + "// a row\n" * 600, "tests/a.cc": CC + "\n" * 490,
     "tests/b.cc": CC + "\n" * 490},
    # Tests, tables and public headers are one for each thing that they are of.
    {f"tests/abi/{i}_test.cc": CC for i in range(26)},
    {f"src/common/{i}_table.cc": CC for i in range(26)},
    {f"include/aclnnop/aclnn_{i}.h": CC for i in range(26)},
    {"include/acl/acl_rt.h": CC + "int f(void);\n" * 900},
    {"src/ascendcl/stream/event.cc": CC + function_of(60)},
    {"src/ascendcl/stream/event.h": CC + "#ifndef EVENT_H_\n#define EVENT_H_\n#endif\n"},
    {"src/kernels/simd/lanes-inl.h": CC + "#define OPENACLNN_TARGET_AVX2 1\n"},
]
