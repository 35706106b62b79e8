# SPDX-License-Identifier: Apache-2.0
"""What is read of the public headers by patterns is what a compiler reads of them."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from openaclnn.native import declared, libraries

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "scripts/operators"), str(ROOT / "scripts/site")]
import generate_declarations
import header_comments
import runtime_pages

# What GCC writes of each function that is declared: where, and its type without names.
_PROTOTYPE = re.compile(r"^/\* (\S+):\d+:NC \*/ extern ([^;]*?)\b(\w+) \(([^;]*)\);", re.M)
_SAME = {"_Bool": "bool"}


def parts(parameters: str) -> list[str]:
    """The types, each in one spelling, without const."""
    words = (re.sub(r"\bconst\b|\s", "", each) for each in parameters.split(","))
    return [_SAME.get(each, each) for each in words]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> dict[str, tuple[str, list[str]]]:
    """The functions of all installed headers, by name: the header, and the types of the parameters."""
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc")
    include = libraries.find() / "include"
    folder = tmp_path_factory.mktemp("declared")
    headers = [path.relative_to(include) for path in sorted(include.rglob("*.h"))]
    (folder / "all.c").write_text("".join(f'#include "{each}"\n' for each in headers))
    command = ["gcc", "-std=c99", "-fsyntax-only", "-aux-info", "said", f"-I{include}", "all.c"]
    subprocess.run(command, cwd=folder, check=True)
    return {
        name: (str(Path(header).relative_to(include)), parts(parameters))
        for header, _, name, parameters in _PROTOTYPE.findall((folder / "said").read_text())
        if Path(header).is_relative_to(include)
    }


def of_phase_1(compiled) -> dict[str, list[str]]:
    """The parameters of each operator but for the last two."""
    end = "GetWorkspaceSize"
    return {
        name.removesuffix(end): types[:-2]
        for name, (header, types) in compiled.items()
        if header.startswith("aclnnop/") and name.endswith(end)
    }


def test_operators_as_python_reads_them(compiled):
    read = declared.operators(libraries.find() / "include")
    assert len(read) > 400
    assert {api: [each.ctype for each in one.arguments] for api, one in read.items()} == of_phase_1(
        compiled
    )


def test_operators_as_the_build_reads_them(compiled):
    found = {}
    for header in sorted((libraries.find() / "include/aclnnop").glob("*.h")):
        for name, parameters in generate_declarations.operators(header):
            found[name] = [re.sub(r"\w+$", "", re.sub(r"\bconst\b", "", each)).replace(" ", "")
                           for each in parameters]  # fmt: skip
    assert found == of_phase_1(compiled)


@pytest.mark.parametrize("header", runtime_pages.HEADERS)
def test_functions_as_the_pages_read_them(compiled, header):
    read = header_comments.read(ROOT / "include" / header)
    found = {name for each in read.entries for name in each.functions}
    inline = {name for each in read.entries for name in each.functions if "static inline" in each.code}
    assert found - inline == {name for name, (where, _) in compiled.items() if where == header}
