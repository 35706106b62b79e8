# SPDX-License-Identifier: Apache-2.0
"""Sphinx: which words of the pages a search finds, the same on both sites.

Chinese is written without spaces, and the browser has no dictionary to cut a query by. So a run of
Chinese is kept as its letters and its pairs of neighbours, and a query is cut the same way
(docs/site/static/search.js): 工作空间 is on a page that has 工作, 作空 and 空间. Numbers of three
digits or more are words too: people search for codes of errors.
"""

import re

from sphinx.search.en import SearchEnglish

# static/search.js has the same two.
_WORD = re.compile(r"[\u3400-\u9fff]+|[^\W\u3400-\u9fff]+")
_SHORTEST_NUMBER = 3

# Terms that Chinese pages keep in English, and what a reader may search for instead.
_ALSO = {
    "context": "上下文",
    "device": "设备",
    "event": "事件",
    "host": "主机",
    "stream": "流",
    "workspace": "工作空间",
}


def _cut(run: str) -> list[str]:
    return [*run, *(run[at : at + 2] for at in range(len(run) - 1))]


class _BothLanguages(SearchEnglish):
    language_name = "English"  # by which Sphinx calls the stemmer, also on the Chinese site

    def split(self, input: str) -> list[str]:
        words = []
        for word in _WORD.findall(input):
            if "\u3400" <= word[0] <= "\u9fff":
                words += _cut(word)
            else:
                words += [word, *_cut(_ALSO.get(word.lower().removesuffix("s"), ""))]
        return words

    def word_filter(self, word: str) -> bool:
        if word.isdigit():
            return len(word) >= _SHORTEST_NUMBER
        return super().word_filter(word)


class _Chinese(_BothLanguages):
    lang = "zh"


def _tell_the_script(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    if pagename == "search":
        context["also"] = {chinese: english for english, chinese in _ALSO.items()}


def setup(app):
    app.connect("html-page-context", _tell_the_script)
    app.add_search_language(_BothLanguages)
    app.add_search_language(_Chinese)
    return {"parallel_read_safe": True}
