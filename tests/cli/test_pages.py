# SPDX-License-Identifier: Apache-2.0
"""What scripts write of README.md and CONFORMANCE.md is current; links between pages hold."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from openaclnn.native import libraries
from openaclnn.operators import VERSIONS

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"generate_readme.py": "README.md", "generate_conformance.py": "CONFORMANCE.md"}


def check(root: Path, script: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, root / "scripts/site" / script, "--check"],
        env={**os.environ, "OPENACLNN_HOME": str(libraries.find())},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("script", PAGES)
def test_page_is_current(script):
    ended = check(ROOT, script)
    assert ended.returncode == 0, ended


@pytest.fixture
def tree(tmp_path) -> Path:
    """What the scripts read."""
    for page in ("README.md", "README.zh-CN.md", "CONFORMANCE.md", "scripts", "src/companions"):
        copy = shutil.copytree if (ROOT / page).is_dir() else shutil.copy
        (tmp_path / page).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / page, tmp_path / page)
    read = ("src/ascendcl/api/unsupported.inc", "src/hccl/api/refused.cc")
    others = [*(ROOT / each for each in read), *(ROOT / "docs").glob("*.txt")]
    others += (ROOT / "src/opapi/supporting").glob("*/operators.toml")
    for page in [*(ROOT / "src/opapi").rglob("README.md"), *others]:
        (tmp_path / page.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(page, tmp_path / page.relative_to(ROOT))
    return tmp_path


@pytest.mark.parametrize("script", PAGES)
def test_page_that_is_not_current(tree, script):
    page = tree / PAGES[script]
    before = page.read_text()
    line = next(each for each in before.splitlines(True) if "ConvTbcBackward" in each)
    page.write_text(before.replace(line, line.replace("ConvTbcBackward", "ConvTbcForward")))
    ended = check(tree, script)
    assert ended.returncode == 1 and f"{page.name} is not current" in ended.stderr, ended
    subprocess.run([sys.executable, tree / "scripts/site" / script], check=True)
    assert page.read_text() == before


def test_conformance_tells_what_is_absent_and_what_refuses():
    page = (ROOT / "CONFORMANCE.md").read_text()
    does = re.search(r"`libnnopbase.so` does:\n\n(?:.+\n)*", page)[0]
    assert "`aclDumpOpTensors`" not in does
    assert "`aclDumpOpTensors`" in re.search(r"`libnnopbase.so` refuses:\n\n(?:.+\n)*", page)[0]
    absent = page.partition("## Documented, and absent here")[2].partition("\n## ")[0]
    assert "`aclmdlRIBindStream`" in absent and "`aclrtMalloc`" not in absent


def test_conformance_lists_the_operators_that_clients_miss():
    page = (ROOT / "CONFORMANCE.md").read_text()
    absent = page.partition("## Operators that clients look up, and absent here")[2].partition("\n## ")[0]
    excluded = absent.partition("Not written yet")[0]
    assert "`aclnnHansEncode`" in excluded and "`aclnnAdd`" not in absent


def test_an_excluded_operator_that_is_there(tree):
    """No reason outlives its operator."""
    excluded = tree / "docs/excluded_operators.txt"
    excluded.write_text(f"{excluded.read_text()}\n[A reason]\naclnnAdd\n")
    command = [sys.executable, tree / "scripts/site/generate_conformance.py"]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 1 and "excluded_operators.txt has ['aclnnAdd']" in ended.stderr


def test_a_room_that_no_module_is_of(tree):
    (tree / "src/opapi/sample/forward").mkdir(parents=True)
    (tree / "src/opapi/sample/forward/README.md").write_text("# Sample\n")
    assert "Sample, which has no module" in check(tree, "generate_readme.py").stderr
    (tree / "src/opapi/sample/forward/README.md").unlink()
    (tree / "src/opapi/conv_tbc/forward/README.md").unlink()
    assert "has the title ConvTbc" in check(tree, "generate_readme.py").stderr


def links(page):
    """Where a page leads; C++ between backquotes may look like a link."""
    text = re.sub(r"`[^`\n]*`|^ {4}.*", "", page.read_text(), flags=re.MULTILINE)  # no code
    return re.findall(r"\]\(([^)\s#]+)", text)


# Pages that `make docs` makes; it looks at the links to them itself.
MADE = "/build/docs/pages/"


def test_links_between_pages_lead_somewhere():
    folders = ("docs", "examples", "src")
    pages = [*ROOT.glob("*.md"), *(each for f in folders for each in (ROOT / f).rglob("*.md"))]
    broken = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in pages
        for link in links(page)
        if "://" not in link and not link.startswith(MADE) and not (page.parent / link).exists()
    ]
    assert len(pages) > 10 and broken == []


def test_vendor_pages_are_of_the_operator_and_of_a_version():
    """Each room's page names the one that it restates."""
    rooms = sorted((ROOT / "src/opapi").glob("*/*ward/README.md"))
    assert len(rooms) >= len(VERSIONS)
    for page in rooms:
        text = page.read_text("utf-8")
        title = re.match(r"# (\w+)\n", text)[1]
        link = rf"\[aclnn{title}\]\(https://www\.hiascend\.com/\S+/aclnn{title}\.md\), CANN \d\.\d\.\S+\."
        assert re.search(link, text), page
