# SPDX-License-Identifier: Apache-2.0
"""`openaclnn run --ranks`: what ranks are given, how their output is told apart, how they end."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from conftest import refused, tool_command

from openaclnn.errors import ExitCode

SHOW = 'echo "$RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $MASTER_ADDR $MASTER_PORT"'
# Says that it is there, and ignores SIGTERM.
STUBBORN = "trap '' TERM; echo here; touch $RANK; while :; do sleep 0.1; done"


def when(rank: int, then: str, others: str) -> str:
    """A rank that does something once the others have left a file each."""
    ready = " && ".join(f"[ -e {each} ]" for each in others.split())
    return f"[ $RANK = {rank} ] && {{ until {ready}; do sleep 0.05; done; {then}; }}; "


def lines(text: str) -> list[str]:
    return sorted(text.splitlines())


def test_what_ranks_are_given(tool):
    run = tool("run", "--ranks", "3", "--", "sh", "-c", SHOW)
    assert (run.code, run.stderr) == (0, "")
    found = [re.fullmatch(r"\[(\d)\] (.*)", line) for line in lines(run.stdout)]
    port = found[0][2].split()[-1]
    wanted = [(str(rank), f"{rank} {rank} 3 3 127.0.0.1 {port}") for rank in range(3)]
    assert [each.groups() for each in found] == wanted and 1024 < int(port) < 65536


def test_one_rank_is_the_program_itself(tool):
    run = tool("run", "--ranks", "1", "--", "sh", "-c", f"{SHOW}; exit 7")
    assert run.code == 7 and run.stdout.startswith("0 0 1 1 127.0.0.1 "), run


def test_threads_and_devices_are_shared_unless_the_user_says(tool):
    show = 'echo "$OPENACLNN_DEVICE_COUNT $OPENACLNN_NUM_THREADS $OPENACLNN_TRACE"'
    threads = max(len(os.sched_getaffinity(0)) // 2, 1)
    unset = {"OPENACLNN_TRACE": "t-%r.%p.json"}
    run = tool("run", "--ranks", "2", "--", "sh", "-c", show, **unset)
    assert lines(run.stdout) == [f"[{rank}] 2 {threads} t-{rank}.%p.json" for rank in (0, 1)]
    given = {"OPENACLNN_DEVICE_COUNT": "5", "OPENACLNN_NUM_THREADS": "3"}
    run = tool("run", "--ranks", "2", "--", "sh", "-c", show, **given, OPENACLNN_TRACE="")
    assert lines(run.stdout) == [f"[{rank}] 5 3 " for rank in (0, 1)]


def test_lines_stay_whole(tool):
    """Both streams, parts of lines, an end without a newline."""
    program = 'printf "a$RANK"; sleep 0.2; echo b; echo oops >&2; printf "c$RANK"'
    run = tool("run", "--ranks", "4", "--", "sh", "-c", program)
    wanted = [f"[{rank}] {text}" for rank in range(4) for text in (f"a{rank}b", f"c{rank}")]
    assert lines(run.stdout) == sorted(wanted)
    assert lines(run.stderr) == [f"[{r}] oops" for r in range(4)]


def test_much_output_comes_whole(tool):
    run = tool("run", "--ranks", "2", "--", "sh", "-c", "seq 20000")
    for rank in (0, 1):
        own = [line[4:] for line in run.stdout.splitlines() if line.startswith(f"[{rank}] ")]
        assert own == [str(n) for n in range(1, 20001)]


def test_the_first_failure_ends_the_others(tool):
    started = time.monotonic()
    program = when(1, "exit 7", "0 2")
    program += "trap 'echo asked; exit 3' TERM; touch $RANK; sleep 100 & wait"
    run = tool("run", "--ranks", "3", "--", "sh", "-c", program)
    assert run.code == 7 and time.monotonic() - started < 90
    assert lines(run.stdout) == ["[0] asked", "[2] asked"]
    assert run.stderr == "openaclnn: rank 1 ended with code 7\n"


def test_who_does_not_end_is_killed(tool):
    program = when(0, "kill -SEGV $$", "1") + STUBBORN
    started = time.monotonic()
    run = tool("run", "--ranks", "2", "--grace", "0.5", "--", "sh", "-c", program)
    assert run.code == 128 + signal.SIGSEGV and time.monotonic() - started < 90
    assert "rank 0 ended with signal 11" in run.stderr and run.stdout == "[1] here\n"


def test_what_a_rank_has_started_ends_too(tool, tmp_path):
    program = when(1, "exit 1", "0") + "sleep 1000 & echo $!; touch $RANK; wait"
    run = tool("run", "--ranks", "2", "--", "sh", "-c", program)
    child = int(run.stdout.removeprefix("[0] "))
    deadline = time.monotonic() + 10
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert run.code == 1 and not alive(child)


def test_no_rank_outlives_output_that_cannot_be_written(tmp_path):
    program = "echo $$ > pid$RANK; echo hi; sleep 1000"
    with open("/dev/full", "wb") as full:
        run = subprocess.run(
            tool_command("run", "--ranks", "2", "--", "sh", "-c", program),
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert run.returncode == ExitCode.RUNTIME
    assert "cannot write what the ranks print: No space left on device" in run.stderr
    # A rank that was ended before it could write has left an empty file.
    said = [path.read_text() for path in tmp_path.glob("pid*")]
    assert any(said) and not any(alive(int(pid)) for pid in said if pid)


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_goes_to_all(tool, tmp_path, number):
    name = number.name.removeprefix("SIG")
    # An interactive shell's trap: a background shell would ignore SIGINT.
    program = f"import signal, sys\nsignal.signal(signal.SIG{name}, lambda *_: sys.exit(9))\n"
    program += "print('here', flush=True)\nsignal.pause()\n"
    site = ["-S"] if sys.flags.no_site else []
    command = [sys.executable, *site, "-m", "openaclnn", "run", "--ranks", "2", "--"]
    process = subprocess.Popen(
        [*command, sys.executable, "-S", "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert lines(process.stdout.readline() + process.stdout.readline()) == ["[0] here", "[1] here"]
    process.send_signal(number)
    assert process.wait(30) == 9
    process.stdout.close()


def test_checks_of_all_ranks_are_summed_up(tool):
    mistake = (
        "import ctypes; acl = ctypes.CDLL('libascendcl.so'); acl.aclInit(None);"
        "acl.aclrtSetDevice(0); acl.aclrtFree(ctypes.c_void_p(1 << 20))"
    )
    run = tool("run", "--ranks", "2", "--check", "fast", "--", sys.executable, "-S", "-c", mistake)
    assert run.code == 5 and "check summary: 2 errors" in run.stderr, run


def test_refusals(tool):
    refused(tool("run", "--ranks", "0", "--", "true"), 2, "--ranks")
    refused(tool("run", "--ranks", "2", "--", "no-such-program"), 2, "no-such-program")


def test_ranks_do_not_outlive_a_killed_tool():
    program = "echo $$; exec sleep 1000"
    command = tool_command("run", "--ranks", "2", "--", "sh", "-c", program)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as tool:
        pids = [int(tool.stdout.readline().split()[1]) for _ in range(2)]
        tool.kill()
    deadline = time.monotonic() + 30
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = [pid for pid in pids if alive(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left
