# SPDX-License-Identifier: Apache-2.0
"""The verbs of which each operator is a command: grad, forward, check, gradcheck, bench."""

import inspect
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, get_args, get_origin

import typer

from . import verbs
from .benchmark import command
from .errors import ExitCode
from .operators import FORWARDS, GRADIENTS, OPERATORS
from .operators.operator import Operator
from .operators.options import Option
from .parser import Commands, Json, Soc, select_product

app = typer.Typer()

Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Draw it, one page of HTML; needs matplotlib."),
]
FileOption = Callable[[str], inspect.Parameter]


def _option(name: str, annotation, default) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=annotation, default=default)


def _spelled(output: str) -> str:
    """The option of an output: inputGradOut -> --input-grad-out."""
    return "--" + re.sub("[A-Z]", lambda letter: f"-{letter[0].lower()}", output)


def _write_option(output: str) -> inspect.Parameter:
    option = typer.Option(_spelled(output), metavar="FILE", help=f"File for {output}, .npy.")
    return _option(output, Annotated[Path, option], inspect.Parameter.empty)


def _compare_option(output: str) -> inspect.Parameter:
    words = f"Check this .npy file of {output}, do not run."
    option = typer.Option(_spelled(output), metavar="FILE", help=words)
    return _option(output, Annotated[Path | None, option], None)


def _typed(parameter: inspect.Parameter) -> inspect.Parameter:
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


def _command(
    operator: Operator,
    file_options: list[inspect.Parameter],
    act: Callable[..., ExitCode],
    verb_options: tuple[inspect.Parameter, ...] = (),
) -> Callable[..., ExitCode]:
    """The command of a verb and an operator: its options are the operator's and the verb's."""

    def command(*, json: bool, soc: str | None, **values) -> ExitCode:
        select_product(soc)
        os.environ.setdefault("OPENACLNN_CHECK", "off")  # what is refused is said here, in one line
        files = {each.name: values.pop(each.name) for each in file_options}
        named = {name: path for name, path in files.items() if path is not None}
        asked = {each.name: values.pop(each.name) for each in verb_options}
        return act(values, named, json, **asked)

    options = [
        *map(_typed, inspect.signature(operator.read).parameters.values()),
        *file_options,
        *verb_options,
        _option("soc", Soc, None),
        _option("json", Json, False),
    ]
    command.__signature__ = inspect.Signature(options)
    command.__annotations__ = {each.name: each.annotation for each in options}
    return command


def _add(
    name: str,
    verb: Callable[..., ExitCode],
    help: str,
    operators: tuple[Operator, ...],
    file_option: FileOption | None,
    without: str = "",
    options: tuple[inspect.Parameter, ...] = (),
) -> typer.Typer:
    """Adds a verb with a command for each operator; `without` says what it does without one."""

    def example_of(operator: Operator) -> str:
        writes = " ".join(f"{_spelled(each)} {each}.npy" for each in operator.function.output_names)
        written = f" {writes}" if file_option is _write_option else ""
        return f"Example: openaclnn {name} {operator.name} {operator.usage}{written}"

    words = f"{help} {without}".rstrip()
    group = typer.Typer(help=words, epilog=example_of(operators[0]), cls=Commands)
    for operator in operators:
        outputs = operator.function.output_names if file_option else []

        def act(
            values: dict, files: verbs.Files, json: bool, operator=operator, **asked
        ) -> ExitCode:
            return verb(operator, operator.read(**values), files, json, **asked)

        command = _command(operator, [file_option(output) for output in outputs], act, options)
        summary = {"help": f"{help} {operator.summary}", "short_help": operator.summary}
        group.command(operator.name, **summary, epilog=example_of(operator))(command)
    app.add_typer(group, name=name)
    return group


def _add_gradcheck(help: str) -> None:
    """Adds the verb that tries small random problems, and the one that its options describe."""
    example = f"Example: openaclnn gradcheck {GRADIENTS[0].name}"
    group = typer.Typer(help=help, epilog=example, cls=Commands)
    for operator in GRADIENTS:
        unset = {
            name: each.default for name, each in inspect.signature(operator.read).parameters.items()
        }

        def act(
            values: dict, files: verbs.Files, json: bool, operator=operator, unset=unset, **drawn
        ) -> ExitCode:
            asked = [] if values == unset else [operator.read(**values)]
            problems = [*operator.derivative.small(), *asked]
            return verbs.differentiate(operator, problems, json, **drawn)

        group.command(
            operator.name,
            help=f"{help} {operator.summary} Tries small random problems, and that of the options.",
            short_help=operator.summary,
            epilog=f"Example: openaclnn gradcheck {operator.name}",
        )(_command(operator, [], act, (_option("html", Report, None),)))
    app.add_typer(group, name="gradcheck")


_add("grad", verbs.run, "Run a gradient operator, write the results.", GRADIENTS, _write_option)
_add("forward", verbs.run, "Run a forward operator, write the result.", FORWARDS, _write_option)
_add(
    "check",
    verbs.check,
    "Compare an operator with its float64 reference.",
    OPERATORS,
    _compare_option,
    options=(_option("html", Report, None),),
)
_add_gradcheck("Compare a gradient operator with numerical derivatives of its forward.")
_add(
    "bench",
    verbs.measure,
    "Time an operator, beside what memory and multiply-adds allow.",
    OPERATORS,
    None,
    "With --all: all of them, beside their peers too.",
).callback(invoke_without_command=True)(command.options)
