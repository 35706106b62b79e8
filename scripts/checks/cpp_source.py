# SPDX-License-Identifier: Apache-2.0
"""Reads C and C++ sources as far as the layout check needs: functions, macros, includes, names."""

import re
from typing import NamedTuple

# A number comes before a character so that the quotes of 1'000 open nothing.
_LITERALS = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
      | (?P<raw>R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)")
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<number>\b\d(?:'?[\w.])*)
      | (?P<character>'(?:\\.|[^'\\\n])+')""",
    re.VERBOSE | re.DOTALL,
)
_PIECES = re.compile(r"[{};]|[^{};]+")
_INCLUDE = re.compile(r"\s*#\s*(?:include|include_next|import)\b\s*(.*?)\s*", re.DOTALL)
_SPELT = re.compile(r'"(?P<quoted>[^"]+)"|<(?P<angled>[^>]+)>')
_DIRECTIVE = re.compile(r"\s*#\s*(\w+)\s*(.*)", re.DOTALL)


class Function(NamedTuple):
    line: int
    name: str
    length: int


class Macro(NamedTuple):
    line: int
    name: str
    body: str
    is_guard: bool


class _Scope(NamedTuple):
    kind: str  # namespace, type, function, data, nested
    line: int
    name: str
    head: list


def strip_literals(text):
    """The text without comments and the insides of literals, every line still in its place."""

    def blank(match):
        if match.lastgroup == "number":
            return match.group()
        mark = {"comment": " ", "character": "''"}.get(match.lastgroup, '""')
        return mark + "\n" * match.group().count("\n")

    return _LITERALS.sub(blank, text)


def strip_comments(text):
    """The text without comments, literals whole, every line still in its place."""

    def blank(match):
        if match.lastgroup != "comment":
            return match.group()
        return " " + "\n" * match.group().count("\n")

    return _LITERALS.sub(blank, text)


def logical_lines(text):
    """Pairs of line number and line, with backslash continuations joined."""
    pending, start = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        start = start if pending else number
        pending += line
        if line.endswith("\\"):
            pending = pending[:-1] + "\n"
            continue
        yield start, pending
        pending = ""


class Include(NamedTuple):
    line: int
    path: str  # or what stands in place of one, such as a macro
    kind: str  # quoted, angled, computed


def includes(text):
    """Every include, however it is spelt."""
    for number, line in logical_lines(strip_comments(text)):
        if match := _INCLUDE.fullmatch(line):
            spelt = _SPELT.fullmatch(match.group(1))
            kind = spelt.lastgroup if spelt else "computed"
            yield Include(number, spelt.group(kind) if spelt else match.group(1), kind)


def names(stripped):
    """Pairs of line number and identifier, includes left out."""
    for number, line in enumerate(stripped.split("\n"), 1):
        if not re.match(r"\s*#\s*include\b", line):
            for match in re.finditer(r"[A-Za-z_]\w*", line):
                yield number, match.group()


def macros(stripped):
    """Every #define; an include guard is an empty one right after #ifndef of its name."""
    previous = None
    for number, line in logical_lines(stripped):
        match = _DIRECTIVE.fullmatch(line)
        if not match:
            continue
        word, rest = match.groups()
        if word == "define" and (parts := re.match(r"(\w+)(.*)", rest, re.DOTALL)):
            name, body = parts.group(1), parts.group(2).strip()
            yield Macro(number, name, body, not body and previous == ("ifndef", name))
        previous = (word, rest.strip())


def functions(stripped):
    """Every function at namespace or class scope; lambdas count in the function around them."""
    scan = _FunctionScan()
    for number, line in logical_lines(stripped):
        if match := _DIRECTIVE.fullmatch(line):
            scan.directive(match.group(1))
            continue
        for offset, part in enumerate(line.split("\n")):
            for piece in _PIECES.findall(part):
                scan.feed(number + offset, piece)
    return scan.found


class _FunctionScan:
    """Matches braces; what stands between the last `;`, `{` or `}` and a `{` is its head."""

    def __init__(self):
        self.found = []
        self._scopes = []
        self._head = []
        self._saved = []

    def directive(self, word):
        """Each branch of a conditional starts from the braces that were open before it."""
        if word in ("if", "ifdef", "ifndef"):
            self._saved.append((list(self._scopes), list(self._head)))
        elif word in ("else", "elif") and self._saved:
            self._scopes, self._head = (list(part) for part in self._saved[-1])
        elif word == "endif" and self._saved:
            self._saved.pop()

    def feed(self, line, piece):
        if piece == "{":
            self._open(line)
        elif piece == "}":
            self._close(line)
        elif piece == ";":
            self._head = []
        elif piece.strip():
            self._head.append((line, piece))

    def _open(self, line):
        head = [part for part in self._head if not re.fullmatch(r"\s*\w+\s*:\s*", part[1])]
        text = " ".join(piece for _, piece in head)
        inside = any(scope.kind in ("function", "data") for scope in self._scopes)
        kind = "nested" if inside else _kind_of(text)
        first = head[0][0] if head else line
        self._scopes.append(_Scope(kind, first, _name_of(text), self._head))
        self._head = []

    def _close(self, line):
        self._head = []
        if not self._scopes:
            return
        scope = self._scopes.pop()
        if scope.kind == "function":
            self.found.append(Function(scope.line, scope.name, line - scope.line + 1))
        elif scope.kind == "nested":  # `a_{1}` of a constructor: its function is still to come
            self._head = [*scope.head, (line, "{}")]


def _without_parentheses(text):
    previous = None
    while previous != text:
        previous, text = text, re.sub(r"\([^()]*\)", "\0", text)
    return text.replace("\0", "()")


def _without_template(text):
    while match := re.match(r"\s*template\s*<", text):
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {"<": 1, ">": -1}.get(text[end], 0)
            end += 1
        text = text[end:]
    return text


def _kind_of(head):
    """The kind of block that a brace after `head` opens."""
    text = re.sub(r"\[\[.*?\]\]", " ", head)
    text = re.sub(r"\b(?:alignas|__attribute__)\s*\(+[^()]*\)+", " ", text)
    text = _without_template(text).strip()
    if text.count("(") != text.count(")"):
        return "nested"  # a default argument `= {}`
    if re.match(r'(inline\s+)?namespace\b|extern\s+""$', text):
        return "namespace"
    flat = _without_parentheses(text)
    # After `)`: a macro without semicolon may stand before the type.
    if re.search(r"(^|^typedef\s+|\)\s*)(class|struct|union|enum)\b.*(?<!\))$", flat):
        return "type"
    if re.search(r"\)\s*(noexcept(\(\))?)?\s*:(?!:)", flat) and re.search(r"[\w>]\s*$", flat):
        return "nested"  # a member initialised with braces
    flat = re.sub(r"operator\s*[^\w\s(]+", "operator", flat)
    if "=" in flat:
        return "function" if re.search(r"=\s*\[[^\]]*\]", flat) else "data"
    return "function" if "(" in flat else "data"


def _name_of(head):
    if match := re.search(r"(\w+)\s*=\s*\[", head):  # a lambda
        return match.group(1)
    name = r"((?:\w+::)*operator\s*[^\w\s(]+|[~\w:]+)"
    match = re.search(name + r"\s*\(([^()]*)\)", _without_template(head))
    if not match:
        return head.strip()
    name, arguments = match.groups()
    return f"{name}({arguments})" if re.fullmatch(r"[A-Z_]*TEST[A-Z_]*", name) else name
