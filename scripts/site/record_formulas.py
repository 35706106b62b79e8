# SPDX-License-Identifier: Apache-2.0
"""Turns the NumPy expressions of records, which their tests compute, into LaTeX.

Operators, names and np.where are read here. What a call is in LaTeX is a rule of
src/opapi/supporting/latex.toml, by the call: names in it stand for any expression, @x in the LaTeX
for that of x. "name" stands for the function of that name where one is handed on.

    "softmax(x, dim)" = '\\frac{e^{@x}}{\\sum_{@dim} e^{@x}}'

Further lines say what the first one still needs: what its letters mean, what holds at an edge. Of a
call that makes several results there is a list, one for each. `[i, j] = …` is an element of the
result. Of the rules that fit the one that says most is taken.
"""

import ast
import re
import tomllib
from functools import cache

import operators_path  # noqa: F401  for the modules of scripts/operators
import formula
import operator_formulas
from operator_records import RECORDS

_RULES = RECORDS / "latex.toml"
_RELATIONS = {
    ast.Eq: "=", ast.NotEq: r"\ne", ast.Lt: "<", ast.LtE: r"\le", ast.Gt: ">", ast.GtE: r"\ge",
}  # fmt: skip
_LOGIC = {ast.BitAnd: r"\land", ast.BitOr: r"\lor", ast.BitXor: r"\oplus"}
_BIG, _SUM, _PRODUCT, _POWER, _ATOM = range(1, 6)  # how tightly what is written holds together
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[^\\]")
_OPENING = {"{", "(", "[", r"\lfloor", r"\lceil", r"\begin"}
_CLOSING = {"}", ")", "]", r"\rfloor", r"\rceil", r"\end"}
_LOOSE = {
    **dict.fromkeys([r"\sum", r"\prod", r"\max", r"\min"], _BIG),
    **dict.fromkeys(["+", "-"], _SUM),
    **dict.fromkeys([r"\cdot", r"\times", r"\bmod"], _PRODUCT),
    "^": _POWER,
    **dict.fromkeys(["=", "<", ">", r"\le", r"\ge", r"\ne", r"\land", r"\lor", r"\oplus"], 0),
}
_PLACE = re.compile("@([A-Za-z][A-Za-z0-9]*)")
_DELIMITED = (
    re.compile(r"(?:[{(|,\[=]|\\[lr]floor|\\[lr]ceil|\\left[(|]|\\text\{[^}]*\})\s*$"),
    re.compile(r"\s*(?:[})|,\]]|\\rfloor|\\rceil|\\right|\\text|$)"),
)


class FormulaError(ValueError):
    """An expression that there is no rule for."""


def latex(operator) -> str:
    """The formula of an operator: a row for each output that it writes, then what they need."""
    rows, notes = _parts(operator)
    return _aligned(rows + [rf"&\quad {note}" for note in notes])


def markdown(operator) -> str:
    """The formula for a page: conditions of rows are text, which has lines as wide as a
    telephone."""
    rows, notes = _parts(operator)
    return "\n".join([operator_formulas.block(_aligned(rows)), *map(_said_below, notes)])


def _said_below(note: str) -> str:
    """One of what the rows need; a wide one is a formula that can be scrolled."""
    return operator_formulas.block(note) if r"\begin" in note else f"- {_prose(note)}\n"


def _prose(note: str) -> str:
    """LaTeX as words with formulas between them."""
    parts = re.split(r"\\text\{([^{}]*)\}", note)
    if any(part.count("{") != part.count("}") for part in parts):
        raise FormulaError(f"words stand within braces: {note}")
    shown = [
        part if k % 2 else f" {{math}}`{part.strip()}` " if part.strip() else part
        for k, part in enumerate(parts)
    ]
    return re.sub(r" +([,;:.)]|-th)|(\() +", r"\1\2", " ".join("".join(shown).split()))


def _aligned(rows: list[str]) -> str:
    if len(rows) == 1:
        return rows[0].replace("&", "", 1)
    return r"\begin{aligned}" + r" \\ ".join(rows) + r"\end{aligned}"


def _parts(operator) -> tuple[list[str], list[str]]:
    """The rows, and what they need."""
    source = " ".join(operator.record["numpy"].split())
    writer = _Writer(operator, rules())
    try:
        values = writer.several(ast.parse(source, mode="eval").body)
    except FormulaError as error:
        raise FormulaError(f"{operator.api}: {error}") from None
    names = [each.name for each in operator.outputs]
    if isinstance(values, str):
        values = [values]
    if len(values) > len(names):
        raise FormulaError(f"{operator.api}: {len(values)} results for {', '.join(names)}")
    rows = [_row(operator, *pair) for pair in zip(names, values, strict=False) if pair[1]]
    return rows, list(writer.notes)


