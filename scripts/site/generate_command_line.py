# SPDX-License-Identifier: Apache-2.0
"""Writes docs/command-line.md: what the tool prints for its first commands in a terminal of 80 columns.

.venv/bin/python scripts/site/generate_command_line.py [--check]: needs .venv and the libraries.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from written_page import write_or_check

PAGE = Path(__file__).resolve().parents[2] / "docs/command-line.md"
COLUMNS = 80
# With these typer and rich write for a terminal, whatever they write to.
STYLED = ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "TERMINAL_WIDTH")
HEAD = """\
<!-- Written by scripts/site/generate_command_line.py: run that. -->
# The command line on a screen

Each block shows a command, and what it prints in a terminal of 80 columns.
"""
# By the heading above each.
COMMANDS = {
    "All commands": ["openaclnn --help"],
    "List products and operators": ["openaclnn list", "openaclnn list matmul", "openaclnn list Matmul"],
    "Call an operator": [
        "openaclnn call Add --self '[1, 2]' --other '[0.5, 4]' --alpha 1",
        "openaclnn call Add --self '[1, 2]' --other '[0.5, 4]' --alpha 1 --json",
        "openaclnn call Softmax --help",
        "openaclnn call --help",
    ],
    "Check an operator": [
        "openaclnn check embedding --shape 6,5,4",
        "openaclnn check --help",
    ],
}


def shown(command: str) -> str:
    """A block of the page."""
    _, *arguments = shlex.split(command)
    kept = (each for each in os.environ if not each.startswith("OPENACLNN_") and each not in STYLED)
    plain = {name: os.environ[name] for name in kept}
    home = {name: os.environ[name] for name in ("OPENACLNN_HOME",) if name in os.environ}
    ended = subprocess.run(
        [sys.executable, "-m", "openaclnn", *arguments],
        env={**plain, **home, "COLUMNS": str(COLUMNS), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.rstrip() for line in ended.stdout.splitlines()]
    text = "\n".join(lines).strip("\n")
    return f"```text\n$ {command}\n{text}\n```\n"


def page() -> str:
    parts = [HEAD]
    for heading, commands in COMMANDS.items():
        parts += [f"## {heading}\n", *map(shown, commands)]
    return "\n".join(parts)


def main(arguments: list[str]) -> int:
    return write_or_check(PAGE, page(), "generate_command_line.py", arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
