# SPDX-License-Identifier: Apache-2.0
"""Formulas of an operator's page: that of its README, and those of the headers, by the names of the
parameters, of the operator and of its gradient or forward, with the shapes.
"""

import re
from pathlib import Path

import operators_path  # noqa: F401  for the modules of scripts/operators
import formula
import generate_declarations
import header_comments

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"(?:^ {4}.*\n)+", re.M)
_HEADER = re.compile(r"Header:\s+`(aclnnop/\w+\.h)`")
_SHAPE = re.compile(r"\([^()]*\)(?: with \w+, else \([^()]*\))?")
_FOR_ALL = re.compile(r"Every\s+tensor\s+may|Products:")
_LIKE = re.compile(r"shape and type of (\w+)")
_OTHER = {"forward": "backward", "backward": "forward"}
_CALLED = {"forward": "Forward", "backward": "Gradient"}


def block(latex: str) -> str:
    """A formula in Markdown."""
    return f"```{{math}}\n{latex}\n```\n"


def math(text: str) -> str:
    """The MathML of a formula in the notation of headers and READMEs."""
    return block(formula.latex(text))


def shapes(entry: header_comments.Entry, tensors: list[str]) -> str:
    """`self` (T_in, B, C_in), …: from what the header says of each."""
    said = {tag.name: tag.text for tag in entry.tags if tag.tag == "param"}
    found = []
    for name in tensors:
        like = _LIKE.search(said[name])
        shape = _SHAPE.search(said[like[1]] if like else said[name])
        found.append(f"`{name}` {shape[0] if shape else 'of any shape'}")
    return ", ".join(found)


def of_header(path: Path) -> str:
    """The formula of the operator that a header declares first, and the shapes."""
    name, parameters = next(iter(generate_declarations.operators(path)))
    tensors = [each for each in parameters if "aclTensor" in each]
    (entry,) = (
        each
        for each in header_comments.read(path).entries
        if f"{name}GetWorkspaceSize" in each.functions
    )
    before, block, behind = entry.comment.partition(_BLOCK.search(entry.comment + "\n")[0].rstrip())
    given = before.partition("\n\n")[2].strip()  # behind what all first phases say
    meant = _FOR_ALL.split(behind.strip(), maxsplit=1)[0].strip()
    names = [generate_declarations.name_of(each) for each in tensors]
    parts = [f"`{name}`:", given, math(block), meant, f"Shapes: {shapes(entry, names)}."]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def page(path: Path, text: str) -> str:
    """The README of a room with its formulas; Markdown."""
    kind = path.parent.name
    other = path.parent.parent / _OTHER[kind] / path.name
    parts = [(kind, text)]
    if other.is_file():
        parts.append((_OTHER[kind], other.read_text("utf-8")))
    said = ["## By the names of the parameters\n"]
    for each, readme in sorted(parts, key=lambda part: part[0] != "forward"):
        header = ROOT / "include" / _HEADER.search(readme)[1]
        said.append(f"{_CALLED[each]}, {of_header(header)}")
    before, block, behind = text.partition(_BLOCK.search(text)[0])
    table = re.search(r"^Products: ", behind, re.M).start()
    return "\n".join(
        [f"{before}{math(block)}", behind[:table] + "\n".join(said), "## Limits\n", behind[table:]]
    )
