# SPDX-License-Identifier: Apache-2.0
"""Runs files of tests with pytest, each in a process of its own, and records what each test gave.

python worker.py [--warm] RECORD FILE…: a line of JSON for each test is added to RECORD. What stands
there already is not run again, so that a run can be taken up where it ended. A test that ends its
process, or says nothing for LIMIT_S, is recorded as such, and the rest of its file runs in another
process. With --warm PyTorch is imported once, before the processes part.
"""

import atexit
import gc
import json
import os
import re
import resource
import signal
import sys
import time
from pathlib import Path

import pytest

LIMIT_S = 600
WORDS = 6000  # of what a failure says, from its end
# Of torch-npu's log, which is long: what it looked for in vain.
ABSENT = re.compile(r"aclnn\w+ or aclnn\w+ not in [^,]*")
# Tests count warnings: pytest keeps its hands off them.
OPTIONS = ["-q", "-p", "no:cacheprovider", "-p", "no:warnings", "--tb=short", "-c", os.devnull]
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"


def recorded(record, file):
    """The lines of one file."""
    lines = map(json.loads, record.read_text().splitlines()) if record.is_file() else ()
    return [line for line in lines if line["file"] == file]


def add(record, file, test, outcome, why=""):
    line = {"file": file, "test": test, "outcome": outcome, "why": why[-WORDS:]}
    with record.open("a") as out:
        out.write(json.dumps(line) + "\n")


class Recorder:
    """A plug-in of pytest."""

    def __init__(self, record, file):
        self.record, self.file = record, file
        lines = recorded(record, file)
        self.done = {line["test"] for line in lines if line["outcome"] != "started"}
        self.outcome, self.why = "passed", ""

    def add(self, test, outcome, why=""):
        add(self.record, self.file, test, outcome, why)

    @staticmethod
    def name(nodeid):
        return nodeid.partition("::")[2]

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if self.name(item.nodeid) not in self.done]

    def pytest_collectreport(self, report):
        if report.outcome != "passed":
            self.add(self.name(report.nodeid) or "import", report.outcome, str(report.longrepr))

    def pytest_runtest_logstart(self, nodeid):
        self.outcome, self.why = "passed", ""
        self.add(self.name(nodeid), "started")

    def pytest_runtest_logreport(self, report):
        if report.outcome == "failed" or (report.outcome == "skipped" and self.why == ""):
            expected = hasattr(report, "wasxfail")
            self.outcome = "passed" if expected else report.outcome
            output = "".join(text for _, text in report.sections)
            absent = "\n".join(dict.fromkeys(ABSENT.findall(output)))
            said = f"{output[-WORDS // 4 :]}\n{str(report.longrepr)[-WORDS // 2 :]}"
            self.why = f"{absent[-WORDS // 4 :]}\n{said}"
        if report.when == "teardown":
            self.add(self.name(report.nodeid), self.outcome, self.why)


def run_tests(record, file, output):
    """In a process of its own, which ends here."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    written = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(written, stream)
    code = pytest.main([*OPTIONS, file], plugins=[Recorder(record, file)])
    add(record, file, "file", "finished")
    # As at the end of a process, but for taking apart all of what was imported: seconds.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0 if code in (0, 1, 2, 5) else int(code))


def wait(pid, record):
    """What ended the process, or nothing."""
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            said = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
            return f"ended by {said}" if code else ""
        silent = time.time() - record.stat().st_mtime
        if silent > LIMIT_S:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return f"no answer in {LIMIT_S} s"
        time.sleep(0.05)


def run_file(record, file):
    output = record.with_suffix(".log")
    while not any(line["outcome"] == "finished" for line in recorded(record, file)):
        record.touch()
        pid = os.fork()
        if pid == 0:
            run_tests(record, file, output)
        try:
            why = wait(pid, record)
        except KeyboardInterrupt:
            os.killpg(pid, signal.SIGKILL)
            raise
        last = (recorded(record, file) or [{"outcome": "", "test": ""}])[-1]
        if last["outcome"] == "started":
            said = output.read_text(errors="replace")
            add(record, file, last["test"], "crashed", f"{said[-WORDS // 2 :]}\n{why}")
        elif why or last["outcome"] != "finished":
            at = "exit" if last["outcome"] == "finished" else "file"
            add(record, file, at, "crashed", f"{output.read_text(errors='replace')}\n{why}")
            add(record, file, "file", "finished")


def main(arguments):
    if arguments[0] == "--warm":
        arguments = arguments[1:]
        import torch  # noqa: F401
        import torch_npu.testing  # noqa: F401

        # What a process does not write to it shares with this one.
        gc.freeze()
    record = Path(arguments[0])
    for file in arguments[1:]:
        run_file(record, file)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
