# SPDX-License-Identifier: Apache-2.0
"""Variables of the environment: all that are read are known, and what is not known is named."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "src/ascendcl/report/unknown_variable.cc"
NAME = r"(OPENACLNN_[A-Z0-9_]+)"
READS = [
    rf'(?:getenv|ReadCount|ReadFlag|Variable)\("{NAME}"',
    rf'(?:environ|environment|variables|os\.environ)(?:\.get\(|\.pop\(|\[)"{NAME}"',
    rf'getenv\("{NAME}"',
]
SUFFIXES = {".cc", ".h", ".py", ".sh", ".in"}


def known() -> set[str]:
    table = re.search(r"kKnown\[\] = \{(.*?)\};", TABLE.read_text(), re.S)[1]
    return set(re.findall(rf'"{NAME}"', table))


def files() -> dict[str, str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    names = [name for name in listed.stdout.splitlines() if Path(name).suffix in SUFFIXES]
    folders = ("src/", "python/", "scripts/", "bench/", "cmake/", "tests/")
    chosen = [name for name in names if name.startswith(folders) and ROOT / name != TABLE]
    return {name: (ROOT / name).read_text() for name in chosen if (ROOT / name).is_file()}


def test_all_that_are_read_are_known():
    read = {
        name: file
        for file, text in files().items()
        for pattern in READS
        for name in re.findall(pattern, text)
    }
    assert len(read) > 10
    ours = {name: file for name, file in read.items() if not name.startswith("OPENACLNN_TEST_")}
    unknown = {name: file for name, file in ours.items() if name not in known()}
    assert unknown == {}


def test_all_that_are_known_are_named_elsewhere():
    text = "\n".join(files().values())
    assert [name for name in known() if not re.search(rf"\b{name}\b", text)] == []


def test_run_and_doctor_name_a_mistyped_one(tool):
    said = "environment variable OPENACLNN_CHEK is none that openaclnn reads"
    run = tool("run", "--", "true", OPENACLNN_CHEK="full")
    nearest = "the nearest that it reads is OPENACLNN_CHECK"
    assert (run.code, run.stdout, run.stderr) == (0, "", f"openaclnn: {said}; {nearest}\n")
    assert tool("run", "--", "true", OPENACLNN_CHECK="full").stderr == ""
    assert said in " ".join(tool("doctor", OPENACLNN_CHEK="full").stdout.split())


def test_a_trace_is_the_programs(tool, tmp_path):
    trace = tmp_path / "trace.json"
    assert tool("run", "--", "true", OPENACLNN_TRACE=str(trace)).code == 0
    assert not trace.exists()
