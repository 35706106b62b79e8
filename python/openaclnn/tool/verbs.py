# SPDX-License-Identifier: Apache-2.0
"""The tool's actions for an operator and its arguments: run, check, time, differentiate."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np

from .. import accuracy, gradcheck
from ..accuracy import Accuracy
from ..distribution import Distribution
from ..errors import ExitCode, InputError, quoted_path
from ..files import npy, output_files
from ..native import call, runtime
from ..operators.operator import Operator, Problem
from ..pages import derivative_page, page, svg
from . import bench, progress, report, results

Files = dict[str, Path]  # by the name of the output


def run(operator: Operator, problem: Problem, files: Files, json: bool) -> ExitCode:
    """Runs the operator; writes the outputs that have files, prints the others."""
    results.check_files(files, json)
    with progress.stage(operator.name):
        outputs = call.run(runtime.start(), operator.function, problem)
    results.leave(report.problem_document(operator, problem), outputs, files, json)
    return ExitCode.OK


def check(
    operator: Operator, problem: Problem, files: Files, json: bool, html: Path | None = None
) -> ExitCode:
    """Compares the operator, or the results in files, with the reference; draws it into `html`."""
    distributions = {}
    if html is not None:
        svg.require("--report")
        output_files.check_writable(html, streams=True)
        distributions = {
            name: Distribution(shape) for name, (shape, _) in problem.outputs.items()
        }
    compared = compare(operator, problem, files, distributions)
    if html is not None:
        with progress.stage("report"):
            document = _checked(operator, problem, compared)
            output_files.write_text(html, page.render(document, compared, distributions))
    if json:
        report.json_document(_checked(operator, problem, compared))
    else:
        for each in compared:
            report.print_accuracy(each)
        _tell_page(html)
    return ExitCode.OK if report.all_ok(compared) else ExitCode.NUMBERS_DIFFER


def _tell_page(html: Path | None) -> None:
    """Where the page is, unless it went to a stream."""
    if html is not None and html.is_file():
        print(f"The report is in {quoted_path(html)}: open it in a browser.")


def _checked(operator: Operator, problem: Problem, compared: list[Accuracy]) -> dict:
    verdict = {"ok": report.all_ok(compared), "results": compared}
    return {**report.environment(), **report.problem_document(operator, problem), **verdict}


def measure(operator: Operator, problem: Problem, json: bool) -> ExitCode:
    """Times the operator."""
    figures = timing(operator, problem, bench.ROUNDS)
    if json:
        document = {**report.problem_document(operator, problem), "timing": figures}
        report.json_document({**report.environment(), **document})
    else:
        report.print_timing(problem, figures)
    return ExitCode.OK


def compare(
    operator: Operator,
    problem: Problem,
    files: Files,
    distributions: Mapping[str, Distribution] = MappingProxyType({}),
) -> list[Accuracy]:
    """The accuracy of each output; those without a file are computed."""
    got = {name: _load_result(path, name, problem) for name, path in files.items()}
    started = runtime.start()
    with progress.stage(operator.name):
        if len(got) < len(problem.outputs):
            got = {**call.run_over_nan(started, operator.function, problem), **got}
        else:
            call.check(started, operator.function, problem)
    with progress.stage("reference in float64"):
        references = operator.reference(started.kit, problem)
    elements = sum(array.size for array in got.values())
    with progress.stage("comparison", elements) as advance:
        return [
            accuracy.compare(name, got[name], references[name], advance, distributions.get(name))
            for name in problem.outputs
        ]


def timing(operator: Operator, problem: Problem, rounds: int) -> bench.Timing:
    """The operator's time beside the roofs."""
    with progress.stage(f"timing {operator.name}", rounds) as advance:
        return bench.run(runtime.start(), operator.function, problem, advance, rounds)


def differentiate(
    operator: Operator, problems: list[Problem], json: bool, html: Path | None = None
) -> ExitCode:
    """Compares a gradient operator with numerical derivatives of its forward; draws it."""
    found, drawn = [], []
    if html is not None:
        svg.require("--report")
        output_files.check_writable(html, streams=True)
    for problem in problems:
        shapes = problem.outputs.items() if html is not None else ()
        seen = {name: gradcheck.Seen(Distribution(shape)) for name, (shape, _) in shapes}
        with progress.stage(f"derivatives, {problem.shapes}"):
            rows = gradcheck.run(runtime.start(), operator, problem, seen)
        found.append((problem, rows))
        drawn.append((rows, seen))
    document = _differentiated(operator, found)
    if html is not None:
        with progress.stage("report"):
            output_files.write_text(html, derivative_page.render(document, drawn))
    if json:
        report.json_document(document)
    else:
        report.print_derivatives(operator, found)
        _tell_page(html)
    return ExitCode.OK if document["ok"] else ExitCode.NUMBERS_DIFFER


def _differentiated(
    operator: Operator, found: list[tuple[Problem, list[gradcheck.Derivation]]]
) -> dict:
    problems = [
        {**report.problem_document(operator, problem), "derivatives": rows}
        for problem, rows in found
    ]
    ok = all(each.ok for _, rows in found for each in rows)
    document = {"operator": operator.function.api, "ok": ok, "problems": problems}
    return {**report.environment(), **document}


def _load_result(path: Path, name: str, problem: Problem) -> np.ndarray:
    shape, dtype = problem.outputs[name]
    array = npy.load(path, name, [dtype.name])
    if array.shape != shape:
        raise InputError(f"{path}: {name} shape is {array.shape}, expected {shape}")
    return array
