# SPDX-License-Identifier: Apache-2.0
"""Sphinx: the site in two languages, English and, in its folder zh-CN, Chinese. Each page leads to
itself in the other one. What no catalogue of docs/site/locale has is English in both.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHINESE, FOLDER = "zh_CN", "zh-CN"
ENVIRONMENT = "build/docs/pages/environment"

_CHINESE = "[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]"


def _quick_start(app, docname: str, source: list[str]) -> None:
    """In Chinese the first page is the translation that hands keep beside it, and that of the
    environment its table."""
    if app.config.language != CHINESE or docname not in ("README", ENVIRONMENT):
        return
    page = ROOT / "README.zh-CN.md"
    text = page.read_text("utf-8").replace("[English](README.md)\n\n", "")
    if docname == ENVIRONMENT:
        section = re.search(r"^<!-- translation: Environment [^\n]*\n#(# .*?)^<!-- ", text, re.M | re.S)
        text = section[1].replace("](docs/", "](/docs/")
    source[0] = re.sub(f"({_CHINESE})\n(?={_CHINESE})", r"\1", text)  # no space in a sentence
    app.env.note_dependency(str(page), docname=docname)


def _other(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    up = "../" * pagename.count("/")
    if app.config.language == CHINESE:
        context["other_language"] = ("en", "English", f"{up}../{pagename}.html")
    else:
        context["other_language"] = ("zh-CN", "中文", f"{up}{FOLDER}/{pagename}.html")


def setup(app):
    app.connect("source-read", _quick_start)
    app.connect("html-page-context", _other)
    return {"parallel_read_safe": True}
