# SPDX-License-Identifier: Apache-2.0
"""What the tool does with an operator and its arguments: run it, check it, time it."""

from pathlib import Path

import numpy as np

from . import accuracy, bench, call, npy, progress, report, runtime
from .accuracy import Accuracy
from .errors import ExitCode, InputError
from .operators.operator import Operator, Problem

Files = dict[str, Path]  # by the name of the output


def run(operator: Operator, problem: Problem, files: Files, json: bool) -> ExitCode:
    """Runs the operator and writes its outputs."""
    for path in files.values():
        npy.check_writable(path)
    with progress.stage(operator.name):
        outputs = call.run(runtime.start(), operator.function, problem)
    for name, path in files.items():
        npy.save(path, outputs[name])
    if json:
        written = {name: str(path) for name, path in files.items()}
        report.json_document({**report.problem_document(operator, problem), "files": written})
    else:
        for name, path in files.items():
            print(f"{path}: {name} {outputs[name].dtype} {outputs[name].shape}")
    return ExitCode.OK


def check(operator: Operator, problem: Problem, files: Files, json: bool) -> ExitCode:
    """Compares the operator, or the results in files, with the reference."""
    results = compare(operator, problem, files)
    if json:
        verdict = {"ok": report.all_ok(results), "results": results}
        report.json_document({**report.problem_document(operator, problem), **verdict})
    else:
        for each in results:
            report.print_accuracy(each)
    return ExitCode.OK if report.all_ok(results) else ExitCode.NUMBERS_DIFFER


def measure(operator: Operator, problem: Problem, files: Files, json: bool) -> ExitCode:
    """Times the operator."""
    figures = timing(operator, problem)
    if json:
        report.json_document({**report.problem_document(operator, problem), "timing": figures})
    else:
        report.print_timing(problem, figures)
    return ExitCode.OK


def compare(operator: Operator, problem: Problem, files: Files) -> list[Accuracy]:
    """The accuracy of each output; those without a file are computed."""
    got = {name: _load_result(path, name, problem) for name, path in files.items()}
    started = runtime.start()
    if len(got) < len(problem.outputs):
        with progress.stage(operator.name):
            got = {**_run_over_nan(started, operator, problem), **got}
    with progress.stage("reference in float64"):
        references = operator.reference(started.kit, problem)
    elements = sum(array.size for array in got.values())
    with progress.stage("comparison", elements) as advance:
        return [
            accuracy.compare(name, got[name], references[name], advance) for name in problem.outputs
        ]


def timing(operator: Operator, problem: Problem) -> bench.Timing:
    """The operator's time beside the memory bandwidth."""
    with progress.stage(f"timing {operator.name}", bench.ROUNDS) as advance:
        return bench.run(runtime.start(), operator.function, problem, advance)


def _run_over_nan(
    started: runtime.Runtime, operator: Operator, problem: Problem
) -> dict[str, np.ndarray]:
    """Runs into outputs that are full of NaN, so that an element that is not written is seen."""
    with call.Call(started, operator.function, problem) as running:
        running.fill_outputs(0xFF)
        running.run()
        return running.outputs()


def _load_result(path: Path, name: str, problem: Problem) -> np.ndarray:
    shape, dtype = problem.outputs[name]
    array = npy.load(path, name, [dtype.name])
    if array.shape != shape:
        raise InputError(f"{path}: {name} shape is {array.shape}, expected {shape}")
    return array
