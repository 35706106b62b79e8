# SPDX-License-Identifier: Apache-2.0
"""Writes python/openaclnn/examples.json: the worked arguments that `openaclnn call NAME --help` shows.

.venv/bin/python scripts/site/generate_help_examples.py [--check]: needs .venv and the libraries. They are those of
the site's examples, without the files of results, which the tool prints then.
"""

import json
import shlex
import sys
from pathlib import Path

import operators_path  # noqa: F401  for the modules of scripts/operators
import record_commands
import record_examples
from operator_records import ROOT
from written_page import write_or_check

from openaclnn.native import declared, libraries
from openaclnn.operators import OPERATORS

# Outputs whose shape the tool does not find from the inputs.
SHAPED = {"aclnnEmbedding": ["--out out.npy:2,2"]}
FILE = ROOT / "python/openaclnn/examples.json"


def printed(operator: declared.Declared, command: str) -> list[str]:
    """The options of a command of which no result goes to a file, but those that may be left out or need a shape."""
    _, _, _, *words = shlex.split(command.replace("\\\n", ""))
    arguments = {f"--{each.name}": each for each in operator.arguments}
    found = []
    for option, value in zip(words[::2], words[1::2], strict=True):
        each = arguments[option]
        if each.is_in_place:
            value = value.rpartition(":")[0]
        if not each.is_output or each.is_in_place or each.optional or ":" in value:
            found.append(f"{option} {shlex.quote(value)}")
    return found


def of_room(operator) -> list[str]:
    """Those of an operator's worked example, by the names that C gives."""
    example = operator.example()
    problem = operator.problem(*example.arrays.values(), **example.attributes)
    arrays = {name: record_commands._tensor(each) for name, each in problem.inputs.items()}
    plain = {name: record_commands._plain(each) for name, each in problem.attributes.items()}
    given = {name: text for name, text in {**arrays, **plain}.items() if text != "None"}
    found = [f"--{name} {shlex.quote(text)}" for name, text in given.items()]
    return found + SHAPED.get(operator.function.api, [])


def made(examples: dict[str, record_examples.Example]) -> dict[str, list[str]]:
    headers = declared.operators(libraries.find() / "include")
    found = {api: printed(headers[api], each.command) for api, each in examples.items()}
    return dict(sorted({**found, **{each.function.api: of_room(each) for each in OPERATORS}}.items()))


def text(examples: dict[str, record_examples.Example]) -> str:
    lines = (f" {json.dumps(api)}: {json.dumps(options)}" for api, options in made(examples).items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    found = text(record_examples.examples())
    sys.exit(write_or_check(FILE, found, Path(__file__).name, sys.argv[1:]))
