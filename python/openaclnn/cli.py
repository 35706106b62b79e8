# SPDX-License-Identifier: Apache-2.0
"""The command-line tool: grad, check, bench, list and demo."""

import inspect
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from . import __version__, doctor, explain, launch, libraries, report, verbs
from .errors import Error, ExitCode, InputError
from .operators import OPERATORS
from .operators.operator import Operator, Problem
from .text import Text

app = typer.Typer(
    help="The aclnn operators on this machine: run them, check them, time them.",
    epilog="Example: openaclnn check embedding_dense_backward --text book.txt --dtype bfloat16",
    add_completion=False,
    pretty_exceptions_enable=False,
)

_SOURCE_TREE_TEXT = Path(__file__).resolve().parents[2] / "data" / "alice29.txt"

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, nothing else.")]
Soc = Annotated[
    str | None, typer.Option(metavar="NAME", help="Product to act as; default: OPENACLNN_SOC.")
]
FileOption = Callable[[str], inspect.Parameter]


def _print_version(asked: bool) -> None:
    if asked:
        print(__version__)
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


def _select_product(soc: str | None) -> None:
    if soc is not None:
        os.environ["OPENACLNN_SOC"] = soc


def _option(name: str, annotation, default) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=annotation, default=default)


def _write_option(output: str) -> inspect.Parameter:
    option = typer.Option(f"--{output}", help=f"File for {output}, .npy.")
    return _option(output, Annotated[Path, option], inspect.Parameter.empty)


def _compare_option(output: str) -> inspect.Parameter:
    option = typer.Option(f"--{output}", help=f"Check this .npy file of {output}, do not run.")
    return _option(output, Annotated[Path | None, option], None)


def _command(
    verb: Callable[[Operator, Problem, verbs.Files, bool], ExitCode],
    operator: Operator,
    file_options: list[inspect.Parameter],
) -> Callable[..., ExitCode]:
    """The command of a verb and an operator: its options are the operator's and the verb's."""

    def command(*, json: bool, soc: str | None, **values) -> ExitCode:
        _select_product(soc)
        files = {each.name: values.pop(each.name) for each in file_options}
        named = {name: path for name, path in files.items() if path is not None}
        return verb(operator, operator.read(**values), named, json)

    options = [
        *inspect.signature(operator.read).parameters.values(),
        *file_options,
        _option("soc", Soc, None),
        _option("json", Json, False),
    ]
    command.__signature__ = inspect.Signature(options)
    command.__annotations__ = {each.name: each.annotation for each in options}
    return command


def _add(name: str, verb, help: str, file_option: FileOption | None, example: str = "") -> None:
    """Adds a verb with a command for each operator."""

    def example_of(operator: Operator) -> str:
        return f"Example: openaclnn {name} {operator.name} {operator.example} {example}".rstrip()

    group = typer.Typer(help=help, epilog=example_of(OPERATORS[0]))
    for operator in OPERATORS:
        outputs = operator.function.output_names if file_option else []
        command = _command(verb, operator, [file_option(output) for output in outputs])
        summary = f"{help} {operator.summary}"
        group.command(operator.name, help=summary, epilog=example_of(operator))(command)
    app.add_typer(group, name=name)


_add("grad", verbs.run, "Run an operator, write the result.", _write_option, "--out out.npy")
_add("check", verbs.check, "Compare an operator with its float64 reference.", _compare_option)
_add("bench", verbs.measure, "Time an operator, beside the memory bandwidth.", None)


@app.command("list", epilog="Example: openaclnn list --operator embedding_dense_backward")
def _list(
    operator: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this operator.")
    ] = None,
    product: Annotated[str | None, typer.Option(metavar="NAME", help="Only this product.")] = None,
    soc: Soc = None,
    json: Json = False,
) -> ExitCode:
    """Print operators x products x dtypes."""
    _select_product(soc)
    support = libraries.load().support
    apis = {each.name: each.function.api for each in OPERATORS}
    if operator is not None:
        support = support.only_operator(apis.get(operator, operator))
    if product is not None:
        support = support.only_product(product)
    if json:
        report.json_document(support)
    else:
        report.print_support(support)
    return ExitCode.OK


