# SPDX-License-Identifier: Apache-2.0
"""Writes docs/errors.md from the table of error codes in the installed libraries.

python3 scripts/generate_errors.py [--check]: with --check nothing is written, and the exit code is
1 where the file is not what the table says. Needs `make build` (or OPENACLNN_HOME) and .venv.
"""

import sys
from pathlib import Path

from openaclnn import explain

PAGE = Path(__file__).resolve().parent.parent / "docs" / "errors.md"

HEAD = """\
<!-- Made by scripts/generate_errors.py from src/ascendcl/error_table.inc: edit that. -->
# Error codes

Every code that the headers name, in one table: `openaclnn explain 561103` prints a row of it, and
takes names, beginnings of messages and whole lines of a log as well.

A function that fails returns a code and leaves a message; `aclGetRecentErrMsg` gives the message
once, in the thread that made the call:

    EZ1001: aclnnEmbedding: workspaceSize value is null, expected an address

The beginning (`EZ1001`) is what the vendor's messages for the code begin with, so that programs
that look for it find it. Work that is only queued fails later: its code comes from the first
synchronise after it. The first digit of a code says whose matter it is:

| code | whose matter |
|---|---|
| 1xxxxx | the call or the environment: change the program |
| 2xxxxx | a resource, or something that the hardware lacks |
| 3xxxxx | a service that is at its limit, or a call beneath another |
| 5xxxxx | the library, the driver or the device |
"""

RETURNED = """
## Codes that openaclnn returns
"""

NEVER_RETURNED = """
## Codes that openaclnn never returns

The headers name them for programs that compare with them. One that appears all the same comes from
another library, most likely a real CANN in the way, or from a machine with a device. Where no more
than the name of a code is public, its meaning says what the name says. The beginnings are those of
the code's family (`x` is any digit); `EE9999`, `EH9999` and `EZ9999` stand before any of them where
an error is passed on.
"""

PREFIXES = """
## Beginnings of messages

| beginning | meaning | what to do |
|---|---|---|
"""

COLUMNS = """
| code | name | message | meaning | what to do |
|---|---|---|---|---|
"""


def code_rows(codes):
    for row in codes:
        names = "<br>".join(f"`{name}`" for name in (row.name, *row.aliases))
        prefix = f"`{row.prefix}`" if row.prefix else ""
        yield f"| {row.code} | {names} | {prefix} | {row.meaning} | {row.action} |\n"


def page(table):
    codes = table.codes.values()
    parts = [HEAD, RETURNED, COLUMNS, *code_rows(row for row in codes if row.returned)]
    parts += [NEVER_RETURNED, COLUMNS, *code_rows(row for row in codes if not row.returned)]
    parts += [PREFIXES]
    parts += [f"| `{row.prefix}` | {row.meaning} | {row.action} |\n" for row in table.prefixes]
    return "".join(parts)


def main(arguments):
    wanted = page(explain.load())
    if arguments != ["--check"]:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(wanted, encoding="utf-8")
        return 0
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == wanted:
        return 0
    print("docs/errors.md is not what the table says; run scripts/generate_errors.py")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
