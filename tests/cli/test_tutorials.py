# SPDX-License-Identifier: Apache-2.0
"""Every command of docs/tutorials is run, and prints what the page says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from openaclnn import libraries

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs/tutorials").glob("*.md"))
_BLOCK = re.compile(
    r"(?:<!-- file: (?P<file>\S+) -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)


@pytest.fixture
def place(tmp_path):
    """A folder with what the pages include, and a path with the tool."""
    shutil.copy(ROOT / "examples/example.h", tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    site = " -S" if sys.flags.no_site else ""
    (programs / "openaclnn").write_text(f'#!/bin/sh\nexec {sys.executable}{site} -m openaclnn "$@"\n')
    (programs / "python").write_text(f'#!/bin/sh\nexec {sys.executable}{site} "$@"\n')
    for each in programs.iterdir():
        each.chmod(0o755)
    return tmp_path


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tutorial(place, page):
    variables = {
        **os.environ,
        "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
        "OPENACLNN_HOME": str(libraries.find().resolve()),
        "EXAMPLES": str(ROOT / "examples"),
        "OPENACLNN_PYTHON": sys.executable,  # of PREFIX/bin/openaclnn, which set_env.sh puts first
        "COLUMNS": "200",
        "HOME": str(place),
    }
    said, ran = "", 0
    for block in _BLOCK.finditer(page.read_text("utf-8")):
        if block["file"]:
            (place / block["file"]).write_text(block["text"])
        elif block["kind"] == "sh":
            script = f"set -e; . ./environment\n{block['text']}\nexport -p > environment\n"
            (place / "environment").touch()
            ended = subprocess.run(
                ["bash", "-c", script], cwd=place, env=variables, capture_output=True, text=True
            )
            assert ended.returncode == 0, (block["text"], ended)
            said, ran = ended.stdout + ended.stderr, ran + 1
        elif block["kind"] == "text":
            for line in block["text"].splitlines():
                assert words(line) in words(said), (line, said)
    assert ran >= 3
