# SPDX-License-Identifier: Apache-2.0
"""The text of files: their first lines and last, words that say nothing, paths of one machine."""

import re

from layout.source import C_SUFFIXES, Violation

FORBIDDEN_WORDS = {"helper", "helpers", "manager", "managers", "utils", "golden", "naive"}

# Modules of others have the names that they have; a file of that name here is found by its path.
IMPORT = re.compile(r"\s*(?:from|import) (?!\.|openaclnn)\w")

SIGNED_SUFFIXES = C_SUFFIXES | {".py", ".sh", ".cmake", ".toml", ".map"}
SIGNED_NAMES = {"CMakeLists.txt", "Makefile", ".ci/run"}

LICENCE_LINE = re.compile(r"(//|#|/\*) SPDX-License-Identifier: Apache-2\.0\b")

# How a comment or docstring begins, alone on a line and behind code; and an opening after which a
# reader looks for the subject.
CPP_COMMENT = re.compile(r"\s*///?<?\s*"), re.compile(r"[;{},)]\s+//\s*")
PYTHON_COMMENT = re.compile(r'\s*(?:#|r?""")\s*'), re.compile(r"\S  #\s*")
COMMENTS = dict.fromkeys(C_SUFFIXES, CPP_COMMENT) | {".py": PYTHON_COMMENT}
VAGUE_OPENING = re.compile(r"(Of|What|Who|Whose|But for|The same)\b")

# Folders that the rule covers.
PLAIN = ("src/", "python/", "scripts/")

# A folder that only one machine has; `$DIR/home/` and `name/work/` are something else.
LOCAL_PATH = re.compile(r"(?<![\w.$}/-])/(?:work|shared|home|root|Users|mnt|workspace)/")


def check_licence(sources):
    for source, first, licence, _ in _signed(sources):
        if not LICENCE_LINE.match(licence):
            yield Violation(source.path, first, "no SPDX-License-Identifier: Apache-2.0")


def check_first_sentence(sources):
    for source, first, licence, rest in _signed(sources):
        if LICENCE_LINE.match(licence) and not _is_sentence(rest):
            yield Violation(source.path, first + 1, "no sentence that says what the file is")


def check_words(sources):
    for source in sources:
        found = [(1, source.path)] if _forbidden(source.path) else []
        found += [
            (line, name)
            for line, name in source.identifiers()
            if _forbidden(name) and not IMPORT.match(source.lines[line - 1])
        ]
        for line, name in dict.fromkeys(found):
            yield Violation(source.path, line, f"{name}: '{_forbidden(name)}' says nothing")


def check_comment_openings(sources):
    """A comment begins with a verb or with the thing that it is about."""
    for source in sources:
        if (comment := COMMENTS.get(source.suffix)) and source.path.startswith(PLAIN):
            for line, opening in _vague_openings(source.lines, *comment):
                what = f"a comment begins with '{opening}': begin with a verb or its subject"
                yield Violation(source.path, line, what)


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


def _signed(sources):
    """Files that start with a licence: the file, that line's number, the line, what follows."""
    for source in sources:
        if source.suffix in SIGNED_SUFFIXES or {source.path, source.name} & SIGNED_NAMES:
            first = 2 if source.text.startswith("#!") else 1
            licence, *rest = source.lines[first - 1 :] or [""]
            yield source, first, licence, rest


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


def _vague_openings(lines, alone, trailing):
    """Lines where a comment begins with an opening that names no thing; the licence begins none."""
    inside = False
    for number, line in enumerate(lines, 1):
        whole = alone.match(line)
        begins = trailing.search(line) if whole is None else None if inside else whole
        if begins and (match := VAGUE_OPENING.match(line, begins.end())):
            yield number, match.group()
        is_docstring = whole is not None and whole.group().strip().endswith('"""')
        inside = whole is not None and not LICENCE_LINE.match(line) and not is_docstring


def _forbidden(name):
    for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name):
        if part.lower() in FORBIDDEN_WORDS:
            return part
    return None


RULES = (
    check_licence,
    check_first_sentence,
    check_words,
    check_comment_openings,
    check_local_paths,
    check_last_line,
)
