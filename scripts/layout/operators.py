# SPDX-License-Identifier: Apache-2.0
"""Lists of operators that somebody keeps by hand: what one more operator would have to edit."""

import re
from typing import NamedTuple

from layout.source import Figure, Violation

# Edited for each operator on purpose.
MEANT = ("CHANGELOG.md",)

# Calls some operators for what the frame and the kernels promise of all: another need not be there.
BY_EXAMPLE = ("tests/opapi/canonical_nan_test.cc",)

# Files for readers and what scripts write; tests compare these with the operators.
WRITTEN = ("README.md", "CONFORMANCE.md")

NO_LISTS = {*MEANT, *BY_EXAMPLE, *WRITTEN}

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
        if source.room or source.path in NO_LISTS or source.path.startswith("include/"):
            continue
        places = [match for name in names.values() if (match := name.search(source.text))]
        if len(places) > max(len(names) / 2, 1):
            first = min(match.start() for match in places)
            yield List(source.path, source.text.count("\n", 0, first) + 1, len(places))


def check_operator_lists(sources):
    for found in find_lists(sources):
        what = f"names {found.count} operators: the next one would have to be added"
        yield Violation(found.path, found.line, what)


def figures(sources):
    edits = [*MEANT, *(found.path for found in find_lists(sources))]
    yield Figure("edits outside a new operator", str(len(edits)), f"<= {len(MEANT)}", edits[-1])


RULES = (check_operator_lists,)
