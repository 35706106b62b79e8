# SPDX-License-Identifier: Apache-2.0
"""The command-line tool: what starts programs, where its other commands are, and how it ends."""

import ctypes
import os
import resource
import shlex
import signal
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from . import checked, launch, ranks
from ..native import libraries
from ..errors import Error, ExitCode, InputError, quoted_path
from .parser import Commands, Json, LaterCommands, Soc, complaint, select_product, tell_failure

# Commands in the order of the help, and the modules of those that need NumPy and more, which the
# start of a program does not: `run` takes 0.38 s without them, with them 0.8.
_MODULES = {
    "list": "list_command", "call": "call_command", "check": "operator_commands",
    "bench": "operator_commands", "demo": "tool_commands", "run": "", "explain": "tool_commands",
    "doctor": "tool_commands", "replay": "tool_commands", "trace": "traces.trace_command", "env": "",
    "grad": "former_commands", "forward": "former_commands", "gradcheck": "former_commands",
}  # fmt: skip


def _made(name: str):
    """A command that is in a module of its own."""
    module = import_module(f"{__package__}.{_MODULES[name]}")
    made = typer.main.get_command(module.app)
    return getattr(made, "commands", {}).get(name, made)  # of a module with one command it is that


class _Tool(Commands):
    """The commands here, and those that are made when they are asked for."""

    def __init__(self, **settings):
        super().__init__(**settings)
        here = {name: self.commands.get(name) for name in _MODULES}
        self.commands = LaterCommands(here, _made)


app = typer.Typer(
    help="Run, check and time the aclnn operators on this machine.",
    epilog="Example: openaclnn check embedding_dense_backward --text book.txt",
    cls=_Tool,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


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
        typer.Option(metavar="FILE", help="Write the reports to it, a line of JSON each; turns the checks on."),
    ] = None,
    leak_check: Annotated[
        checked.LeakCheck,
        typer.Option(help="full: what is left at aclFinalize counts as a mistake."),
    ] = checked.LeakCheck.NO,
    report_api_errors: Annotated[
        checked.ApiErrors | None,
        typer.Option(
            help="explicit: a refused call counts as a mistake (default with --check); no: it does not,"
            " for programs that expect refusals.",
            show_default=False,
        ),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option("--ranks", min=1, help="Start this many processes, as the ranks of one machine."),
    ] = None,
    grace: Annotated[
        float, typer.Option(min=0, help="With --ranks: seconds from SIGTERM to SIGKILL.")
    ] = ranks.GRACE,
    soc: Soc = None,
) -> int | None:
    """Start a program with the libraries in place, and return the program's exit code.

    With --ranks, RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT are set as torchrun sets
    them. The first rank that fails ends the others, and the exit code is that rank's.
    """
    select_product(soc)
    if check is not None:
        os.environ["OPENACLNN_CHECK"] = check.value
    checks = check_json is not None or check not in (None, checked.Level.OFF)
    if check is checked.Level.OFF and check_json is not None:
        raise InputError("--check-json needs --check fast or full")
    if leak_check is checked.LeakCheck.FULL and not checks:
        raise InputError("--leak-check full needs --check fast or full")
    if report_api_errors is not None and not checks:
        raise InputError("--report-api-errors needs --check fast or full")
    if checks:
        _report_api_errors(report_api_errors)
    program, variables = launch.find(command)
    _tell_unknown_variables()
    start = checked.wait if checks else launch.become
    if count == 1:
        variables = ranks.environment(variables, 1, 0, ranks.free_port())
    elif count is not None:
        start = partial(ranks.run, count, grace=grace)
    if checks:
        return checked.run(program, command, variables, check_json, leak_check, start)
    return start(program, command, variables)


def _tell_unknown_variables() -> None:
    """The libraries know the names; they are asked only where there is something to ask."""
    if sys.stderr is None or not any(name.startswith("OPENACLNN_") for name in os.environ):
        return
    with libraries.untraced():
        sentences = libraries.load().unknown_variables()
    for sentence in sentences:
        print(f"openaclnn: {sentence}", file=sys.stderr, flush=True)


def _report_api_errors(wanted: checked.ApiErrors | None) -> None:
    name = "OPENACLNN_REPORT_API_ERRORS"
    if wanted is not None or not os.environ.get(name):
        os.environ[name] = (wanted or checked.ApiErrors.EXPLICIT).value


@app.command("env", epilog='Example: eval "$(openaclnn env)"')
def _env(json: Json = False) -> ExitCode:
    """Print shell commands that set the variables by which programs find the libraries."""
    variables = launch.shown(launch.environment())
    if json:
        from . import report  # with NumPy

        report.json_document(variables)
    else:
        print("\n".join(f"export {name}={shlex.quote(text)}" for name, text in variables.items()))
    return ExitCode.OK


def _no_memory() -> str:
    """With the limit of addresses where there is one: the machine may have more memory than it."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return "out of memory"
    may_have = f"this process may have {limit // 1024} KiB of addresses (ulimit -v)"
    return f"out of memory: {may_have}; `ulimit -v unlimited` lifts the limit"


def main() -> None:
    """Runs the tool; every expected error is one line on stderr and an exit code."""
    # Whoever reads no more (`| head`) ends it quietly, as any tool, and what `run` starts as well.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    failed = partial(tell_failure, arguments=sys.argv[1:])
    try:
        code = app(standalone_mode=False, prog_name="openaclnn") or ExitCode.OK
    except Error as error:
        code = failed(error, error.exit_code)
    except typer.BadParameter.__base__ as error:  # every usage error of the parser
        code = failed(complaint(error), ExitCode.USAGE)
    except MemoryError:
        code = failed(_no_memory(), ExitCode.RUNTIME)
    except OSError as error:
        code = failed(quoted_path(error), ExitCode.RUNTIME)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    sys.exit(int(code))
