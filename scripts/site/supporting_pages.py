# SPDX-License-Identifier: Apache-2.0
"""The pages of the supporting operators, one for each topic, in English and in Chinese.

What is in formulas and notes of single operators is English in both; all else goes through Words.
"""

import json
import re
import sys
import tomllib
from functools import cache, reduce
from pathlib import Path

import operators_path  # noqa: F401  for the modules of scripts/operators
import operator_headers
import operator_traffic
import record_formulas
from check_records import FAMILIES
from operator_records import read_topics

from openaclnn import ToolkitNotFound
from openaclnn.native import libraries

ROOT = Path(__file__).resolve().parents[2]
CHINESE = ROOT / "docs/site/locale/zh_CN/supporting.toml"
_EXAMPLES = """\
Examples are Python, after `import numpy as np` and `from openaclnn import ops`, with the output of this
version as Ascend910B1. A command makes each call too, and writes its results to files. Tensors in
commands are numbers or files; tensors of more than 16 numbers are random here. Bytes are those of a
trace, each counted once: `OPENACLNN_TRACE` counts and times them in your calls too. If a table lists
types beside a tensor, it takes only those. If no page of the vendor is named, the formula, the types
and the refusals are ours."""
_HOW = {
    "all": "{name}",
    "part": "{name} in part",
    "asked": "{name} where other arguments ask for it",
    "given": "{name} if it is given",
}
_TABLE = "/docs/figures/README.md#calls-of-frameworks-npu-beside-cpu"
_ATTENTION_AND_WINDOWS = "/docs/performance.md#attention-convolutions-and-pools"


class Words:
    """The texts that pages share, in the language of a catalogue; without one in English."""

    def __init__(self, catalogue: dict[str, str] | None = None):
        self._catalogue = catalogue or {}
        self.asked: set[str] = set()

    def __call__(self, text: str, **values: str) -> str:
        key = " ".join(text.split())
        self.asked.add(key)
        said = self._catalogue.get(key, text)
        return said.format(**values) if values else said


def catalogue(path: Path = CHINESE) -> dict[str, str]:
    """Chinese by English."""
    sections = tomllib.loads(path.read_text("utf-8")).values()
    return {text: chinese for section in sections for text, chinese in section.items()}


def escaped(text: str) -> str:
    """Text in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


@cache
def calls() -> dict[str, list[str]]:
    """The calls of frameworks that are measured, by the operators that they make."""
    found: dict[str, list[str]] = {}
    for call, apis in json.loads((ROOT / "docs/figures/called.json").read_text()).items():
        for api in apis:
            found.setdefault(api, []).append(call)
    return found


@cache
def _figures() -> str:
    """The tables of a run of all operators and calls."""
    return (ROOT / "docs/figures/README.md").read_text()


def timed(api: str, words: Words) -> str:
    """Where its time is told."""
    if api not in calls():
        return words("Not measured: no call that `openaclnn bench` times makes it.")
    there = [each for each in calls()[api] if re.search(rf"^\| {re.escape(each)}( \(!\))? \|", _figures(), re.M)]
    table = _TABLE if there else _ATTENTION_AND_WINDOWS
    named = ", ".join(f"`{each}`" for each in there or calls()[api])
    text = "Measured [beside PyTorch on the CPU]({table}), as a part of {calls}."
    return words(text, table=table, calls=named)


def _operands(operands: list[operator_traffic.Operand], words: Words) -> str:
    named = (words(_HOW[each.how], name=f"`{each.name}`") for each in operands)
    return reduce(lambda before, name: words("{before}, {name}", before=before, name=name), named)


def performance(each, about: dict, words: Words, example=None) -> str:
    """The bytes that a call reads and writes, in the example too, and where its time is told."""
    left_out = {name for name, text in about.items() if text == "must be left out"}
    read = [one for one in operator_traffic.read(each) if one.name not in left_out]
    written = _operands(operator_traffic.written(each), words)
    if read:
        said = words("reads {read} and writes {written}", read=_operands(read, words), written=written)
    else:
        said = words("writes {written}", written=written)
    if example is not None:
        counted = {"read": str(example.bytes_read), "written": str(example.bytes_written)}
        exact = "{said} ({read} and {written} bytes in the example)"
        most = "{said} (at most {read} and {written} bytes in the example)"
        said = words(most if operator_traffic.may_be_less(each) else exact, said=said, **counted)
    return words("Performance: {said}. {timed}", said=said, timed=timed(each.api, words))


def examples() -> dict:
    """By operator; none where no library makes them."""
    try:
        libraries.find()
    except ToolkitNotFound as error:
        print(f"generate_site: the operators' examples are not run: {error}", file=sys.stderr)
        return {}
    import record_examples  # which loads the library

    return record_examples.examples()


def types_of(given: str | list[str], words: Words) -> str:
    """The types that all of its tensors may have."""
    if isinstance(given, list):
        named = ", ".join(given).replace("BF16", "BFLOAT16")
    else:
        named = words(operator_headers.TYPES[given])
    if "BFLOAT16" not in named:
        return named
    return words("{types}; BFLOAT16 on A2, A3 and 950", types=named)


def cann_version(address: str) -> str:
    """That of a page of the vendor's, by its address: 83RC1alpha002 is 8.3.RC1.alpha002."""
    folder = re.search(r"/(?:canncommercial|CANNCommunityEdition)/(\d+)(\w*)/", address)
    return ".".join([*folder[1], *re.findall(r"[A-Za-z]+\d+", folder[2])])


