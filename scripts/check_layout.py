# SPDX-License-Identifier: Apache-2.0
"""Checks sizes, names, include directions and the rooms of operators, and prints what it measured.

python3 scripts/check_layout.py [ROOT]: one `path:line: message` for each violation, exit code 1.
"""

import ast
import io
import posixpath
import re
import statistics
import subprocess
import sys
import tokenize
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import cpp_source

MAX_FILE_LINES = 500
MAX_MEDIAN_LINES = 150
MAX_FUNCTION_LINES = 60
MAX_BUILD_FILE_LINES = 150
MAX_DEFINES_PER_1000 = 2.0
MIN_TEST_RATIO = 0.8

ROOM_FILES = (
    "README.md op.h op.cc check.cc plan.cc kernel_cpu.cc reference.h cases.inc test.cc bench.cc"
).split()

# Folders of src/opapi/ that hold many operators, a line of a table each.
FAMILIES = {"supporting": "README.md family.h operator_table.inc test.cc".split()}

# What each folder of src/ may include besides itself and the public headers.
LAYERS = {
    "ascendcl": set(),
    "nnopbase": {"ascendcl"},
    "kernels": {"ascendcl", "nnopbase"},
    "opapi": {"ascendcl", "nnopbase", "kernels"},
    # Libraries that clients load beside those three: through public headers and C interfaces.
    "acl_op_compiler": {"ascendcl"},
    "acl_tdt_channel": set(),
    "atb": {"ascendcl"},
    "ge_runner": set(),
    "graph": set(),
    "hccl": {"ascendcl"},
    "openaclnn_capture": set(),  # stands before any maker's libraries: the public headers alone
    "reference": {"opapi"},  # the formulas alone, for the command-line tool
}

FORBIDDEN_WORDS = {"helper", "helpers", "manager", "managers", "utils", "golden", "naive"}

C_SUFFIXES = {".c", ".cc", ".h", ".inc"}
SIGNED_SUFFIXES = C_SUFFIXES | {".py", ".sh", ".cmake", ".toml", ".map"}
SIGNED_NAMES = {"CMakeLists.txt", "Makefile", ".ci/run"}

LICENCE_LINE = re.compile(r"(//|#|/\*) SPDX-License-Identifier: Apache-2\.0\b")

# A folder that only one machine has; `$DIR/home/` and `name/work/` are something else.
LOCAL_PATH = re.compile(r"(?<![\w.$}/-])/(?:work|shared|home|root|Users|mnt|workspace)/")


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
    """One text file of the tree, read and parsed once."""

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
    def room(self):
        """The operator whose room the file is in, or None."""
        parts = self.path.split("/")
        return parts[2] if parts[:2] == ["src", "opapi"] and len(parts) > 3 else None

    @property
    def is_code(self):
        return self.suffix in C_SUFFIXES or self.suffix == ".py"

    @property
    def is_test(self):
        stem = self.name.removesuffix(self.suffix)
        return (
            self.path.startswith(("tests/", "bench/"))
            or self.name in ("test.cc", "bench.cc", "cases.inc", "conftest.py")
            or stem.endswith(("_test", "_bench"))
            or stem.startswith("test_")
        )

    @property
    def is_implementation(self):
        return self.path.startswith(("src/", "python/")) and not self.is_test

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
        return cpp_source.functions(self.stripped) if self.suffix in C_SUFFIXES else []

    @cached_property
    def macros(self):
        """Macros that count: guards and SIMD targets do not."""
        found = cpp_source.macros(self.stripped) if self.suffix in C_SUFFIXES else []
        return [m for m in found if not m.is_guard and not m.name.startswith("OPENACLNN_TARGET")]

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
    """What git tracks or would track; without git, all but build output and hidden folders."""
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


# --- the rules: each takes all sources and yields violations --------------------------------------


