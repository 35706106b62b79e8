# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of the documentation that no hand writes: the command line, the environment, the
runtime's functions, a page for each header, the supporting operators, one for each topic, and the
notebook of the gradients.

python3 scripts/generate_site.py FOLDER: needs .venv, no library; without one it says that the
notebook was not run, and its page has no pictures.
"""

import json
import re
import sys
from functools import cache
from pathlib import Path

import nbformat
import notebook_page
import operator_headers
import record_formulas
import runtime_pages
import typer.main
from operator_records import read_topics

from openaclnn import ToolkitNotFound, cli, libraries

ROOT = Path(__file__).resolve().parent.parent
SUMMARY = "`openaclnn COMMAND --help` says the same, and `openaclnn list` what runs on which product."
EXAMPLES = """\
Examples are Python, after `import numpy as np` and `from openaclnn import ops`, with what this
version prints as Ascend910B1, and the same call as a command, which writes its results to files:
tensors are numbers there or files, and here those of more than 16 numbers are drawn at random.
Where no page of the vendor's is named, the formula, the types and the refusals are ours."""


def escaped(text: str) -> str:
    """Text in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def commands(command, name: str):
    """(name, command) of all that there is."""
    if hasattr(command, "commands"):
        for each, inner in command.commands.items():
            yield from commands(inner, f"{name} {each}")
    else:
        yield name, command


def options(command):
    for each in command.params:
        names = ", ".join(f"`{name}`" for name in (*each.opts, *each.secondary_opts))
        needed = " (needed)" if each.required else ""
        yield f"| {names} | {escaped(getattr(each, 'help', None) or '')}{needed} |\n"


def command_line() -> str:
    parts = [f"# Command line\n\n{SUMMARY}\n"]
    for name, command in commands(typer.main.get_command(cli.app), "openaclnn"):
        parts.append(f"\n## {name}\n\n{escaped(command.help or '')}\n\n")
        if command.epilog:
            parts.append(f"    {command.epilog.removeprefix('Example: ')}\n\n")
        parts += ["| option | meaning |\n|---|---|\n", *options(command)]
    return "".join(parts)


def environment() -> str:
    """The table of README.md, whose home that is."""
    text = (ROOT / "README.md").read_text("utf-8")
    section = re.search(r"^## Environment\n(.*?)^## ", text, re.M | re.S)[1]
    return "# Environment\n" + section.replace("](docs/", "](/docs/")


@cache
def _calls() -> dict[str, list[str]]:
    """The calls of frameworks that are measured, by the operators that they make."""
    found: dict[str, list[str]] = {}
    for call, apis in json.loads((ROOT / "docs/figures/called.json").read_text()).items():
        for api in apis:
            found.setdefault(api, []).append(call)
    return found


def performance(api: str) -> str:
    """Where its time is told."""
    calls = _calls().get(api)
    if not calls:
        return "Performance: not measured; no call that `openaclnn bench` times makes it."
    table = "/docs/figures/README.md#calls-of-frameworks-npu-beside-cpu"
    named = ", ".join(f"`{each}`" for each in calls)
    return f"Performance: [beside PyTorch on the CPU]({table}), as a part of {named}."


def examples() -> dict[str, str]:
    """Markdown by operator; none where no library makes them."""
    try:
        libraries.find()
    except ToolkitNotFound as error:
        print(f"generate_site: the operators' examples are not run: {error}", file=sys.stderr)
        return {}
    import record_examples  # which loads the library

    return {api: each.markdown for api, each in record_examples.examples().items()}


def types_of(given: str | list[str]) -> str:
    """What all of its tensors may have."""
    listed = isinstance(given, list)
    words = ", ".join(given).replace("BF16", "BFLOAT16") if listed else operator_headers.TYPES[given]
    return words + ("; BFLOAT16 on A2, A3 and 950" if "BFLOAT16" in words else "")


def cann_version(address: str) -> str:
    """That of a page of the vendor's, by its address: 83RC1alpha002 is 8.3.RC1.alpha002."""
    folder = re.search(r"/(?:canncommercial|CANNCommunityEdition)/(\d+)(\w*)/", address)
    return ".".join([*folder[1], *re.findall(r"[A-Za-z]+\d+", folder[2])])


def vendor_page(record: dict) -> str:
    """Which one it follows, and where that is."""
    name, _, rest = record["page"].partition(",")
    if "url" not in record:
        return f"Follows the vendor's page {name},{rest}. Its address is not known."
    leads = f"The link leads to that of CANN {cann_version(record['url'])}."
    return f"Follows the vendor's page [{name}]({record['url']}),{rest}. {leads}"


def operator(each, about: dict, example: str = "") -> str:
    about = {**about, **each.record.get("about", {})}
    if each.in_place:
        about = {**about, "selfRef": f"{about.get('self', 'operand')}, and the result"}
    rows = "".join(
        f"| `{p.name}` | `{p.kind}`{', may be null' if p.optional else ''} | "
        f"{escaped(str(about.get(p.name, '')))} |\n"
        for p in each.parameters
    )
    types = types_of(each.record["types"])
    numpy = "" if each.in_place else each.record.get("numpy", "")
    follows = f"{vendor_page(each.record)}\n\n" if "page" in each.record else ""
    shown = f"As NumPy: `{' '.join(numpy.split())}`\n\n" if numpy else ""
    return (
        f"\n## {each.api}\n\n{record_formulas.markdown(each)}\n"
        f"In words: `{' '.join(each.formula.split())}`\n\n"
        f"Types: {types}. Products: all. "
        f"Header: `aclnnop/aclnn_{each.header}.h`.\n\n{follows}{shown}"
        f"| parameter | kind | meaning |\n|---|---|---|\n{rows}\n"
        f"{example}\n{performance(each.api)}\n"
    )


def topic_page(topic, made: dict[str, str]) -> str:
    names = ", ".join(f"`{each.api}`" for each in topic.operators)
    head = f"# Supporting operators: {topic.name}\n\n{topic.text}\n\n{EXAMPLES}\n\n{names}\n"
    parts = [operator(each, topic.about, made.get(each.api, "")) for each in topic.operators]
    return head + "".join(parts)


def notebook(folder: Path) -> str:
    source = ROOT / "examples/gradients.ipynb"
    try:
        libraries.find()
        read = notebook_page.run(source)
    except ToolkitNotFound as error:
        print(f"generate_site: {source.name} is not run: {error}", file=sys.stderr)
        read = nbformat.read(source, as_version=4)
    return notebook_page.page(read, source, ROOT, folder)


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"cli": command_line(), "environment": environment()}
    pages |= runtime_pages.pages()
    made = examples()
    pages |= {f"supporting_{topic.name}": topic_page(topic, made) for topic in read_topics()}
    pages["gradients"] = notebook(folder)
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
