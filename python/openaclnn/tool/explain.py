# SPDX-License-Identifier: Apache-2.0
"""Says what an error code, its name or a pasted line of a log means, and what to do about it."""

import ctypes
import difflib
import json
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from rich.markup import escape

from ..errors import Error, InputError, quoted
from ..native import libraries
from . import report

NEVER_RETURNED = (
    "never returns this code: another library answered, most likely a real CANN, "
    "or the line comes from a machine with a device"
)

# `error code is 561103`, `ret=507035`, `runtime result = 507048`, `failed: 507015`, `Status=561002`; of
# ranks `HCCL function error: …, error code is 9`
_MARKED_NUMBER = re.compile(
    r"(?:code|error|ret|result|status|no|failed|with|returns|returned)"
    r"\W{0,4}(?:(?:is|was)\W{1,4})?(?<!\d)(\d{6}|(?<=error code is )\d{1,2})(?!\d)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.-])\d{6}(?![\w-]|\.\d)")
_NAME = re.compile(r"\b(?:ACL|HCCL_)[A-Z0-9_]{4,}\b")
_PREFIX = re.compile(r"(?<![A-Z0-9])(?:ERR\d{5}|E[A-Z0-9]\d{4})(?![A-Za-z0-9])")
_NAME_BEGINNINGS = ("", "ACL_ERROR_", "ACL_ERROR_RT_", "ACLNN_ERR_", "ACLNN_ERR_INNER_")
_ONE_OF_SEVERAL = re.compile(rf"-?\d+|\w+_\w+|{_PREFIX.pattern}")
_EXPECTED = (
    "expected a code (561103), a name (ACL_ERROR_RT_STREAM_CONTEXT), the beginning of a message "
    "(EZ1001) or a line of a log that holds one"
)


@dataclass(frozen=True)
class Code:
    """One row of the libraries' table of error codes."""

    code: int
    name: str
    aliases: tuple[str, ...]
    prefix: str
    returned: bool  # by openaclnn
    meaning: str
    action: str


@dataclass(frozen=True)
class Prefix:
    """The meaning of a message's beginning, and the codes that come with it."""

    prefix: str
    meaning: str
    action: str
    codes: tuple[int, ...]

    @cached_property
    def pattern(self) -> re.Pattern:
        return re.compile(self.prefix.replace("x", r"\d"))


Entry = Code | Prefix


@dataclass(frozen=True)
class ErrorTable:
    """All codes and prefixes."""

    codes: dict[int, Code]
    prefixes: tuple[Prefix, ...]

    @classmethod
    def parse(cls, document: dict) -> "ErrorTable":
        rows = [Code(**{**row, "aliases": tuple(row["aliases"])}) for row in document["codes"]]
        prefixes = [
            Prefix(**row, codes=tuple(each.code for each in rows if each.prefix == row["prefix"]))
            for row in document["prefixes"]
        ]
        return cls({row.code: row for row in rows}, tuple(prefixes))

    @cached_property
    def names(self) -> dict[str, Code]:
        return {name: row for row in self.codes.values() for name in (row.name, *row.aliases)}

    def named(self, text: str) -> Code | None:
        """The row of a name, in any case, also without its beginning."""
        spellings = (beginning + text.upper() for beginning in _NAME_BEGINNINGS)
        return next((self.names[each] for each in spellings if each in self.names), None)

    def prefixed(self, text: str) -> Prefix | None:
        """The row of a prefix; the table has exact ones before those with place-holders."""
        return next((each for each in self.prefixes if each.pattern.fullmatch(text)), None)

    def entry(self, text: str) -> Entry | None:
        """The row that the whole of `text` names."""
        if re.fullmatch(r"\d+", text):
            return self.codes.get(int(text)) if len(text) < 100 else None
        return self.named(text) or self.prefixed(text.upper())


