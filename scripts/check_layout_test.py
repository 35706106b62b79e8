# SPDX-License-Identifier: Apache-2.0
"""Builds small trees, each with one fault, and watches the layout check name it.

Every rule has a fault of its own here, and only that rule finds it: without the rule the test of
its fault is red.
"""

import subprocess

import check_layout
import pytest
from layout import duplicates
from layout.rooms import ROOM_FILES
from layout.source import read_tree

SPDX = "SPDX-License-Identifier: Apache-2.0"
CC = f"// {SPDX}\n// Says what the file is.\n"
PY = f'# {SPDX}\n"""Says what the file is."""\n'
TOML = f"# {SPDX}\n# Says what the file is.\n"


def room(path):
    """The files of src/opapi/`path`/, good ones."""
    tree = {f"src/opapi/{path}/{name}": CC for name in ROOM_FILES}
    return tree | {f"src/opapi/{path}/README.md": "# A room\n"}


def good_tree():
    """The files of a tree without faults: two families, records, and tests that outweigh them."""
    tree = room("add/forward") | room("add/backward") | room("mul_all/forward")
    return tree | {
        "src/opapi/add/shared.h": CC,
        "src/opapi/supporting/README.md": "# Records\n",
        "src/opapi/supporting/engine.h": CC,
        "src/opapi/supporting/reduce/operators.toml": TOML + '[[operator]]\nname = "Sum"\n',
        "src/opapi/supporting/reduce/sum.h": CC,
        "src/opapi/supporting/order/operators.toml": TOML,
        "src/ascendcl/event.cc": CC,
        "src/ascendcl/event.h": CC,
        "src/ascendcl/status.h": CC,
        "src/nnopbase/tensor.h": CC,
        "src/frame/checker.h": CC,
        "src/kernels/lanes-inl.h": CC,
        "src/companions/hccl/collective.cc": CC,
        "src/companions/atb/operation.h": CC,
        "src/tool/roof.cc": CC,
        "include/aclnnop/aclnn_add.h": CC,
        "tests/ascendcl/event_test.cc": CC + "\n" * 480,
        "python/openaclnn/cli.py": PY,
    }


def write(tmp_path, files):
    for path, text in {**good_tree(), **files}.items():
        if text is not None:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
    return read_tree(tmp_path)


def check(tmp_path, files):
    """Pairs of rule and violation for good_tree() with `files` in place of or beside its own."""
    sources = write(tmp_path, files)
    return [(rule.__name__, str(v)) for rule in check_layout.RULES for v in rule(sources)]


def function_of(lines, name="F"):
    return f"int {name}(int a) {{\n" + "  ++a;\n" * (lines - 2) + "}\n"


def including(*paths):
    return CC + "".join(f'#include "{path}"\n' for path in paths)


def entries_of(*names):
    return "".join(f"aclnnStatus aclnn{name}GetWorkspaceSize(int a) {{}}\n" for name in names)


RECORDS = "".join(f'[[operator]]\nname = "{n}"\n' for n in ("Sort", "Topk", "Kthvalue"))

# What two rooms might both hold: different from line to line, so that it is one run.
LONG = duplicates.MAX_LINES
LONG_RUN = "".join(f"  sum += Row{i}(a, b);\n" for i in range(LONG))

