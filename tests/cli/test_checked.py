# SPDX-License-Identifier: Apache-2.0
"""`openaclnn run --check`: the environment, the summary, the exit code, the file of reports."""

import json
import os
import re
import resource
import signal
import stat
import subprocess
import sys

import pytest
from conftest import tool_command

from openaclnn.tool.checked import Findings, LeakCheck

START = """
import ctypes, os, sys
acl = ctypes.CDLL("libascendcl.so")
memory = ctypes.c_void_p()
assert acl.aclInit(None) == 0 and acl.aclrtSetDevice(0) == 0
assert acl.aclrtMalloc(ctypes.byref(memory), ctypes.c_size_t(64), 0) == 0
streams = []
def fill(count):
    for _ in range(count):
        stream, four = ctypes.c_void_p(), ctypes.c_size_t(4)
        assert acl.aclrtCreateStream(ctypes.byref(stream)) == 0
        assert acl.aclrtMemsetAsync(memory, four, 1, four, stream) == 0
        streams.append(stream)
"""
END = """
for stream in streams:
    assert acl.aclrtDestroyStream(stream) == 0
assert acl.aclrtFree(memory) == 0 and acl.aclFinalize() == 0
"""
RACES = START + "fill(3)" + END
QUIET = START + "fill(1)" + END


def program(text: str) -> list[str]:
    return ["--", sys.executable, "-c", text]


def test_a_race_is_summed_up_and_ends_with_5(tool):
    run = tool("run", "--check", "full", *program(RACES + "sys.exit(3)"))
    assert run.code == 5
    before, summary = run.stderr.split("openaclnn: check summary: ")
    assert before.count("openaclnn: racecheck: nothing orders aclrtMemsetAsync") == 2
    lines = summary.splitlines()
    assert lines[:2] == ["2 errors", "  racecheck: 2 errors, 2 reported"]
    assert lines[2].startswith("    nothing orders aclrtMemsetAsync on stream 0x")
    assert len(lines) == 4


@pytest.mark.parametrize("check", ["fast", "full"])
def test_without_mistakes_the_code_is_the_programs(tool, check):
    run = tool("run", "--check", check, *program(QUIET + "print('out'); sys.exit(3)"))
    assert run == type(run)(3, "out\n", "openaclnn: check summary: no errors\n")


REFUSED = START + """
codes = []
for _ in range(2):
    codes += [acl.aclrtMemset(memory, 64, 1, 65), acl.aclrtSetDevice(99)]
"""


def test_refused_calls_are_counted_by_their_codes(tool):
    run = tool("run", "--check", "full", *program(REFUSED + "assert all(codes)" + END))
    assert run.code == 5
    lines = run.stderr.split("openaclnn: check summary: ")[1].splitlines()
    assert lines == [
        "4 errors",
        "  apicheck: 4 errors, 2 reported (codes: 107000 2, 107001 2)",
        "    aclrtMemset returned 107000: count value is 65, expected at most maxCount (64)",
        "    aclrtSetDevice returned 107001: deviceId value is 99, expected 0 <= deviceId < 1",
    ]


@pytest.mark.parametrize("level", ["fast", "full"])
def test_a_program_that_asks_for_refusals(tool, level):
    command = program(REFUSED + END)
    assert tool("run", "--check", level, *command).code == 5
    no = tool("run", "--check", level, "--report-api-errors", "no", *command)
    assert (no.code, no.stderr) == (0, "openaclnn: check summary: no errors\n")
    variable = tool("run", "--check", level, *command, OPENACLNN_REPORT_API_ERRORS="no")
    assert (variable.code, variable.stderr) == (0, "openaclnn: check summary: no errors\n")
    refused = tool("run", "--report-api-errors", "explicit", *command)
    assert refused.code == 2 and "--report-api-errors needs --check" in refused.stderr


