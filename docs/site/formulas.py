# SPDX-License-Identifier: Apache-2.0
"""Sphinx: the formulas of operators' pages, from their text, as MathML: no script, no network."""

import re
import sys
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/site"))

import formula
import operator_formulas

_MODULES = [ROOT / "scripts/site/formula.py", ROOT / "scripts/site/operator_formulas.py"]

def _replaced(app, docname: str, source: list[str]) -> None:
    """The page of a room: its formula as one, and those of its header below the parameters."""
    if re.fullmatch(r"src/opapi/\w+/(forward|backward)/README", docname):
        source[0] = operator_formulas.page(ROOT / f"{docname}.md", source[0])
        family = (ROOT / docname).parents[1]
        made_from = [*_MODULES, *ROOT.glob("include/aclnnop/*.h"), *family.glob("*/README.md")]
        for each in made_from:  # so that a second build sees what has changed
            app.env.note_dependency(str(each), docname=docname)


def _latex(translator, node) -> str:
    """Catalogues cannot have formulas: what they give is read as Markdown."""
    text = node.astext()
    return formula.in_chinese(text) if translator.config.language == "zh_CN" else text


def _inline(self, node: nodes.math) -> None:
    self.body.append(str(tex2mathml(_latex(self, node))))
    raise nodes.SkipNode


def _block(self, node: nodes.math_block) -> None:
    drawn = tex2mathml(_latex(self, node), as_block=True)
    self.body.append(f'<div class="formula" tabindex="0">{drawn}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("source-read", _replaced)
    return {"parallel_read_safe": True}
