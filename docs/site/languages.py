# SPDX-License-Identifier: Apache-2.0
"""Sphinx: the site in two languages, English and, in its folder zh-CN, Chinese. Each page leads to
itself in the other one. What no catalogue of docs/site/locale has is English in both.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHINESE, FOLDER = "zh_CN", "zh-CN"


def _quick_start(app, docname: str, source: list[str]) -> None:
    """In Chinese the first page is the translation that hands keep beside it."""
    if app.config.language == CHINESE and docname == "README":
        page = ROOT / "README.zh-CN.md"
        source[0] = page.read_text("utf-8").replace("[English](README.md)\n\n", "")
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