@app.command("demo", epilog="Example: openaclnn demo --text book.txt")
def _demo(
    text: Annotated[
        Path | None, typer.Option(help="A text in UTF-8; default: the one in the source tree.")
    ] = None,
    width: Annotated[int, typer.Option(min=1, help="Width of the rows.")] = 256,
    soc: Soc = None,
    json: Json = False,
) -> ExitCode:
    """Run, check and time every operator on a real text."""
    _select_product(soc)
    if text is None and not _SOURCE_TREE_TEXT.is_file():
        raise InputError("expected --text FILE outside a source tree")
    words = Text.read(text or _SOURCE_TREE_TEXT)
    runs = [
        report.Run(
            operator, problem, verbs.compare(operator, problem, {}), verbs.timing(operator, problem)
        )
        for operator in OPERATORS
        for problem in operator.demo(words, width)
    ]
    if json:
        report.json_document(
            {"words": words.indices.size, "runs": [run.document() for run in runs]}
        )
    else:
        report.print_runs(runs)
    return ExitCode.OK if all(run.ok for run in runs) else ExitCode.NUMBERS_DIFFER


@app.command("explain", epilog='Example: openaclnn explain 561103, or: make 2>&1 | openaclnn explain')
def _explain(
    words: Annotated[
        list[str] | None,
        typer.Argument(help="Codes, names or lines of a log; without any, standard input."),
    ] = None,
    json: Json = False,
) -> ExitCode:
    """Say what an error code means and what to do about it."""
    entries = explain.explain(" ".join(words) if words else sys.stdin.read())
    if json:
        report.json_document(explain.document(entries))
    else:
        explain.print_entries(entries)
    return ExitCode.OK


@app.command(
    "run",
    epilog="Example: openaclnn run -- ./my_program --its-option",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
def _run(
    command: Annotated[list[str], typer.Argument(metavar="-- CMD [ARG ...]", help="The program.")],
    soc: Soc = None,
) -> None:
    """Start a program with the libraries in place; its exit code is the program's."""
    _select_product(soc)
    launch.run(command)


@app.command("env", epilog='Example: eval "$(openaclnn env)"')
def _env(json: Json = False) -> ExitCode:
    """Print the variables that put the libraries in place, for a shell to evaluate."""
    variables = launch.shown(launch.environment())
    if json:
        report.json_document(variables)
    else:
        print("\n".join(f"export {name}={shlex.quote(text)}" for name, text in variables.items()))
    return ExitCode.OK


@app.command("doctor", epilog="Example: openaclnn doctor --json")
def _doctor(soc: Soc = None, json: Json = False) -> ExitCode:
    """Look at what a program would load here; exit code 4 when something is wrong."""
    _select_product(soc)
    findings = doctor.examine()
    if json:
        report.json_document({"findings": findings})
    else:
        doctor.print_findings(findings)
    return ExitCode.RUNTIME if doctor.has_problem(findings) else ExitCode.OK


def main() -> None:
    """Runs the tool; every expected error is one line on stderr and an exit code."""
    try:
        code = app(standalone_mode=False) or ExitCode.OK
    except Error as error:
        code = _tell(error, error.exit_code)
    except typer.BadParameter.__base__ as error:  # every usage error of the parser
        code = _tell(error.format_message(), ExitCode.USAGE)
    except MemoryError:
        code = _tell("out of memory", ExitCode.RUNTIME)
    except BrokenPipeError:  # nobody reads stdout any more: let Python's last flush succeed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = ExitCode.RUNTIME
    except OSError as error:
        code = _tell(error, ExitCode.RUNTIME)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    sys.exit(int(code))


def _tell(error, code: ExitCode) -> ExitCode:
    print(f"openaclnn: {' '.join(str(error).split())}", file=sys.stderr)
    return code