# For each rule: a fault, and what is said of it. Includes are spelt as the rooms spell theirs.
PLANTED = {
    "check_file_size": [
        (
            {"src/ascendcl/event.cc": CC + "int x;\n" * 499},
            "src/ascendcl/event.cc:501: 501 lines, at most 500",
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
    "check_function_size": [
        (
            {"src/ascendcl/event.cc": CC + function_of(61)},
            "src/ascendcl/event.cc:3: function F has 61 lines, at most 60",
        ),
        (
            {"python/openaclnn/cli.py": PY + "def f():\n" + "    pass\n" * 60},
            "python/openaclnn/cli.py:3: function f has 61 lines",
        ),
    ],
    "check_macro_rate": [
        (
            {"src/ascendcl/event.cc": CC + "#define ACL_X 1\n"},
            "src/ascendcl/event.cc:3: #define ACL_X: src/ has",
        )
    ],
    "check_macro_loops": [
        (
            {"src/ascendcl/event.cc": CC + "#define ROW(n) \\\n  for (;;) n\n" + "int x;\n" * 490},
            "src/ascendcl/event.cc:3: #define ROW holds a loop",
        )
    ],
    "check_test_ratio": [({"tests/ascendcl/event_test.cc": CC}, ".:1: ")],
    "check_licence": [
        ({"src/ascendcl/event.cc": "// Says what the file is.\n"}, "event.cc:1: no SPDX"),
        ({"python/openaclnn/__init__.py": ""}, "python/openaclnn/__init__.py:1: no SPDX"),
        ({"Makefile": "all:\n"}, "Makefile:1: no SPDX"),
    ],
    "check_first_sentence": [
        ({"scripts/a.sh": f"#!/bin/sh\n# {SPDX}\nset -e\n"}, "scripts/a.sh:3: no sentence"),
        ({"src/ascendcl/event.cc": f"// {SPDX}\n#include <a>\n"}, "event.cc:2: no sentence"),
        ({"python/openaclnn/a.py": f"# {SPDX}\nimport os\n"}, "openaclnn/a.py:2: no sentence"),
    ],
    "check_words": [
        (
            {"src/ascendcl/event.cc": CC + "class EventHelper {};\n"},
            "event.cc:3: EventHelper: 'Helper' says nothing",
        ),
        ({"python/openaclnn/cli.py": PY + "golden_rows = 1\n"}, "cli.py:3: golden_rows: 'golden'"),
        ({"src/kernels/row_utils.h": CC}, "src/kernels/row_utils.h:1: src/kernels/row_utils.h"),
    ],
    "check_local_paths": [
        ({"docs/a.md": "see /" + "work/x\n"}, "work/' is a path of one machine")
    ],
    "check_last_line": [({"docs/a.md": "no newline"}, "docs/a.md:1: no newline at the end")],
    "check_resolved": [
        (
            {"src/opapi/add/forward/op.cc": including("mul/forward/op.h")},
            "src/opapi/add/forward/op.cc:3: no file of the tree is mul/forward/op.h",
        )
    ],
    "check_folders": [({"src/common/a.h": CC}, "src/common/a.h:1: src/common is not in LAYERS")],
    "check_layers": [
        (
            {"src/ascendcl/event.cc": including("nnopbase/tensor.h")},
            "src/ascendcl/event.cc:3: ascendcl includes nnopbase",
        ),
        (
            {"src/nnopbase/tensor.h": including("frame/checker.h")},
            "src/nnopbase/tensor.h:3: nnopbase includes frame",
        ),
        (
            {"src/frame/checker.h": including("../kernels/target.h"), "src/kernels/target.h": CC},
            "src/frame/checker.h:3: frame includes kernels",
        ),
        (
            {"src/kernels/rows.h": including("add/forward/op.h")},
            "src/kernels/rows.h:3: kernels includes opapi",
        ),
        (
            {"src/tool/roof.cc": including("add/forward/op.h")},
            "src/tool/roof.cc:3: tool includes opapi",
        ),
        (
            {"src/opapi/add/forward/op.cc": including("tool/roof.h"), "src/tool/roof.h": CC},
            "src/opapi/add/forward/op.cc:3: opapi includes tool",
        ),
        (
            {"src/companions/hccl/collective.cc": including("nnopbase/tensor.h")},
            "collective.cc:3: companions includes nnopbase",
        ),
    ],
    "check_companions": [
        (
            {"src/companions/hccl/collective.cc": including("companions/atb/operation.h")},
            "collective.cc:3: hccl includes atb, another library",
        )
    ],
    "check_numerics": [
        (
            {"src/kernels/rows.h": including("frame/checker.h")},
            "src/kernels/rows.h:3: kernels hold numerics alone and have no use for src/frame/",
        )
    ],
    "check_families": [
        (
            {"src/opapi/mul_all/forward/op.cc": including("add/forward/op.h")},
            "mul_all/forward/op.cc:3: the family mul_all includes the family add",
        ),
        (
            {"src/opapi/mul_all/forward/plan.cc": including("add/shared.h")},
            "mul_all/forward/plan.cc:3: the family mul_all includes the family add",
        ),
        (
            {"src/opapi/mul_all/forward/test.cc": including("add/forward/reference.h")},
            "mul_all/forward/test.cc:3: the family mul_all includes the family add",
        ),
        (
            {"src/opapi/mul_all/forward/check.cc": including("supporting/engine.h")},
            "check.cc:3: the family mul_all includes the family supporting",
        ),
    ],
    "check_directions": [
        (
            {"src/opapi/add/backward/plan.cc": including("add/forward/op.h")},
            "add/backward/plan.cc:3: add/backward includes add/forward",
        ),
        (
            {"src/opapi/add/forward/plan.cc": including("../backward/op.h")},
            "add/forward/plan.cc:3: add/forward includes add/backward",
        ),
    ],
    "check_shared": [
        (
            {"src/opapi/add/shared.h": including("add/forward/op.h")},
            "src/opapi/add/shared.h:3: what the family add shares includes the room add/forward",
        )
    ],
    "check_topics": [
        (
            {"src/opapi/supporting/order/sort.cc": including("supporting/reduce/sum.h")},
            "order/sort.cc:3: the topic order includes the topic reduce",
        )
    ],
    "check_common": [
        (
            {"src/opapi/supporting/engine.h": including("supporting/reduce/sum.h")},
            "supporting/engine.h:3: what all topics share includes the topic reduce",
        )
    ],
    "check_roots": [
        (
            {"src/opapi/registry.cc": including("add/forward/op.h")},
            "src/opapi/registry.cc:3: registry.cc stands for all operators and includes one",
        )
    ],
    "check_references": [
        (
            {"src/opapi/add/forward/reference.h": including("add/forward/op.h")},
            "add/forward/reference.h:3: reference.h includes src/opapi/add/forward/op.h",
        ),
        (
            {"src/opapi/add/forward/reference.cc": including("kernels/rows.h"),
             "src/kernels/rows.h": CC},
            "add/forward/reference.cc:3: reference.cc includes src/kernels/rows.h",
        ),
    ],
    "check_judges": [
        (
            {"src/opapi/add/forward/run.cc": including("add/forward/reference.h")},
            "add/forward/run.cc:3: implementation includes a reference, src/opapi/add/forward/ref",
        )
    ],
    "check_lanes": [
        (
            {"src/opapi/add/forward/run.cc": including("kernels/lanes-inl.h")},
            "add/forward/run.cc:3: lanes-inl.h belongs in a file that is compiled for each",
        )
    ],
    "check_tests": [
        (
            {
                "src/nnopbase/tensor.h": including("support/buffer.h"),
                "tests/support/buffer.h": CC,
            },
            "src/nnopbase/tensor.h:3: implementation includes a test's file",
        ),
        (
            {"src/opapi/add/forward/op.cc": including("add/forward/cases.inc")},
            "add/forward/op.cc:3: implementation includes a test's file",
        ),
    ],
    "check_cycles": [
        (
            {
                "src/ascendcl/event.cc": including("ascendcl/stream.h"),
                "src/ascendcl/stream.h": CC,
                "src/ascendcl/stream.cc": including("ascendcl/event.h"),
            },
            "src/ascendcl/event.cc:3: event, stream include each other in a circle",
        )
    ],
    "check_room_files": [
        (
            {f"src/opapi/add/forward/{name}": None},
            f"src/opapi/add/forward:1: no {name}",
        )
        for name in ROOM_FILES
    ],
    "check_room_places": [
        (room("add/double_backward"), "a room is named forward or backward, not add/double"),
    ],
    "check_family_files": [
        ({"src/opapi/add/words.h": CC}, "words.h:1: a family's folder holds shared.h")
    ],
    "check_kernel_names": [
        ({"src/opapi/add/forward/kernel_cpu.cc": CC}, "forward/kernel_cpu.cc:1: the order of")
    ],
    "check_simd_names": [
        (
            {"src/frame/view_simd.cc": CC + '#include "row-inl.h"\n', "src/frame/row-inl.h": CC},
            "src/frame/view_simd.cc:1: *_simd.cc is a file of src/kernels or of src/opapi",
        )
    ],
    "check_simd_lanes": [
        (
            {"src/opapi/add/forward/kernel_simd.cc": including("add/forward/op.h")},
            "kernel_simd.cc:1: compiled for each instruction set without lanes",
        )
    ],
    "check_topic_files": [
        (
            {"src/opapi/supporting/order/operators.toml": None,
             "src/opapi/supporting/order/sort.cc": CC},
            "src/opapi/supporting/order:1: no operators.toml",
        )
    ],
    "check_records_files": [
        ({"src/opapi/supporting/README.md": None}, "src/opapi/supporting:1: no README.md")
    ],
    "check_product_rules": [
        (
            {"src/opapi/add/forward/check.cc": CC + f"bool F(Product p) {{ return {text}; }}\n"},
            f"add/forward/check.cc:3: '{found}",
        )
        for text, found in [
            ("p.family == OPENACLNN_FAMILY_910", "family =="),
            ("p.family() != wanted", "family() !="),
            ("wanted == p.family", "== p.family"),
            ("OPENACLNN_FAMILY_A2 == f", "OPENACLNN_FAMILY_A2 =="),
            ("product == kFirst", "product =="),
        ]
    ]
    + [
        (
            {"src/kernels/rows.h": CC + "switch (f) {\n  case OPENACLNN_FAMILY_A2:\n}\n"},
            "src/kernels/rows.h:4: 'case OPENACLNN_FAMILY_' should be a column",
        )
    ],
    "check_generated_headers": [
        ({"include/aclnnop/aclnn_sum.h": CC}, "include/aclnnop/aclnn_sum.h:1: made from a record"),
        (
            {"include/aclnnop/aclnn_max.h": f"// {SPDX}\n// Max. Made by scripts/generate.py.\n"},
            "include/aclnnop/aclnn_max.h:1: made from a record",
        ),
    ],
    "check_copies": [
        (
            {
                "src/opapi/add/forward/test.cc": CC + LONG_RUN,
                "src/opapi/mul_all/forward/test.cc": CC + "int x;\n" + LONG_RUN,
            },
            f"add/forward/test.cc:3: {LONG} lines of code as in src/opapi/mul_all/forward/test",
        ),
        (
            {  # the names of the rooms and of their families are no difference
                "src/opapi/add/forward/test.cc": CC + LONG_RUN.replace("Row", "AddForward"),
                "src/opapi/add/backward/test.cc": CC + LONG_RUN.replace("Row", "AddBackward"),
            },
            f"add/backward/test.cc:3: {LONG} lines of code as in src/opapi/add/forward/test.cc:3",
        ),
    ],
    "check_record_lists": [
        (
            {
                "src/opapi/supporting/order/operators.toml": TOML + RECORDS,
                "scripts/formulas.py": PY + text,
            },
            f"scripts/formulas.py:{line}: names 3 records: the next one would have to be added",
        )
        for line, text in [
            (4, 'F = {\n    "Sort": 1,\n    "Topk": 2,\n    "Kthvalue": 3,\n}\n'),
            (3, "aclnnSort, aclnnTopkGetWorkspaceSize, aclnnKthvalue\n".join(["# ", ""])),
        ]
    ],
    "check_operator_lists": [
        (
            {
                "src/opapi/add/forward/op.cc": CC + entries_of("Add"),
                "src/opapi/add/backward/op.cc": CC + entries_of("AddGrad"),
                "src/opapi/mul_all/forward/op.cc": CC + entries_of("MulAll"),
                path: text,
            },
            f"{path}:{line}: names {count} operators",
        )
        for path, line, count, text in [
            ("python/openaclnn/api.py", 4, 2, PY + "\nfrom . import add_grad, mul_all\n"),
            ("src/exports.map", 3, 2, TOML + "aclnnAdd;\naclnnMulAll;\n"),
            ("tests/abi/rows.cc", 3, 2, including("aclnnop/aclnn_add.h", "aclnn_mul_all.h")),
            ("CMakeLists.txt", 3, 3, TOML + "add/forward add/backward mul_all/forward\n"),
        ]
    ],
}


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
        {"src/opapi/add/forward/test.cc": including("support/a.h"), "tests/support/a.h": CC},
        {"docs/a.md": "$HOME/home/ https://a.b/home/ my/work/x ../shared/x\n"},
        {"data/text.txt": "no newline"},
        # A room sees itself, its family, and the layers below.
        {"src/opapi/add/forward/op.cc": including("add/forward/op.h", "op.h", "add/shared.h",
                                                  "frame/checker.h", "ascendcl/status.h")},
        {"src/opapi/add/forward/kernel_simd.cc": including("kernels/lanes-inl.h")},
        {"src/kernels/rows.h": including("ascendcl/status.h")},
        # Tests compare a gradient with its forward, an order with a sum.
        {"src/opapi/add/backward/test.cc": including("add/forward/reference.h")},
        {"src/opapi/add/shared_test.cc": including("add/forward/op.h")},
        {"src/opapi/supporting/order/sort_test.cc": including("supporting/reduce/sum.h")},
        {"src/opapi/supporting/order/sort.cc": including("supporting/engine.h",
                                                         "generated/order.h")},
        {"src/opapi/registry.cc": including("supporting/engine.h")},
        {"src/opapi/add/forward/reference.cc": including("add/forward/reference.h",
                                                         "tool/reference.h"),
         "src/tool/reference.h": CC},
        # The border of a library is below its files, the table behind it above them.
        {"src/ascendcl/interface.h": CC, "src/ascendcl/event.h": including("ascendcl/interface.h"),
         "src/ascendcl/interface.cc": including("ascendcl/interface.h", "ascendcl/event.h")},
        # Tables may say which product has what; who asks whether there is one decides nothing.
        {"src/ascendcl/product_table.cc": CC + "bool b = row.family == OPENACLNN_FAMILY_A2;\n"},
        {"src/frame/operation.cc": CC + "bool b = product == nullptr || product != nullptr;\n"},
        {"tests/abi/a.cc": CC + "bool b = product.family == Family::k910;\n"},
        # Short runs, and long ones of lines that say nothing, are no copies.
        {f"src/opapi/{name}/forward/test.cc": CC + "int a;\n  }\n" * 7 + "}\n" * 200
         for name in ("add", "mul_all")},
        {"src/opapi/add/forward/op.cc": CC + entries_of("Add"),
         "src/opapi/mul_all/forward/op.cc": CC + entries_of("MulAll"),
         "CHANGELOG.md": "aclnnAdd, aclnnMulAll\n", "python/openaclnn/add.py": PY + "add = 1\n"},
    ],
)
def test_what_is_allowed(tmp_path, files):
    assert check(tmp_path, files) == []


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
