# SPDX-License-Identifier: Apache-2.0
"""A comparison with the reference as one page of HTML."""

from collections.abc import Iterable

from ..accuracy import Accuracy
from ..distribution import Distribution
from ..tool import report
from . import error_figures, html_frame
from .html_frame import escape, facts, figure, figures, wide_table

BOUND = """<p>A sum of <i>n</i> terms in FP32 may be off by</p>
<pre>b = (8 + min(n, 64) + log2 n) * 2^-24 * sum|terms| + 2^-126</pre>
<p>Each element has a bound <i>b</i> of its own. FP32 results must lie within <i>b</i> of the float64
reference. FP16 and BF16 results are rounded once more. They must lie between round(reference - <i>b</i>) and
round(reference + <i>b</i>), and an error that this rounding explains counts as none. If the terms were rounded
before, as exponentials are, those roundings count like the 8. An ulp is the spacing of the type's numbers at
the reference. It is counted where the terms do not cancel.</p>"""


def render(
    document: dict, results: list[Accuracy], distributions: dict[str, Distribution]
) -> str:
    """The page; `document` is what --json prints."""
    body = [
        *(output(each, distributions[each.output]) for each in results),
        "<h2>The bound</h2>",
        BOUND,
        "<h2>The call</h2>",
        facts(call(document)),
    ]
    return html_frame.page(document, report.verdict(results), "the bound", body)


def call(document: dict) -> Iterable[tuple[str, str]]:
    """Tensors and attributes, by their names."""
    for kind in ("inputs", "outputs"):
        for name, array in document[kind].items():
            yield name, f"{array['dtype']} {list(array['shape'])}"
    for name, value in document["attributes"].items():
        yield name, str(value)


def output(result: Accuracy, seen: Distribution, heading: str = "h2") -> str:
    """An output's figures and pictures."""
    shape = "x".join(map(str, seen.shape)) or "scalar"
    title = f"{result.output}: {shape}, {result.elements} elements of {result.dtype}"
    parts = [f"<{heading}>{escape(title)}</{heading}>", facts(report.accuracy_facts(result))]
    if result.elements:
        parts.append(figures([*_histogram(result, seen), *_map(result, seen)]))
    if note := report.vendor_note(result):
        parts.append(f"<p>{escape(note)}</p>")
    if result.worst:
        rows = [("", *report.WORST_COLUMNS)]
        rows += [(str(n), *row) for n, row in enumerate(report.worst_rows(result), 1)]
        parts.append(wide_table(rows))
    return "\n".join(parts)


def _histogram(result: Accuracy, seen: Distribution) -> list[str]:
    title = "Errors by size"
    if not result.ulp_elements:
        return [figure(title, "", "None: the terms of all elements cancel.")]
    words = f"All {result.elements} elements, by their error in ulp."
    if result.ulp_elements < result.elements:
        words = f"The {result.ulp_elements} of {result.elements} elements whose terms do not cancel."
    return [figure(title, error_figures.histogram(seen), words)]


def _map(result: Accuracy, seen: Distribution) -> list[str]:
    title = "Errors in place"
    if not (seen.ratio.any() or seen.outside.any()):
        rounded = "" if result.dtype == "float32" else f" rounded to {result.dtype}"
        judged = " that was judged" if result.not_judged else ""
        return [figure(title, "", f"No map: every element{judged} is the reference{rounded}.")]
    rows, columns = seen.ratio.shape
    words = "Error / bound over the output."
    if (rows, columns) != (seen.rows, seen.columns):
        words += f" {rows} x {columns} cells, of each the largest."
    if seen.outside.any():
        words += " Red: outside the bound."
    if result.worst:
        words += " Circles: the worst elements, by their number in the table."
    return [figure(title, error_figures.heat_map(seen, result), words)]
