# SPDX-License-Identifier: Apache-2.0
"""Runs Ascend's own tests of torch-npu, unchanged, on the wheel that was built of the same commits.

python3 tests/clients/ascend.py PREFIX [SUITE or FILE …]: without names all of SUITES; exit code 1 if
a test fails for a reason that ascend/causes.toml does not name. With --fetch in place of PREFIX it only
gets the sources, or fails where they are not to be had. Their tests that Ascend itself disables are
left out, by its list. A second call takes up what the first one left, unless the libraries changed.

The sources come by git, at the wheel's commits, from ASCEND_SOURCES: an address or a folder that
holds `pytorch` and `op-plugin`, GitHub's unless it is set. Where that folder has files without those
commits, the files are taken as they lie. Nothing of them is kept in this repository.

The table goes to build/clients/ascend.json and, in short, to build/clients/results.json.
"""

import argparse
import collections
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from run import HERE, RESULTS, VERSIONS, environment, record, row, wheel_python

TORCH = "2.8.0"
# Where the queue is off, a call that fails raises itself, and the tests that follow are not hit.
MODE = {"OPENACLNN_SOC": "Ascend910B1", "TASK_QUEUE_ENABLE": "0"}
NEEDS = ("expecttest==0.3.0", "hypothesis", "parameterized", "scipy", "sortedcontainers", "torchvision==0.23.0")
FOLDER = RESULTS.parent / "ascend"
RECORD = FOLDER / "record.jsonl"
CAUSES = HERE / "ascend/causes.toml"
UNNAMED = "without a cause that is named"
FROM = os.environ.get("ASCEND_SOURCES", "https://github.com/Ascend")


@dataclass(frozen=True)
class Sources:
    """A repository of Ascend's at one commit."""

    name: str
    commit: str

    @property
    def folder(self):
        return FOLDER / self.name

    def git(self, *arguments):
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.run(["git", "-C", self.folder, *arguments], **quiet)

    def fetch(self):
        """Words about what was taken, or nothing where there is nothing to take."""
        at = f"Ascend/{self.name} {self.commit[:8]}"
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.folder / ".git").exists():
            self.git("init", "--quiet")
        if self.git("rev-parse", "HEAD").stdout.strip() == self.commit:
            return at
        got = self.git("fetch", "--quiet", "--depth", "1", f"{FROM}/{self.name}", self.commit)
        if got.returncode == 0 and self.git("checkout", "--force", "FETCH_HEAD").returncode == 0:
            return at
        if (lying := Path(FROM, self.name, "test")).is_dir():
            shutil.rmtree(self.folder / "test", ignore_errors=True)
            shutil.copytree(lying, self.folder / "test")
            return f"Ascend/{self.name} as it lies in {FROM}, not {self.commit[:8]}"
        return None


PYTORCH = Sources("pytorch", "0a3141fd8bcff3afdbaa5e468da6af22b1b1f15d")
OP_PLUGIN = Sources("op-plugin", "ceeca1c6e23da2d27591812a13a78b762d79389b")
DISABLED = PYTORCH.folder / "test/unsupported_test_cases/.pytorch-disabled-tests.json"
SUITES = {
    "test_base_ops": (OP_PLUGIN, "test_base_ops"),
    "test_v2r": (OP_PLUGIN, "test_v2r*"),
    "npu": (PYTORCH, "npu"),
    "optim": (PYTORCH, "optim"),
    "nn": (PYTORCH, "nn"),
}


def fetch():
    """What was taken, or nothing; whoever calls says what is left out."""
    taken = [sources.fetch() for sources in (PYTORCH, OP_PLUGIN)]
    if None not in taken:
        print(f"test-clients: {', '.join(taken)}", flush=True)
        return True
    print(f"test-clients: Ascend's tests are left out: {PYTORCH.commit[:8]} of pytorch and "
          f"{OP_PLUGIN.commit[:8]} of op-plugin are not to be had from {FROM}; ASCEND_SOURCES may name "
          "a folder that holds both", file=sys.stderr)  # fmt: skip
    return False


def files_of(suite):
    sources, pattern = SUITES[suite]
    return sorted(sources.folder.glob(f"test/{pattern}/**/test_*.py"))


def chosen(names):
    """{suite: files}; a name is that of a suite, or of a file without its folder."""
    found = {suite: files_of(suite) for suite in SUITES}
    if names:
        wanted = set(names)
        found = {
            suite: [file for file in files if suite in wanted or file.name in wanted]
            for suite, files in found.items()
        }
    return {suite: files for suite, files in found.items() if files}


def stamp(prefix):
    """What the record was made with."""
    content = hashlib.sha256()
    for library in sorted((prefix / "lib64").glob("lib*.so")):
        content.update(library.read_bytes())
    return f"{VERSIONS[TORCH]} {PYTORCH.commit} {OP_PLUGIN.commit} {content.hexdigest()}"


