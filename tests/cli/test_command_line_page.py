# SPDX-License-Identifier: Apache-2.0
"""docs/command-line.md is what the tool prints, and fits the terminal that it speaks of."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/command-line.md"


def test_it_is_current():
    command = [sys.executable, ROOT / "scripts/site/generate_command_line.py", "--check"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended


def test_it_fits_eighty_columns():
    text = PAGE.read_text("utf-8")
    assert max(map(len, text.splitlines())) <= 82  # a command has its `$ ` in front
    blocks = [each for each in text.split("```") if each.startswith("text\n")]
    printed = [line for each in blocks for line in each.splitlines()[2:]]
    assert printed and max(map(len, printed)) <= 80


def test_the_first_commands_are_there():
    text = PAGE.read_text("utf-8")
    for command in ("openaclnn --help", "openaclnn list", "openaclnn call --help", "openaclnn check --help"):
        assert f"\n$ {command}\n" in text
