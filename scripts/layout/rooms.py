# SPDX-License-Identifier: Apache-2.0
"""The files of a room and of a topic, one meaning for each name."""

import posixpath
import re

from layout.operators import record_names
from layout.source import DIRECTIONS, RECORDS, Violation

ROOM_FILES = (
    "README.md op.h op.cc check.cc plan.cc run.cc reference.h reference.cc "
    "cases.inc test.cc bench.cc"
).split()

# What each topic of records has, and what all topics have together.
TOPIC_FILES = ("operators.toml",)
RECORDS_FILES = ("README.md",)

# A name in a family's folder: what forward and backward share, shapes among it, the maths of both,
# and its test.
SHARED_NAME = re.compile(r"(README\.md|cases\.inc|shared(_test)?\.(h|cc)|.*_table\.(h|cc)|.*_test\.(h|cc))")


def check_room_files(sources):
    for room, present in _files_by(sources, lambda source: source.room).items():
        for name in ROOM_FILES:
            if name not in present:
                yield Violation(f"src/opapi/{room}", 1, f"no {name}")


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


def check_kernel_names(sources):
    """kernel_simd.cc is compiled for each instruction set; there is no other kernel_*.cc."""
    for source in sources:
        if source.room and re.fullmatch(r"kernel.*\.cc", source.name) and not _is_simd(source):
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
    """What is compiled for each instruction set has vectors of its own, or need not be."""
    for source in sources:
        if _is_simd(source) and not any(path.endswith("-inl.h") for _, path in source.includes):
            yield Violation(source.path, 1, "compiled for each instruction set without lanes")


def check_topic_files(sources):
    for topic, present in _files_by(sources, lambda source: source.topic).items():
        for name in TOPIC_FILES:
            if name not in present:
                yield Violation(f"src/opapi/{RECORDS}/{topic}", 1, f"no {name}")


def check_records_files(sources):
    present = _files_by(sources, lambda source: source.family).get(RECORDS, ())
    for name in RECORDS_FILES if present else ():
        if name not in present:
            yield Violation(f"src/opapi/{RECORDS}", 1, f"no {name}")


def check_generated_headers(sources):
    """What is made from records is made by the build; a copy in the tree goes stale."""
    made = {_snake(name) for name in record_names(sources)}
    for source in sources:
        in_public = posixpath.dirname(source.path) == "include/aclnnop"
        if not in_public:
            continue
        stem = source.name.removeprefix("aclnn_").removesuffix(".h")
        says_so = re.search(r"\b(?:Made|Generated|Written) by \S+\.py", source.text[:400])
        if stem in made or says_so:
            yield Violation(source.path, 1, "made from a record; the build makes it")


def _files_by(sources, key):
    found = {}
    for source in sources:
        if name := key(source):
            found.setdefault(name, set()).add(source.name)
    return found


def _is_simd(source):
    return source.name.endswith("_simd.cc")


def _snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


RULES = (
    check_room_files,
    check_room_places,
    check_family_files,
    check_kernel_names,
    check_simd_names,
    check_simd_lanes,
    check_topic_files,
    check_records_files,
    check_generated_headers,
)
