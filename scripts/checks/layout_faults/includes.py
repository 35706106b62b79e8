# SPDX-License-Identifier: Apache-2.0
"""Includes that are wrong, spelt as the rooms spell theirs."""

from layout_faults.tree import CC, including

PLANTED = {
    "check_resolved": [
        (
            {"src/opapi/add/forward/op.cc": including("mul/forward/op.h")},
            "src/opapi/add/forward/op.cc:3: no file of the tree is mul/forward/op.h",
        )
    ],
    "check_spelt": [
        (
            {"src/opapi/add/forward/op.cc": CC + text},
            "src/opapi/add/forward/op.cc:3: HEADER is an include that no rule can follow",
        )
        for text in ("#include HEADER\n", "#  include \\\n  HEADER // its path\n")
    ],
    "check_folders": [({"src/utility/a.h": CC}, "src/utility/a.h:1: src/utility is not in LAYERS")],
    "check_layers": [
        (
            {"src/common/status.h": including("ascendcl/stream/event.h")},
            "src/common/status.h:3: common includes ascendcl",
        ),
        (
            {"src/ascendcl/stream/event.cc": including("nnopbase/tensor.h")},
            "src/ascendcl/stream/event.cc:3: ascendcl includes nnopbase",
        ),
        (
            {"src/nnopbase/tensor.h": including("frame/checker.h")},
            "src/nnopbase/tensor.h:3: nnopbase includes frame",
        ),
        (
            {"src/frame/checker.h": including("../kernels/simd/target.h"), "src/kernels/simd/target.h": CC},
            "src/frame/checker.h:3: frame includes kernels",
        ),
        (
            {"src/kernels/rows/rows.h": including("add/forward/op.h")},
            "src/kernels/rows/rows.h:3: kernels includes opapi",
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
            {"src/companions/graph/library.cc": including("nnopbase/tensor.h")},
            "library.cc:3: companions includes nnopbase",
        ),
    ],
    "check_companions": [
        (
            {"src/companions/graph/library.cc": including("companions/atb/operation.h")},
            "library.cc:3: graph includes atb, another library",
        )
    ],
    "check_numerics": [
        (
            {"src/kernels/rows/rows.h": including("frame/checker.h")},
            "src/kernels/rows/rows.h:3: kernels hold numerics alone and have no use for src/frame/",
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
    ]
    + [
        (
            {"src/opapi/mul_all/forward/op.cc": CC + text},
            "mul_all/forward/op.cc:3: the family mul_all includes the family add",
        )
        for text in (
            "#include <add/forward/op.h>\n",
            '#include /* near */ "add/forward/op.h"\n',
            '#import "add/forward/op.h"\n',
            '#include \\\n"add/forward/op.h"\n',
        )
    ],
    "check_parts": [
        (
            {"src/opapi/add/backward/plan.cc": including("add/forward/op.h")},
            "add/backward/plan.cc:3: add/backward includes add/forward",
        ),
        (
            {"src/opapi/add/forward/plan.cc": including("../backward/op.h")},
            "add/forward/plan.cc:3: add/forward includes add/backward",
        ),
        (
            {"src/opapi/supporting/order/sort.cc": including("supporting/reduce/sum.h")},
            "order/sort.cc:3: order includes reduce",
        ),
    ],
    "check_shared": [
        (
            {"src/opapi/add/shared.h": including("add/forward/op.h")},
            "src/opapi/add/shared.h:3: what the family add shares includes add/forward",
        ),
        (
            {"src/opapi/supporting/engine.h": including("supporting/reduce/sum.h")},
            "supporting/engine.h:3: what the family supporting shares includes reduce",
        ),
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
            {"src/opapi/add/forward/reference.cc": including("kernels/rows/rows.h"),
             "src/kernels/rows/rows.h": CC},
            "add/forward/reference.cc:3: reference.cc includes src/kernels/rows/rows.h",
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
            {"src/opapi/add/forward/run.cc": including("kernels/simd/lanes-inl.h")},
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
                "src/ascendcl/stream/event.cc": including("ascendcl/stream/stream.h"),
                "src/ascendcl/stream/stream.h": CC,
                "src/ascendcl/stream/stream.cc": including("ascendcl/stream/event.h"),
            },
            "src/ascendcl/stream/event.cc:3: event, stream include each other in a circle",
        )
    ],
}

ALLOWED = [
    {"src/opapi/add/forward/test.cc": including("support/a.h"), "tests/support/a.h": CC},
    # A room sees itself, its family, and the layers below.
    {"src/opapi/add/forward/op.cc": including("add/forward/op.h", "op.h", "add/shared.h",
                                              "frame/checker.h", "common/status.h")},
    {"src/opapi/add/forward/kernel_simd.cc": including("kernels/simd/lanes-inl.h")},
    {"src/kernels/rows/rows.h": including("common/status.h")},
    {"src/kernels/rows/rows.h": CC + '#include <array>\n/*\n#include "add/forward/op.h"\n*/\n'},
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
]
