# SPDX-License-Identifier: Apache-2.0
"""Code that stands in two rooms of operators: runs of equal lines, names of the rooms aside."""

import re
from itertools import combinations, product
from typing import NamedTuple

import cpp_source
from layout.source import C_SUFFIXES, RECORDS, Figure, Violation

CODE = C_SUFFIXES - {".inc"}  # named shapes are data: a gradient is tried with its forward's

# Lines that say nothing of their own: includes, namespaces, and what is only punctuation.
EMPTY_LINE = re.compile(r"\s*(#.*|(inline )?namespace\b.*|using namespace\b.*|\W*|)\s*")

# Which of a family's rooms it is; `Gradient` and `grads` are words of the maths.
DIRECTION = re.compile(r"_?(?:forward|backward|grad)(?![a-z])|(?:Forward|Backward|Grad)(?![a-z])")

MIN_RUN = 8  # lines of code

# Lines of rooms that stand in another room too, all copies counted: what was left when families had
# got what both of their rooms need, and rooms one mechanism for their tests and benches.
MAX_LINES = 80


class Copy(NamedTuple):
    """A run of `count` lines of code that is in both places."""

    path: str
    line: int
    other: str
    other_line: int
    count: int
    covers: frozenset  # pairs of path and line


def find_copies(sources):
    """The longest runs that two rooms share, largest first."""
    rooms = {}
    for source in sources:
        name = source.room or source.family
        if name and source.family != RECORDS and source.suffix in CODE:
            rooms.setdefault(name, []).append((source, list(_code_lines(source))))
    found = []
    for one, two in combinations(sorted(rooms), 2):
        for (a, ours), (b, theirs) in product(rooms[one], rooms[two]):
            for i, j, count in _common_runs([t for _, t in ours], [t for _, t in theirs]):
                covers = {(a.path, n) for n, _ in ours[i : i + count]}
                covers |= {(b.path, n) for n, _ in theirs[j : j + count]}
                place = (a.path, ours[i][0], b.path, theirs[j][0])
                found.append(Copy(*place, count, frozenset(covers)))
    return sorted(found, key=lambda copy: (-copy.count, copy[:4]))


def _code_lines(source):
    """Pairs of line number and what the line says, with the names of the room left out."""
    words = source.family.split("_")
    names = ["_".join(words), "".join(word.capitalize() for word in words)]
    own = re.compile("|".join(names) + "|" + DIRECTION.pattern)
    for number, line in enumerate(cpp_source.strip_comments(source.text).split("\n"), 1):
        if not EMPTY_LINE.fullmatch(line):
            yield number, own.sub("", re.sub(r"\s+", "", line))


def _common_runs(ours, theirs):
    """(i, j, count): the longest run of equal lines at each place of ours that no other covers."""
    places = {}
    for j in range(len(theirs) - MIN_RUN + 1):
        places.setdefault(tuple(theirs[j : j + MIN_RUN]), []).append(j)
    i = 0
    while i + MIN_RUN <= len(ours):
        starts = places.get(tuple(ours[i : i + MIN_RUN]), ())
        count, j = max(((_equal(ours[i:], theirs[j:]), j) for j in starts), default=(1, None))
        if j is not None:
            yield i, j, count
        i += count


def _equal(ours, theirs):
    """How many lines are equal before the first that is not."""
    pairs = enumerate(zip(ours, theirs, strict=False))
    return next((k for k, (a, b) in pairs if a != b), min(len(ours), len(theirs)))


def _lines_in_copies(copies):
    """How many lines of rooms are in copies; a line that is in two of them counts once."""
    return len(frozenset().union(*(copy.covers for copy in copies)))


def check_copies(sources):
    copies = find_copies(sources)
    if _lines_in_copies(copies) <= MAX_LINES:
        return
    for copy in copies:
        what = f"{copy.count} lines of code as in {copy.other}:{copy.other_line}"
        yield Violation(copy.path, copy.line, what)


def figures(sources):
    copies = find_copies(sources)
    where = ""
    if copies:
        where = f"{copies[0].path}:{copies[0].line} {copies[0].other}:{copies[0].other_line}"
    yield Figure("runs that two rooms share", str(len(copies)))
    lines = str(_lines_in_copies(copies))
    yield Figure("  lines of rooms in them", lines, f"<= {MAX_LINES}", where)


RULES = (check_copies,)