def test_what_is_left_besides_memory(tool):
    left = """
event, pinned = ctypes.c_void_p(), ctypes.c_void_p()
assert acl.aclrtCreateEvent(ctypes.byref(event)) == 0
assert acl.aclrtMallocHost(ctypes.byref(pinned), ctypes.c_size_t(32)) == 0
fill(1)
assert acl.aclrtSynchronizeDevice() == 0
streams.clear()
"""
    run = tool("run", "--check", "full", "--leak-check", "full", *program(START + left + END))
    assert run.code == 5
    assert "check summary: 3 errors\n  leaks: 3\n" in run.stderr
    for what in (r"stream 0x\w+ was left", r"event 0x\w+ was left", r"32 bytes of pinned memory at"):
        assert re.search(f"    aclFinalize: {what}", run.stderr), run.stderr


def test_off_is_the_program_alone(tool):
    script = "echo $OPENACLNN_CHECK ${OPENACLNN_CHECK_JSON-none}; exit 7"
    run = tool("run", "--check", "off", "--", "sh", "-c", script, OPENACLNN_CHECK="full")
    assert run == type(run)(7, "off none\n", "")


def test_the_programs_of_a_program_are_checked_too(tool):
    script = f"{sys.executable} -c '{RACES}'; {sys.executable} -c '{RACES}'; true"
    run = tool("run", "--check", "full", "--", "sh", "-c", script)
    assert run.code == 5 and "check summary: 4 errors\n" in run.stderr


def test_the_file_is_kept_and_begins_anew(tool, tmp_path):
    file = tmp_path / "report.jsonl"
    file.write_text('{"pid": 1, "summary": {}}\n')
    run = tool("run", "--check", "full", "--check-json", "report.jsonl", *program(RACES))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert run.code == 5
    assert [line.get("check") for line in lines] == ["racecheck", "racecheck", None]
    assert lines[-1]["summary"] == {"racecheck": 2}
    assert tool("run", "--check-json", file, *program(QUIET)).code == 0
    assert file.read_text() == ""
    file.unlink()
    tool("run", "--check-json", file, *program(QUIET))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_written_is_refused(tool):
    run = tool("run", "--check-json", "no/such/file", *program(QUIET))
    assert run.code == 2 and "cannot write " in run.stderr


REPORT = '{"pid":7,"check":"racecheck","severity":"error","title":"of two tasks","code":507035}\n'
LOG = '{"level":30,"time":1,"pid":7,"hostname":"here","msg":"of another program"}\n'


@pytest.mark.parametrize(
    "text",
    ["#!/bin/sh\nexit 0\n", '{"lr": 1}\n', "\xff\0", "{" * 2**17, LOG, REPORT + "my notes\n"],
)
def test_a_file_of_something_else_is_not_emptied(tool, tmp_path, text):
    file = tmp_path / "train.sh"
    file.write_text(text)
    (tmp_path / "link").symlink_to(file)
    for name in ("train.sh", "link"):
        run = tool("run", "--check-json", name, *program(QUIET))
        assert run.code == 2 and "which has something else than reports" in run.stderr, run
    assert file.read_text() == text


@pytest.mark.parametrize("text", ["", REPORT, REPORT + "\n" + REPORT[:20]])
def test_a_file_of_reports_begins_anew(tool, tmp_path, text):
    file = tmp_path / "report.jsonl"
    file.write_text(text)
    assert tool("run", "--check-json", file, *program(QUIET)).code == 0
    assert REPORT[:20] not in file.read_text()


