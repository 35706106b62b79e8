# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of the documentation that no hand writes: the command line, the runtime's
functions, a page for each header, the supporting operators, one for each topic, and the notebook of
the gradients.

python3 scripts/site/generate_site.py FOLDER: needs .venv, no library; without one it says that the
notebook was not run, and its page has no pictures. The supporting operators' pages are in Chinese
beside FOLDER, in zh_CN.
"""

import sys
from pathlib import Path

import nbformat
import notebook_page
import runtime_pages
import supporting_pages
import typer.main
from supporting_pages import Words, escaped

from openaclnn import ToolkitNotFound
from openaclnn.tool import cli
from openaclnn.native import libraries

ROOT = Path(__file__).resolve().parents[2]
SUMMARY = "`openaclnn COMMAND --help` says the same, and `openaclnn list` what runs on which product."


def commands(command, name: str):
    """(name, command) of all that there is."""
    if hasattr(command, "commands"):
        for each, inner in command.commands.items():
            if not inner.hidden:  # a name of an earlier release
                yield from commands(inner, f"{name} {each}")
    else:
        yield name, command


def options(command):
    for each in command.params:
        if getattr(each, "hidden", False):
            continue
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


def notebook(folder: Path) -> str:
    source = ROOT / "examples/gradients.ipynb"
    try:
        libraries.find()
        read = notebook_page.run(source)
    except ToolkitNotFound as error:
        print(f"generate_site: {source.name} is not run: {error}", file=sys.stderr)
        read = nbformat.read(source, as_version=4)
    return notebook_page.page(read, source, ROOT, folder)


def _write(folder: Path, pages: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, "utf-8")


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"cli": command_line(), **runtime_pages.pages()}
    pages["gradients"] = notebook(folder)
    _write(folder, pages)
    made = supporting_pages.examples()
    _write(folder, supporting_pages.pages(Words(), made))
    chinese = Words(supporting_pages.catalogue())
    _write(folder.parent / "zh_CN", supporting_pages.pages(chinese, made))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