@lru_cache(maxsize=1)
def load() -> ErrorTable:
    """The table of the libraries."""
    toolkit = libraries.load()
    text = toolkit.function("openaclnn_errors_json", ctypes.c_char_p)()
    if not text:
        raise Error(toolkit.recent_message() or "openaclnn_errors_json returned null")
    return ErrorTable.parse(json.loads(text))


def explain(text: str) -> list[Entry]:
    """The rows of all codes, names and prefixes in `text`: a list of them, or lines of a log."""
    table = load()
    words = text.replace(",", " ").split()
    if words and all(map(_ONE_OF_SEVERAL.fullmatch, words)) or len(words) == 1:
        found = [table.entry(word) for word in words]
        if None not in found:
            return list(dict.fromkeys(found))
        if len(words) > 1:
            raise _unknown(words[found.index(None)])
    found = _in_log(table, text)
    if not found:
        raise _unknown(text)
    return found


def _in_log(table: ErrorTable, text: str) -> list[Entry]:
    """The rows in free text, in the order in which they occur, codes first."""
    numbers = [(each.start(1), table.codes.get(int(each[1]))) for each in _marked(text)]
    names = [(each.start(), table.names.get(each[0])) for each in _NAME.finditer(text)]
    rows = [row for _, row in sorted(numbers + names, key=lambda pair: pair[0])]
    codes = [row for row in dict.fromkeys(rows) if row is not None and row.code != 0]
    prefixes = dict.fromkeys(table.prefixed(each[0]) for each in _PREFIX.finditer(text))
    told = {row.prefix for row in codes}
    codes += [each for each in prefixes if each is not None and each.prefix not in told]
    if codes:
        return codes
    # A bare number may be a size or a process: it counts only where nothing else is found.
    bare = (table.codes.get(int(each[0])) for each in _NUMBER.finditer(text))
    return [row for row in dict.fromkeys(bare) if row is not None]


def _marked(text: str):
    return _MARKED_NUMBER.finditer(text)


def _unknown(text: str) -> InputError:
    shown = " ".join(text.split())
    if not shown:
        return InputError(f"nothing to explain, {_EXPECTED}")
    marked = [each[1] for each in _marked(text)]
    if re.fullmatch(r"-?\d+", shown) or marked:
        return InputError(f"code {quoted(marked[0] if marked else shown)} is not known, {_EXPECTED}")
    if re.fullmatch(r"\w+", shown):
        near = difflib.get_close_matches(shown.upper(), load().names, n=3)
        expected = f"did you mean {' or '.join(near)}?" if near else _EXPECTED
        return InputError(f"name {quoted(shown)} is not known, {expected}")
    return InputError(f"no error code in '{quoted(shown)}', {_EXPECTED}")


def document(entries: list[Entry]) -> dict:
    """The rows as one JSON object."""
    return {
        "codes": [each for each in entries if isinstance(each, Code)],
        "prefixes": [each for each in entries if isinstance(each, Prefix)],
    }


def print_entries(entries: list[Entry]) -> None:
    for entry in entries:
        is_code = isinstance(entry, Code)
        grid = report.facts(f"{entry.code} {entry.name}" if is_code else entry.prefix)
        for what, says in _code_facts(entry) if is_code else _prefix_facts(entry):
            grid.add_row(what, escape(says))
        report.console().print(grid)


def _code_facts(row: Code) -> list[tuple[str, str]]:
    facts = [("meaning", row.meaning), ("what to do", row.action)]
    if row.aliases:
        facts.append(("also", ", ".join(row.aliases)))
    if row.prefix:
        facts.append(("messages begin with", row.prefix))
    if not row.returned:
        facts.append(("openaclnn", NEVER_RETURNED))
    return facts


def _prefix_facts(row: Prefix) -> list[tuple[str, str]]:
    facts = [("meaning", row.meaning), ("what to do", row.action)]
    names = [f"{code} {load().codes[code].name}" for code in row.codes]
    return facts + [("codes", "\n".join(names))] if names else facts
