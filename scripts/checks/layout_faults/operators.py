# SPDX-License-Identifier: Apache-2.0
"""Lists of operators that somebody keeps by hand."""

from layout_faults.tree import CC, PY, TOML, including

RECORDS = "".join(f'[[operator]]\nname = "{n}"\n' for n in ("Sort", "Topk", "Kthvalue"))


def entries_of(*names):
    return "".join(f"aclnnStatus aclnn{name}GetWorkspaceSize(int a) {{}}\n" for name in names)


PLANTED = {
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

ALLOWED = [
    {"src/opapi/add/forward/op.cc": CC + entries_of("Add"),
     "src/opapi/mul_all/forward/op.cc": CC + entries_of("MulAll"),
     "CHANGELOG.md": "aclnnAdd, aclnnMulAll\n", "python/openaclnn/add.py": PY + "add = 1\n"},
]
