# SPDX-License-Identifier: Apache-2.0
"""Decisions for one product, outside the table of products."""

from layout_faults.tree import CC

PLANTED = {
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
}

ALLOWED = [
    # Tables may say which product has what; who asks whether there is one decides nothing.
    {"src/ascendcl/product_table.cc": CC + "bool b = row.family == OPENACLNN_FAMILY_A2;\n"},
    {"src/frame/operation.cc": CC + "bool b = product == nullptr || product != nullptr;\n"},
    {"tests/abi/a.cc": CC + "bool b = product.family == Family::k910;\n"},
]
