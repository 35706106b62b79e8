# SPDX-License-Identifier: Apache-2.0
"""Turns the formulas of headers and READMEs, which are plain text, into LaTeX.

One formula a line, and below it what it still needs, further in:

    out[v,:] = (1/s_v) * sum over i with indices[i] = v, v != paddingIdx, of grad[i,:]
    y[t,b,o] = bias[o] + sum over k, c of x[t+k-pad,b,c] * w[k,c,o]
               where 0 <= t+k-pad < T_in
    dx       = mask ? 0 : scale * t

Brackets hold subscripts. What follows two spaces, and lines that are further in and begin with a
word of `_TAIL`, say for what the formula holds. In those and in what a sum is over, words of
`_WORDS` are words; all others are names.
"""

import re

_TOKEN = re.compile(
    r"\d+(?:\.\d+)?"  # a number
    r"|[A-Za-z]\w*(?:\{[^}]*\})?"  # a name
    r"|[<>!=]=|[-+*/^()\[\]{}?:,<>=]"
)
_TAIL = ("where", "for", "with", "without")
_WORDS = {
    *_TAIL, "windows", "tokens", "rows", "row", "group", "in", "the", "last", "axis", "dimension",
    "every", "position", "of",
}  # fmt: skip
_CHINESE = {
    "where": "其中", "for every position": "对每个位置", "of": "属于", "in": "属于",
    "with": "给定", "without": "未给定", "windows": "窗口", "tokens": "token", "rows": "行",
    "in group": "属于组", "the last axis": "最后一维", "if ": "若 ", "otherwise": "否则",
    "terms": "各项",
}  # fmt: skip
_RELATIONS = {"=": "=", "<": "<", ">": ">", "<=": r"\le", ">=": r"\ge", "==": "=", "!=": r"\ne"}
_FUNCTIONS = {"max": r"\max"}


class FormulaError(ValueError):
    """The text is no formula of this notation."""


def latex(text: str) -> str:
    """All formulas of the text, below each other where they are more than one."""
    rows = [row for head, tail in _statements(text) for row in _Reader(head, tail).statement()]
    if len(rows) == 1:
        return rows[0].replace("&", "", 1)
    return r"\begin{aligned}" + r" \\ ".join(rows) + r"\end{aligned}"


def in_chinese(text: str) -> str:
    """LaTeX with the words of these formulas in Chinese."""

    def word(match: re.Match) -> str:
        return rf"\text{{{_CHINESE.get(match[1], match[1])}}}"

    return re.sub(r"\\text\{([^}]*)\}", word, text)


