# SPDX-License-Identifier: Apache-2.0
"""What `openaclnn call NAME --help` prints: the options of an operator, its header's comment."""

import re
import textwrap

from .declared import Argument, Declared

# How an option is shown whose value is no tensor; a plain number as what C calls it.
_VALUES = {
    "aclScalar*": "NUMBER",
    "aclScalarList*": "NUMBER,NUMBER",
    "aclIntArray*": "N,N",
    "aclBoolArray*": "BOOL,BOOL",
    "aclDataType": "DTYPE",
    "char*": "TEXT",
}
_PARAMETER = re.compile(r"\w+: ")
_FORMULA = "    "
_TOGETHER = "\N{NO-BREAK SPACE}"


def text(api: str, declared: Declared, width: int) -> str:
    """Lines of at most `width` columns, words whole."""
    usage = f"Usage: openaclnn call {api} " + " ".join(map(_option, declared.arguments))
    parts = [
        _wrapped(usage, width).replace(_TOGETHER, " "),
        *(_wrapped(each, width) for each in _paragraphs(declared.comment)),
        "",
        _wrapped(f"Types: openaclnn list --operator {api}", width),
        _wrapped("How tensors are given: openaclnn call --help", width),
    ]
    return "\n".join(parts)


def _option(argument: Argument) -> str:
    shown = f"--{argument.name} {_value(argument)}" + " ..." * argument.is_list
    shown = shown.replace(" ", _TOGETHER)
    return f"[{shown}]" if argument.optional else shown


def _value(argument: Argument) -> str:
    if argument.is_tensor:
        return "FILE" if argument.is_output else "TENSOR"
    return _VALUES.get(argument.ctype, argument.ctype.removesuffix("_t").upper())


def _paragraphs(comment: str) -> list[str]:
    """What was broken into lines for the header in one each: sentences, items, what a parameter is."""
    found = [""]
    for line in comment.splitlines():
        before = found[-1]
        begins = not line or line.startswith("- ") or _PARAMETER.match(line)
        if begins or not before or before.startswith(_FORMULA):
            found.append(line)
        else:
            found[-1] = f"{before} {line.strip()}"
    return found


def _wrapped(line: str, width: int) -> str:
    whole = {"break_long_words": False, "break_on_hyphens": False}
    return "\n".join(textwrap.wrap(line, width, subsequent_indent=_indent(line), **whole))


def _indent(line: str) -> str:
    """Of what goes on from a line."""
    if line.startswith(_FORMULA):
        return line[: len(line) - len(line.lstrip())] + _FORMULA
    if line.startswith("- "):
        return "  "
    return _FORMULA if _PARAMETER.match(line) else ""
