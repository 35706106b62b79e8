# SPDX-License-Identifier: Apache-2.0
"""`openaclnn bench` without an operator: all of them, or two runs compared."""

from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import typer

from ..errors import ExitCode, InputError, quoted, quoted_path
from ..files.output_files import check_writable, write_text
from ..tool.parser import Commands, Json, hint


class Bench(Commands):
    """Takes `--json FILE` of an earlier release, which is --figures FILE now."""

    def parse_args(self, context, arguments):
        return super().parse_args(context, list(self._renamed(context, arguments)))

    def _renamed(self, context, arguments: list[str]):
        takes = {name: each.nargs for each in self.get_params(context) if not each.is_flag for name in each.opts}
        values = 0  # that follow the option before
        own = True  # until an operator is named, whose options follow
        for each, after in zip_longest(arguments, arguments[1:], fillvalue="-"):
            own = own and (values > 0 or each.startswith("-"))
            if own and not values and each == "--json" and after[:1] != "-" and after not in self.commands:
                hint(f"--json {after}", f"--figures {after}")
                each = "--figures"
            values = values - 1 if values else takes.get(each, 0)
            yield each


def options(
    context: typer.Context,
    all: Annotated[
        bool, typer.Option("--all", help="Measure all operators, their peers and the roofs.")
    ] = False,
    walk: Annotated[
        bool,
        typer.Option("--walk", help="Measure every supporting operator on one shape, name the slowest; needs a clone."),
    ] = False,
    drawn: Annotated[
        bool,
        typer.Option("--drawn", help="Measure the calls that models of ten families make, and seven models."),
    ] = False,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="A B", help="Compare the times of two runs, from their --figures."),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to it what --json prints.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the tables to it instead of printing them.")
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Draw the plots, as SVG.")
    ] = None,
    operator: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Of what is measured only this; repeatable. Of calls: how they begin."),
    ] = None,
    threads: Annotated[
        str | None, typer.Option(metavar="N,N", help="Threads (1, 2 and all; with --walk 2).")
    ] = None,
    dtype: Annotated[
        str, typer.Option(metavar="NAME", help="With --walk, --drawn: the type of floats.")
    ] = "float32",
    quick: Annotated[
        bool, typer.Option("--quick", help="Few calls, tiny shapes with --all, to see that it runs.")
    ] = False,
    json: Json = False,
) -> ExitCode | None:
    """Measures or compares; an operator's own command follows where one is named."""
    if context.invoked_subcommand is not None:
        return None
    if all + walk + drawn + (compare is not None) != 1:
        raise InputError("expected an operator, --all, --walk, --drawn, or --compare A.json B.json")
    if compare is not None:
        return _compare(*compare, json)
    if plots is not None and not all:
        raise InputError("--plots is of --all, which is not given")
    numbers = _numbers(threads)
    for path in filter(None, (figures, markdown)):
        check_writable(path, streams=True)
    from . import start
    from .worker import CALLS, DRAWN, ROOMS, WALK

    parts = (WALK,) if walk else (DRAWN,) if drawn else (ROOMS, CALLS)
    request = start.Request(operator or [], numbers, quick, parts, _float(dtype))
    return _measure(request, _Leaves(json, figures, markdown, plots))


def _float(name: str) -> str:
    from .cases import ALL

    if name not in ALL:
        raise InputError(f"--dtype is {quoted(name)}, expected one of {', '.join(ALL)}")
    return name


def _numbers(threads: str | None) -> list[int]:
    try:
        return [int(each) for each in threads.split(",")] if threads else []
    except ValueError:
        raise InputError(f"--threads is {quoted(repr(threads))}, expected numbers like 1,2") from None


@dataclass(frozen=True)
class _Leaves:
    """The output of a run: printed text and written files."""

    json: bool
    figures: Path | None
    markdown: Path | None
    plots: Path | None


def _measure(request, leaves: _Leaves) -> ExitCode:
    from ..tool import report
    from . import document, drawing, start, tables

    python = drawing.find_python() if leaves.plots is not None else ""
    found = start.run(request)
    if leaves.figures is not None:
        document.write(found, leaves.figures)
    text = tables.markdown(found)
    if leaves.markdown is not None:
        write_text(leaves.markdown, text)
    if leaves.json:
        report.json_document(found)
    elif leaves.markdown is not None:
        print(f"{quoted_path(leaves.markdown)}: the tables")
        print("".join(f"\n{each}\n" for each in tables.of_walk(found["walk"])[:4]), end="")
    else:
        print(text, end="")
    if leaves.plots is not None:
        drawing.draw(found, leaves.plots, python)
    return ExitCode.RUNTIME if found["failed"] else ExitCode.OK


def _compare(first: Path, second: Path, json: bool) -> ExitCode:
    from ..tool import report
    from . import compare, document

    found = compare.compare(document.read(first), document.read(second))
    if json:
        report.json_document(compare.document(found))
    else:
        compare.show(found)
    return ExitCode.OK
