# SPDX-License-Identifier: Apache-2.0
"""`openaclnn bench` without an operator: all of them, or two runs compared."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import ExitCode, InputError, quoted, quoted_path
from ..output_files import check_writable, write_text


def options(
    context: typer.Context,
    all: Annotated[
        bool, typer.Option("--all", help="Measure all operators, their peers and the roofs.")
    ] = False,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="A B", help="Print how two runs' times compare, from their --json."),
    ] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the figures.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the tables, not print them.")
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Draw the plots, as SVG.")
    ] = None,
    operator: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="With --all: only this; repeatable.")
    ] = None,
    threads: Annotated[
        str | None, typer.Option(metavar="N,N", help="With --all: threads (1, 2 and all).")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="With --all: tiny shapes, to see that it runs.")
    ] = False,
) -> ExitCode | None:
    """Measures or compares; an operator's own command follows where one is named."""
    if context.invoked_subcommand is not None:
        return None
    if all == (compare is not None):
        raise InputError("expected an operator, --all, or --compare A.json B.json")
    if compare is not None:
        return _compare(*compare)
    numbers = _numbers(threads)
    for path in filter(None, (json, markdown)):
        check_writable(path, streams=True)
    return _measure(operator or [], numbers, quick, json, markdown, plots)


def _numbers(threads: str | None) -> list[int]:
    try:
        return [int(each) for each in threads.split(",")] if threads else []
    except ValueError:
        raise InputError(f"--threads is {quoted(repr(threads))}, expected numbers like 1,2") from None


def _measure(operators, threads, quick, json, markdown, plots) -> ExitCode:
    from . import document, drawing, start, tables

    python = drawing.find_python() if plots is not None else ""
    found = start.run(start.Request(operators, threads, quick))
    if json is not None:
        document.write(found, json)
    text = tables.markdown(found)
    if markdown is not None:
        write_text(markdown, text)
        print(f"{quoted_path(markdown)}: the tables")
    else:
        print(text, end="")
    if plots is not None:
        drawing.draw(found, plots, python)
    return ExitCode.RUNTIME if found["failed"] else ExitCode.OK


def _compare(first: Path, second: Path) -> ExitCode:
    from . import compare, document

    compare.show(compare.compare(document.read(first), document.read(second)))
    return ExitCode.OK