def _statements(text: str):
    """(formula, for what it holds) of each; lines that are further in belong to the one above."""
    lines = [line for line in text.splitlines() if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    joined: list[str] = []
    for line in lines:
        inner = line.strip()
        if not line[margin].isspace():
            joined.append(inner)
        elif joined and inner.split()[0] in _TAIL:
            joined[-1] += "  " + inner
        elif joined:
            joined[-1] += " " + inner
    for line in joined:
        name, _, value = line.partition("=")
        head, _, tail = value.strip().partition("  ")
        yield f"{name.strip()} = {head}", tail.strip()


def name(text: str) -> str:
    """A name: one letter in italics, longer ones upright; what follows the first _ below it."""
    base, _, below = text.partition("_")
    shown = base if len(base) == 1 else rf"\mathrm{{{base}}}"
    if not below:
        return shown
    if below.startswith("{"):
        below = _Reader(below[1:-1], "").whole()
    else:
        below = below if len(below) == 1 else rf"\mathrm{{{below}}}"
    return f"{shown}_{{{below}}}"


class _Reader:
    """Recursive descent over the tokens of one formula."""

    def __init__(self, head: str, tail: str):
        self.text, self.tail = head, tail
        self.tokens = self._cut(head)

    def _cut(self, text: str) -> list[str]:
        tokens, place = [], 0
        while place < len(text):
            if text[place].isspace():
                place += 1
                continue
            match = _TOKEN.match(text, place)
            if not match:
                raise FormulaError(f"{text}: {text[place]!r} at {place} is no part of a formula")
            tokens.append(match.group())
            place = match.end()
        return tokens

    def _next(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def _take(self, wanted: str = "") -> str:
        if not self.tokens or (wanted and self.tokens[0] != wanted):
            found = self._next() or "its end"
            raise FormulaError(f"{self.text}: found {found}, expected {wanted or 'a value'}")
        return self.tokens.pop(0)

    def whole(self) -> str:
        value = self.choice()
        if self.tokens:
            raise FormulaError(f"{self.text}: found {self._next()}, expected its end")
        return value

    def statement(self) -> list[str]:
        """The formula, and in a row of its own for what it holds: a telephone is not wide."""
        left = self.value()
        self._take("=")
        right = self.whole()
        rows = [f"{left} &= {right}"]
        if self.tail:
            rows.append(r"&\quad " + _Reader(self.tail, "").said())
        return rows

    def choice(self) -> str:
        """condition ? this : that"""
        value = self.sum()
        if self._next() != "?":
            return value
        self._take("?")
        this = self.sum()
        self._take(":")
        that = self.sum()
        cases = rf"{this} & \text{{if }} {value} \\ {that} & \text{{otherwise}}"
        return rf"\begin{{cases}}{cases}\end{{cases}}"

    def sum(self) -> str:
        value = self.product()
        while self._next() in ("+", "-"):
            value += f" {self._take()} {self.product()}"
        return value

    def product(self) -> str:
        value = self.value()
        while self._next() in ("*", "/"):
            if self._take() == "*":
                value += rf" \cdot {self.value()}"
            else:
                value = rf"\frac{{{value}}}{{{self.value()}}}"
        return value

    def value(self) -> str:
        token = self._take()
        if token == "-":
            return f"-{self.value()}"
        if token == "(":
            inner = self.choice()
            self._take(")")
            return inner if inner.startswith(r"\frac") else f"({inner})"
        if token == "sum":
            return self.over()
        if token[0].isdigit():
            return token
        if not token[0].isalpha():
            raise FormulaError(f"{self.text}: found {token}, expected a value")
        if token in _FUNCTIONS:
            return f"{_FUNCTIONS[token]} {self.value()}"
        return self.marked(name(token))

    def marked(self, base: str) -> str:
        """A name with its power and its subscripts."""
        if self._next() == "^":
            self._take()
            power = self.value()
            return f"{base}^{{{power.removeprefix('(').removesuffix(')')}}}"
        if self._next() != "[":
            return base
        self._take("[")
        places = [self.place()]
        while self._next() == ",":
            self._take()
            places.append(self.place())
        self._take("]")
        if "_" in base:  # one subscript above another cannot be read
            return rf"{base}[{', '.join(places)}]"
        return f"{base}_{{{', '.join(places)}}}"

    def place(self) -> str:
        return rf"\text{{{self._take()}}}" if self._next() == ":" else self.sum()

    def over(self) -> str:
        """The range of the sum, up to the `of` before its term."""
        self._take("over")
        below = []
        while self._next() != "of":
            if not self.tokens:
                raise FormulaError(f"{self.text}: a sum lacks the `of` before its term")
            below.append(self._take())
        self._take("of")
        if below[-1] == ",":
            below.pop()
        reader = _Reader("", "")
        reader.text, reader.tokens = self.text, ["," if t in ("with", "and") else t for t in below]
        return rf"\sum_{{{reader.said()}}} {self.product()}"

    def said(self) -> str:
        """Words and relations, as they come."""
        parts = []
        while self.tokens:
            if self._next() in _WORDS:
                words = [self._take()]
                while self._next() in _WORDS:
                    words.append(self._take())
                parts.append(rf"\text{{{' '.join(words)}}}\ ")
            elif self._next() == ",":
                self._take()
                parts.append(r",\ ")
            elif self._next() in _RELATIONS:
                parts.append(f" {_RELATIONS[self._take()]} ")
            else:
                if parts and parts[-1][-1] not in r"\ ":
                    found = f"{self.text}: {self._next()} follows a name"
                    raise FormulaError(f"{found}; expected one of {', '.join(sorted(_WORDS))}")
                parts.append(self.sum() + (r"\ " if self._next() in _WORDS else ""))
        return "".join(parts).removesuffix(r"\ ")
