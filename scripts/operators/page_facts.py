# SPDX-License-Identifier: Apache-2.0
"""Facts that the vendor's pages state of operators: a table of them, and how it is read from pages.

The table is tests/supporting/pages/*.tsv, a line for each statement of a source about an operator:

    operator    its name without aclnn
    source      page, or op-plugin: a client, which shows the order and the types of arguments alone
    version     of CANN that the page is of, or the client's commit
    parameters  those of phase 1 without workspaceSize and executor: as the page declares them, or the
                C types that the client passes; integer and real are literals, ? is not known
    types       "self: FLOAT, FLOAT16; out on 910: FLOAT", of tensors whose types the page lists
    products    +FAMILY for one that the page lists, -FAMILY for one that it leaves out
    where       address of the page, or the client's file

An empty field is one that the source, or what of it was read, does not show.
"""

import html
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).resolve().parents[2] / "tests/supporting/pages"
FIELDS = ("operator", "source", "version", "parameters", "types", "products", "where")

# Names of the families on pages; the first that fits.
PRODUCTS = (
    (r"950|910_95", "950"),
    (r"Atlas A3", "A3"),
    (r"200I/500 A2", "310B"),
    (r"Atlas A2|800I A2", "A2"),
    (r"Atlas (推理系列产品|inference products)", "310P"),
    (r"Atlas (训练系列产品|training products)", "910"),
)
# Those that a page knows whatever its version; one that it does not list lacks the operator.
OLD = ("910", "A2", "310P", "310B")
TYPE = re.compile(
    r"\b(FLOAT16|FLOAT32|FLOAT|BFLOAT16|BF16|DOUBLE|U?INT(?:8|16|32|64)|INT4|BOOL|COMPLEX(?:32|64|128)"
    r"|HIFLOAT8|FLOAT8_\w+|QINT8)\b"
)
SAME = {"BFLOAT16": "BF16", "FLOAT32": "FLOAT"}
PHASE_1 = re.compile(r"aclnnStatus\s+aclnn(\w+?)GetWorkspaceSize\s*\(([^()]*)\)")
LISTED = re.compile(r"数据类型(?:仅)?支持|数据类型为|The data types? (?:can be|supported)")


@dataclass(frozen=True)
class Facts:
    operator: str
    source: str
    version: str
    parameters: str
    types: str = ""
    products: str = ""
    where: str = ""

    def line(self):
        return "\t".join(getattr(self, each) for each in FIELDS) + "\n"

    @property
    def declared(self):
        """[(type, name)] of a page; names of a client are empty."""
        parts = [each.strip() for each in self.parameters.split(",")] if self.parameters else []
        return [split(each) if self.source == "page" else (each, "") for each in parts]

    @property
    def release(self):
        """(8, 5) for CANN 8.5; None for a client, whose version is a commit."""
        return release(self.version) if self.source == "page" else None

    @property
    def listed(self):
        """{(tensor, family or nothing): types}"""
        found = {}
        for each in filter(None, self.types.split("; ")):
            names, types = each.split(": ")
            name, _, family = names.partition(" on ")
            found[name, family] = set(types.split(", "))
        return found


def release(text):
    """The first two numbers of the version that a text begins with; None where it begins with none."""
    found = re.match(r"(\d+)(?:\.(\d+))?", text)
    return found and (int(found[1]), int(found[2] or 0))


def split(parameter):
    """(type, name) of a declared parameter, the type as headers here spell it."""
    text = " ".join(parameter.split())
    found = re.fullmatch(r"(.*?[\s*&])(\w+)", text)
    if not found:
        return text, ""
    kind = re.sub(r"\s*\*\s*", "*", found[1]).strip()
    if "*" not in kind:
        kind = kind.removeprefix("const ").strip()  # says nothing to who calls
    return kind, found[2]