def _row(operator, name: str, value: str) -> str:
    place, value = _placed(value)
    read = any(each.name == name and operator.is_read(each) for each in operator.parameters)
    left = formula.name(name) + (f"_{{{place}}}" if place else "")
    becomes = r"\leftarrow" if read else "="
    return f"{left} &{becomes} {value}"


def _placed(value: str) -> tuple[str, str]:
    """The place of `[place] = value`, and the value."""
    found = re.match(r"\[((?:[^][]|\[[^]]*\])*)\] = ", value)
    return (found[1], value[found.end() :]) if found else ("", value)


@cache
def rules() -> list:
    """(pattern, results), those that say most first."""
    read = []
    for section in tomllib.loads(_RULES.read_text("utf-8")).values():
        for call, text in section.items():
            results = text if isinstance(text, list) else [text]
            read.append((ast.parse(call, mode="eval").body, results))
    return sorted(read, key=lambda rule: _said(rule[0]), reverse=True)


def _said(pattern) -> int:
    """How much a pattern says: all but names, which stand for anything."""
    return sum(not isinstance(each, ast.Name | ast.Load) for each in ast.walk(pattern))


def fits(pattern, node, bound: dict) -> bool:
    """Whether an expression is as the pattern says; `bound` gets what its names stand for."""
    if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str):
        return ast.dump(node) in (ast.dump(pattern), ast.dump(ast.Name(pattern.value, ast.Load())))
    if isinstance(pattern, ast.Name):
        if pattern.id == "np":
            return isinstance(node, ast.Name) and node.id == "np"
        return ast.dump(bound.setdefault(pattern.id, node)) == ast.dump(node)
    if isinstance(pattern, ast.Call) and isinstance(pattern.func, ast.Name):
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if not named or node.func.id != pattern.func.id:
            return False
        return _all_fit((pattern.args, pattern.keywords), (node.args, node.keywords), bound)
    if isinstance(pattern, ast.AST):
        same = type(pattern) is type(node)
        names = [name for name in pattern._fields if name != "ctx"]
        return same and all(fits(getattr(pattern, n), getattr(node, n), bound) for n in names)
    if isinstance(pattern, list):
        return isinstance(node, list) and _all_fit(pattern, node, bound)
    return pattern == node


def _all_fit(patterns, nodes, bound: dict) -> bool:
    alike = len(patterns) == len(nodes)
    return alike and all(fits(*pair, bound) for pair in zip(patterns, nodes, strict=True))


def level(text: str) -> int:
    """How tightly LaTeX holds together: what is outside of all brackets says."""
    found, depth, bars = _ATOM, 0, False
    for token in _TOKEN.findall(re.sub(r"\\(max|min)\(", "(", text)):
        depth += (token in _OPENING) - (token in _CLOSING)
        bars = bars != (token == "|" and depth == 0)
        if depth == 0 and not bars:
            found = min(found, _LOOSE.get(token, _ATOM))
    return found


def within(text: str, least: int) -> str:
    if level(text) >= least:
        return text
    tall = any(each in text for each in (r"\frac", r"\begin", r"\sum"))
    return rf"\left({text}\right)" if tall else f"({text})"


def _behind(text: str, least: int) -> str:
    """The last operand, where a sum needs no parentheses, nor a product with one."""
    closed = level(re.sub(r"\\(sum|prod)(?![A-Za-z])", "", text)) >= least
    return text if closed else within(text, least)


def _is_truth(node) -> bool:
    logic = isinstance(node, ast.BinOp) and type(node.op) in _LOGIC
    return isinstance(node, ast.Compare) or (logic and _is_truth(node.left))


