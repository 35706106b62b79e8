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
            ("p.family <= 2", "family <="),
            ("2 < static_cast<int>(p->family)", "< static_cast<int>(p->family"),
            ("static_cast<int>(p.family) > 2", "family) >"),
            ("p.family\n == 2", "family =="),
            ("OPENACLNN_FAMILY_A2 == f", "OPENACLNN_FAMILY_A2 =="),
            ("f - OPENACLNN_FAMILY_A2 == 0", "OPENACLNN_FAMILY_A2 =="),
            ("Is(OPENACLNN_FAMILY_A2)", "OPENACLNN_FAMILY_A2' should"),
            ("product == kFirst", "product =="),
            ("product.name == kFirst", "product.name =="),
            ("kFirst == std::string_view(product->name)", "== std::string_view(product->name"),
            ("product.rules->name == kFirst", "rules->name =="),
            ("product.core_count == 32", "core_count =="),
            ("32 <= product.core_count", "<= product.core_count"),
            ("FamilyName(p.family) == kA2", "FamilyName(p.family) =="),
            ("kA2 != Meta()->runtime->family_name(f)", "!= Meta()->runtime->family_name(f)"),
            ("std::string_view(product.name).starts_with(k950)", "product.name).starts_with"),
            ("strcmp(product.name, k950) == 0", "strcmp(product.name"),
            ("static_cast<int>(p.family)", "p.family"),
            ("p.family ? 1 : 0", "p.family"),
            ("p.family", "p.family"),
        ]
    ]
    + [
        (
            {"src/kernels/rows/rows.h": CC + "switch (f) {\n  case OPENACLNN_FAMILY_A2:\n}\n"},
            "src/kernels/rows/rows.h:4: 'case OPENACLNN_FAMILY_A2' should be a column",
        )
    ]
    + [
        ({"src/kernels/rows/rows.h": CC + text}, f"src/kernels/rows/rows.h:3: '{found}' should be a column")
        for text, found in [
            ("switch (product.family) {\n}\n", "product.family"),
            ("if (product->family) F();\n", "product->family"),
            ("const auto f = product.family;\n", "product.family"),
        ]
    ]
    + [
        (
            {"src/opapi/add/rules_table.cc": CC + "bool b = row.family == 2;\n"},
            "rules_table.cc:3: 'family ==' should be a column",
        ),
    ],
    "check_product_names": [
        (
            {"src/opapi/add/forward/check.cc": CC + text + "\n"},
            "add/forward/check.cc:3: \"Ascend9",
        )
        for text in (
            'bool b = p.is("Ascend910A");',
            'bool b = name.starts_with("Ascend950");',
            'constexpr char kFirst[] = "Ascend910A";',
        )
    ],
}

ALLOWED = [
    # Tables may say which product has what; who asks whether there is one decides nothing.
    {"src/ascendcl/product_table.cc": CC + "bool b = row.family == OPENACLNN_FAMILY_A2;\n"},
    {"src/frame/operation.cc": CC + "bool b = product == nullptr || product != nullptr;\n"},
    {
        "src/opapi/add/forward/check.cc": CC
        + """// as on "Ascend910A"
auto types = op.DtypesOf(operand.name(), product_.family);
auto row = rows[product.family], other = Row(product->family, product.name);
for (int family = 0; family < OPENACLNN_FAMILY_COUNT; ++family) F(family, product.core_count);
auto text = FamilyName(static_cast<OpenaclnnFamily>(family));
bool fits = width <= product.rules->max_softmax_width && product.rules->has_hf32;
bool is_less = product.terms < product.rows;
auto cores = static_cast<uint64_t>(product.core_count);
"""
    },
    {"tests/abi/a.cc": CC + "bool b = product.family == Family::k910;\n"},
]
