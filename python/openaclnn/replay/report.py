# SPDX-License-Identifier: Apache-2.0
"""The output of `openaclnn replay`."""

from rich.markup import escape

from ..errors import escaped, quoted_path
from ..tool import report
from .run import Comparison, Result, Step


def document(result: Result) -> dict:
    """The result as a JSON object."""
    capture = result.capture
    return {
        "folder": str(capture.folder),
        "operator": capture.api,
        "product": capture.product,
        "product_here": result.product,
        "ok": result.ok,
        "steps": [{"same": step.same, **_step(step)} for step in result.steps],
        "outputs": [{"ok": each.ok, **vars(each)} for each in result.outputs],
    }


def _step(step: Step) -> dict:
    return {"name": step.name, "captured": step.captured, "here": step.here}


def print_results(results: list[Result]) -> None:
    """One call in full; of several a line each, and in full those that are not the same here."""
    if len(results) > 1:
        calls = report.table("call", "returned", "elements", "bits differ", "verdict")
        for result in results:
            elements = sum(each.elements for each in result.outputs if each.compared)
            different = sum(each.different for each in result.outputs)
            codes = {step.captured.code for step in result.steps if step.captured}
            calls.add_row(
                escape(quoted_path(result.capture.folder.name)),
                str(max(codes, default="-")),
                str(elements),
                str(different),
                "the same" if result.ok else "NOT the same",
                style=report.style_of(result.ok),
            )
        report.console().print(calls)
    for result in results:
        if len(results) == 1 or not result.ok:
            _print_result(result)


def _print_result(result: Result) -> None:
    """The steps, the outputs and the verdict."""
    capture = result.capture
    console = report.console()
    product = capture.product or "a product without a name"
    if result.product != capture.product:
        product = f"{product}, here on {result.product}"
    console.print(f"{capture.api} of {escape(quoted_path(capture.folder))}, {escape(product)}")
    steps = report.table("step", "captured", "here")
    for step in result.steps:
        steps.add_row(step.name.replace("_", " "), *map(_outcome, (step.captured, step.here)))
    console.print(steps)
    unread = [i for i, piece in enumerate(capture.memory) if piece.before is None]
    if unread:
        console.print(f"Memory {unread} could not be read when it was captured: here it is zeros.")
    if result.outputs:
        outputs = report.table(
            "output", "elements", "bits differ", "largest difference", "here", "captured"
        )
        for each in result.outputs:
            outputs.add_row(*_row(each), style=report.style_of(each.ok))
        console.print(outputs)
    said = "The same here." if result.ok else "NOT the same here."
    console.print(said, style=report.style_of(result.ok))


def _outcome(outcome) -> str:
    if outcome is None:
        return "-"
    return escape(escaped(f"{outcome.code} {outcome.message}".strip()))


def _row(each: Comparison) -> list[str]:
    if not each.compared:
        return [each.name, str(each.elements), "-", "-", "", "not compared: it was not read"]
    largest = "-" if each.largest_difference is None else report.number(each.largest_difference)
    if each.reference and each.captured_reference:
        verdicts = [_within(each.reference), _within(each.captured_reference)]
    elif each.captured:
        met = "met" if each.captured.vendor.met else "NOT met"
        verdicts = [f"vendor's standard {met}", "no reference"]
    elif each.close is not None:
        verdicts = ["close" if each.close else "NOT close", "no reference"]
    else:
        verdicts = ["", "no reference"]
    return [each.name, str(each.elements), str(each.different), largest, *verdicts]


def _within(accuracy) -> str:
    words = "within" if accuracy.ok else "OUTSIDE"
    return f"{report.number(accuracy.bound_ratio)} {words} the bound"
