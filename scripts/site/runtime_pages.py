# SPDX-License-Identifier: Apache-2.0
"""The pages of the runtime's functions: each public header as a page, from its own comments."""

import re
from pathlib import Path

import header_comments

ROOT = Path(__file__).resolve().parents[2]
HEADERS = (
    "acl/acl_rt.h",
    "acl/acl.h",
    "acl/acl_base.h",
    "aclnn/aclnn_base.h",
    "aclnn/acl_meta.h",
    "hccl/hccl.h",
    "hccl/hccl_types.h",
    "acl/acl_op.h",
    "acl/acl_op_compiler.h",
    "acl/acl_mdl.h",
    "acl/acl_prof.h",
    "openaclnn/version.h",
)
# Pages of the vendor, one for each function or type: one of those that a header restates.
VENDOR = {
    "acl/acl_rt.h": (
        "aclrtMallocPhysical",
        "en/canncommercial/800/apiref/appdevgapi/aclcppdevg_03_0112.html",
        "8.0",
    ),
    "acl/acl.h": (
        "aclInit",
        "zh/canncommercial/63RC1/inferapplicationdev/aclcppdevg/aclcppdevg_03_0015.html",
        "6.3.RC1",
    ),
    "aclnn/acl_meta.h": (
        "aclCreateTensor",
        "zh/canncommercial/81RC1/apiref/aolapi/operatorlist_00019.html",
        "8.1.RC1",
    ),
    "hccl/hccl.h": (
        "HcclCommInitAll",
        "en/canncommercial/800/apiref/hcclapiref/hcclcpp_07_0009.html",
        "8.0",
    ),
    "hccl/hccl_types.h": (
        "HcclCommConfig",
        "en/CANNCommunityEdition/900/API/hcclug/hcclcpp_07_0047.html",
        "9.0",
    ),
}
_DOCUMENTS = "https://www.hiascend.com/document/detail/"
_LONG = 3  # names in a heading; of more the first and the last are there


def page_of(header: str) -> str:
    return f"runtime_{Path(header).stem}"


def slug(heading: str) -> str:
    """The place that MyST gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def heading(entry: header_comments.Entry) -> str:
    if len(entry.names) <= _LONG:
        return ", ".join(entry.names)
    return f"{entry.names[0]} to {entry.names[-1]}"


def escaped(text: str) -> str:
    return re.sub(r"([*|<>])", r"\\\1", text)


class Links:
    """Names that a comment may speak of, and where each is."""

    def __init__(self, headers: dict[str, header_comments.Header]):
        self.places = {
            name: f"{page_of(header)}.md#{slug(heading(entry))}"
            for header, read in headers.items()
            for entry in read.entries
            for name in entry.names
        }

    def linked(self, text: str, own: tuple[str, ...] = ()) -> str:
        """The text as Markdown; names of other entries lead there. Indented lines are code."""

        def link(match: re.Match) -> str:
            name = match.group()
            if name in own or name not in self.places:
                return f"`{name}`" if name in own else name
            return f"[`{name}`]({self.places[name]})"

        lines = (
            line if line.startswith("    ") else re.sub(r"\b[A-Za-z]\w{4,}\b", link, escaped(line))
            for line in text.split("\n")
        )
        return "\n".join(lines)


def _rows(head: str, rows: list[str]) -> str:
    return f"| {head} |\n|---|---|\n{''.join(rows)}\n" if rows else ""


def declared(code: str) -> str:
    """The declaration without what only the build needs, its lines still below each other."""
    mark = "ACL_FUNC_VISIBILITY "
    lines = re.sub(rf"^ {{{len(mark)}}}(?=\s)", "", code, flags=re.M)
    return lines.replace(mark, "").replace(" OPENACLNN_ENUM_INT", "")


def entry_text(entry: header_comments.Entry, links: Links) -> str:
    own = tuple(entry.names)
    code = f"```c\n{declared(entry.code)}\n```\n"
    parts = [f"### {heading(entry)}\n", code, links.linked(entry.comment, own)]
    parameters, codes = [], []
    for tag in entry.tags:
        said = links.linked(tag.text, own)
        if tag.tag == "param":
            way = "" if tag.way == "in" else f" ({tag.way})"
            parameters.append(f"| `{tag.name}`{way} | {said} |\n")
        elif tag.tag == "retval":
            names = tag.name.replace(", ", "`, `")
            codes.append(f"| `{names}` | {said} |\n")
        else:
            words = {"return": "Returns", "deprecated": "Deprecated:", "note": "Note:"}[tag.tag]
            parts.append(f"{words} {said}")
    parts.insert(3, _rows("parameter | meaning", parameters))
    parts.insert(4, _rows("code | when", codes))
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def page(header: str, read: header_comments.Header, links: Links) -> str:
    title = read.title.rstrip(".")
    parts = [f"# {header}\n\n{escaped(title)}. `#include \"{header}\"`\n"]
    if header in VENDOR:
        name, place, version = VENDOR[header]
        parts.append(
            f"The vendor's pages, one for each name: [{name}]({_DOCUMENTS}{place}), CANN {version}, and"
            " those beside it.\n"
        )
    if read.general:
        parts.append(f"## What holds for all\n\n{links.linked(read.general)}\n")
    functions = [entry for entry in read.entries if entry.functions]
    sections = list(dict.fromkeys(entry.section for entry in functions))
    for section in sections:
        parts.append(f"## {section or 'Functions'}\n")
        parts += [entry_text(each, links) for each in functions if each.section == section]
    types = [entry for entry in read.entries if not entry.functions]
    if types:
        parts.append("## Types and constants\n")
        parts += [entry_text(each, links) for each in types]
    return "\n".join(parts)


def pages() -> dict[str, str]:
    """{name of the page: its Markdown}."""
    headers = {name: header_comments.read(ROOT / "include" / name) for name in HEADERS}
    links = Links(headers)
    return {page_of(name): page(name, read, links) for name, read in headers.items()}
