# SPDX-License-Identifier: Apache-2.0
"""The verbs of which each operator with a room is a command: check and bench, and call for these."""

import inspect
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, get_args, get_origin

import typer

from ..benchmark import command
from ..errors import ExitCode, InputError
from ..operators import GRADIENTS, OPERATORS
from ..operators.operator import Operator
from ..operators.options import Option
from . import verbs
from .parser import Commands, Json, Soc, select_product

app = typer.Typer()

Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Write a page about the errors, to open in a browser; needs matplotlib."),
]
FileOption = Callable[[str], inspect.Parameter]
# The action of a command: takes an operator, the values of its options, files by output, --json and
# more.
Act = Callable[..., ExitCode]


def option(name: str, annotation, default) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=annotation, default=default)


def spelled(output: str) -> str:
    """The option of an output: inputGradOut -> --input-grad-out."""
    return "--" + re.sub("[A-Z]", lambda letter: f"-{letter[0].lower()}", output)


def write_option(output: str) -> inspect.Parameter:
    words = f"File for {output}, .npy; - is standard output."
    made = typer.Option(spelled(output), metavar="FILE", help=words)
    return option(output, Annotated[Path | None, made], None)


def _compare_option(output: str) -> inspect.Parameter:
    words = f"Check this .npy file of {output}; the operator does not run."
    made = typer.Option(spelled(output), metavar="FILE", help=words)
    return option(output, Annotated[Path | None, made], None)


def _check_options(operator: Operator) -> tuple[inspect.Parameter, ...]:
    """--report, and of a gradient --derivatives, which others refuse."""
    words = "Compare with numerical derivatives of the forward: on small random arrays, and on yours."
    hidden = operator.derivative is None
    derivatives = Annotated[bool, typer.Option("--derivatives", help=words, hidden=hidden)]
    return option("html", Report, None), option("derivatives", derivatives, False)


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
    act: Act,
    more: tuple[inspect.Parameter, ...],
) -> Callable[..., ExitCode]:
    """The command of a verb and an operator: its options are the operator's and the verb's."""

    def command(*, json: bool, soc: str | None, **values) -> ExitCode:
        select_product(soc)
        os.environ.setdefault("OPENACLNN_CHECK", "off")  # what is refused is said here, in one line
        files = {each.name: values.pop(each.name) for each in file_options}
        named = {name: path for name, path in files.items() if path is not None}
        asked = {each.name: values.pop(each.name) for each in more}
        return act(operator, values, named, json, **asked)

    options = [
        *map(_typed, inspect.signature(operator.read).parameters.values()),
        *file_options,
        *more,
        option("soc", Soc, None),
        option("json", Json, False),
    ]
    command.__signature__ = inspect.Signature(options)
    command.__annotations__ = {each.name: each.annotation for each in options}
    return command


def group(
    name: str,
    act: Act,
    help: str,
    operators: tuple[Operator, ...] = OPERATORS,
    file_option: FileOption | None = None,
    without: str = "",
    options: Callable[[Operator], tuple[inspect.Parameter, ...]] = lambda operator: (),
    cls: type[Commands] = Commands,
) -> typer.Typer:
    """A verb with a command for each operator; `without` says what it does without one."""

    def example_of(operator: Operator) -> str:
        return f"Example: openaclnn {name} {operator.name} {operator.usage}"

    words = f"{help} {without}".rstrip()
    made = typer.Typer(help=words, epilog=example_of(operators[0]), cls=cls)
    for operator in operators:
        outputs = operator.function.output_names if file_option else []
        files = [file_option(output) for output in outputs]
        command = _command(operator, files, act, options(operator))
        summary = {"help": f"{help} {operator.summary}", "short_help": operator.summary}
        made.command(operator.name, **summary, epilog=example_of(operator))(command)
    return made


def run(operator: Operator, values: dict, files: verbs.Files, json: bool) -> ExitCode:
    return verbs.run(operator, operator.read(**values), files, json)


def differentiate(operator: Operator, values: dict, json: bool, html: Path | None) -> ExitCode:
    """Tries small random problems, and the one that the options describe, if they describe one."""
    defaults = inspect.signature(operator.read).parameters
    asked = any(value != defaults[name].default for name, value in values.items())
    problems = [*operator.derivative.small(), *([operator.read(**values)] if asked else [])]
    return verbs.differentiate(operator, problems, json, html)


def _check(
    operator: Operator,
    values: dict,
    files: verbs.Files,
    json: bool,
    html: Path | None,
    derivatives: bool,
) -> ExitCode:
    if not derivatives:
        return verbs.check(operator, operator.read(**values), files, json, html)
    if operator.derivative is None:
        gradients = ", ".join(each.name for each in GRADIENTS)
        expected = f"expected one of {gradients} for --derivatives"
        raise InputError(f"{operator.name} is no gradient, {expected}")
    if files:
        given = spelled(next(iter(files)))
        raise InputError(f"{given} is given, expected --derivatives without it: it runs the operator")
    return differentiate(operator, values, json, html)


def _measure(operator: Operator, values: dict, files: verbs.Files, json: bool) -> ExitCode:
    return verbs.measure(operator, operator.read(**values), json)


# `call` has these for the operators with a room, by their names in lower case.
rooms = group("call", run, "Run an operator, print or write the results.", file_option=write_option)

app.add_typer(
    group(
        "check",
        _check,
        "Compare an operator with its float64 reference.",
        file_option=_compare_option,
        options=_check_options,
    ),
    name="check",
)
_bench = group(
    "bench",
    _measure,
    "Time an operator; compare with the least time that the machine allows.",
    without="--all times all operators, and compares with PyTorch and JAX.",
    cls=command.Bench,
)
_bench.callback(invoke_without_command=True)(command.options)
app.add_typer(_bench, name="bench")
