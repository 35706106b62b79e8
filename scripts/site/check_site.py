# SPDX-License-Identifier: Apache-2.0
"""Checks the built documentation: every link within it leads somewhere, no page asks the network.

python3 scripts/site/check_site.py FOLDER: also puts an index.html there, which leads to the first page, and
one into the folder of the Chinese site.
"""

import os
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_FIRST = "docs/index.html"
_CHINESE = "zh-CN"
_LEADS_TO_FIRST = """<!doctype html>
<html lang="{language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="0; url={first}">
<title>openaclnn</title>
<p><a href="{first}">openaclnn</a> · <a href="{other}">{other_language}</a></p>
"""
_LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src")}


class Page(HTMLParser):
    """The links of a page, and the places in it that links may name."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[tuple[str, str, str]] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append((tag, name, value))
            elif name in ("id", "name") and value:
                self.places.add(value)


def faults(folder: Path) -> list[str]:
    """The faults, a line each."""
    pages = {path: Page(path.read_text("utf-8")) for path in sorted(folder.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for tag, name, value in page.links:
            link = urlsplit(value)
            if link.scheme or link.netloc:
                if (tag, name) in _LOADED and link.scheme in ("http", "https", ""):
                    found.append(f"{path.relative_to(folder)}: loads {value}")
                continue
            target = Path(os.path.normpath(path.parent / unquote(link.path))) if link.path else path
            if not target.exists():
                found.append(f"{path.relative_to(folder)}: {value} leads nowhere")
            elif link.fragment and target in pages and unquote(link.fragment) not in pages[target].places:
                found.append(f"{path.relative_to(folder)}: {value} names no place of the page")
    return found


def write_first(folder: Path) -> None:
    """/ and /zh-CN/ have pages of their own: a reader types no docs/index.html."""
    (folder / "index.html").write_text(
        _LEADS_TO_FIRST.format(
            language="en", first=_FIRST, other=f"{_CHINESE}/{_FIRST}", other_language="中文"
        ),
        "utf-8",
    )
    (folder / _CHINESE / "index.html").write_text(
        _LEADS_TO_FIRST.format(
            language=_CHINESE, first=_FIRST, other=f"../{_FIRST}", other_language="English"
        ),
        "utf-8",
    )


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0])
    write_first(folder)
    found = faults(folder)
    for fault in found:
        print(f"check_site: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
