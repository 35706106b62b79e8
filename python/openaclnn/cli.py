# SPDX-License-Identifier: Apache-2.0
"""The command-line tool: its verbs, their options, and how it ends."""

import ctypes
import inspect
import os
import re
import shlex
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from . import (
    __version__,
    checked,
    demo,
    doctor,
    explain,
    launch,
    libraries,
    ranks,
    replay,
    report,
    trace_command,
    verbs,
)
from .any_operator import call_by_name
from .benchmark import command
from .errors import Error, ExitCode, InputError
from .operators import FORWARDS, GRADIENTS, OPERATORS
from .operators.operator import Operator, Problem
from .parser import Commands, Json, complaint, typed
from .text import Text

app = typer.Typer(
    help="The aclnn operators on this machine: run them, check them, time them.",
    epilog="Example: openaclnn check embedding_dense_backward --text book.txt --dtype bfloat16",
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)

Soc = Annotated[
    str | None, typer.Option(metavar="NAME", help="Product to act as; default: OPENACLNN_SOC.")
]
Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Draw it, one page of HTML; needs matplotlib."),
]
FileOption = Callable[[str], inspect.Parameter]


def _print_version(asked: bool) -> None:
    if asked:
        print(__version__)
        raise typer.Exit()


def _leave_capturing_to(verb: str | None) -> None:
    """An exported OPENACLNN_CAPTURE is for programs that `run` starts, not for this one."""
    captured_itself = hasattr(ctypes.CDLL(None), "openaclnn_capture")
    if verb != "run" and not captured_itself:
        os.environ.pop("OPENACLNN_CAPTURE", None)


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    _leave_capturing_to(context.invoked_subcommand)


def _select_product(soc: str | None) -> None:
    if soc is not None:
        os.environ["OPENACLNN_SOC"] = soc


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


def _command(
    operator: Operator,
    file_options: list[inspect.Parameter],
    act: Callable[..., ExitCode],
    verb_options: tuple[inspect.Parameter, ...] = (),
) -> Callable[..., ExitCode]:
    """The command of a verb and an operator: its options are the operator's and the verb's."""

    def command(*, json: bool, soc: str | None, **values) -> ExitCode:
        _select_product(soc)
        os.environ.setdefault("OPENACLNN_CHECK", "off")  # what is refused is said here, in one line
        files = {each.name: values.pop(each.name) for each in file_options}
        named = {name: path for name, path in files.items() if path is not None}
        asked = {each.name: values.pop(each.name) for each in verb_options}
        return act(values, named, json, **asked)

    options = [
        *map(typed, inspect.signature(operator.read).parameters.values()),
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
        summary = f"{help} {operator.summary}"
        group.command(operator.name, help=summary, epilog=example_of(operator))(command)
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


@app.command("list", epilog="Example: openaclnn list --operator embedding_dense_backward")
def _list(
    operator: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this operator.")
    ] = None,
    product: Annotated[
        str | None, typer.Option("--product", "--soc", metavar="NAME", help="Only this product.")
    ] = None,
    json: Json = False,
) -> ExitCode:
    """Print operators x products x dtypes, and the supporting operators."""
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
        Path | None, typer.Option(help="A text, UTF-8 or GBK; default: Alice in Wonderland.")
    ] = None,
    width: Annotated[
        int, typer.Option(min=16, help="Elements of a word's vector, a multiple of 16.")
    ] = 256,
    soc: Soc = None,
    json: Json = False,
) -> ExitCode:
    """Run, check and time every operator on a real text."""
    _select_product(soc)
    if width % 16 != 0:
        raise InputError(f"--width is {width}, expected a multiple of 16")
    words = Text.read(text or libraries.find() / demo.TEXT)
    runs, refusals = demo.run(words, width)
    if json:
        report.json_document(
            {
                **report.environment(),
                "words": words.indices.size,
                "paragraphs": words.paragraphs.size,
                "runs": [run.document() for run in runs],
                "not_supported": refusals,
            }
        )
    else:
        for refusal in refusals:
            print(f"{refusal.operator} {refusal.dtype}: {refusal.message}")
        report.print_runs(runs)
    return ExitCode.OK if all(run.ok for run in runs) else ExitCode.NUMBERS_DIFFER


