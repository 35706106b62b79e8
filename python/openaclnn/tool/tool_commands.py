# SPDX-License-Identifier: Apache-2.0
"""Commands of the tool that ask the libraries, or look at what these have written."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from .. import replay
from ..errors import ExitCode, InputError
from ..files import output_files
from ..files.text import Text
from ..native import libraries
from . import demo, explain, report
from .doctor import doctor
from .parser import Json, Soc, select_product, tell

app = typer.Typer()


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
    """Run, check and time ten operators on a real text."""
    select_product(soc)
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


@app.command("doctor", epilog="Example: openaclnn doctor --json")
def _doctor(soc: Soc = None, json: Json = False) -> ExitCode:
    """Check which libraries a program would load here. The exit code is 4 if something is wrong."""
    select_product(soc)
    findings = doctor.examine()
    if json:
        report.json_document({"findings": findings})
    else:
        doctor.print_findings(findings)
    return ExitCode.RUNTIME if doctor.has_problem(findings) else ExitCode.OK


@app.command(
    "replay",
    epilog="Example: OPENACLNN_CAPTURE=calls openaclnn run -- ./my_program; "
    "openaclnn replay calls",
)
def _replay(
    folder: Annotated[Path, typer.Argument(help="A captured call, or a folder of them.")],
    c: Annotated[
        Path | None,
        typer.Option("--c", metavar="FILE", help="Write a C program that makes the call; - prints it."),
    ] = None,
    soc: Soc = None,
    json: Json = False,
) -> ExitCode:
    """Run captured calls again. Compare with the reference and with the captured results."""
    select_product(soc)
    captures = replay.read(folder)
    for left in replay.unfinished(folder):
        tell(f"{left} is no whole call: its process was killed, or still writes it", ExitCode.OK)
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
    printed = str(file) == "-"
    if not printed:
        if file.exists() and any(file.samefile(each) for each in captures[0].files()):
            raise InputError(f"--c is {file}, a file of the captured call, expected another file")
        output_files.check_writable(file, streams=True)
    text = replay.c_program(captures[0], libraries.find() / "include")
    if printed:
        print(text, end="")
    else:
        output_files.write_text(file, text)
    return ExitCode.OK
