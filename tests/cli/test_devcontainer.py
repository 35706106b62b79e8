# SPDX-License-Identifier: Apache-2.0
"""The container for development: its commands are of this tree, and an editor gets to know the code."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONTAINER = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text("utf-8"))


def test_it_sets_up_what_lint_needs():
    """As the Containerfile begins, and with a step of setup.sh that there is."""
    recipe = (ROOT / "Containerfile").read_text("utf-8")
    assert f"FROM {CONTAINER['image']} " in recipe
    (step,) = re.findall(r"scripts/setup\.sh (\w+)", CONTAINER["onCreateCommand"])
    setup = (ROOT / "scripts/setup.sh").read_text("utf-8")
    assert re.search(rf"scripts/setup\.sh \[[\w|]*\b{step}\b", setup)
    assert os.access(ROOT / "scripts/setup.sh", os.X_OK)
    for name in ("bash", "sh"):
        if shutil.which(name):
            subprocess.run([name, "-nc", CONTAINER["onCreateCommand"]], check=True)


def test_an_editor_gets_to_know_the_code(tmp_path):
    """What is run after it, in a copy of the tree."""
    tree = tmp_path / "tree"
    kept = shutil.ignore_patterns(".git", ".venv", "build", "dist", "__pycache__", "compile_commands.json")
    shutil.copytree(ROOT, tree, ignore=kept, symlinks=True)
    command = ["bash", "-euc", CONTAINER["postCreateCommand"]]
    ended = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended
    compiled = json.loads((tree / "compile_commands.json").read_text())
    files = {Path(each["file"]).relative_to(tree).as_posix() for each in compiled if "/src/" in each["file"]}
    assert {"src/ascendcl/api/device.cc", "src/frame/checker.cc"} <= files
    ignored = subprocess.run(
        ["git", "check-ignore", "compile_commands.json"], cwd=ROOT, capture_output=True
    )
    assert ignored.returncode in (0, 128)  # 128: not a clone
