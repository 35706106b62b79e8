# SPDX-License-Identifier: Apache-2.0
"""The output of `openaclnn call NAME --help`: the options of an operator, its header's comment."""

import json
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ..native.declared import Argument, Declared

# How an option is shown whose value is no tensor; a plain number as what C calls it.
_VALUES = {
    "aclScalar*": "NUMBER",
    "aclScalarList*": "NUMBER,NUMBER",
    "aclIntArray*": "N,N",
    "aclBoolArray*": "BOOL,BOOL",
    "aclDataType": "DTYPE",
    "char*": "TEXT",
}
# Values of an example; those of other types are 0.
_GIVEN = {
    "aclScalar*": "1",
    "aclScalarList*": "1.0,1.0",
    "aclIntArray*": "0,1",
    "aclBoolArray*": "true,true",
    "aclDataType": "float32",
    "bool": "false",
    "char*": "none",
    "double": "1.0",
    "float": "1.0",
}
# Values that the header's comments leave to the words before all operators.
_SAID = {"cubeMathType": "0 keep the types, 1 allow lower precision, 2 use FLOAT16, 3 use HF32"}
_SHAPE = "--shape SHAPE[:DTYPE]: random arrays for inputs that are left out, such as 2,3:float16"
_EVERYWHERE = ("--soc NAME: the product to simulate", "--json: print one JSON object, nothing else")
_PARAMETER = re.compile(r"\w+: ")
_FORMULA = "    "
_LONG = 60  # columns of an option that may be broken between its numbers
_TOGETHER = "\N{NO-BREAK SPACE}"


def text(api: str, declared: Declared, width: int) -> str:
    """Lines of at most `width` columns, words whole."""
    usage = f"Usage: openaclnn call {api} " + " ".join(map(_option, declared.arguments))
    example = f"Example: openaclnn call {api} " + " ".join(_example(api, declared.arguments))
    draws = all(each.name != "shape" for each in declared.arguments)
    parts = [
        _wrapped(usage, width).replace(_TOGETHER, " "),
        *(_wrapped(_with_values(each), width) for each in _paragraphs(declared.comment)),
        "",
        *(_wrapped(each, width) for each in (_SHAPE,) * draws + _EVERYWHERE),
        "",
        _wrapped(example, width).replace(_TOGETHER, " "),
        _wrapped(f"Types: openaclnn list {api}", width),
        _wrapped("How tensors are given: openaclnn call --help", width),
    ]
    return "\n".join(parts)


def about(declared: Declared, argument: Argument) -> str:
    """The option with what it takes, and what the header says of it."""
    begin = f"{argument.name}: "
    lines = (each for each in _paragraphs(declared.comment) if each.startswith(begin))
    said = _SAID.get(argument.name) or next(lines, begin).removeprefix(begin)
    return f"--{argument.name} {_value(argument)}" + (f": {said}" if said else "")


def _with_values(paragraph: str) -> str:
    name = paragraph.partition(":")[0]
    return f"{name}: {_SAID[name]}" if name in _SAID else paragraph


def _option(argument: Argument) -> str:
    shown = f"--{argument.name} {_value(argument)}" + " ..." * argument.is_list
    shown = shown.replace(" ", _TOGETHER)
    may_go = argument.optional or argument.is_output and not argument.is_in_place
    return f"[{shown}]" if may_go else shown


@cache
def _worked() -> dict[str, list[str]]:
    """Options with values that an operator takes, made by scripts/site/generate_help_examples.py."""
    return json.loads((Path(__file__).parents[1] / "examples.json").read_text("utf-8"))


def _example(api: str, arguments: tuple[Argument, ...]) -> Iterator[str]:
    """The arguments that have to be given, with values of the right kind; all results are
    printed."""
    if api in _worked():
        yield from (_whole(each) if len(each) < _LONG else each for each in _worked()[api])
        return
    for each in arguments:
        if each.is_tensor and each.is_in_place and not each.optional:
            yield f"--{each.name}{_TOGETHER}{each.name}.npy:out.npy"
        elif each.is_tensor and not each.is_output and not each.optional:
            yield f"--{each.name}{_TOGETHER}{each.name}.npy"
        elif not each.is_tensor and not each.optional:
            yield f"--{each.name}{_TOGETHER}{_GIVEN.get(each.ctype, '0')}"


def _whole(option: str) -> str:
    return option.replace(" ", _TOGETHER)


def _value(argument: Argument) -> str:
    if argument.is_tensor:
        return "FILE" if argument.is_output else "TENSOR"
    return _VALUES.get(argument.ctype, argument.ctype.removesuffix("_t").upper())


def _paragraphs(comment: str) -> list[str]:
    """Joins lines that the header breaks: sentences, items, descriptions of parameters."""
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
    """The indentation of lines that go on from a line."""
    if line.startswith(_FORMULA):
        return line[: len(line) - len(line.lstrip())] + _FORMULA
    if line.startswith("- "):
        return "  "
    return _FORMULA if line.startswith("--") or _PARAMETER.match(line) else ""