def vendor_page(record: dict, words: Words) -> str:
    """Which one it follows, and where that is."""
    name, _, version = record["page"].partition(", ")
    if not re.fullmatch(r"CANN \d\.\d", version):
        version = words(version)
    address = record.get("url")
    page = f"[{name}]({address})" if address else name
    follows = words("Follows the vendor's page {page}, {version}.", page=page, version=version)
    if more := record.get("also"):
        shown = "Ascend/pytorch's list of native APIs for PyTorch 2.7.1 shows more: {types}."
        follows += " " + words(shown, types="; ".join(more).replace("BF16", "BFLOAT16"))
    if not address:
        return f"{follows} {words('Its address is not known.')}"
    leads = "The link leads to that of CANN {version}."
    return f"{follows} {words(leads, version=cann_version(address))}"


def _meanings(each, about: dict, words: Words):
    """(name, what it means) of its parameters."""
    for parameter in each.parameters:
        if each.in_place and parameter.name == "selfRef":
            operand = words(about.get("self", "operand"))
            yield parameter, words("{meaning}, and the result", meaning=operand)
        else:
            text = about.get(parameter.name)
            yield parameter, words(str(text)) if text else ""


def operator(each, about: dict, words: Words, example=None) -> str:
    about = {**about, **each.record.get("about", {})}
    null = words(", may be null")
    rows = ""
    for p, meaning in _meanings(each, about, words):
        types = each.types_in_words(p)
        kind = f"`{p.kind}`{null if p.optional else ''}{': ' if types else ''}{types}"
        rows += f"| `{p.name}` | {kind} | {escaped(meaning)} |\n"
    types = types_of(each.record["types"], words)
    listed = each.families
    products = words("all") if listed == list(FAMILIES) else ", ".join(listed)
    header = f"aclnnop/aclnn_{each.header}.h"
    parts = [
        f"## {each.api}\n",
        record_formulas.markdown(each),
        words("In words: `{formula}`", formula=" ".join(each.formula.split())) + "\n",
        words(
            "Types: {types}. Products: {products}. Header: `{header}`.",
            types=types, products=products, header=header,
        ) + "\n",
    ]
    if "page" in each.record:
        parts.append(vendor_page(each.record, words) + "\n")
    if "numpy" in each.record and not each.in_place:
        parts.append(words("As NumPy: `{numpy}`", numpy=" ".join(each.record["numpy"].split())) + "\n")
    head = words("| parameter | kind | meaning |")
    parts.append(f"{head}\n|---|---|---|\n{rows}")
    shown = f"{example.markdown}\n" if example is not None else ""
    parts.append(f"{shown}{performance(each, about, words, example)}\n")
    return "\n" + "\n".join(parts)


def topic_page(topic, words: Words, made: dict) -> str:
    title = words("Supporting operators: {name}", name=words(topic.name))
    names = ", ".join(f"[`{each.api}`](#{each.api.lower()})" for each in topic.operators)
    head = f"# {title}\n\n{words(topic.text)}\n\n{words(_EXAMPLES)}\n\n{names}\n"
    parts = [operator(each, topic.about, words, made.get(each.api)) for each in topic.operators]
    return head + "".join(parts)


def pages(words: Words, made: dict) -> dict[str, str]:
    """By name."""
    return {f"supporting_{topic.name}": topic_page(topic, words, made) for topic in read_topics()}
