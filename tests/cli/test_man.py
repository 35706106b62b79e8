# SPDX-License-Identifier: Apache-2.0
"""The manual page: current, with all commands, and such as troff reads without a complaint."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import typer.main

from openaclnn.tool import cli

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/openaclnn.1"
MACROS = {".TH", ".SH", ".SS", ".PP", ".TP", ".RS", ".RE", ".nf", ".fi", ".br", ".ad", ".nh", '.\\"'}


def test_it_is_current():
    command = [sys.executable, ROOT / "scripts/site/generate_man.py", "--check"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended


def test_every_command_and_option_is_there():
    text = PAGE.read_text("utf-8").replace("\\-", "-")
    app = typer.main.get_command(cli.app)
    for name, command in app.commands.items():
        if command.hidden:
            assert f"openaclnn {name}" not in text
            continue
        assert re.search(rf"^\.SS openaclnn {name}\b", text, re.M), name
        for each in command.params:
            is_shown = each.param_type_name == "option" and not each.hidden
            assert not is_shown or each.opts[0] in text, (name, each.opts)
    for name in ("OPENACLNN_SOC", "OPENACLNN_CHECK", "ASCEND_RT_VISIBLE_DEVICES"):
        assert f"\\fB{name}\\fR" in text


def test_it_is_text_for_troff():
    """No macro but those of man, and a word of the text is never taken for one."""
    for line in PAGE.read_text("utf-8").splitlines():
        assert not line.startswith("'")
        if line.startswith("."):
            assert line.split()[0] in MACROS, line
    if shutil.which("groff"):
        ended = subprocess.run(
            ["groff", "-man", "-Tascii", "-ww", "-z", PAGE], capture_output=True, text=True
        )
        assert (ended.returncode, ended.stderr) == (0, ""), ended
