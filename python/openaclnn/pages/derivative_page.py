# SPDX-License-Identifier: Apache-2.0
"""The comparison of a gradient with numerical derivatives as one page of HTML."""

from ..gradcheck import Derivation, Seen
from ..tool import report
from . import error_figures, html_frame, page
from .html_frame import escape, facts, figure, figures

_MEANING = """<p>Along a direction <i>v</i> the derivative of f(<i>x</i>) = &lt;upstream, forward(<i>x</i>)&gt; is
taken from the forward's float64 reference at four points,</p>
<pre>(8 (f(x + hv) - f(x - hv)) - (f(x + 2hv) - f(x - 2hv))) / 12h,</pre>
<p>and compared with &lt;gradient, <i>v</i>&gt;: for the gradient's float64 reference, which may be off by what the
four points leave (1e-9 of the sum of the terms' magnitudes, and their rounding), and for the operator's own result, which
may be off by its bound and one rounding of its type as well. Differences are in units of what is allowed: 1 is the most.
Directions are single elements, then random signs of all.</p>"""


def render(document: dict, checked: list[tuple[list[Derivation], dict[str, Seen]]]) -> str:
    """The page; `document` is what --json prints, whose problems are those of `checked`."""
    body = []
    for number, ((rows, seen), problem) in enumerate(
        zip(checked, document["problems"], strict=True), 1
    ):
        body += [f"<h2>Problem {number}</h2>", facts(page.call(problem))]
        body += [_output(row, seen[row.output]) for row in rows]
    body += ["<h2>The derivatives</h2>", _MEANING, "<h2>The bound</h2>", page.BOUND]
    verdict = "within" if document["ok"] else "OUTSIDE"
    return html_frame.page(document, verdict, "what derivatives allow", body)


def _output(row: Derivation, seen: Seen) -> str:
    count = row.accuracy.elements
    tried = f"{row.tried} of {count} elements, and {len(seen.operator) - row.tried} random signs"
    rows = [
        ("directions", tried),
        ("numerical against reference", report.number(row.reference_ratio)),
        ("operator against numerical", report.number(row.operator_ratio)),
        ("verdict", "ok" if row.ok else "WRONG"),
    ]
    drawing = []
    if seen.operator:
        words = "Each direction's difference, in units of what is allowed. Red: outside, or none."
        svg = error_figures.derivatives(seen.reference, seen.operator)
        drawing = [figure("Derivatives", svg, words)]
    parts = [f"<h3>{escape(row.output)}: derivatives</h3>", facts(rows), figures(drawing)]
    return "\n".join([*parts, page.output(row.accuracy, seen.distribution, "h3")])
