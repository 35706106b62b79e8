# SPDX-License-Identifier: Apache-2.0
"""Sphinx: the site in two languages, English and, in its folder zh-CN, Chinese. Each page leads to
itself in the other one. What no catalogue of docs/site/locale has is English in both, and says so.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHINESE, FOLDER = "zh_CN", "zh-CN"
LOCALE = ROOT / "docs/site/locale/zh_CN/LC_MESSAGES"
MADE = ROOT / "build/docs/zh_CN"
ENGLISH_ALONE = "```{note}\n本页只有英文。\n```\n"

_CHINESE = "[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]"


def _in_chinese(app, docname: str, source: list[str]) -> None:
    """Puts the Chinese text in place of a page that is translated as a whole: README by hand, others
    by scripts/site/generate_site.py. A page that has neither such a text nor a catalogue says so."""
    if app.config.language != CHINESE:
        return
    made = MADE / f"{Path(docname).name}.md"
    if docname == "README":
        page = ROOT / "README.zh-CN.md"
        source[0] = _quick_start(page.read_text("utf-8"))
    elif docname.startswith("build/docs/pages/") and made.is_file():
        page = made
        source[0] = page.read_text("utf-8")
    else:
        if not (LOCALE / f"{docname}.po").is_file() and docname != "README.zh-CN":
            source[0] = re.sub(r"^# .*\n", rf"\g<0>\n{ENGLISH_ALONE}", source[0], count=1)
        return
    app.env.note_dependency(str(page), docname=docname)


def _quick_start(text: str) -> str:
    return re.sub(f"({_CHINESE})\n(?={_CHINESE})", r"\1", text)  # no space in a sentence


def _other(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    up = "../" * pagename.count("/")
    if app.config.language == CHINESE:
        context["other_language"] = ("en", "English", f"{up}../{pagename}.html")
    else:
        context["other_language"] = ("zh-CN", "中文", f"{up}{FOLDER}/{pagename}.html")


def setup(app):
    app.connect("source-read", _in_chinese)
    app.connect("html-page-context", _other)
    return {"parallel_read_safe": True}