def test_a_pipe_is_refused_and_not_waited_for(tool, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", "/dev/null"):
        run = tool("run", "--check-json", name, *program(QUIET))
        assert run.code == 2 and "cannot write " in run.stderr


def test_a_program_that_removes_its_reports(tool):
    run = tool("run", "--check", "full", "--", "sh", "-c", 'rm "$OPENACLNN_CHECK_JSON"')
    assert run.code == 4 and "the reports are lost: " in run.stderr


def limited(most: int, *arguments) -> subprocess.CompletedProcess:
    """The tool, where no file may have more bytes."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return subprocess.run(
        tool_command(*arguments), preexec_fn=limit, capture_output=True, text=True, timeout=120
    )


FILL = """
import os
with open(os.environ["OPENACLNN_CHECK_JSON"], "a") as file:
    file.write("\\n" * 90000)
"""


def test_a_file_that_takes_no_reports_is_refused(tmp_path):
    file = tmp_path / "report.jsonl"
    run = limited(0, "run", "--check-json", file, *program("print('started')"))
    assert (run.returncode, run.stdout) == (4, "")
    assert run.stderr == f"openaclnn: cannot write {file}: File too large\n"


@pytest.mark.parametrize(("text", "code"), [(QUIET, 4), (RACES, 5)])
def test_a_file_that_takes_no_more_reports_is_told(tmp_path, text, code):
    file = tmp_path / "report.jsonl"
    run = limited(100_000, "run", "--check", "full", "--check-json", file, *program(text + FILL))
    assert run.returncode == code and "no errors" not in run.stderr
    assert run.stderr.endswith(f"openaclnn: reports may be lost: {file}: File too large\n")
    assert ("check summary: 2 errors\n" in run.stderr) == (code == 5)


def test_a_report_that_is_cut_is_told(tool):
    script = """printf '{"pid": 1, "ch' >> "$OPENACLNN_CHECK_JSON" """
    run = tool("run", "--check", "fast", "--", "sh", "-c", script)
    assert run.code == 4 and run.stderr.endswith("/report.jsonl: one is cut\n"), run
    assert "no errors" not in run.stderr


def test_full_disks(tmp_path):
    """What is full before is refused; what becomes full has room that was set aside."""
    (tmp_path / "disk").mkdir()
    file = tmp_path / "disk" / "report.jsonl"

    def run(first: str, text: str) -> subprocess.CompletedProcess:
        script = f"mount -t tmpfs -o size=256k tmpfs disk || exit 99; {first}; shift; exec \"$@\""
        command = tool_command("run", "--check", "full", "--check-json", file, *program(text))
        whole = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", "--", *command]
        return subprocess.run(whole, cwd=tmp_path, capture_output=True, text=True, timeout=120)

    fill = "head -c 300000 /dev/zero > disk/fill 2> disk/said"
    full = run(fill, QUIET)
    if full.returncode in (1, 99):
        pytest.skip("no file system can be mounted here: " + full.stderr)
    assert full.returncode == 4
    assert full.stderr == f"openaclnn: cannot write {file}: No space left on device\n"
    fills = f"import os\nassert os.system('{fill}')\n"
    kept = run("true", fills + RACES)
    assert kept.returncode == 5 and "check summary: 2 errors\n" in kept.stderr, kept
    quiet = run("true", fills + QUIET)
    assert (quiet.returncode, quiet.stderr) == (0, "openaclnn: check summary: no errors\n")


def test_leaks_are_those_of_a_check(tool):
    run = tool("run", "--leak-check", "full", *program(QUIET))
    assert run.code == 2 and "--check" in run.stderr


def test_a_file_is_that_of_a_check(tool):
    run = tool("run", "--check", "off", "--check-json", "report.jsonl", *program(QUIET))
    assert run.code == 2 and "--check-json needs --check fast or full" in run.stderr


def test_a_file_that_the_environment_names_is_added_to(tool, tmp_path, monkeypatch):
    file = tmp_path / "mine.jsonl"
    monkeypatch.setenv("OPENACLNN_CHECK_JSON", str(file))
    for count in (3, 6):
        run = tool("run", "--check", "full", *program(RACES))
        assert run.code == 5 and "check summary: 2 errors\n" in run.stderr
        assert len(file.read_text().splitlines()) == count


def test_nobody_reads_the_summary(tool, tmp_path):
    command = tool_command("run", "--check", "full", *program(RACES))
    with open("/dev/full", "w") as full:
        assert subprocess.run(command, stderr=full).returncode == 5
    script = 'exec "$@" 2>&-'
    closed = subprocess.run(["sh", "-c", script, "sh", *command], stdout=subprocess.PIPE)
    assert closed.returncode == 5 and closed.stdout == b""


def test_a_program_that_a_mistake_ends(tool):
    run = tool("run", "--check", "fast", *program(START + "ctypes.string_at(memory.value, 1)"))
    assert run.code == 5
    assert "  memcheck: 1 error, 1 reported\n    the host reads device memory at 0x" in run.stderr


def test_a_call_that_is_refused(tool, tmp_path):
    free = "acl.aclrtFree(memory)"
    text = START + f"assert [{free}, {free}] == [0, 107000] and acl.aclFinalize() == 0"
    run = tool("run", "--check", "fast", "--check-json", "report.jsonl", *program(text))
    assert run.code == 5
    assert "  memcheck: 1 error, 1 reported\n    aclrtFree: devPtr value is 0x" in run.stderr
    line = json.loads((tmp_path / "report.jsonl").read_text().splitlines()[0])
    assert line["code"] == 107000 and line["where"].endswith(" and that aclrtFree has freed")


def test_a_program_that_a_signal_ends(tool):
    run = tool("run", "--check", "fast", "--", "sh", "-c", "kill -TERM $$")
    assert run.code == 128 + signal.SIGTERM


def test_who_ends_the_tool_ends_the_program():
    script = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done"
    command = tool_command("run", "--check", "fast", "--", "sh", "-c", script)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
        assert process.wait(60) == 9


def test_findings_of_several_processes(tmp_path):
    def error(pid: int, check: str) -> dict:
        return {"pid": pid, "check": check, "severity": "error", "title": f"t{pid}"}

    entries = [
        error(1, "racecheck"),
        error(2, "memcheck"),  # killed
        {"pid": 1, "summary": {"racecheck": 30}, "reported": 1},
        error(1, "racecheck"),  # another life
        {**error(3, "apicheck"), "code": 107000},
        {"pid": 3, "summary": {"apicheck": 3}, "codes": {"107000": 2, "161001": 1}},
        {**error(4, "apicheck"), "code": 161001},
        {"pid": 1, "check": "memcheck", "severity": "warning", "title": "kind"},
        {"pid": 1, "check": "memcheck", "severity": "leak", "title": "left"},
    ]
    file = tmp_path / "report.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in entries) + '{"cut\n3\n')
    findings = Findings.read(file)
    assert findings.cut and findings.errors == {"racecheck": 31, "memcheck": 1, "apicheck": 4}
    assert findings.lines(LeakCheck.NO) == [
        "openaclnn: check summary: 36 errors",
        "  apicheck: 4 errors, 2 reported (codes: 107000 2, 161001 2)",
        "    t3",
        "    t4",
        "  memcheck: 1 error, 1 reported",
        "    t2",
        "  racecheck: 31 errors, 2 reported",
        "    t1",
        "    t1",
        "  leaks: 1 (--leak-check full counts them)",
        "    left",
        "  warnings: 1",
        "    kind",
    ]
    assert "37 errors" in findings.lines(LeakCheck.FULL)[0]
    file.write_text(json.dumps(entries[-1]) + "\n" + json.dumps(entries[-1]) + "\n")
    findings = Findings.read(file)
    assert not findings.found(LeakCheck.NO) and findings.found(LeakCheck.FULL)
    file.write_text(json.dumps(entries[-2]) + "\n")
    assert not Findings.read(file).found(LeakCheck.FULL)


def test_leaks_that_are_not_told_one_by_one(tmp_path):
    leak = {"pid": 1, "check": "memcheck", "severity": "leak", "title": "left"}
    entries = [leak] * 100 + [{"pid": 1, "leaks": 150, "bytes": 4800}, {**leak, "pid": 2}]
    file = tmp_path / "report.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in entries))
    lines = Findings.read(file).lines(LeakCheck.FULL)
    assert lines[0] == "openaclnn: check summary: 151 errors"
    assert lines[-1] == "    and 141 more"


def test_a_process_that_becomes_another_program(tmp_path):
    file = tmp_path / "report.jsonl"
    line = {"pid": 1, "check": "memcheck", "severity": "error", "title": "t"}
    lines = [line, line, {"pid": 1, "summary": {"memcheck": 1}, "reported": 1}]
    file.write_text("".join(json.dumps(each) + "\n" for each in lines))
    assert Findings.read(file).errors == {"memcheck": 2}


def test_many_are_cut(tmp_path):
    file = tmp_path / "report.jsonl"
    line = {"pid": 1, "check": "memcheck", "severity": "error", "title": "t"}
    file.write_text("".join(json.dumps(line) + "\n" for _ in range(13)))
    assert Findings.read(file).lines(LeakCheck.NO)[-2:] == ["    t", "    and 3 more"]
