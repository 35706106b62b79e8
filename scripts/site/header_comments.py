# SPDX-License-Identifier: Apache-2.0
"""Reads what the public headers say of what they declare: comments of the form that Doxygen knows."""

import re
from dataclasses import dataclass, field
from pathlib import Path

_SECTION = re.compile(r"/\* ---- (?P<name>.*?) ---- \*/")
_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_LINE = re.compile(r"(?:#(?:[^\n\\]|\\.|\\\n)*|//[^\n]*)\n", re.S)
_TAG = re.compile(
    r"^@(?P<tag>param|retval|return|deprecated|note)(?:\[(?P<way>[a-z,]+)\])?\s+", re.M
)
_NAMED = ("param", "retval")
_FUNCTION = re.compile(r"^(?:ACL_FUNC_VISIBILITY|static inline)\b[^;(]*?(?P<name>\w+)\(", re.M)
_NAMES = re.compile(r"(?P<names>(?:\S+, )*\S+) ?(?P<said>.*)")
_OTHER = re.compile(
    r"#define\s+(?P<macro>\w+)|typedef [^;{]*\(\*(?P<pointer>\w+)\)"
    r"|typedef [^;{]*?(?P<type>\w+);|\}\s*(?P<body>\w+);"
)


@dataclass
class Tag:
    """@param[way] name text, @retval name text or name, name text, @return text."""

    tag: str
    way: str
    name: str
    text: str


@dataclass
class Entry:
    """A comment and what it is about: a declaration, or those of a group."""

    section: str
    comment: str  # Markdown, as it is written
    tags: list[Tag] = field(default_factory=list)
    code: str = ""

    @property
    def functions(self) -> list[str]:
        return [match["name"] for match in _FUNCTION.finditer(self.code)]

    @property
    def names(self) -> list[str]:
        """The names of the functions, or where there are none of the other declarations."""
        found = (next(filter(None, match.groups())) for match in _OTHER.finditer(self.code))
        return self.functions or list(dict.fromkeys(found))


@dataclass
class Header:
    """A header's comment at its top, its common part, and its entries in their order."""

    title: str
    general: str
    entries: list[Entry]


def bare(comment: str) -> str:
    """The text of a comment without its stars."""
    inner = re.sub(r"^/\*+<?|\*/$", "", comment)
    lines = [re.sub(r"^ \* ?| \*$", "", line).rstrip() for line in inner.split("\n")]
    return "\n".join(lines).strip("\n").removeprefix(" ").rstrip()


def tagged(comment: str) -> tuple[str, list[Tag]]:
    """The text of a comment before its tags, and those."""
    text = re.sub(r"\s*@[{}]\s*", "\n", bare(comment)).strip("\n")
    places = list(_TAG.finditer(text))
    ends = [*(place.start() for place in places), len(text)][1:]
    tags = []
    for place, end in zip(places, ends, strict=True):
        words = " ".join(text[place.end() : end].split())
        name, said = _NAMES.match(words).groups() if place["tag"] in _NAMED else ("", words)
        tags.append(Tag(place["tag"], place["way"] or "in", name, said))
    return text[: places[0].start() if places else len(text)].strip(), tags


def _declaration_end(text: str, start: int) -> int:
    """Behind the declaration that begins at `start`: its semicolon, the body of a function, or a
    directive's line."""
    if text[start] == "#":
        return _LINE.match(text, start).end()
    has_body = text.startswith("static inline", start)
    end, inside = ("}", 1) if has_body else (";", 0)
    depth, place = 0, start
    while text[place] != end or depth != inside:
        comment = _COMMENT.match(text, place)
        if comment:
            place = comment.end()
            continue
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        place += 1
    behind = re.compile(r" */\*\*<.*?\*/", re.S).match(text, place + 1)
    return behind.end() if behind else place + 1


def read(path: Path) -> Header:
    """The header's comments; preprocessor branches are not looked into."""
    text = path.read_text("utf-8")
    title = " ".join(re.findall(r"^// (?!SPDX)(.*)", text.split("#ifndef")[0], re.M))
    start = re.search(r'^extern "C" \{\n#endif\n', text, re.M)
    place, end = start.end() if start else text.index("#define"), text.rfind("#ifdef __cplusplus")
    header, section, group = Header(title, "", []), "", None
    end = end if start else text.rfind("#endif")
    while place < end:
        if text[place].isspace():
            place += 1
            continue
        comment = _COMMENT.match(text, place)
        if comment:
            place = comment.end()
            named = _SECTION.match(comment.group())
            if named:
                section = named["name"]
            elif "@}" in comment.group():
                group = None
            elif comment.group().startswith("/**"):
                header.entries.append(Entry(section, *tagged(comment.group())))
                group = header.entries[-1] if "@{" in comment.group() else None
            elif not header.general and not header.entries:
                header.general = bare(comment.group())
            continue
        below = not text[:place].endswith("\n\n")
        behind = _declaration_end(text, place)
        code, place = text[place:behind].rstrip("\n"), behind
        if code.startswith("static inline"):
            code = code.split(" {", 1)[0] + ";"
        _attach(header, group, code, below)
    header.entries = [
        each for each in header.entries if each.names and not each.code.startswith("#if")
    ]
    return header


def _attach(header: Header, group: Entry | None, code: str, below: bool) -> None:
    """Gives a declaration to its comment, to the group that it stands in, or to the entry of the
    line above it; whatever else has no comment is left out, but for functions."""
    last = header.entries[-1] if header.entries else None
    # A row of functions, or of constants, shares the comment above it.
    alike = last is not None and last.code[:7] == code[:7] and code.startswith(("ACL_F", "#d"))
    if group is None and last is not None and (not last.code or (below and alike)):
        group = last
    if group is not None:
        group.code += ("\n" if group.code else "") + code
    elif _FUNCTION.search(code):
        raise ValueError(f"{header.title} {code}: a function without a comment")
