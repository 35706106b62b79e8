# SPDX-License-Identifier: Apache-2.0
"""The verbs of traces: `openaclnn trace summary` and `openaclnn trace merge`."""

from pathlib import Path
from typing import Annotated

import typer

from ...errors import ExitCode, InputError
from ...files.output_files import check_writable
from ...pages import svg
from .. import report
from ..parser import Commands, Json
from . import trace, trace_merge, trace_plot

_group = typer.Typer(
    cls=Commands,
    help="Read the trace that OPENACLNN_TRACE=FILE wrote. ui.perfetto.dev opens it too.",
    epilog="Example: OPENACLNN_TRACE=t.json openaclnn run -- ./my_program; "
    "openaclnn trace summary t.json",
)


@_group.command("summary", epilog="Example: openaclnn trace summary t.json --plot t.svg")
def _summary(
    file: Annotated[Path, typer.Argument(help="A file that OPENACLNN_TRACE named.")],
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw a picture too, .svg or .png; needs matplotlib."),
    ] = None,
    json: Json = False,
) -> ExitCode:
    """Print calls, times, shares and GB/s of each operator and function."""
    if plot is not None:
        svg.require("--plot")
        trace_plot.check(plot)
        check_writable(plot)
    events = trace.read(file)
    summary = trace.summarise(events)
    if plot is not None:
        trace_plot.draw(summary, events, plot)
    if json:
        report.json_document(summary)
    else:
        trace.print_summary(summary)
    return ExitCode.OK


@_group.command("merge", epilog="Example: openaclnn trace merge t-0.json t-1.json -o t.json")
def _merge(
    files: Annotated[list[Path], typer.Argument(help="A trace of each rank, in their order.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    json: Json = False,
) -> ExitCode:
    """Merge traces of ranks into one file; say who waited for whom in collectives."""
    if any(output.exists() and output.samefile(each) for each in files if each.exists()):
        raise InputError(f"output is {output}, one of the traces, expected another file")
    check_writable(output)
    merged = trace_merge.merge(files)
    trace_merge.write(merged, output)
    if json:
        report.json_document(trace_merge.document(merged, output))
    else:
        trace_merge.print_merged(merged, output)
    return ExitCode.OK


app = typer.Typer()
app.add_typer(_group, name="trace")
