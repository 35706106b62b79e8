# SPDX-License-Identifier: Apache-2.0
"""bench/digests.py: what two runs, or two machines, computed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]


def digests(*arguments) -> tuple[int, str]:
    site = ["-S"] if sys.flags.no_site else []
    done = subprocess.run(
        [sys.executable, *site, _ROOT / "bench/digests.py", *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(_ROOT / "python"), *sys.path])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def one_thread(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("digests") / "one.json"
    code, said = digests(file, "--quick", "--threads", 1)
    assert code == 0, said
    return file


def test_all_threads_compute_what_one_does(one_thread, tmp_path):
    every = tmp_path / "all.json"
    assert digests(every, "--quick")[0] == 0
    rows = len(json.loads(every.read_text()))
    assert rows > 20
    code, said = digests("--compare", one_thread, every)
    assert (code, said.split(";")[0]) == (0, f"{rows} of {rows} rows have equal outputs")


def test_what_differs_is_named(one_thread, tmp_path):
    found = json.loads(one_thread.read_text())
    first, second, third = list(found)[:3]
    found[first]["outputs"] = "0"
    found[second]["inputs"] = "0"
    del found[third]
    other = tmp_path / "other.json"
    other.write_text(json.dumps(found))
    code, said = digests("--compare", one_thread, other)
    assert code == 1 and f"differs: {first}\n" in said and second not in said
    assert said.endswith("; 1 have other inputs, 1 are in one file only\n")


def test_one_file_is_not_compared(tmp_path):
    code, said = digests("--compare", tmp_path / "a.json")
    assert code == 2 and "--compare and two files" in said