def check_file_size(sources):
    for source in sources:
        count = len(source.lines)
        if source.path == "CMakeLists.txt" and count > MAX_BUILD_FILE_LINES:
            yield Violation(source.path, count, f"{count} lines, at most {MAX_BUILD_FILE_LINES}")
        elif source.is_code and not source.is_size_exempt and count > MAX_FILE_LINES:
            yield Violation(source.path, count, f"{count} lines, at most {MAX_FILE_LINES}")
    if (median := _median_lines(sources)) > MAX_MEDIAN_LINES:
        yield Violation(".", 1, f"median file has {median:g} lines, at most {MAX_MEDIAN_LINES}")


def check_function_size(sources):
    for source in sources:
        for function in source.functions:
            if function.length > MAX_FUNCTION_LINES:
                what = f"function {function.name} has {function.length} lines"
                yield Violation(source.path, function.line, f"{what}, at most {MAX_FUNCTION_LINES}")


def check_macros(sources):
    rate = _defines_per_1000(sources)
    for source in sources:
        if not source.folder:
            continue
        for macro in source.macros:
            what = f"#define {macro.name}"
            if rate > MAX_DEFINES_PER_1000:
                limit = f"src/ has {rate:.1f} a 1,000 lines, at most {MAX_DEFINES_PER_1000:g}"
                yield Violation(source.path, macro.line, f"{what}: {limit}")
            if re.search(r"\bfor\s*\(", macro.body):
                yield Violation(source.path, macro.line, f"{what} holds a loop")


def check_first_lines(sources):
    for source in sources:
        if source.suffix not in SIGNED_SUFFIXES and not {source.path, source.name} & SIGNED_NAMES:
            continue
        first = 2 if source.text.startswith("#!") else 1
        licence, *rest = source.lines[first - 1 :] or [""]
        if not LICENCE_LINE.match(licence):
            yield Violation(source.path, first, "no SPDX-License-Identifier: Apache-2.0")
        elif not _is_sentence(rest):
            yield Violation(source.path, first + 1, "no sentence that says what the file is")


def check_words(sources):
    for source in sources:
        found = [(1, source.path)] if _forbidden(source.path) else []
        found += [(line, name) for line, name in source.identifiers() if _forbidden(name)]
        for line, name in dict.fromkeys(found):
            yield Violation(source.path, line, f"{name}: '{_forbidden(name)}' says nothing")


def check_includes(sources):
    paths = {source.path: source for source in sources}
    for source in sources:
        if source.suffix not in C_SUFFIXES or not source.folder:
            continue
        if source.folder not in LAYERS:
            yield Violation(source.path, 1, f"src/{source.folder} is not in LAYERS of this script")
            continue
        for line, include in cpp_source.includes(source.text):
            target = _resolve(source.path, include, paths)
            if target and (message := _bad_include(source, target)):
                yield Violation(source.path, line, message)


def check_rooms(sources):
    rooms = {}
    for source in sources:
        if source.room:
            rooms.setdefault(source.room, set()).add(source.path.split("/", 3)[3])
    for room, present in rooms.items():
        for name in FAMILIES.get(room, ROOM_FILES):
            if name not in present:
                yield Violation(f"src/opapi/{room}", 1, f"no {name}")


def check_test_ratio(sources):
    tests, implementation = _test_and_implementation_lines(sources)
    if tests < MIN_TEST_RATIO * implementation:
        ratio = f"{tests} lines of tests and benches to {implementation} of implementation"
        yield Violation(".", 1, f"{ratio}, at least {MIN_TEST_RATIO:g}")


def check_local_paths(sources):
    for source in sources:
        for number, line in enumerate(source.lines, 1):
            if match := LOCAL_PATH.search(line):
                yield Violation(source.path, number, f"'{match.group()}' is a path of one machine")


def check_last_line(sources):
    for source in sources:
        is_data = source.path.startswith("data/") and source.suffix != ".md"
        if source.text and not source.text.endswith("\n") and not is_data:
            yield Violation(source.path, len(source.lines), "no newline at the end")


RULES = (
    check_file_size,
    check_function_size,
    check_macros,
    check_first_lines,
    check_words,
    check_includes,
    check_rooms,
    check_test_ratio,
    check_local_paths,
    check_last_line,
)


# --- what the rules and the figures measure -------------------------------------------------------


