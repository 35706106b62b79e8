# SPDX-License-Identifier: Apache-2.0
"""Sphinx: names in tables break where their words end, ConvTbc|Backward and DEVICE_|MEMORY, and
options, --soc, do not. On a telephone a column is narrower than many a name.
"""

import re

from docutils import nodes
from sphinx.writers.html5 import HTML5Translator

_END = re.compile(r"(?<=\w\w\w_)(?=\w)|(?<=[a-z])(?=[A-Z])")
_OPTION = re.compile(r"--[\w-]+")


class Translator(HTML5Translator):
    _cells = 0

    def visit_entry(self, node: nodes.entry) -> None:
        self._cells += 1
        super().visit_entry(node)

    def depart_entry(self, node: nodes.entry) -> None:
        self._cells -= 1
        super().depart_entry(node)

    def visit_Text(self, node: nodes.Text) -> None:
        begin = len(self.body)
        super().visit_Text(node)
        if self._cells:
            self.body[begin:] = map(_broken, self.body[begin:])


def _broken(text: str) -> str:
    return _END.sub("<wbr>", _OPTION.sub(r'<span class="whole">\g<0></span>', text))


def setup(app):
    app.set_translator("html", Translator)
    return {"parallel_read_safe": True}
