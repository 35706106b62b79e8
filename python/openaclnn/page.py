# SPDX-License-Identifier: Apache-2.0
"""A comparison as one page of HTML that needs nothing else: no network, no script."""

import html
import shlex
import sys
from collections.abc import Iterable

from . import error_figures, report
from .accuracy import Accuracy
from .distribution import Distribution

_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; color: #1b1f24; background: #fff;
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: clamp(1rem, 4.5vw, 1.5rem); margin: .5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; border-top: 1px solid #d0d7de; padding-top: 1rem; }
.verdict { display: inline-block; padding: .1rem .6rem; border-radius: .3rem; color: #fff;
  font-weight: 600; }
.within { background: #1a6b33; } .OUTSIDE { background: #b3261e; }
.figures { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); }
figure { margin: 0; } figure svg { display: block; width: 100%; height: auto; }
figcaption { font-size: .875rem; color: #57606a; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .5rem 0; font-size: .875rem; }
th, td { padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid #eaeef2; font-variant-numeric: tabular-nums; }
th { font-weight: 600; }
.wide td, .wide th { white-space: nowrap; }
code, pre { font: .875rem/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; background: #f6f8fa; padding: .75rem; border-radius: .3rem; }
"""

_BOUND = """<p>A sum of <i>n</i> terms in FP32 may be off by</p>
<pre>b = (8 + min(n, 64) + log2 n) * 2^-24 * sum|terms| + 2^-126</pre>
<p>which each element has of its own. FP32 results must lie within <i>b</i> of the float64 reference; FP16 and
BF16 results, rounded once more, between round(reference - <i>b</i>) and round(reference + <i>b</i>), and what
that rounding explains counts as no error here. Where the terms come from values that were rounded before, as
those of an exponential, those roundings count like the 8. An ulp is the spacing of the type's numbers at the
reference; it is counted where the terms do not cancel.</p>"""


def render(
    document: dict, results: list[Accuracy], distributions: dict[str, Distribution]
) -> str:
    """The page; `document` is what --json prints, and is in it."""
    name, verdict = document["operator"], report.verdict(results)
    data = report.json_text(document).replace("<", "\\u003c")
    body = [
        f'<h1>{_escape(name)} <span class="verdict {verdict}">{verdict} the bound</span></h1>',
        f"<p><code>{_escape(shlex.join(['openaclnn', *sys.argv[1:]]))}</code></p>",
        *(_output(each, distributions[each.output]) for each in results),
        "<h2>The bound</h2>",
        _BOUND,
        "<h2>The call</h2>",
        _facts(_call(document)),
        "<h2>Environment</h2>",
        _facts((key, str(value)) for key, value in document["environment"].items()),
        f'<script type="application/json" id="openaclnn">{data}</script>',
    ]
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{_escape(name)}: {verdict} the bound</title>",
            f"<style>{_STYLE}</style>",
            *body,
            "</html>\n",
        ]
    )


def _escape(text: str) -> str:
    return html.escape(text)


def _call(document: dict) -> Iterable[tuple[str, str]]:
    for kind in ("inputs", "outputs"):
        for name, array in document[kind].items():
            yield name, f"{array['dtype']} {list(array['shape'])}"
    for name, value in document["attributes"].items():
        yield name, str(value)


def _output(result: Accuracy, seen: Distribution) -> str:
    shape = "x".join(map(str, seen.shape)) or "scalar"
    title = f"{result.output}: {shape}, {result.elements} elements of {result.dtype}"
    parts = [f"<h2>{_escape(title)}</h2>", _facts(report.accuracy_facts(result))]
    if result.elements:
        figures = [*_histogram(result, seen), *_map(result, seen)]
        parts.append(f'<div class="figures">{"".join(figures)}</div>')
    if result.worst:
        rows = [("", *report.WORST_COLUMNS)]
        rows += [(str(n), *row) for n, row in enumerate(report.worst_rows(result), 1)]
        parts.append(f'<div class="wide">{_table(rows)}</div>')
    return "\n".join(parts)


def _histogram(result: Accuracy, seen: Distribution) -> list[str]:
    title = "Errors by size"
    if not result.ulp_elements:
        return [_figure(title, "", "None: the terms of all elements cancel.")]
    words = f"All {result.elements} elements, by their error in ulp."
    if result.ulp_elements < result.elements:
        words = f"The {result.ulp_elements} of {result.elements} elements whose terms do not cancel."
    return [_figure(title, error_figures.histogram(seen), words)]


def _map(result: Accuracy, seen: Distribution) -> list[str]:
    title = "Errors in place"
    if not (seen.ratio.any() or seen.outside.any()):
        rounded = "" if result.dtype == "float32" else f" rounded to {result.dtype}"
        return [_figure(title, "", f"No map: every element is the reference{rounded}.")]
    rows, columns = seen.ratio.shape
    words = "Error / bound over the output."
    if (rows, columns) != (seen.rows, seen.columns):
        words += f" {rows} x {columns} cells, of each the largest."
    if seen.outside.any():
        words += " Red: outside the bound."
    if result.worst:
        words += " Circles: the worst elements, by their number in the table."
    return [_figure(title, error_figures.heat_map(seen, result), words)]


def _figure(title: str, svg: str, words: str) -> str:
    label = html.escape(f"{title}. {words}", quote=True)
    drawn = svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return f"<figure>{drawn}<figcaption><b>{title}.</b> {_escape(words)}</figcaption></figure>"


def _facts(rows: Iterable[tuple[str, str]]) -> str:
    return "<table>" + "".join(
        f'<tr><th scope="row">{_escape(name)}</th><td>{_escape(value)}</td></tr>'
        for name, value in rows
    ) + "</table>"  # fmt: skip


def _table(rows: list[tuple[str, ...]]) -> str:
    def row(tag: str, cells: tuple[str, ...]) -> str:
        return "<tr>" + "".join(f"<{tag}>{_escape(each)}</{tag}>" for each in cells) + "</tr>"

    return "<table>" + row("th", rows[0]) + "".join(row("td", each) for each in rows[1:]) + "</table>"