def run(prefix, suites):
    """Files that set the environment before they import torch get an interpreter of their own."""
    made_with = RECORD.with_name("stamp")
    if not made_with.is_file() or made_with.read_text() != stamp(prefix):
        RECORD.unlink(missing_ok=True)
        made_with.write_text(stamp(prefix))
    python = wheel_python(TORCH)
    own = {
        # Some tests start `python`.
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "DISABLED_TESTS_FILE": str(DISABLED),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "1",
        # Where a function is not here, torch-npu warns and calls another one, which may fail.
        "ASCEND_GLOBAL_LOG_LEVEL": "2",
        "ASCEND_SLOG_PRINT_TO_STDOUT": "1",
    }
    command = [python, HERE / "ascend/worker.py"]
    for suite, files in suites.items():
        folder = SUITES[suite][0].folder / "test"
        environment_of_tests = environment(prefix, MODE | own)
        environment_of_tests["PYTHONPATH"] += f":{folder}"
        print(f"{suite}: {len(files)} files", flush=True)
        cold = [file for file in files if "environ" in file.read_text()]
        warm = [file for file in files if file not in cold]
        groups = [["--warm", RECORD, *warm], *([RECORD, file] for file in cold)]
        for group in groups:
            subprocess.run([*command, *group], env=environment_of_tests, check=True, cwd=folder)


def outcomes(suites):
    """{suite: lines}, of each test the last one."""
    lines = [json.loads(line) for line in RECORD.read_text().splitlines()]
    found = {}
    for suite, files in suites.items():
        ours = set(map(str, files))
        last = {(line["file"], line["test"]): line for line in lines if line["file"] in ours}
        found[suite] = [line for line in last.values() if line["outcome"] != "finished"]
    return found


def name(line):
    return f"{Path(line['file']).name}::{line['test']}"


def cause(line, causes):
    """The words of the first whose pattern is found in the test's name or in what it said, and which
    operator or function it was, where the pattern tells."""
    text = f"{name(line)}\n{line['why']}"
    for each in causes:
        if found := re.search(each["pattern"], text):
            return each["words"], found.groupdict().get("which")
    return UNNAMED, None


def row_of(suite, lines, unnamed):
    """For the page of clients."""
    counts = collections.Counter(line["outcome"] for line in lines)
    bad = counts["failed"] + counts["crashed"]
    said = f"{counts['passed']} passed, {counts['skipped']} skip themselves, {bad} fail (causes below)"
    print(f"{suite:<14}{said}", flush=True)
    client = f"Ascend's own tests of torch-npu {VERSIONS[TORCH]}: {suite}"
    return row(client, MODE, not unnamed, counts["passed"], unnamed, said)


def summary(found):
    """A row for each suite, and the causes with their tests, the most of them first."""
    known = tomllib.loads(CAUSES.read_text())["cause"]
    rows, tests = [], collections.defaultdict(list)
    which = collections.defaultdict(collections.Counter)
    for suite, lines in found.items():
        unnamed = []
        for line in lines:
            if line["outcome"] in ("failed", "crashed"):
                words, asked_for = cause(line, known)
                tests[words].append(name(line))
                which[words].update([asked_for] if asked_for else ())
                unnamed += [name(line)] if words is UNNAMED else []
        rows.append(row_of(suite, lines, unnamed))
    ordered = sorted(tests, key=lambda words: (words is UNNAMED, -len(tests[words])))
    causes = [
        {"cause": words, "which": dict(which[words].most_common()), "tests": tests[words]}
        for words in ordered
    ]
    return rows, causes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix", nargs="?", default="build/install")
    parser.add_argument("--fetch", action="store_true", help="the sources, and no more")
    parser.add_argument("names", nargs="*", metavar="SUITE or FILE")
    arguments = parser.parse_args()
    there = fetch()
    if arguments.fetch:
        return 0 if there else 1
    if not there:
        return 0
    prefix = Path(arguments.prefix).resolve()
    if subprocess.run([HERE / "setup.sh", TORCH, VERSIONS[TORCH]]).returncode != 0:
        return 1
    pip = [wheel_python(TORCH), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    # Without what they need: torchvision needs torch, which would come with all of CUDA.
    subprocess.run([*pip, "--no-deps", *NEEDS], check=True)
    suites = chosen(arguments.names)
    run(prefix, suites)
    rows, causes = summary(outcomes(suites))
    for each in causes:
        which = ", ".join(f"{name} {count}" for name, count in each["which"].items())
        print(f"{len(each['tests']):>5}  {each['cause']}: {which or each['tests'][0]}")
    if not arguments.names:
        RESULTS.with_name("ascend.json").write_text(json.dumps(causes, indent=1) + "\n")
        record(rows)
    return 0 if all(each["ok"] for each in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
