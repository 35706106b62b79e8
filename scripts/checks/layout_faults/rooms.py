# SPDX-License-Identifier: Apache-2.0
"""Faults of rooms and topics: files, names, what the build makes."""

from layout.rooms import ROOM_FILES
from layout_faults.tree import CC, PY, SPDX, including, room

MADE = "\n" * 99 + "// Made by scripts/operators/generate_operators.py.\n"

PLANTED = {
    "check_required_files": [
        (
            {f"src/opapi/add/forward/{name}": None},
            f"src/opapi/add/forward:1: no {name}",
        )
        for name in ROOM_FILES
    ]
    + [
        (
            {"src/opapi/supporting/order/operators.toml": None,
             "src/opapi/supporting/order/sort.cc": CC},
            "src/opapi/supporting/order:1: no operators.toml",
        ),
        ({"src/opapi/supporting/README.md": None}, "src/opapi/supporting:1: no README.md"),
    ],
    "check_room_places": [
        (room("add/double_backward"), "a room is named forward or backward, not add/double"),
    ],
    "check_family_files": [
        ({"src/opapi/add/words.h": CC}, "words.h:1: a family's folder holds shared.h")
    ],
    "check_room_names": [
        ({"src/opapi/add/forward/kernel_cpu.cc": CC}, "forward/kernel_cpu.cc:1: the order of"),
        ({"src/opapi/add/forward/stuff.cc": CC}, "forward/stuff.cc:1: no file of a room: expected"),
        ({"src/opapi/add/forward/notes.md": "# A\n"}, "forward/notes.md:1: no file of"),
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
    "check_generated": [
        ({"include/aclnnop/aclnn_sum.h": CC}, "include/aclnnop/aclnn_sum.h:1: made from a record"),
        (
            {"include/aclnnop/aclnn_max.h": f"// {SPDX}\n// Max. Made by scripts/generate.py.\n"},
            "include/aclnnop/aclnn_max.h:1: made by a script; the build makes it",
        ),
    ]
    + [
        ({path: f"// {SPDX}\n// Rows of all.\n" + MADE}, f"{path}:1: made from a record")
        for path in ("src/opapi/supporting/order/order_made.cc", "tests/abi/rows.cc", "a/b/c.txt")
    ],
}

ALLOWED = [
    {
        "src/opapi/add/forward/nan_test.cc": CC,
        "src/opapi/add/forward/lanes-inl.h": CC,
        "src/opapi/add/forward/tail_simd.cc": including("add/forward/lanes-inl.h"),
    },
    {"scripts/operators/generate_operators.py": PY + 'MADE = "// Made by scripts/operators/generate_operators.py."\n'},
]
