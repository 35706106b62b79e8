# SPDX-License-Identifier: Apache-2.0
"""Reads C and C++ sources as far as the layout check needs: functions, macros, includes, names."""

import re
from typing import NamedTuple

import tree_sitter
import tree_sitter_cpp

_LANGUAGE = tree_sitter.Language(tree_sitter_cpp.language())
_PARSER = tree_sitter.Parser(_LANGUAGE)
_FUNCTIONS = tree_sitter.Query(
    _LANGUAGE,
    """(function_definition body: (_)) @function
       (lambda_expression) @function""",
)
_RETURNED = ("pointer_declarator", "reference_declarator")
_CONDITIONS = ("if", "ifdef", "ifndef", "elif", "else", "endif")
_AROUND = ("template_declaration", "declaration", "init_declarator", "field_declaration")

# A number comes before a character so that the quotes of 1'000 open nothing.
_LITERALS = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
      | (?P<raw>R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)")
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<number>\b\d(?:'?[\w.])*)
      | (?P<character>'(?:\\.|[^'\\\n])+')""",
    re.VERBOSE | re.DOTALL,
)
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


def functions(text):
    """Every function with a body, and every lambda outside functions, in the order of the text."""
    tree = _PARSER.parse(_without_conditions(text).encode())
    nodes = tree_sitter.QueryCursor(_FUNCTIONS).captures(tree.root_node).get("function", [])
    found, end = [], 0
    for node in sorted(nodes, key=lambda node: node.start_byte):
        if node.start_byte >= end:
            end = node.end_byte
            first, last = _declaration_of(node).start_point[0], node.end_point[0]
            found.append(Function(first + 1, _name_of(node), last - first + 1))
    return found


def _without_conditions(text):
    """Removes #if and its like, since the grammar expects whole statements between them. A branch
    that leaves a brace open is removed if another branch follows."""
    lines, code = text.split("\n"), strip_literals(text).split("\n")
    begins = []
    for number, line in logical_lines("\n".join(code)):
        match = _DIRECTIVE.fullmatch(line)
        if not match or match.group(1) not in _CONDITIONS:
            continue
        if match.group(1).startswith("el") and begins:
            branch = slice(begins.pop(), number - 1)
            if "".join(code[branch]).count("{") != "".join(code[branch]).count("}"):
                lines[branch] = [""] * len(lines[branch])
        elif match.group(1) == "endif" and begins:
            begins.pop()
        if match.group(1) != "endif":
            begins.append(number + line.count("\n"))
        lines[number - 1 : number + line.count("\n")] = [""] * (1 + line.count("\n"))
    return "\n".join(lines)


def _declaration_of(node):
    """The whole declaration of a function or lambda, with its template's parameters."""
    while node.parent.type in _AROUND:
        node = node.parent
    return node


def _name_of(node):
    if node.type == "lambda_expression":
        variable = node.parent.child_by_field_name("declarator")
        return variable.text.decode() if variable else "a lambda"
    declarator = node.child_by_field_name("declarator")
    while declarator.type in _RETURNED:
        declarator = declarator.named_children[-1]
    name = (declarator.child_by_field_name("declarator") or declarator).text.decode()
    if re.fullmatch(r"[A-Z_]*TEST[A-Z_]*", name):
        return declarator.text.decode()
    return name
