# SPDX-License-Identifier: Apache-2.0
"""The tool's output: tables for people, JSON for programs."""

import dataclasses
import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..accuracy import Accuracy
from ..gradcheck import Derivation
from ..native import libraries
from ..operators.operator import Operator, Problem
from . import machine
from .bench import Timing
from .roof import best

_PIPE_WIDTH = 140  # columns where stdout is not a terminal


def console() -> Console:
    return Console(width=None if sys.stdout.isatty() else _pipe_width(), highlight=False)


def _pipe_width() -> int:
    """The width in COLUMNS, for a terminal behind a pipe."""
    asked = os.environ.get("COLUMNS", "")
    return int(asked) if asked.isdecimal() and int(asked) > 0 else _PIPE_WIDTH


@contextmanager
def paged() -> Iterator[Console]:
    """A console; in a terminal what does not fit it is shown a page at a time."""
    shown = console()
    if not sys.stdout.isatty():
        yield shown
        return
    os.environ.setdefault("LESS", "FRX")  # quits where all fits, shows colours, leaves the text there
    with shown.pager(styles=shown.color_system is not None):
        yield shown


def table(*columns: str, whole: tuple[str, ...] = ()) -> Table:
    """Columns give way to each other where there is little room; those of `whole` do not."""
    tight = bool(whole)
    grid = Table(
        box=box.SIMPLE_HEAD, collapse_padding=tight, pad_edge=not tight, show_edge=not tight
    )
    for name in columns:
        grid.add_column(name, overflow="fold", no_wrap=name in whole)
    return grid


def facts(title: str) -> Table:
    """A table of two columns without a head: what, and how much."""
    return Table(box=box.SIMPLE, title=title, title_justify="left", show_header=False)


def json_document(document) -> None:
    """Prints one JSON object and nothing else."""
    print(json_text(document))


def json_text(document) -> str:
    return json.dumps(_plain(document), indent=2, allow_nan=False)


def _plain(value):
    if dataclasses.is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no nan, inf or -inf
    return value


def number(value: float) -> str:
    return f"{value:.3g}"


def ulps(value: float | None) -> str:
    return "no digit is right" if value is None else number(value)


def seconds(value: float) -> str:
    scale, unit = (1e6, "us") if value < 1e-3 else (1e3, "ms") if value < 1 else (1, "s")
    return f"{value * scale:.3g} {unit}"


def all_ok(results: list[Accuracy]) -> bool:
    return all(each.ok for each in results)


OUTSIDE = "bold red"  # the style of what is outside its bound


def style_of(ok: bool) -> str:
    return "" if ok else OUTSIDE


def verdict(results: list[Accuracy]) -> str:
    return "within" if all_ok(results) else "OUTSIDE"


@dataclasses.dataclass(frozen=True)
class Run:
    """One row of the demonstration."""

    operator: Operator
    problem: Problem
    results: list[Accuracy]
    timing: Timing

    @property
    def ok(self) -> bool:
        return all_ok(self.results)

    @property
    def bound_ratio(self) -> float:
        return max(each.bound_ratio for each in self.results)

    @property
    def ulp(self) -> str:
        """The bound in ulp that 99 of 100 elements keep to, of those where an ulp says
        something."""
        told = [each.ulp_percentiles["99"] for each in self.results if each.ulp_elements]
        if not told or None in told:
            return "none right" if told else "-"
        return number(max(told))

    def document(self) -> dict:
        figures = {"ok": self.ok, "results": self.results, "timing": self.timing}
        return {**problem_document(self.operator, self.problem), **figures}


def under_one_roof(runs: list[Run]) -> list[Run]:
    """All rows beside the best roof that any of them saw: other work comes and goes."""
    roof = best([run.timing.roof for run in runs])
    return [dataclasses.replace(run, timing=run.timing.under(run.problem, roof)) for run in runs]


def environment() -> dict:
    """The circumstances that figures and verdicts depend on beside the arguments."""
    settings = libraries.load().configuration()
    named = {name: settings[name] for name in ("version", "product", "simd", "threads")}
    return {"environment": {**named, "processor": machine.processor()}}


def problem_document(operator: Operator, problem: Problem) -> dict:
    inputs = {name: (array.shape, array.dtype) for name, array in problem.inputs.items()}
    return {
        "operator": operator.function.api,
        "inputs": _arrays_document(inputs),
        "attributes": problem.attributes,
        "outputs": _arrays_document(problem.outputs),
    }


def _arrays_document(arrays: dict) -> dict:
    return {name: {"shape": shape, "dtype": dtype.name} for name, (shape, dtype) in arrays.items()}


BOUND_RATIO = "error / bound"
ELEMENTS_OUTSIDE = "elements outside the bound"


def accuracy_facts(result: Accuracy) -> list[tuple[str, str]]:
    """The facts about an output, each a name and a value."""
    found = [
        ("error, max / mean", f"{number(result.max_error)} / {number(result.mean_error)}"),
        (BOUND_RATIO, f"{number(result.bound_ratio)}  {verdict([result])} the bound"),
    ]
    if result.outside:
        found.append((ELEMENTS_OUTSIDE, str(result.outside)))
    if result.not_judged:
        found.append(("not judged: sums leave the FP32 range", str(result.not_judged)))
    if result.ulp_elements:
        whole = result.ulp_elements == result.elements
        of = "" if whole else f" of the {result.ulp_elements} whose terms do not cancel"
        for rank, ulp in result.ulp_percentiles.items():
            found.append((("ulp, max" if rank == "max" else f"ulp, {rank} %") + of, ulps(ulp)))
            of = ""
    vendor = result.vendor
    found.append(("relative error, max / mean", f"{number(vendor.max)} / {number(vendor.mean)}"))
    limits = f"below {number(vendor.max_threshold)} / {number(vendor.threshold)}"
    found.append(("vendor's standard", f"{limits}: {'met' if vendor.met else 'not met'}"))
    return found


