# SPDX-License-Identifier: Apache-2.0
"""Lists of operators that somebody keeps by hand: what one more operator would have to edit."""

import re
from typing import NamedTuple

from layout.source import RECORDS, Figure, Violation

# Edited for each operator on purpose.
MEANT = ("CHANGELOG.md",)

# Files for readers and what scripts write; tests compare these with the operators.
WRITTEN = ("README.md", "README.zh-CN.md", "CONFORMANCE.md", "docs/command-line.md",
           "python/openaclnn/examples.json")

# Names that packages of clients have, whatever is here; tests/clients/called_operators.py writes it.
CALLED = ("docs/called_operators.txt",)

# Figures that a run of the benchmark wrote, and the next one writes anew.
FIGURES = "docs/figures/"

NO_LISTS = {*MEANT, *WRITTEN, *CALLED}

# Texts that may stand around the name of a record.
PREFIXES = ("", "aclnn")
SUFFIXES = ("", "GetWorkspaceSize")

ENTRY = re.compile(r"^aclnnStatus (aclnn\w+?)GetWorkspaceSize\(", re.MULTILINE)


class List(NamedTuple):
    path: str
    line: int  # where the first operator is named
    count: int


def names_of(sources):
    """For each operator of a room: the ways in which a list can name it."""
    found = {}
    for source in sources:
        if source.room and source.name == "op.cc":
            for api in ENTRY.findall(source.text):
                words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", api.removeprefix("aclnn")).lower()
                ways = (f"{api}(?:GetWorkspaceSize)?", words, f"aclnn_{words}", source.room)
                found[api] = re.compile(rf"(?<!\w)(?:{'|'.join(ways)})(?!\w)")
    return found


def find_lists(sources):
    """Files outside the rooms that name more than half of the operators that have rooms."""
    names = names_of(sources)
    for source in sources:
        if source.room or source.path in NO_LISTS:
            continue
        if source.path.startswith(("include/", FIGURES)):
            continue
        places = [match for name in names.values() if (match := name.search(source.text))]
        if len(places) > max(len(names) / 2, 1):
            first = min(match.start() for match in places)
            yield List(source.path, source.text.count("\n", 0, first) + 1, len(places))


def find_record_lists(sources):
    """Files outside the records that name more than half of them, by any of their names."""
    names = record_names(sources)
    words = {f"{begin}{name}{end}" for name in names for begin in PREFIXES for end in SUFFIXES}
    for source in sources:
        if source.family == RECORDS or source.path in NO_LISTS:
            continue
        found = [match for match in re.finditer(r"\w+", source.text) if match.group() in words]
        count = len({_record_of(match.group()) for match in found})
        if count > max(len(names) / 2, 1):
            yield List(source.path, source.text.count("\n", 0, found[0].start()) + 1, count)


def record_names(sources):
    """The operators that operators.toml of any topic has."""
    return {
        name
        for source in sources
        if source.topic and source.name == "operators.toml"
        for name in re.findall(r'^name\s*=\s*"(\w+)"', source.text, re.MULTILINE)
    }


def record_headers(sources):
    """{record: its header}, of those that say it."""
    return {
        name: header
        for source in sources
        if source.topic and source.name == "operators.toml"
        for name, header in re.findall(
            r'^name\s*=\s*"(\w+)"\nheader\s*=\s*"(\w+)"', source.text, re.MULTILINE
        )
    }


def _record_of(word):
    return word.removeprefix("aclnn").removesuffix("GetWorkspaceSize")


def check_record_lists(sources):
    for found in find_record_lists(sources):
        what = f"names {found.count} records: the next one would have to be added"
        yield Violation(found.path, found.line, what)


def check_operator_lists(sources):
    for found in find_lists(sources):
        what = f"names {found.count} operators: the next one would have to be added"
        yield Violation(found.path, found.line, what)


def figures(sources):
    edits = [*MEANT, *(found.path for found in find_lists(sources))]
    yield Figure("edits outside a new room", str(len(edits)), f"<= {len(MEANT)}", edits[-1])
    edits = [found.path for found in find_record_lists(sources)]
    where = edits[-1] if edits else ""
    yield Figure("edits outside a new record", str(len(edits)), "<= 0", where)


RULES = (check_operator_lists, check_record_lists)
