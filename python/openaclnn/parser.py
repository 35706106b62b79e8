# SPDX-License-Identifier: Apache-2.0
"""Between the operators' options and typer: what is asked for, what is wrong, what was meant."""

import inspect
import re
from typing import Annotated, get_args, get_origin

import typer
from typer.core import TyperGroup

from . import libraries, names
from .errors import Error, InputError
from .operators import OPERATORS
from .operators.options import Option

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, nothing else.")]


class Commands(TyperGroup):
    """Commands that say what there is, and what is nearest, for a name that is none of them."""

    def parse_args(self, context, arguments):
        asked = arguments or context.resilient_parsing or self.invoke_without_command
        return super().parse_args(context, arguments if asked else ["--help"])

    def get_command(self, context, name):
        """The lines of a docstring are no lines of its help, which the terminal's width makes."""
        command = super().get_command(context, name)
        if command is not None:
            command.help = re.sub(r"(?<=\S)\n(?=\S)", " ", command.help or "")
        return command

    def resolve_command(self, context, arguments):
        name = arguments[0]
        if self.get_command(context, name) is None and not name.startswith("-"):
            raise InputError(self._unknown(context, name))
        return super().resolve_command(context, arguments)

    def _unknown(self, context, name: str) -> str:
        known = self.list_commands(context)
        group = f"{context.info_name} " if context.parent else ""
        expected = f"no command {group}{name}, expected one of {', '.join(known)}"
        near = names.nearest(name, known)
        if near:
            return f"{expected}; did you mean {' or '.join(near)}?"
        apis = names.nearest(name, _apis())
        if not apis:
            return expected
        return f"{expected}; of {apis[0]}, `openaclnn list --operator {apis[0]}` says what there is"


def _apis() -> list[str]:
    """The names of all operators, as far as the libraries are here to tell."""
    try:
        support = libraries.load().support
    except Error:
        return [each.function.api for each in OPERATORS]
    return [each.api for each in (*support.operators, *support.supporting)]


def typed(parameter: inspect.Parameter) -> inspect.Parameter:
    """The parameter of an operator's `read` with typer's own option."""
    if get_origin(parameter.annotation) is not Annotated:
        return parameter
    kind, option = get_args(parameter.annotation)
    if not isinstance(option, Option):
        return parameter
    name = option.names[0] if option.names else "--" + parameter.name.replace("_", "-")

    def check(value):
        option.check(name, value)
        return value

    callback = check if option.unit != 1 else None
    made = typer.Option(*option.names, callback=callback, **option.settings)
    return parameter.replace(annotation=Annotated[kind, made])


def complaint(error: typer.BadParameter) -> str:
    """What the parser says of an argument, with the argument."""
    causes = getattr(error.__cause__, "errors", None)  # those of pydantic hold what was given
    param = getattr(error, "param", None)
    if causes is None or param is None:
        return error.format_message()
    first = causes()[0]
    said = first["msg"].removeprefix("Value error, ").partition(", unable to parse")[0]
    if not said.startswith("Input should be "):
        return f"Invalid value for {max(param.opts, key=len)}: {said}"  # which repeats the value
    wanted = said.removeprefix("Input should be ")
    return f"{max(param.opts, key=len)} is {first['input']}, expected {wanted}"