def vendor_note(result: Accuracy) -> str:
    """Why a result is within its bound although the vendor's standard says no."""
    if result.vendor.met or not result.ok:
        return ""
    return (
        "The exit code is 0: every element is within the bound, and the bound decides. The vendor's "
        "standard looks at the relative error alone. That is large where a sum is near 0 because "
        "its terms cancel, whatever the order of the sum."
    )


WORST_COLUMNS = ("worst element", "got", "reference", "error", "ulp", "error / bound")


def worst_rows(result: Accuracy) -> list[tuple[str, ...]]:
    return [
        (
            str(list(each.coordinates)),
            f"{each.got:.9g}",
            f"{each.reference:.12g}",
            number(each.error),
            "-" if each.ulp is None else number(each.ulp),
            number(each.bound_ratio),
        )
        for each in result.worst
    ]


def print_accuracy(result: Accuracy) -> None:
    summary = facts(f"{result.output}: {result.elements} elements of {result.dtype}")
    for name, figure in accuracy_facts(result):
        is_bound = name in (BOUND_RATIO, ELEMENTS_OUTSIDE)
        summary.add_row(name, figure, style=style_of(result.ok or not is_bound))
    console().print(summary)
    if result.worst:
        worst = table(*WORST_COLUMNS, whole=WORST_COLUMNS[1:])
        for each, row in zip(result.worst, worst_rows(result), strict=True):
            worst.add_row(*row, style=style_of(each.bound_ratio <= 1))
        console().print(worst)
    if note := vendor_note(result):
        console().print(note)


def print_timing(problem: Problem, timing: Timing) -> None:
    limits = timing.roof
    grid = facts(f"{problem.shapes} {problem.dtype}")
    grid.add_row("time, median", f"{seconds(timing.seconds)} of {timing.calls} calls")
    spread = f"{seconds(timing.minimum)}, {timing.spread:.0%} between the quartiles"
    grid.add_row("least, and spread", spread)
    grid.add_row("least bytes", f"{problem.read_bytes} read, {problem.write_bytes} written")
    grid.add_row("GB/s", number(timing.gigabytes_per_second))
    grid.add_row(
        "bandwidth in this run, read / write",
        f"{number(limits.read)} / {number(limits.write)} GB/s",
    )
    if timing.operations:
        grid.add_row("GFLOP/s", number(timing.gigaflops))
        grid.add_row("multiply-adds in this run", f"{number(limits.multiply_add)} GFLOP/s")
    grid.add_row(
        f"least time, by {timing.roof_limit}",
        f"{seconds(timing.roof_seconds)}, {100 * timing.roof_share:.0f} % of the measured time",
    )
    console().print(grid)


_WIDE = 140  # columns that leave room for more than the names and the figures


def print_runs(runs: list[Run]) -> None:
    """One line each, the verdict on all last."""
    wide = console().width >= _WIDE
    grid = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("operator", "dtype"):
        grid.add_column(name, no_wrap=True)
    for name in ("error /\nbound", "ulp\n99 %", "time", "of the\nroof"):
        grid.add_column(name, no_wrap=True, justify="right")
    for name in ("limit", "shapes") if wide else ():
        grid.add_column(name, no_wrap=True)
    before = None
    for run in runs:
        share = f"{run.timing.roof_share:.0%}"
        figures = (number(run.bound_ratio), run.ulp, seconds(run.timing.seconds), share)
        name = run.operator.name if run.operator is not before else ""
        before = run.operator
        more = (run.timing.roof_limit, run.problem.shapes) if wide else ()
        kind = f"{run.problem.dtype} {run.problem.note}".rstrip()
        grid.add_row(name, kind, *figures, *more, style=style_of(run.ok))
    limits = runs[0].timing.roof
    words = f"reads {number(limits.read)} GB/s, writes {number(limits.write)} GB/s"
    words += f", FMA {number(limits.multiply_add)} GFLOP/s"
    outside = [f"{each.operator.name} {each.problem.dtype}" for each in runs if not each.ok]
    said = [Text(f"OUTSIDE the bound: {', '.join(outside)}", OUTSIDE)] if outside else []
    said.append(f"{len(runs) - len(outside)} of {len(runs)} within the bound")
    notes = "An error of at most 1 is within the bound. Ulps are counted where terms do not cancel."
    roof = f"The roof, the best that was measured in this run: {words}."
    console().print(grid, notes, roof, *said, sep="\n")


def print_derivatives(operator: Operator, found: list[tuple[Problem, list[Derivation]]]) -> None:
    differences = ("numerical\nreference", "operator\nnumerical", "operator\nreference")
    whole = ("output", "elements\ntried", *differences, "verdict")
    grid = table("problem", *whole, whole=whole)
    for problem, rows in found:
        asked = f"{problem.shapes} {rows[0].accuracy.dtype} {problem.note}".strip()
        for row in rows:
            count = row.accuracy.elements
            grid.add_row(
                asked,
                row.output,
                str(count) if row.tried == count else f"{row.tried} of {count}",
                number(row.reference_ratio),
                number(row.operator_ratio),
                number(row.accuracy.bound_ratio),
                "ok" if row.ok else "WRONG",
                style=style_of(row.ok),
            )
            asked = ""
        grid.add_section()
    words = "differences between the two, in units of what is allowed, at most 1."
    console().print(grid, f"{operator.name}: {words}")
