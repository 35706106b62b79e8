# SPDX-License-Identifier: Apache-2.0
"""Evaluates those formulas of the site that are of single elements, from LaTeX, on NumPy arrays."""

import math
import re

import numpy as np

_TOKEN = re.compile(
    r"\\mathrm\{\w+\}|\\operatorname\{\w+\}|\\text\{[^}]*\}|\\(?:begin|end)\{\w+\}"
    r"|\\(?:left|right)(?:\\\w+|[^\s\w\\])|\\[A-Za-z]+|\\\\|\d+(?:\.\d+)?|[^\s\\]"
)
_RELATIONS = {
    "=": np.equal, r"\ne": np.not_equal, "<": np.less, r"\le": np.less_equal, ">": np.greater,
    r"\ge": np.greater_equal,
}  # fmt: skip
_LOGIC = {r"\land": np.logical_and, r"\lor": np.logical_or, r"\oplus": np.logical_xor}
_FUNCTIONS = {
    **{rf"\{name}": getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    r"\arcsin": np.arcsin, r"\arccos": np.arccos, r"\arctan": np.arctan, r"\log": np.log,
    r"\max": np.maximum, r"\min": np.minimum,
    "arsinh": np.arcsinh, "arcosh": np.arccosh, "artanh": np.arctanh, "atan2": np.arctan2,
    "sgn": np.sign, "trunc": np.trunc, "round": np.rint, "erf": np.vectorize(math.erf, "d"),
}  # fmt: skip
_CONSTANTS = {r"\pi": np.pi, r"\infty": np.inf, r"\text{NaN}": np.nan, "e": np.e}
_OPENING = {"(": ")", r"\left(": r"\right)", r"\lfloor": r"\rfloor", r"\lceil": r"\rceil",
            r"\left\lfloor": r"\right\rfloor", r"\left\lceil": r"\right\rceil", "|": "|", "[": "]",
            r"\left[": r"\right]"}  # fmt: skip
_ROUNDED = {r"\lfloor": np.floor, r"\lceil": np.ceil, "|": np.abs}


class NotElementwise(ValueError):
    """What the formula says is no value of an element."""


def outputs(latex: str, arguments: dict) -> dict:
    """What the formula gives, by the names of the outputs."""
    body = latex.removeprefix(r"\begin{aligned}").removesuffix(r"\end{aligned}")
    apart = re.sub(r"\\begin\{cases\}.*?\\end\{cases\}",
                   lambda found: found[0].replace(r"\\", r"\newline"), body)  # fmt: skip
    rows = [row.replace(r"\newline", r"\\").strip() for row in apart.split(r" \\ ")]
    letters, made = {}, {}
    for row in rows:
        if not row.startswith(r"&\quad"):
            name, value = re.split(r" &?(?:=|\\leftarrow) ", row, maxsplit=1)
            made[_plain(name)] = value
        elif row == r"&\quad \text{bit by bit}":
            raise NotElementwise(row)
        elif found := re.match(r"&\\quad (\\operatorname\{\w+\}|\\?\w+)(\(\w\))? = (.*)", row):
            letters[found[1]] = (found[2] or "")[1:-1], found[3]
    return {name: _Reader(value, letters, arguments).all() for name, value in made.items()}


def _plain(name: str) -> str:
    found = re.fullmatch(r"\\mathrm\{(\w+)\}|(\w)", name)
    if not found:
        raise NotElementwise(f"{name} is no value of an element")
    return found[1] or found[2]


class _Reader:
    """Recursive descent; `letters` are what further rows define: (parameter, LaTeX)."""

    def __init__(self, text: str, letters: dict, arguments: dict):
        self.tokens, self.letters, self.arguments = _TOKEN.findall(text), letters, arguments

    def next(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def take(self, wanted: str = "") -> str:
        if not self.tokens or wanted not in ("", self.tokens[0]):
            raise NotElementwise(f"found {self.next() or 'the end'}, expected {wanted}")
        return self.tokens.pop(0)

    def all(self):
        value = self.truth()
        if self.tokens:
            raise NotElementwise(f"{self.next()} is left over")
        return value

    def truth(self):
        value = self.relation()
        while self.next() in _LOGIC:
            value = _LOGIC[self.take()](value, self.relation())
        return value

    def relation(self):
        value, found = self.sum(), None
        while self.next() in _RELATIONS:
            relation, other = _RELATIONS[self.take()], self.sum()
            holds = relation(value, other)
            found = holds if found is None else found & holds
            value = other
        return value if found is None else found

    def sum(self):
        value = self.product()
        while self.next() in ("+", "-"):
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value

    def product(self):
        if self.next() == "-":
            self.take()
            return -self.product()
        value = self.power()
        while self.next() == r"\cdot":
            self.take()
            value = value * self.power()
        return value

    def power(self):
        base = self.atom()
        if self.next() != "^":
            return base
        self.take()
        return np.float_power(base, self.braced())

    def braced(self):
        self.take("{")
        value = self.truth()
        self.take("}")
        return value

    def atom(self):
        token = self.take()
        name = token.removeprefix(r"\operatorname{").removesuffix("}")
        if token[0].isdigit():
            return float(token)
        if token == r"\frac":
            return np.divide(self.braced(), self.braced())
        if token == r"\sqrt":
            return np.sqrt(self.braced())
        if token == r"\begin{cases}":
            return self.cases()
        if token in _OPENING:
            value = self.truth()
            self.take(_OPENING[token])
            return _ROUNDED.get(token.removeprefix(r"\left"), lambda inner: inner)(value)
        if token in self.letters and name not in _FUNCTIONS:
            return self.defined(*self.letters[token])
        if name in _FUNCTIONS:
            return self.call(name)
        if token in _CONSTANTS:
            return _CONSTANTS[token]
        argument = token.removeprefix(r"\mathrm{").removesuffix("}")
        if argument not in self.arguments:
            raise NotElementwise(f"{token} is no value of an element")
        return self.arguments[argument]

    def call(self, name: str):
        base = 0.0
        if self.next() == "_":
            self.take()
            base = self.braced()
        values = self.parenthesis()
        if name in (r"\max", r"\min") and not values[1:]:
            raise NotElementwise(f"{name} of all elements")
        value = _FUNCTIONS[name](*values)
        return value / np.log(base) if base else value

    def parenthesis(self) -> list:
        end = _OPENING.get(self.next(), "")
        if end not in (")", r"\right)"):
            raise NotElementwise(f"found {self.next()}, expected (")
        self.take()
        values = [self.truth()]
        while self.next() == ",":
            self.take()
            values.append(self.truth())
        self.take(end)
        return values

    def defined(self, parameter: str, text: str):
        given = dict(zip([parameter], self.parenthesis(), strict=True)) if parameter else {}
        return _Reader(text, self.letters, {**self.arguments, **given}).all()

    def cases(self):
        choices = []
        while True:
            value = self.truth()
            self.take("&")
            said = self.take()
            if said == r"\text{otherwise}":
                choices.append((True, value))
            elif said == r"\text{if }":
                choices.append((self.condition(), value))
            else:
                raise NotElementwise(said)
            if self.next() != r"\\":
                break
            self.take()
        self.take(r"\end{cases}")
        conditions, values = zip(*choices, strict=True)
        shape = np.broadcast_shapes(*(np.shape(each) for pair in choices for each in pair))
        spread = [[np.broadcast_to(each, shape) for each in some] for some in (conditions, values)]
        return np.select(*spread, np.nan)

    def condition(self):
        value = self.truth()
        if self.next() == r"\text{ is NaN}":
            self.take()
            return np.isnan(value)
        return np.asarray(value, bool)
