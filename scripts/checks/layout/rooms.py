# SPDX-License-Identifier: Apache-2.0
"""The files of a room and of a topic, one meaning for each name."""

import posixpath
import re

from layout.operators import record_headers, record_names
from layout.source import DIRECTIONS, RECORDS, Violation

ROOM_FILES = (
    "README.md op.h op.cc check.cc plan.cc run.cc reference.h reference.cc "
    "cases.inc test_case.h test_case.cc test.cc bench.cc fuzz.cc"
).split()

# Beside those a room may have more tests, and what is compiled for each instruction set.
ROOM_NAME = re.compile(r".*_test\.cc|.*_simd\.cc|.*-inl\.h")

# The files of each room, of each topic of records, and of the folder of all topics.
REQUIRED = {
    lambda source: source.room: ROOM_FILES,
    lambda source: source.topic and f"{RECORDS}/{source.topic}": ("operators.toml",),
    lambda source: source.family if source.family == RECORDS else None: ("README.md",),
}

# A name in a family's folder: what forward and backward share, shapes among it, the maths of both,
# and its test.
SHARED_NAME = re.compile(
    r"README\.md|cases\.inc|shared\.(h|cc)|.*_table\.(h|cc)|.*_test\.(h|cc)"
)

# The line by which a file says that the build makes it.
MADE = re.compile(r"\b(?:Made|Generated|Written) by scripts/operators/generate_operators\.py")
MADE_BY_A_SCRIPT = re.compile(r"\b(?:Made|Generated|Written) by \S+\.py")


def check_required_files(sources):
    """A room, a topic and the folder of all topics have these files."""
    for part, names in REQUIRED.items():
        for place, present in _files_by(sources, part).items():
            for name in names:
                if name not in present:
                    yield Violation(f"src/opapi/{place}", 1, f"no {name}")


def check_room_places(sources):
    """A family's rooms are forward and backward."""
    for room in sorted({source.room for source in sources if source.room}):
        if posixpath.basename(room) not in DIRECTIONS or room.count("/") > 1:
            names = " or ".join(DIRECTIONS)
            yield Violation(f"src/opapi/{room}", 1, f"a room is named {names}, not {room}")


def check_family_files(sources):
    """Beside its rooms a family has what they share."""
    for source in sources:
        in_family = source.family not in (None, RECORDS) and not source.room
        if in_family and not SHARED_NAME.fullmatch(source.name):
            yield Violation(source.path, 1, "a family's folder holds shared.h, shared.cc and rooms")


def check_room_names(sources):
    """A file of a room has one of the names that CONTRIBUTING.md gives a meaning."""
    for source in sources:
        name = source.name
        if not source.room or name in ROOM_FILES or ROOM_NAME.fullmatch(name):
            continue
        names = ", ".join(ROOM_FILES)
        what = f"no file of a room: expected {names}, *_test.cc, *_simd.cc or *-inl.h"
        if name.startswith("kernel"):
            what = "the order of the work is run.cc, what is compiled for each set kernel_simd.cc"
        yield Violation(source.path, 1, what)


def check_simd_names(sources):
    """CMake compiles *_simd.cc for each instruction set where it looks for them."""
    for source in sources:
        if not _is_simd(source) or source.path.startswith("tests/"):
            continue
        if source.folder not in ("kernels", "opapi"):
            yield Violation(source.path, 1, "*_simd.cc is a file of src/kernels or of src/opapi")


def check_simd_lanes(sources):
    """A file that is compiled for each instruction set has vectors of its own, of an -inl.h or
    those that the compiler makes of rows which it is told are apart, or need not be."""
    for source in sources:
        lanes = any(path.endswith("-inl.h") for _, path in source.includes)
        if _is_simd(source) and not lanes and "__restrict" not in source.text:
            yield Violation(source.path, 1, "compiled for each instruction set without lanes")


def check_generated(sources):
    """The build makes files from records; a copy in the tree goes stale."""
    named = record_headers(sources)
    made = {named.get(name) or _snake(name) for name in record_names(sources)}
    for source in sources:
        stem = source.name.removeprefix("aclnn_").removesuffix(".h")
        in_public = posixpath.dirname(source.path) == "include/aclnnop"
        if in_public and stem in made or MADE.search(source.text) and not _is_script(source):
            yield Violation(source.path, 1, "made from a record; the build makes it")
        elif in_public and MADE_BY_A_SCRIPT.search(source.text[:400]):
            yield Violation(source.path, 1, "made by a script; the build makes it")


def _files_by(sources, key):
    found = {}
    for source in sources:
        if name := key(source):
            found.setdefault(name, set()).add(source.name)
    return found


def _is_script(source):
    return source.path.startswith("scripts/") and source.suffix == ".py"


def _is_simd(source):
    return source.name.endswith("_simd.cc")


def _snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


RULES = (
    check_required_files,
    check_room_places,
    check_family_files,
    check_room_names,
    check_simd_names,
    check_simd_lanes,
    check_generated,
)