class _Writer:
    """Reads one expression; `notes` are what its parts need."""

    def __init__(self, operator, rules):
        self.in_place, self.rules = operator.in_place, rules
        self.notes: dict[str, None] = {}

    def several(self, node) -> str | list[str]:
        """The results: one, or one for each output."""
        if isinstance(node, ast.Tuple):
            return [each for item in node.elts for each in self._item(item)]
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            ends = slice(*(each and ast.literal_eval(each) for each in bounds))
            return self._results(node.value)[ends]
        results = self._results(node)
        return results if len(results) > 1 else results[0]

    def _item(self, node) -> list[str]:
        if isinstance(node, ast.Starred):
            return self._results(node.value)
        is_none = isinstance(node, ast.Constant) and node.value is None
        return ["" if is_none else self._whole(node)]

    def _whole(self, node) -> str:
        """A result; one that is true or false is 1 or 0."""
        text = self.write(node)
        return f"[{text}]" if _is_truth(node) else text

    def _results(self, node) -> list[str]:
        """Those of the rule that fits, else the only one."""
        found = self._by_rule(node)
        return [self._whole(node)] if found is None else found

    def _by_rule(self, node) -> list[str] | None:
        for pattern, results in self.rules:
            bound: dict[str, ast.AST] = {}
            if fits(pattern, node, bound):
                return [self._filled(each, bound) for each in results]
        return None

    def _filled(self, text: str, bound: dict) -> str:
        """A rule's LaTeX with what its names stand for; lines behind the first become notes."""

        def stands_for(match: re.Match) -> str:
            value = self.write(bound[match[1]])
            before, behind = match.string[: match.start()], match.string[match.end() :]
            if _DELIMITED[0].search(before) and _DELIMITED[1].match(behind):
                return value
            if before.endswith(("} ", r"\cdot ")) and not behind:
                return within(value, _PRODUCT)
            return within(value, _ATOM if behind[:1] in ("^", "_") else _POWER)

        first, *notes = text.strip().splitlines() or [""]
        value = _PLACE.sub(stands_for, first)
        for note in notes:
            self.notes[_PLACE.sub(stands_for, note.strip())] = None
        return value

    def write(self, node) -> str:
        found = self._by_rule(node)
        if found is not None:
            return found[0]
        write = getattr(self, f"_{type(node).__name__.lower()}", None)
        if write is None:
            raise FormulaError(f"there is no rule for {ast.unparse(node)}")
        return write(node)

    def _name(self, node) -> str:
        name = "selfRef" if self.in_place and node.id == "self" else node.id
        return formula.name(name.removesuffix("_"))

    def _constant(self, node) -> str:
        if isinstance(node.value, str):
            return rf"\text{{{node.value}}}"
        text = repr(node.value)
        digits, _, exponent = text.partition("e")
        power = rf"10^{{{int(exponent)}}}" if exponent else ""
        if power:
            return power if digits == "1" else rf"{digits} \cdot {power}"
        return text.removesuffix(".0")

    def _list(self, node) -> str:
        members = ", ".join(map(self.write, node.elts))
        return members if len(node.elts) == 1 else f"({members})"

    def _attribute(self, node) -> str:
        if node.attr != "shape":
            raise FormulaError(f"latex.toml has no rule for {ast.unparse(node)}")
        return rf"\operatorname{{shape}}({self.write(node.value)})"

    def _unaryop(self, node) -> str:
        value = self.write(node.operand)
        if isinstance(node.op, ast.Invert):
            self._bitwise()
            return rf"\lnot {within(value, _POWER)}"
        return f"-{_behind(value, _PRODUCT)}"

    def _bitwise(self) -> None:
        self.notes[r"\text{bit by bit}"] = None

    def _binop(self, node) -> str:
        left, right, kind = self.write(node.left), self.write(node.right), type(node.op)
        if kind is ast.Add:
            return f"{within(left, _SUM)} + {_behind(right, _SUM)}"
        if kind is ast.Sub:
            return f"{within(left, _SUM)} - {_behind(right, _PRODUCT)}"
        if kind is ast.Mult:
            sign = left[: left.startswith("-")]
            left = within(left.removeprefix("-"), _PRODUCT)
            return rf"{sign}{left} \cdot {_behind(right, _PRODUCT)}"
        if kind is ast.Div:
            return rf"\frac{{{left}}}{{{right}}}"
        if kind is ast.Pow:
            return f"{within(left, _ATOM)}^{{{right}}}"
        if kind not in _LOGIC:
            raise FormulaError(f"there is no rule for {ast.unparse(node)}")
        if not _is_truth(node):
            self._bitwise()
        return rf"{self._operand(node.left)} {_LOGIC[kind]} {self._operand(node.right)}"

    def _operand(self, node) -> str:
        """An operand of ∧, ∨ and ⊕."""
        return within(self.write(node), _SUM)

    def _compare(self, node) -> str:
        text = within(self.write(node.left), _SUM)
        for relation, other in zip(node.ops, node.comparators, strict=True):
            text += f" {_RELATIONS[type(relation)]} {within(self.write(other), _SUM)}"
        return text

    def _call(self, node) -> str:
        if ast.unparse(node.func) != "np.where":
            raise FormulaError(f"latex.toml has no rule for {ast.unparse(node)}")
        return self._cases(*node.args)

    def _ifexp(self, node) -> str:
        return self._cases(node.test, node.body, node.orelse)

    def _cases(self, condition, value, other) -> str:
        rows = [rf"{self.write(value)} & \text{{if }} {self.write(condition)}"]
        is_where = isinstance(other, ast.Call) and ast.unparse(other.func) == "np.where"
        if is_where and self._by_rule(other) is None:
            rest = self._cases(*other.args)
            rows.append(rest.removeprefix(r"\begin{cases}").removesuffix(r"\end{cases}"))
        else:
            rows.append(rf"{self.write(other)} & \text{{otherwise}}")
        return r"\begin{cases}" + r" \\ ".join(rows) + r"\end{cases}"

    def _subscript(self, node) -> str:
        if isinstance(node.slice, ast.Constant):
            results = self._by_rule(node.value)
            if results is not None:
                return results[node.slice.value]
        return f"{within(self.write(node.value), _ATOM)}[{self.write(node.slice)}]"