@app.command(
    "explain", epilog="Example: openaclnn explain 561103, or: make 2>&1 | openaclnn explain"
)
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
    check: Annotated[
        checked.Level | None,
        typer.Option(help="Look for mistakes of the program; exit code 5 if there are any."),
    ] = None,
    check_json: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep the reports, each a line of JSON; checks as well."),
    ] = None,
    leak_check: Annotated[
        checked.LeakCheck,
        typer.Option(help="With full, memory that is left at aclFinalize is a mistake too."),
    ] = checked.LeakCheck.NO,
    count: Annotated[
        int | None,
        typer.Option("--ranks", min=1, help="Start it so often, as the ranks of one machine."),
    ] = None,
    grace: Annotated[
        float, typer.Option(min=0, help="With --ranks: seconds from SIGTERM to SIGKILL.")
    ] = ranks.GRACE,
    soc: Soc = None,
) -> int | None:
    """Start a program with the libraries in place; its exit code is the program's.

    With --ranks RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT are set as torchrun sets
    them; the first rank that fails ends the others, and its exit code is this one's.
    """
    _select_product(soc)
    if check is not None:
        os.environ["OPENACLNN_CHECK"] = check.value
    checks = check_json is not None or check not in (None, checked.Level.OFF)
    if leak_check is checked.LeakCheck.FULL and not checks:
        raise InputError("--leak-check full needs --check fast or full")
    program, variables = launch.find(command)
    start = checked.wait if checks else launch.become
    if count == 1:
        variables = ranks.environment(variables, 1, 0, ranks.free_port())
    elif count is not None:
        start = partial(ranks.run, count, grace=grace)
    if checks:
        return checked.run(program, command, variables, check_json, leak_check, start)
    return start(program, command, variables)


@app.command(
    "call",
    epilog="Example: openaclnn call aclnnAdd --self a.npy --other b.npy --alpha 1 --out sum.npy",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
def _call(
    context: typer.Context,
    api: Annotated[str, typer.Argument(metavar="ACLNN_NAME", help="The C function, phase 2.")],
    soc: Soc = None,
    json: Json = False,
) -> ExitCode:
    """Call an operator; its parameters are options by the names that the header gives.

    Tensors are .npy files or FILE.safetensors[:NAME]; random:2,3:int64 is one of random numbers, and
    --shape 2,3[:DTYPE] makes all inputs such that are left out. An output is FILE[:SHAPE[:DTYPE]];
    without them it is as the operator wants it; what is worked on in place is FILE[:RESULT]. What may
    be null may be left out. Lists of numbers are 1,2,3; of lists of tensors each member is an option,
    --x a.npy --x b.npy, or a .safetensors file all of them.
    """
    _select_product(soc)
    os.environ.setdefault("OPENACLNN_CHECK", "off")
    files = call_by_name(api, context.args)
    if json:
        report.json_document({"operator": api, "files": {n: str(p) for n, p in files.items()}})
    else:
        for name, path in files.items():
            print(f"{path}: {name}")
    return ExitCode.OK


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


app.add_typer(trace_command.app, name="trace")


@app.command(
    "replay",
    epilog="Example: OPENACLNN_CAPTURE=calls openaclnn run -- ./my_program; "
    "openaclnn replay calls",
)
def _replay(
    folder: Annotated[Path, typer.Argument(help="A captured call, or a folder of them.")],
    c: Annotated[
        Path | None,
        typer.Option("--c", metavar="FILE", help="Write a C program that makes the call; - prints."),
    ] = None,
    soc: Soc = None,
    json: Json = False,
) -> ExitCode:
    """Run captured calls again; compare with the reference and with what was captured."""
    _select_product(soc)
    captures = replay.read(folder)
    for left in replay.unfinished(folder):
        _tell(f"{left} is no whole call: its process was killed, or still writes it", ExitCode.OK)
    if c is not None:
        return _write_program(captures, folder, c)
    replay.select_product(captures)
    results = [replay.replay(each) for each in captures]
    if json:
        report.json_document({"calls": [replay.document(each) for each in results]})
    else:
        replay.print_results(results)
    return ExitCode.OK if all(each.ok for each in results) else ExitCode.NUMBERS_DIFFER


def _write_program(captures: list[replay.Capture], folder: Path, file: Path) -> ExitCode:
    if len(captures) != 1:
        raise InputError(f"{folder} has {len(captures)} calls, expected the folder of one for --c")
    text = replay.c_program(captures[0], libraries.find() / "include")
    if str(file) == "-":
        print(text, end="")
    else:
        file.write_text(text, "ascii")
    return ExitCode.OK


def main() -> None:
    """Runs the tool; every expected error is one line on stderr and an exit code."""
    # Whoever reads no more (`| head`) ends it quietly, as any tool, and what `run` starts as well.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        code = app(standalone_mode=False, prog_name="openaclnn") or ExitCode.OK
    except Error as error:
        code = _tell(error, error.exit_code)
    except typer.BadParameter.__base__ as error:  # every usage error of the parser
        code = _tell(complaint(error), ExitCode.USAGE)
    except MemoryError:
        code = _tell("out of memory", ExitCode.RUNTIME)
    except OSError as error:
        code = _tell(error, ExitCode.RUNTIME)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    sys.exit(int(code))


def _tell(error, code: ExitCode) -> ExitCode:
    print(f"openaclnn: {' '.join(str(error).split())}", file=sys.stderr)
    return code
