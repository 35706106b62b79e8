# SPDX-License-Identifier: Apache-2.0
"""Code that stands in two rooms."""

from layout import duplicates
from layout_faults.tree import CC

# A text that two rooms might both hold: different from line to line, so that it is one run.
LONG = duplicates.MAX_LINES
LONG_RUN = "".join(f"  sum += Row{i}(a, b);\n" for i in range(LONG))

PLANTED = {
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
}

ALLOWED = [
    # Short runs, and long ones of lines that say nothing, are no copies.
    {f"src/opapi/{name}/forward/test.cc": CC + "int a;\n  }\n" * 7 + "}\n" * 200
     for name in ("add", "mul_all")},
]
