# SPDX-License-Identifier: Apache-2.0
"""The table of error codes against the headers that name them and the sources that return them."""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from openaclnn.tool import explain

ROOT = Path(__file__).resolve().parents[2]
HEADERS = {
    "acl/acl_base.h": r"static const int (ACL_\w+) = (\d+);",
    "acl/error_codes/rt_error_codes.h": r"#define (ACL\w+) (\d+)$",
    "openaclnn/status.h": r"^  (ACLNN_\w+) = (\d+),",
    "hccl/hccl_types.h": r"^  (HCCL_(?:E_\w+|SUCCESS)) = (\d+),",
}
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# Where codes are compared with, described, or told of a call that succeeds, not returned.
NOT_RETURNING = {
    "src/ascendcl/check/operand_report.cc",
    "src/ascendcl/report/error_table.cc",
    "src/ascendcl/report/error_table.inc",
    "src/hccl/plan/data_type.cc",
}


@pytest.fixture(scope="module")
def table():
    return explain.load()


def header_codes():
    for header, pattern in HEADERS.items():
        text = (ROOT / "include" / header).read_text()
        found = re.findall(pattern, text, re.MULTILINE)
        assert found, header
        yield from ((name, int(code)) for name, code in found)


def test_every_code_of_the_headers_has_its_row_and_every_row_its_header(table):
    by_code = defaultdict(set)
    for name, code in header_codes():
        by_code[code].add(name)
    rows = {row.code: {row.name, *row.aliases} for row in table.codes.values()}
    assert rows == by_code


def test_rows_are_whole_sentences(table):
    for row in [*table.codes.values(), *table.prefixes]:
        for text in (row.meaning, row.action):
            assert re.fullmatch(r"(?:[A-Z`]|acl|torch_npu).*\.", text), row
            assert "|" not in text and "[" not in text, row  # a cell of Markdown, rich markup
        assert row.meaning.count(". ") == 0, row


def test_every_prefix_of_a_code_is_explained(table):
    for row in table.codes.values():
        assert row.code == 0 or table.prefixed(row.prefix.replace("x", "0")), row


def returned_in_sources(table):
    """The codes that the libraries' sources name outside comments."""
    returned = {}
    for path in sorted((ROOT / "src").rglob("*")):
        where = path.relative_to(ROOT).as_posix()
        is_test = re.search(r"(test|bench)\w*\.(cc|h)$|cases\.inc$", path.name)
        if path.suffix not in (".cc", ".h", ".inc") or is_test or where in NOT_RETURNING:
            continue
        for word in re.findall(r"\b\w+\b", COMMENT.sub("", path.read_text())):
            row = table.names.get(word)
            if row is None and re.fullmatch(r"\d{6}", word):
                row = table.codes.get(int(word))
            if row is not None:
                returned.setdefault(row.code, where)
    return returned


def test_the_flag_says_what_the_sources_return(table):
    returned = returned_in_sources(table)
    flagged = {row.code for row in table.codes.values() if row.returned}
    wrong = {code: where for code, where in returned.items() if code not in flagged}
    assert not wrong, "the table says that these are never returned"
    assert flagged - returned.keys() <= {0}, "the table says that these are returned"


def test_the_page_is_what_the_table_says():
    script = ROOT / "scripts/site/generate_errors.py"
    run = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
