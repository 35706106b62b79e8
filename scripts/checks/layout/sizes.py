# SPDX-License-Identifier: Apache-2.0
"""Sizes of files and functions, the rate of macros, and how much is tests."""

import posixpath
import re
import statistics
from collections import Counter

from layout.source import C_SUFFIXES, Figure, Violation

MAX_FILE_LINES = 500
MAX_MEDIAN_LINES = 150
MAX_FUNCTION_LINES = 60
MAX_BUILD_FILE_LINES = 150
MAX_DEFINES_PER_1000 = 2.0
MIN_TEST_RATIO = 0.8
MAX_FOLDER_FILES = 25

# Folders that may have more files, and why. Tables, tests, public headers and lists of one kind of
# thing, a file each, grow with what they list.
LARGE_FOLDERS = {
    "src/opapi/supporting": "its topics share these; a folder in it is a topic",
    "src/opapi/supporting/attention": "its records have a plan each",
}


def check_file_size(sources):
    for source in _sized(sources):
        count = len(source.lines)
        if count > MAX_FILE_LINES:
            yield Violation(source.path, count, f"{count} lines, at most {MAX_FILE_LINES}")


def check_build_file_size(sources):
    for source in sources:
        count = len(source.lines)
        if source.path == "CMakeLists.txt" and count > MAX_BUILD_FILE_LINES:
            yield Violation(source.path, count, f"{count} lines, at most {MAX_BUILD_FILE_LINES}")


def check_median_size(sources):
    if (median := _median_lines(sources)) > MAX_MEDIAN_LINES:
        yield Violation(".", 1, f"median file has {median:g} lines, at most {MAX_MEDIAN_LINES}")


def check_folder_size(sources):
    for folder, count in sorted(files_by_folder(sources).items()):
        if count > MAX_FOLDER_FILES and folder not in LARGE_FOLDERS:
            what = f"{count} files of code beside its rooms, at most {MAX_FOLDER_FILES}"
            yield Violation(folder, 1, what)


def check_function_size(sources):
    for source in sources:
        for function in source.functions:
            if function.length > MAX_FUNCTION_LINES:
                what = f"function {function.name} has {function.length} lines"
                yield Violation(source.path, function.line, f"{what}, at most {MAX_FUNCTION_LINES}")


def check_macro_rate(sources):
    rate = _defines_per_1000(sources)
    if rate <= MAX_DEFINES_PER_1000:
        return
    limit = f"src/ has {rate:.1f} a 1,000 lines, at most {MAX_DEFINES_PER_1000:g}"
    for source in sources:
        for macro in source.macros if source.folder else ():
            yield Violation(source.path, macro.line, f"#define {macro.name}: {limit}")


def check_macro_loops(sources):
    for source in sources:
        for macro in source.macros if source.folder else ():
            if re.search(r"\bfor\s*\(", macro.body):
                yield Violation(source.path, macro.line, f"#define {macro.name} holds a loop")


def check_test_ratio(sources):
    tests, implementation = _test_and_implementation_lines(sources)
    if tests < MIN_TEST_RATIO * implementation:
        ratio = f"{tests} lines of tests and benches to {implementation} of implementation"
        yield Violation(".", 1, f"{ratio}, at least {MIN_TEST_RATIO:g}")


def _sized(sources):
    return [source for source in sources if source.is_code and not source.is_size_exempt]


def files_by_folder(sources):
    counted = (s for s in sources if s.is_code and not s.is_test and not s.is_size_exempt)
    return Counter(posixpath.dirname(source.path) for source in counted)


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
    folders = files_by_folder(sources)
    folder = max(folders.keys() - LARGE_FOLDERS, key=folders.get, default=None)
    if folder:
        limit = f"<= {MAX_FOLDER_FILES}"
        yield Figure("files a folder, most", str(folders[folder]), limit, folder)
    if longest:
        where = f"{home.path}:{longest.line} {longest.name}"
        limit = f"<= {MAX_FUNCTION_LINES}"
        yield Figure("lines a function, most", str(longest.length), limit, where)
    rate = f"{_defines_per_1000(sources):.2f}"
    yield Figure("#define a 1,000 lines of src/", rate, f"<= {MAX_DEFINES_PER_1000:g}")


RULES = (
    check_file_size,
    check_build_file_size,
    check_median_size,
    check_folder_size,
    check_function_size,
    check_macro_rate,
    check_macro_loops,
    check_test_ratio,
)
