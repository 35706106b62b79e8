# SPDX-License-Identifier: Apache-2.0
"""Ascend's tests as a client: where they come from, and what a run of them records."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORKER = ROOT / "tests/clients/ascend/worker.py"
TESTS = """
import os, signal, unittest

class Some(unittest.TestCase):
    def test_a_passes(self):
        pass

    def test_b_ends_the_process(self):
        os.kill(os.getpid(), signal.SIGSEGV)

    def test_c_fails(self):
        self.assertEqual(1, 2)

    def test_d_skips_itself(self):
        self.skipTest("not here")

    @unittest.expectedFailure
    def test_e_is_known_to_fail(self):
        self.assertEqual(1, 2)
"""


def outcomes(record):
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    return {line["test"].removeprefix("Some::"): line for line in lines}


def run(record, *files):
    subprocess.run([sys.executable, WORKER, record, *files], check=True, cwd=record.parent)
    return outcomes(record)


def test_a_crash_loses_one_test(tmp_path):
    file = tmp_path / "test_some.py"
    file.write_text(TESTS)
    found = run(tmp_path / "record.jsonl", file)
    assert {name: line["outcome"] for name, line in found.items()} == {
        "test_a_passes": "passed",
        "test_b_ends_the_process": "crashed",
        "test_c_fails": "failed",
        "test_d_skips_itself": "skipped",
        "test_e_is_known_to_fail": "passed",
        "file": "finished",
    }
    assert "SIGSEGV" in found["test_b_ends_the_process"]["why"]
    assert "1 != 2" in found["test_c_fails"]["why"]


def test_a_file_that_cannot_be_imported_has_a_line(tmp_path):
    file = tmp_path / "test_some.py"
    file.write_text("import nothing_of_this_name\n")
    found = run(tmp_path / "record.jsonl", file)
    assert found["import"]["outcome"] == "failed"
    assert "nothing_of_this_name" in found["import"]["why"]


def test_what_is_recorded_is_not_run_again(tmp_path):
    file, record = tmp_path / "test_some.py", tmp_path / "record.jsonl"
    file.write_text(TESTS)
    run(record, file)
    # As a run leaves it that was ended inside test_c_fails.
    lines = record.read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if "test_c_fails" in line and "started" in line)
    record.write_text("\n".join(lines[: at + 1]) + "\n")
    found = run(record, file)
    assert found["test_c_fails"]["outcome"] == "failed"
    assert found["test_d_skips_itself"]["outcome"] == "skipped"
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert sum("test_a_passes" in line["test"] for line in lines) == 2


def commit(folder):
    """A repository with one file, and what git calls its state."""
    (folder / "test").mkdir(parents=True)
    (folder / "test/test_one.py").write_text("one = 1\n")
    author = ["-c", "user.name=One", "-c", "user.email=one@example.com"]
    for words in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "one"]):
        subprocess.run(["git", "-C", folder, *words], check=True)
    found = subprocess.run(
        ["git", "-C", folder, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    )
    return found.stdout.strip()


def test_a_failure_has_the_cause_that_its_words_tell(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tests/clients"))
    import ascend

    known = tomllib.loads(ascend.CAUSES.read_text())["cause"]
    said = "aclnnOne or aclnnOneGetWorkspaceSize not in libopapi.so\nopType value is 'One', expected one of"
    failures = {
        said: ("a function is not here", "aclnnOne"),
        "ModuleNotFoundError: No module named 'triton'": (
            "a Python package is not installed",
            "triton",
        ),
        # It was not here, and nothing came of that.
        f"{said.partition('opType')[0]}result error": (ascend.UNNAMED, None),
    }
    for why, expected in failures.items():
        line = {"file": "test_one.py", "test": "One::test_one", "why": why, "outcome": "failed"}
        assert ascend.cause(line, known) == expected
    lines = [{**line, "why": said}, line, {**line, "outcome": "passed"}]
    rows, causes = ascend.summary({"npu": lines})
    assert [each["ok"] for each in rows] == [False]
    assert rows[0]["said"].startswith("1 passed, 0 skip themselves, 2 fail")
    assert [(each["cause"], each["which"]) for each in causes] == [
        ("a function is not here", {"aclnnOne": 1}),
        (ascend.UNNAMED, {}),
    ]


def test_sources_come_by_commit_or_as_they_lie(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tests/clients"))
    import ascend

    monkeypatch.setattr(ascend, "FROM", str(tmp_path / "from"))
    monkeypatch.setattr(ascend, "FOLDER", tmp_path / "build")
    here = commit(tmp_path / "from/there")
    taken = ascend.Sources("there", here)
    assert taken.fetch() == f"Ascend/there {here[:8]}"
    assert (taken.folder / "test/test_one.py").is_file()
    # What was taken once needs no remote.
    monkeypatch.setattr(ascend, "FROM", str(tmp_path / "nowhere"))
    assert taken.fetch() == f"Ascend/there {here[:8]}"
    assert ascend.Sources("absent", here).fetch() is None
    monkeypatch.setattr(ascend, "FROM", str(tmp_path / "from"))
    lying = ascend.Sources("lying", "0" * 40)
    (tmp_path / "from/lying/test").mkdir(parents=True)
    assert lying.fetch() == f"Ascend/lying as it lies in {tmp_path}/from, not 00000000"
