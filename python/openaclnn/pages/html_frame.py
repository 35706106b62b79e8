# SPDX-License-Identifier: Apache-2.0
"""The frame of a report: one page of HTML that needs nothing else, no network and no script."""

import html
import shlex
import sys
from collections.abc import Iterable

from ..tool import report

_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; color: #1b1f24; background: #fff;
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: clamp(1rem, 4.5vw, 1.5rem); margin: .5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; border-top: 1px solid #d0d7de; padding-top: 1rem; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
.verdict { display: inline-block; padding: .1rem .6rem; border-radius: .3rem; color: #fff;
  font-weight: 600; }
.within { background: #1a6b33; } .OUTSIDE { background: #b3261e; }
.figures { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); }
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


def page(document: dict, verdict: str, words: str, body: list[str]) -> str:
    """The page; `document` is what --json prints, and is in it."""
    name = document["operator"]
    data = report.json_text(document).replace("<", "\\u003c")
    environment = ((key, str(value)) for key, value in document["environment"].items())
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(name)}: {verdict} {words}</title>",
            f"<style>{_STYLE}</style>",
            f'<h1>{escape(name)} <span class="verdict {verdict}">{verdict} {words}</span></h1>',
            f"<p><code>{escape(shlex.join(['openaclnn', *sys.argv[1:]]))}</code></p>",
            *body,
            "<h2>Environment</h2>",
            facts(environment),
            f'<script type="application/json" id="openaclnn">{data}</script>',
            "</html>\n",
        ]
    )


def escape(text: str) -> str:
    return html.escape(text)


def figure(title: str, svg: str, words: str) -> str:
    label = html.escape(f"{title}. {words}", quote=True)
    drawn = svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return f"<figure>{drawn}<figcaption><b>{title}.</b> {escape(words)}</figcaption></figure>"


def figures(drawn: Iterable[str]) -> str:
    return f'<div class="figures">{"".join(drawn)}</div>'


def facts(rows: Iterable[tuple[str, str]]) -> str:
    return "<table>" + "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>'
        for name, value in rows
    ) + "</table>"  # fmt: skip


def wide_table(rows: list[tuple[str, ...]]) -> str:
    """The first row is the head; scrolls where there is little room."""

    def row(tag: str, cells: tuple[str, ...]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(each)}</{tag}>" for each in cells) + "</tr>"

    cells = row("th", rows[0]) + "".join(row("td", each) for each in rows[1:])
    return f'<div class="wide"><table>{cells}</table></div>'
