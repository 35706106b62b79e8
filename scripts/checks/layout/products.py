# SPDX-License-Identifier: Apache-2.0
"""Rules of products are data: what differs from one to another is a column of their table."""

import re

import cpp_source
from layout.source import C_SUFFIXES, Violation

# The one place that says what a product is, and the enumeration of families.
TABLE = "src/ascendcl/product_table.cc"
ENUMERATION = "src/ascendcl/interface.h"
DEFAULT = "src/ascendcl/process/config.cc"  # which one it is if nothing is set

# Expressions that tell products apart: a member of one, or the name of a family.
_OBJECT = r"(?:\w+(?:\(\))?(?:\.|->|::))*"
_CALL = r"\((?:[^()]|\([^()]*\))*\)"
_PRODUCT = r"\bproduct_?(?:\(\))?"
_MARK = (
    rf"(?:\bfamily_?(?:\s*\(\s*\))?|\bcore_count\b|\b(?:FamilyName|family_name)\s*{_CALL}"
    rf"|{_PRODUCT}\s*(?:\.|->)\s*name\b|\brules\s*(?:\.|->)\s*name\b)"
    r"(?![\w.(]|->|::)"
)
_MADE_OF = r"(?:\w*_cast<[^<>]*>[(]|std::string(?:_view)?[({]|int\(|[(*])*"
_KIND = r"(?:OPENACLNN_FAMILY_(?!COUNT\b)|Family::k)\w+"
_COMPARES = r"(?:[!=]=|<=>|(?<=\s)[<>]=?(?=\s))"
_BUT_COUNT = r"(?!\s*OPENACLNN_FAMILY_COUNT\b)"

# A comparison decides for one product what a column of its table should say.
COMPARISON = re.compile(
    rf"{_MARK}[)}}]*\s*{_COMPARES}{_BUT_COUNT}"
    rf"|{_COMPARES}\s*{_MADE_OF}{_OBJECT}{_MARK}"
    rf"|{_PRODUCT}\s*[!=]=(?!\s*nullptr)|[!=]=\s*{_OBJECT}{_PRODUCT}(?![\w.(]|->|::)"
    rf"|[!=]=\s*{_KIND}|{_KIND}\s*[!=]="
    rf"|\bcase\s+{_KIND}"
    rf"|{_MARK}[)}}]*\s*\.\s*(?:starts_with|ends_with|find|compare|substr)\b"
    rf"|\bstr\w*cmp\s*\([^;]*{_MARK}"
)
# A family may index a table or be handed to a function; who keeps or asks it decides by it.
FAMILY = re.compile(r"(?:\b\w+(?:\(\))?(?:\.|->))+family\b(?!\s*\()")
HANDED_ON = re.compile(
    rf"(?<!if )(?<!while )(?<!switch )(?<!>)[(\[,]\s*\*?{_OBJECT}family\s*[)\],]"
)
CONSTANT = re.compile(r"\bOPENACLNN_FAMILY_(?!COUNT\b)\w+")
NAME = re.compile(r'"[^"\n]*Ascend\d[^"\n]*"')


def check_product_rules(sources):
    for source in _implementation(sources):
        found = [*_matches(source.stripped, COMPARISON), *_kept_families(source.stripped)]
        if source.path != ENUMERATION:
            found += _matches(source.stripped, CONSTANT)
        for line, text in _first_of_each_line(found):
            what = f"'{text}' should be a column of the product table"
            yield Violation(source.path, line, what)


def check_product_names(sources):
    """Code that has a product's name decides by it."""
    for source in _implementation(sources):
        if source.path == DEFAULT:
            continue
        text = cpp_source.strip_comments(source.text)
        for line, name in _first_of_each_line(_matches(text, NAME)):
            yield Violation(source.path, line, f"{name} is for the table of products alone")


def _implementation(sources):
    for source in sources:
        is_c = source.folder and source.suffix in C_SUFFIXES
        if is_c and not source.is_test and source.path != TABLE:
            yield source


def _matches(text, pattern):
    for match in pattern.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, " ".join(match.group().split())


def _kept_families(text):
    handed = {match.end() - 1 for match in HANDED_ON.finditer(text)}
    for match in FAMILY.finditer(text):
        behind = text[match.end() :]
        if match.end() + len(behind) - len(behind.lstrip()) not in handed:
            yield text.count("\n", 0, match.start()) + 1, match.group()


def _first_of_each_line(found):
    """One violation a line is enough."""
    seen = {}
    for line, text in found:
        seen.setdefault(line, text)
    return sorted(seen.items())


RULES = (check_product_rules, check_product_names)