def _sized(sources):
    return [source for source in sources if source.is_code and not source.is_size_exempt]


def _median_lines(sources):
    return statistics.median([len(source.lines) for source in _sized(sources)] or [0])


def _defines_per_1000(sources):
    in_src = [s for s in sources if s.folder and s.suffix in C_SUFFIXES]
    lines = sum(len(source.lines) for source in in_src)
    return 1000 * sum(len(source.macros) for source in in_src) / max(lines, 1)


def _test_and_implementation_lines(sources):
    code = [source for source in sources if source.is_code]
    tests = sum(len(source.lines) for source in code if source.is_test)
    implementation = sum(len(source.lines) for source in code if source.is_implementation)
    return tests, implementation


def _is_sentence(lines):
    """True if a comment or docstring stands first and reads like a sentence."""
    text = []
    in_docstring = False
    for line in lines:
        body = line.strip()
        if not in_docstring and body.startswith(('"""', 'r"""')):
            in_docstring, body = True, body.split('"""', 1)[1]
        elif not in_docstring and not (match := re.match(r"(?://+|#+|/?\*+)\s?", body)):
            break
        elif not in_docstring:
            body = body[match.end() :]
        body, closed, _ = body.partition('"""')
        body = body.removesuffix("*/").strip()
        if not body and text:
            break
        text.append(body)
        if closed and in_docstring:
            break
    sentence = " ".join(text).strip()
    return len(sentence.split()) >= 3 and re.search(r"[.:;](\s|$)", sentence) is not None


def _forbidden(name):
    for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name):
        if part.lower() in FORBIDDEN_WORDS:
            return part
    return None


def _resolve(includer, include, paths):
    for folder in (posixpath.dirname(includer), "src", "", "tests", "include"):
        if target := paths.get(posixpath.normpath(posixpath.join(folder, include))):
            return target
    return None


def _bad_include(source, target):
    if target.is_test and not source.is_test:
        return f"implementation includes a test's file, {target.path}"
    if not target.folder:
        return None
    if target.folder != source.folder and target.folder not in LAYERS[source.folder]:
        return f"{source.folder} includes {target.folder}, which stands above or beside it"
    if source.room and target.room and source.room != target.room:
        return f"the room of {source.room} includes the room of {target.room}"
    return None


def figures(sources):
    sized = _sized(sources)
    longest_file = max(sized, key=lambda s: len(s.lines), default=None)
    functions = [(f, s) for s in sources for f in s.functions]
    longest, home = max(functions, key=lambda pair: pair[0].length, default=(None, None))
    tests, implementation = _test_and_implementation_lines(sources)
    yield Figure("files of code", str(sum(s.is_code for s in sources)))
    yield Figure("lines of implementation", str(implementation))
    yield Figure("lines of tests and benches", str(tests))
    if implementation:
        ratio = f"{tests / implementation:.2f}"
        yield Figure("  to a line of implementation", ratio, f">= {MIN_TEST_RATIO}")
    yield Figure("lines a file, median", f"{_median_lines(sources):g}", f"<= {MAX_MEDIAN_LINES}")
    if longest_file:
        count = len(longest_file.lines)
        yield Figure("lines a file, most", str(count), f"<= {MAX_FILE_LINES}", longest_file.path)
    if longest:
        where = f"{home.path}:{longest.line} {longest.name}"
        limit = f"<= {MAX_FUNCTION_LINES}"
        yield Figure("lines a function, most", str(longest.length), limit, where)
    rate = f"{_defines_per_1000(sources):.2f}"
    yield Figure("#define a 1,000 lines of src/", rate, f"<= {MAX_DEFINES_PER_1000:g}")


def main(arguments):
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    sources = read_tree(root)
    for figure in figures(sources):
        line = f"{figure.name:<32}{figure.value:>8}  {figure.limit:<8}{figure.where}"
        print(line.rstrip())
    violations = sorted(v for rule in RULES for v in rule(sources))
    for violation in violations:
        print(violation)
    print(f"layout: {len(violations)} violations" if violations else "layout: ok")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
