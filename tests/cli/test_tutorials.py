# SPDX-License-Identifier: Apache-2.0
"""Every command of the pages is run from the text, and prints what the page says.

Those of README.md, usage.md and clients.md are run by test_readme.py. What is not run here is named, with the reason.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from openaclnn.native import libraries

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
_BLOCK = re.compile(
    r"(?:<!-- file: (?P<file>\S+) -->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$"
    r"|(?:^    (?P<line>\S[^\n]*\n(?:^     +\S[^\n]*\n)*))",
    re.M | re.S,
)
# Lines by how they begin.
ELSEWHERE = {
    "capture": {"LD_PRELOAD=/path/": "tests/capture/alone_test.cc, over libraries of another maker"},
    "checks": {
        "openaclnn: racecheck: ": "a report: tests/ascendcl/watch/race_test.cc",
        "openaclnn: check summary: ": "a summary: tests/cli/test_checked.py",
        "openaclnn: memcheck: ": "a report: tests/ascendcl/memory/damage_test.cc",
    },
    "distributed": {
        ". build/install/set_env.sh": "tests/install/environment.sh",
        "OPENACLNN_SOC=Ascend910B1 torchrun": "needs torch-npu: tests/clients/ranks",
    },
    "distributed-gradients": {
        each: "needs torch: tests/clients/ranks/over_ranks"
        for each in ("import numpy, torch", "from openaclnn.distributed", "torch.distributed.init",
                     "group = ", "rows = ", "weight = ", "route = ", "y = ", "dw = ")
    },
    "errors": {"EZ1001: aclnnEmbedding: ": "a message: tests/support/walks.h"},
    "reliability": {"scripts/checks/mutate.py ": "builds and tests many times: scripts/checks/mutate_test.py"},
    "CONTRIBUTING": {
        "scripts/setup.sh": "installs packages; every `make` begins with it",
        "cmake --": "builds all: `make test` does with another preset",
        "embedding: cut hot rows": "a message of a commit: scripts/checks/check_commits_test.py",
        "One row held": "its body",
    },
}  # fmt: skip
# Blocks that other tests run: that of the plugin where torch-npu may be or not.
OTHERS = {
    "clients": "tests/cli/test_readme.py",
    "pytest": "tests/cli/test_pytest_plugin.py",
    "usage": "tests/cli/test_readme.py",
    "command-line": "tests/cli/test_command_line_page.py",
}
# What takes minutes is run on one operator and tiny shapes.
SHORT = [
    (r"^make ", f"make -n -C {ROOT} "),
    (r"^(openaclnn bench --all)(?!.*--operator)", r"\1 --operator embedding --threads 1 --quick"),
    (r"^(openaclnn bench --all)(?=.*--operator)(?!.*--quick)", r"\1 --quick"),
    (r"^(openaclnn bench --all --operator.*)", r"\1 --quick"),
    # Of another day: here those of the page's first run.
    (
        r"^openaclnn bench --compare (\S+) (\S+)",
        r"mkdir -p build/bench; cp out.json \1; cp out.json \2; \g<0>",
    ),
]
# What a page takes for granted: a project of one's own.
BEFORE = {"ci": "cp by_cmake/* ."}
_CMAKE = """cmake_minimum_required(VERSION 3.20)
project(program C)
enable_testing()
find_package(openaclnn 0.2 REQUIRED)
add_executable(program program.c)
target_link_libraries(program openaclnn::opapi)
add_test(NAME program COMMAND program)
"""
_C_PROGRAM = """#include "acl/acl.h"
int main(void) { return aclInit(NULL); }
"""
_PROGRAM = """#!/usr/bin/env python
import numpy as np
import openaclnn
for each in range(6): openaclnn.embedding(np.eye(3, dtype=np.float32), [2, 0])
x, w = np.ones((272, 2, 16), np.float16), np.ones((32, 2), np.float16)
g = np.ones((15, 2, 16), np.float16)
openaclnn.nsa_compress_grad(g, x, w, act_seq_len=[128, 272])
"""


@pytest.fixture
def place(tmp_path):
    """A folder with what the pages include or start, and a path with the tool."""
    programs = tmp_path / "bin"
    programs.mkdir()
    site = " -S" if sys.flags.no_site else ""
    for name, module in (("openaclnn", " -m openaclnn"), ("pytest", " -m pytest"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable}{site}{module} "$@"\n')
    (tmp_path / "program").write_text(_PROGRAM)
    (tmp_path / "by_cmake").mkdir()
    (tmp_path / "by_cmake/CMakeLists.txt").write_text(_CMAKE)
    (tmp_path / "by_cmake/program.c").write_text(_C_PROGRAM)
    for each in (*programs.iterdir(), tmp_path / "program"):
        each.chmod(0o755)
    return tmp_path


def words(text: str) -> str:
    return " ".join(text.split())


def elsewhere(page: Path, line: str) -> bool:
    return any(line.startswith(each) for each in ELSEWHERE.get(page.stem, ()))


def blocks(page: Path) -> list[dict[str, str | None]]:
    """The blocks to run or to write; a line of a shell is one of the kind sh."""
    found = []
    for block in _BLOCK.finditer(page.read_text("utf-8")):
        if block["line"] is None:
            found.append(block.groupdict())
        elif not elsewhere(page, block["line"]):
            line = block["line"]
            for pattern, short in SHORT:
                line = re.sub(pattern, short, line)
            found.append({"file": None, "kind": "sh", "text": line})
    return found


@pytest.mark.parametrize("page", [each for each in PAGES if blocks(each)], ids=lambda page: page.stem)
def test_page(place, page):
    variables = {
        **os.environ,
        "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
        "OPENACLNN_HOME": str(libraries.find().resolve()),
        "OPENACLNN_PYTHON": sys.executable,  # of PREFIX/bin/openaclnn, which set_env.sh puts first
        "COLUMNS": "200",
        "HOME": str(place),
    }
    said = ""
    if page.stem in OTHERS:
        assert page.name in (ROOT / OTHERS[page.stem]).read_text("utf-8")
        return

    def run(text: str) -> str:
        # `set -e` does not see what fails before an `&&`.
        lines = text if "||" in text else text.replace(" && ", "\n")
        script = f"set -e; . ./environment\n{lines}\nexport -p > environment\n"
        (place / "environment").touch()
        ended = subprocess.run(
            ["bash", "-c", script], cwd=place, env=variables, capture_output=True, text=True
        )
        assert ended.returncode == 0, (text, ended)
        return ended.stdout + ended.stderr

    run(BEFORE.get(page.stem, ""))
    for block in blocks(page):
        if block["file"]:
            (place / block["file"]).write_text(block["text"])
        elif block["kind"] == "sh":
            said = run(block["text"])
        elif block["kind"] == "text":
            for line in block["text"].splitlines():
                assert words(line) in words(said), (line, said)


def test_what_is_run_elsewhere_is_in_the_pages():
    """No reason outlives its line."""
    pages = {page.stem: page for page in PAGES}
    for name, reasons in ELSEWHERE.items():
        lines = [each["line"] or "" for each in _BLOCK.finditer(pages[name].read_text("utf-8"))]
        for begin, reason in reasons.items():
            assert any(line.startswith(begin) for line in lines), (name, begin, reason)


def test_tutorials_are_run():
    """Three blocks of commands at least: a pattern that no longer fits would find none."""
    for page in (ROOT / "docs/tutorials").glob("*.md"):
        assert sum(each["kind"] == "sh" for each in blocks(page)) >= 3, page
