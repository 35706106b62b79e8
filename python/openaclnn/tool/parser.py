# SPDX-License-Identifier: Apache-2.0
"""The parts that the commands share with typer: arguments, complaints, suggestions."""

import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated

import typer
from typer.core import TyperGroup

from .. import names
from ..errors import AclError, Error, ExitCode, InputError, escaped, quoted
from ..native import libraries
from . import completion

Soc = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Product or family to simulate; default: OPENACLNN_SOC.",
        autocompletion=completion.products,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, nothing else.")]

# The part that an operator lacks if only `call` has it, by the group of commands.
_LACKS = {"check": "no reference for", "bench": "no arguments for"}
_MOST_COMPLAINT = 500  # characters of what typer says, which repeats what was given


class LaterCommands(dict):
    """Commands by name; one that is None is made when it is first looked at."""

    def __init__(self, commands: dict, make: Callable):
        super().__init__(commands)
        self._make = make

    def __getitem__(self, name: str):
        if super().__getitem__(name) is None:
            self[name] = self._make(name)
        return super().__getitem__(name)

    def get(self, name: str, default=None):
        return self[name] if name in self else default

    def items(self):
        return [(name, self[name]) for name in self]

    def values(self):
        return [self[name] for name in self]


class Commands(TyperGroup):
    """Commands that say what there is, and what is nearest, for a name that is none of them."""

    def parse_args(self, context, arguments):
        asked = arguments or context.resilient_parsing or self.invoke_without_command
        return super().parse_args(context, arguments if asked else ["--help"])

    def get_command(self, context, name):
        """One of these, also by the C function's name where they are operators.

        The lines of a docstring are no lines of its help, which the terminal's width makes.
        """
        same = names.same(name, self.commands) if context.parent else None
        command = super().get_command(context, same or name)
        if command is not None:
            command.help = re.sub(r"(?<=\S)\n(?=\S)", " ", command.help or "")
        return command

    def resolve_command(self, context, arguments):
        name = arguments[0]
        if self.get_command(context, name) is None and not name.startswith("-"):
            raise InputError(self._unknown(context, name))
        return super().resolve_command(context, arguments)

    def _unknown(self, context, name: str) -> str:
        every = {each: self.get_command(context, each) for each in self.list_commands(context)}
        known = [each for each, command in every.items() if not command.hidden]
        group = f"{context.info_name} " if context.parent else ""
        expected = f"no command {group}{quoted(name)}, expected one of {', '.join(known)}"
        if near := names.hint(name, known):
            return expected + near
        apis = names.nearest(name, _apis())
        if not apis:
            return expected
        short = apis[0].removeprefix("aclnn")
        if not context.parent:
            return f"{expected}; `openaclnn call {short}` calls that operator"
        lacks = _LACKS.get(context.info_name, "no command for")
        return f"{context.info_name} has {lacks} {short}; `openaclnn list {short}` shows its types"


def _apis() -> list[str]:
    """The names of all operators, as far as the libraries are here to tell."""
    try:
        return libraries.load().support.apis
    except Error:
        from ..operators import OPERATORS

        return [each.function.api for each in OPERATORS]


def complaint(error: typer.BadParameter) -> str:
    """The parser's complaint about an argument, with the argument."""
    causes = getattr(error.__cause__, "errors", None)  # those of pydantic hold what was given
    param = getattr(error, "param", None)
    if causes is None or param is None:
        return quoted(error.format_message(), _MOST_COMPLAINT)
    first = causes()[0]
    said = first["msg"].removeprefix("Value error, ").partition(", unable to parse")[0]
    if not said.startswith("Input should be "):
        return f"Invalid value for {max(param.opts, key=len)}: {quoted(said, _MOST_COMPLAINT)}"  # which repeats the value
    wanted = said.removeprefix("Input should be ")
    return f"{max(param.opts, key=len)} is {quoted(first['input'])}, expected {wanted}"


def select_product(soc: str | None) -> None:
    """A product by its name; a family, as `openaclnn list` names it, stands for its first product."""
    if soc is None:
        return
    if not soc.startswith("Ascend"):
        # Whoever loads them next says what is wrong.
        with libraries.untraced(), suppress(Error):
            soc = next(iter(libraries.load().support.products_of(soc)), soc)
    os.environ["OPENACLNN_SOC"] = soc


def tell(error, code: ExitCode) -> ExitCode:
    """One line on stderr; the exit code that belongs to it."""
    print(f"openaclnn: {_line(error)}", file=sys.stderr)
    return code


def tell_failure(error, code: ExitCode, arguments: list[str]) -> ExitCode:
    """Prints the complaint that ends the tool, and a JSON object where the arguments ask for
    one."""
    if _asks_for_json(arguments):
        said = {"message": _line(error), "exit_code": int(code)}
        if isinstance(error, AclError):
            said |= {"code": error.code, "function": error.api}
        print(json.dumps({"error": said}, indent=2))
    return tell(error, code)


def hint(former: str, now: str) -> None:
    """Says what a name of an earlier release is called now; it goes on working for one more."""
    tell(f"{former} is {now} now; the next release has the new name alone", ExitCode.OK)


def _line(error) -> str:
    return escaped(" ".join(str(error).split()))


def _asks_for_json(arguments: list[str]) -> bool:
    """Whether the tool is asked for JSON; a program that `run` starts may have an option of that
    name."""
    return arguments[:1] != ["run"] and "--json" in arguments
