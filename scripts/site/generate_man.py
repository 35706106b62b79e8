# SPDX-License-Identifier: Apache-2.0
"""Writes the manual page of the tool, docs/openaclnn.1, from its commands and two pages of docs.

python3 scripts/site/generate_man.py [--check]: needs .venv, no library. click-man knows click's classes
alone, which typer no longer has, and makes a page of every command: 60 of them.
"""

import re
import sys
from pathlib import Path

import typer.main
from written_page import write_or_check

from openaclnn import __version__
from openaclnn.tool import cli

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/openaclnn.1"
_EVERYWHERE = ("--help", "-h")


def roff(text: str) -> str:
    """A line of text as troff takes it literally."""
    plain = " ".join(text.split()).replace("…", "...").replace("`", "")
    plain = plain.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


def groups(command):
    """(name, command, names of what is below) of the tool's own commands."""
    for name, each in command.commands.items():
        if not each.hidden:  # a name of an earlier release
            yield name, each, list(getattr(each, "commands", ()))


def options(command) -> list[str]:
    lines = []
    for each in command.params:
        if each.opts[0] in _EVERYWHERE or getattr(each, "hidden", False):
            continue
        names = ", ".join(f"\\fB{roff(name)}\\fR" for name in (*each.opts, *each.secondary_opts))
        value = "" if getattr(each, "is_flag", False) else f" \\fI{roff(_metavar(each))}\\fR"
        said = getattr(each, "help", None) or ""
        if each.param_type_name == "argument":
            names, value = f"\\fI{roff(_metavar(each))}\\fR", ""
        lines += [".TP", f"{names}{value}", roff(said)]
    return lines


def _metavar(parameter) -> str:
    return parameter.metavar or parameter.name.upper()


def commands(app) -> list[str]:
    """Each command; of those with one for each operator what all of these have is in their help."""
    lines = []
    for name, command, inner in groups(app):
        of_operators = inner and name not in ("trace",)
        what = " \\fIOPERATOR\\fR" if of_operators else ""
        lines += [f".SS openaclnn {roff(name)}{what}", *paragraphs(command.help)]
        if of_operators:
            words = f"openaclnn {name} --help lists the operators, and --help after one its options."
            lines += [".PP", roff(words)]
        for each in () if of_operators else inner:
            within = command.commands[each]
            lines += [".PP", f"\\fB{roff(f'openaclnn {name} {each}')}\\fR", ".br"]
            lines += paragraphs(within.help)
            lines += options(within)
        lines += options(command)
        if command.epilog:
            lines += [".PP", "Example:", ".RS", ".nf", roff(command.epilog.removeprefix("Example: "))]
            lines += [".fi", ".RE"]
    return lines


def paragraphs(text: str | None) -> list[str]:
    return "\n.PP\n".join(map(roff, (text or "").split("\n\n"))).split("\n")


def environment() -> list[str]:
    """The rows of the table of docs/environment.md."""
    text = (ROOT / "docs/environment.md").read_text("utf-8")
    lines = []
    for row in re.findall(r"^\| (`.*) \| (.*) \| (.*) \|$", text, re.M):
        names, meaning, default = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", each) for each in row)
        said = f"{meaning}. Default: {default}.".split("<br>")
        lines += [".TP", f"\\fB{roff(names)}\\fR", "\n.br\n".join(map(roff, said))]
    return lines


def exit_codes() -> list[str]:
    text = (ROOT / "docs/usage.md").read_text("utf-8")
    (said,) = re.findall(r"^Exit codes: (.*)$", text, re.M)
    return [roff(said[0].upper() + said[1:])]


def page() -> str:
    app = typer.main.get_command(cli.app)
    parts = [
        '.\\" Made by scripts/site/generate_man.py: run that.',
        f'.TH OPENACLNN 1 "" "openaclnn {__version__}" "User commands"',
        ".ad l",
        ".nh",
        ".SH NAME",
        "openaclnn \\- the aclnn operators of Ascend NPUs on this machine",
        ".SH SYNOPSIS",
        "\\fBopenaclnn\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR ...]",
        ".SH DESCRIPTION",
        roff(app.help),
        roff("Every command has --help."),
        *options(app),
        ".SH COMMANDS",
        *commands(app),
        ".SH ENVIRONMENT",
        *environment(),
        ".SH EXIT STATUS",
        *exit_codes(),
    ]
    return "\n".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    return write_or_check(PAGE, page(), "generate_man.py", arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
