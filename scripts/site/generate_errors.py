# SPDX-License-Identifier: Apache-2.0
"""Writes docs/errors.md from the table of error codes in the installed libraries.

python3 scripts/site/generate_errors.py [--check]: with --check nothing is written, and the exit code is
1 where the file is not what the table says. Needs `make build` (or OPENACLNN_HOME) and .venv.
"""

import sys
from collections import Counter
from pathlib import Path

from written_page import write_or_check

from openaclnn.tool import explain

PAGE = Path(__file__).resolve().parents[2] / "docs" / "errors.md"

HEAD = """\
<!-- Made by scripts/site/generate_errors.py from src/ascendcl/report/error_table.inc: edit that. -->
# Error codes

The tables of this page have every code that the headers name. `openaclnn explain 561103` prints the row of
a code. `explain` also takes names, prefixes of messages and whole lines of a log.

A function that fails returns a code and stores a message. `aclGetRecentErrMsg` returns this message once,
to the thread that made the call:

    EZ1001: aclnnEmbedding: workspaceSize value is null, expected an address

The prefix (`EZ1001`) is the same as in the vendor's messages for this code, so programs can search for it.
If queued work fails, the next synchronise returns the code. The first digit of a code says where the
cause is:

| code | where the cause is |
|---|---|
| 1xxxxx | the call or the environment: change the program |
| 2xxxxx | a resource, or something that the hardware lacks |
| 3xxxxx | a service that is at its limit, or a call that the library itself made |
| 5xxxxx | the library, the driver or the device |
"""

RETURNED = """
## Codes that openaclnn returns
"""

NEVER_RETURNED = """
## Codes that openaclnn never returns

The headers name these codes because programs compare with them. If a program gets one of them, the code
comes from another library. Most likely a real CANN was loaded instead of openaclnn, or the program ran on a
machine with a device. For some codes only the name is public. Then the meaning repeats the name. The column
of messages has the prefix of the code's family (`x` is any digit). If a library passes on an error of
another library, `EE9999`, `EH9999` or `EZ9999` may stand before that prefix. Many rows refer to one of
these pieces of advice:

"""
SHARED_BY = 4  # rows at least

PREFIXES = """
## Prefixes of messages

| prefix | meaning | what to do |
|---|---|---|
"""

COLUMNS = """
| code | name | message | meaning | what to do |
|---|---|---|---|---|
"""


def shared_advice(codes):
    """{what to do: its number} of what many of the codes have in common, the most common first."""
    counted = Counter(row.action for row in codes).most_common()
    shared = [action for action, rows in counted if rows >= SHARED_BY]
    return {action: number for number, action in enumerate(shared, 1)}


def code_rows(codes, shared=()):
    for row in codes:
        action = row.action
        if action in shared:
            action = f"[advice {shared[action]}](#codes-that-openaclnn-never-returns)"
        names = "<br>".join(f"`{name}`" for name in (row.name, *row.aliases))
        prefix = f"`{row.prefix}`" if row.prefix else ""
        yield f"| {row.code} | {names} | {prefix} | {row.meaning} | {action} |\n"


def page(table):
    codes = table.codes.values()
    parts = [HEAD, RETURNED, COLUMNS, *code_rows(row for row in codes if row.returned)]
    never = [row for row in codes if not row.returned]
    shared = shared_advice(never)
    advice = [f"{number}. {action}\n" for action, number in shared.items()]
    parts += [NEVER_RETURNED, *advice, COLUMNS, *code_rows(never, shared)]
    parts += [PREFIXES]
    parts += [f"| `{row.prefix}` | {row.meaning} | {row.action} |\n" for row in table.prefixes]
    return "".join(parts)


def main(arguments):
    return write_or_check(PAGE, page(explain.load()), "generate_errors.py", arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
