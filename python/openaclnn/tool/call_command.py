# SPDX-License-Identifier: Apache-2.0
"""`openaclnn call`: any operator, by the C function's name or by that of its room."""

import os
from typing import Annotated

import typer
from typer.core import TyperCommand

from ..errors import Error, ExitCode
from ..native import declared
from ..operators import OPERATORS
from . import any_operator, completion, operator_help, report, results
from .parser import Json, Soc, select_product

_ROOMS = {each.name for each in OPERATORS}

app = typer.Typer(add_completion=False)  # which is the whole tool's


def _room(name: str):
    """The command of an operator with a room."""
    from . import operator_commands

    return typer.main.get_command(operator_commands.rooms).commands[name]


def _named(arguments: list[str]) -> str | None:
    """The operator: the first argument that is neither an option nor the product."""
    for before, each in zip(["", *arguments], arguments, strict=False):
        if not each.startswith("-") and before != "--soc":
            return each
    return None


class _Call(TyperCommand):
    """Its help, and the options that a shell completes, are those of the operator that is named."""

    def parse_args(self, context, arguments):
        context.meta[_Call] = _named(arguments)
        return super().parse_args(context, arguments)

    def format_help(self, context, formatter):
        name = context.meta[_Call]
        if name is None:
            super().format_help(context, formatter)
        elif name in _ROOMS:
            room = _room(name)
            with self._context_of(room, name, context) as inner:
                room.format_help(inner, formatter)
        else:
            api, operator = declared.find(name)
            formatter.write(operator_help.text(api, operator, report.console().width))

    def shell_complete(self, context, incomplete):
        name = context.params.get("name")
        if not incomplete.startswith("-") or name is None:
            return super().shell_complete(context, incomplete)
        if name in _ROOMS:
            room = _room(name)
            with self._context_of(room, name, context) as inner:
                return room.shell_complete(inner, incomplete)
        every = super().shell_complete(context, "--")
        item = type(every[0])  # which typer has in another place in each release
        own = [each for each in every if each.value.startswith(incomplete)]
        return [*own, *map(item, _parameters(name, incomplete))]

    @staticmethod
    def _context_of(room, name: str, context):
        return room.make_context(f"call {name}", [], parent=context.parent, resilient_parsing=True)


def _parameters(name: str, incomplete: str) -> list[str]:
    try:
        _, operator = declared.find(name)
    except Error:
        return []
    options = (f"--{each.name}" for each in operator.arguments)
    return [each for each in options if each.startswith(incomplete)]


@app.command(
    "call",
    cls=_Call,
    epilog="Example: openaclnn call Add --self '[1, 2]' --other '[0.5, 4]' --alpha 1",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
def _call(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="OPERATOR",
            help="For example Matmul or aclnnMatmul; see `openaclnn list`.",
            autocompletion=completion.operators,
        ),
    ],
    soc: Soc = None,
    json: Json = False,
) -> ExitCode:
    """Call an operator. Print its results, or write them to files.

    The options are the operator's parameters: `openaclnn call OPERATOR --help` lists them.

    A tensor is a file (a.npy, w.safetensors:NAME), numbers ([[1, 2], [3, 4]]:float32) or random
    numbers of a shape (random:2,3:int64). --shape 2,3[:DTYPE] draws random numbers for all inputs
    that are not given.

    If you leave out the option of a result, the type, shape and first values of the result are
    printed. --out FILE[:SHAPE[:DTYPE]] writes the result to a file, as .npy. --out - writes it to
    standard output.

    Some operators change a tensor in place. Give such a tensor as TENSOR:RESULT. The new values are
    written to the file RESULT. Without :RESULT the new values replace the contents of the tensor's
    file. If the tensor was given as numbers, the new values are printed.

    A list of numbers is 1,2,3. For a list of tensors repeat the option, --x a.npy --x b.npy, or give
    one .safetensors file. A parameter that may be null can be left out.

    The ten operators of `check` can also be given by their lower-case names. Then the options are
    those of `check`.
    """
    select_product(soc)
    os.environ.setdefault("OPENACLNN_CHECK", "off")  # what is refused is said here, in one line
    if name in _ROOMS:
        room = _room(name)
        asked = [*context.args, *["--json"] * json]
        with room.make_context(f"call {name}", asked, parent=context.parent) as inner:
            return room.invoke(inner)
    called = any_operator.call_by_name(name, context.args, json)
    results.leave({"operator": called.api}, called.found, called.files, json)
    return ExitCode.OK
