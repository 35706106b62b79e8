# SPDX-License-Identifier: Apache-2.0
"""One text file of the tree, what it is by its place, and what a rule says of it."""

import ast
import io
import posixpath
import re
import subprocess
import tokenize
from functools import cached_property
from typing import NamedTuple

import cpp_source

C_SUFFIXES = {".c", ".cc", ".h", ".inc"}

# The two rooms that a family of operators may have; a room is everything about one operator.
DIRECTIONS = ("forward", "backward")

# The folder of src/opapi/ whose operators are records, by topic.
RECORDS = "supporting"


class Violation(NamedTuple):
    path: str
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"


class Figure(NamedTuple):
    name: str
    value: str
    limit: str = ""
    where: str = ""


class Source:
    """A file, read and parsed once."""

    def __init__(self, root, path):
        self.path = path
        self.name = posixpath.basename(path)
        self.suffix = posixpath.splitext(path.removesuffix(".in"))[1]
        content = (root / path).read_bytes()
        self.is_text = b"\0" not in content
        self.text = content.decode("utf-8", errors="replace") if self.is_text else ""

    @cached_property
    def lines(self):
        return self.text.splitlines()

    @cached_property
    def stripped(self):
        return cpp_source.strip_literals(self.text)

    @property
    def folder(self):
        """The folder of src/ that the file is in, or None."""
        parts = self.path.split("/")
        return parts[1] if parts[0] == "src" and len(parts) > 2 else None

    @property
    def _places(self):
        """The folders below src/opapi/ that the file is in."""
        parts = self.path.split("/")
        return parts[2:-1] if parts[:2] == ["src", "opapi"] else []

    @property
    def family(self):
        """The family of operators that the file belongs to, or None."""
        return self._places[0] if self._places else None

    @property
    def room(self):
        """FAMILY/DIRECTION, the operator whose room the file is in, or None."""
        places = self._places
        return "/".join(places) if len(places) > 1 and places[0] != RECORDS else None

    @property
    def topic(self):
        """The topic of records that the file is in, or None."""
        places = self._places
        return places[1] if len(places) > 1 and places[0] == RECORDS else None

    @property
    def part(self):
        """The room or the topic that the file is in, or None."""
        return self.room or self.topic

    @property
    def is_code(self):
        return self.suffix in C_SUFFIXES or self.suffix == ".py"

    @property
    def is_test(self):
        stem = self.name.removesuffix(self.suffix)
        return (
            self.path.startswith(("tests/", "bench/"))
            or self.name in ("test.cc", "bench.cc", "fuzz.cc", "cases.inc", "conftest.py")
            or stem.endswith(("_test", "_bench"))
            or stem.startswith("test_")
        )

    @property
    def is_implementation(self):
        return self.path.startswith(("src/", "python/")) and not self.is_test

    @property
    def is_reference(self):
        in_place = self.room or self.family or self.folder == "tool"
        return bool(in_place) and self.name in ("reference.h", "reference.cc")

    @property
    def is_size_exempt(self):
        """Tables of data and public headers grow with what they list."""
        return (
            self.suffix == ".inc"
            or self.name.endswith("_table.cc")
            or self.path.startswith("include/")
        )

    @cached_property
    def functions(self):
        if self.suffix == ".py":
            return list(_python_functions(self.text))
        return cpp_source.functions(self.text) if self.suffix in C_SUFFIXES else []

    @cached_property
    def macros(self):
        """Macros that count: guards and SIMD targets do not."""
        found = cpp_source.macros(self.stripped) if self.suffix in C_SUFFIXES else []
        return [m for m in found if not m.is_guard and not m.name.startswith("OPENACLNN_TARGET")]

    @cached_property
    def all_includes(self):
        return list(cpp_source.includes(self.text)) if self.suffix in C_SUFFIXES else []

    @property
    def includes(self):
        """Pairs of line and path of those in quotes, as files of this tree are included."""
        return [(each.line, each.path) for each in self.all_includes if each.kind == "quoted"]

    def identifiers(self):
        if self.suffix in C_SUFFIXES:
            yield from cpp_source.names(self.stripped)
        elif self.suffix == ".py":
            for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
                if token.type == tokenize.NAME:
                    yield token.start[0], token.string


def _python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = node.end_lineno - node.lineno + 1
            yield cpp_source.Function(node.lineno, node.name, length)


def list_files(root):
    """Lists the files that git tracks or would track; without git, all but build output and hidden
    folders."""
    git = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(git, capture_output=True, check=True).stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        listed = (p.relative_to(root).as_posix() for p in root.rglob("*"))
        skipped = re.compile(r"(build|dist|\.(?!ci/)[^/]+|.*\.egg-info|(.*/)?__pycache__)/")
        listed = (path for path in listed if not skipped.match(path))
    return sorted(p for p in listed if p and (root / p).is_file() and not (root / p).is_symlink())


def read_tree(root):
    return [source for path in list_files(root) if (source := Source(root, path)).is_text]