def read_table(folder=TABLE):
    found = []
    for path in sorted(folder.glob("*.tsv")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            fields = line.split("\t")
            if len(fields) != len(FIELDS):
                raise SystemExit(f"{path}:{number}: has {len(fields)} fields, expected {len(FIELDS)}")
            if number > 1:  # the first one names them
                found.append(Facts(*fields))
    return found


def plain(text):
    """The text of a page that may be HTML, a line for each block and each row of a table."""
    if "<" not in text:
        return text
    text = re.sub(r"(?is)<(script|style).*?</\1>", "", text)
    text = re.sub(r"(?i)</t[dh]>", " | ", text)
    text = re.sub(r"(?i)<br\s*/?>|</(tr|p|li|h\d|div|pre|table|ul)>", "\n", text)
    return html.unescape(re.sub(r"<[^>]*>", "", text))


def _family(text):
    for pattern, family in PRODUCTS:
        if re.search(pattern, text):
            return family
    return ""


def _products(text):
    """+ and - of families: from a table or lines with a mark each, or from a list of those there are."""
    head = re.search(r"(?s)(产品支持情况|支持的产品型号|Supported Products)(.*?)(功能|函数原型|接口原型|Function)", text)
    if not head:
        return ""
    there, absent = set(), set()
    marked = bool(re.search(r"[√×]|：(不)?支持", head[2]))
    for line in head[2].splitlines():
        if not (family := _family(line)):
            continue
        (absent if re.search(r"×|不支持", line) else there).add(family)
    if not marked:
        absent = set(OLD) - there
    order = ("910", "A2", "A3", "950", "310P", "310B")
    return " ".join(
        ("+" if each in there else "-") + each for each in order if each in there | absent
    )


def _named(text):
    return sorted({SAME.get(each, each) for each in TYPE.findall(text)})


def _types(section, names):
    """The types of each parameter in a section: in its paragraph, by family, or in its row."""
    found = {}
    starts = [
        (match.start(), match[1])
        for match in re.finditer(r"(?m)^[\s\-•*|]*(\w+)\s*(?:[（(][^()（）]*[)）]\s*[:：]|\s*\|)", section)
        if match[1] in names
    ]
    for (start, name), (end, _) in itertools.pairwise([*starts, (len(section), "")]):
        text = section[start:end]
        if "|" in text.splitlines()[0]:
            if types := _named(text.splitlines()[0]):
                found.setdefault((name, ""), types)
            continue
        for line in text.splitlines():
            mark = LISTED.search(line)
            if mark and (types := _named(re.split(r"[。,，]?(?:且|shape|支持ND|。)", line[mark.end():])[0])):
                for family in _families(line[: mark.start()]):
                    found.setdefault((name, family), types)
    return "; ".join(
        f"{name}{f' on {family}' if family else ''}: {', '.join(types)}"
        for (name, family), types in found.items()
    )


def _families(before):
    """The families of the products that a line begins with; nothing stands for all."""
    parts = re.split(r"[、,，]|\[object Object\]", before)
    return [each for each in dict.fromkeys(map(_family, parts)) if each] or [""]


def read_page(text, version="", where=""):
    """Facts of the operators that a page declares."""
    text = plain(text).replace("\\_", "_")
    products = _products(text)
    for name, declared in PHASE_1.findall(text):
        parts = [" ".join(each.split()) for each in declared.split(",")][:-2]
        names = [split(each)[1] for each in parts]
        sections = re.split(rf"\n\W*aclnn{name}GetWorkspaceSize\W*\n", text)
        section = re.split(r"\n\W*(?:返回值|Returns)", sections[-1])[0] if len(sections) > 1 else ""
        yield Facts(name, "page", version, ", ".join(parts), _types(section, names), products, where)


def read_folder(folder):
    """Those of all saved pages below it; the folder between is the version: 8.5/aclnnAdd.html."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".html", ".htm", ".md", ".txt"):
            version = path.parent.name if path.parent != folder else ""
            for each in read_page(path.read_text(encoding="utf-8"), version, path.name):
                found.setdefault((each.operator, each.version), each)
    return list(found.values())
