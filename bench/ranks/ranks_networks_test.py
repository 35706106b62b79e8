# SPDX-License-Identifier: Apache-2.0
"""Networks of ranks: who is where, what is told, and that nothing stays."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import ranks_networks
from ranks_networks import Link

SCRIPT = Path(ranks_networks.__file__)
WHY_NOT = ranks_networks.why_not()
if WHY_NOT:
    print(f"networks of ranks: LEFT OUT, {WHY_NOT}")
DELAY_WHY_NOT = ranks_networks.why_not(Link(delay_ms=1.0))
if DELAY_WHY_NOT and not WHY_NOT:
    print(f"links with a delay: LEFT OUT, {DELAY_WHY_NOT}")
made = pytest.mark.skipif(WHY_NOT is not None, reason=f"LEFT OUT, {WHY_NOT}")


def run(*arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, str(SCRIPT), *arguments]
    variables = {**os.environ, "PATH": ranks_networks.TOOLS}
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60)


@made
def test_each_rank_has_an_address_and_torchrun_s_variables():
    says = "echo $RANK $WORLD_SIZE $MASTER_ADDR $UCX_TLS $(ip -4 -br addr show eth0)"
    done = run("--ranks", "3", "--each", "--", "sh", "-c", says)
    assert done.returncode == 0, done.stderr
    for rank, line in enumerate(sorted(done.stdout.splitlines())):
        own = [str(rank), "3", "198.18.0.1", "tcp,self", f"198.18.0.{rank + 1}/24"]
        assert [word for word in line.split() if not word.startswith(("eth0", "UP"))] == own
    assert rank == 2


@made
@pytest.mark.parametrize("each", [["--each"], []])
def test_a_command_that_a_signal_has_ended_is_told_as_shells_do(each: list[str]):
    done = run("--ranks", "2", *each, "--", "sh", "-c", "kill -9 $$")
    assert done.returncode == 128 + signal.SIGKILL


SERVER = """
import os, socket, time
rank = int(os.environ["RANK"])
if rank == 0:
    with socket.create_server(("198.18.0.1", 7)) as server:
        for _ in range(2):
            print(server.accept()[1][0], flush=True)
for _ in range(1000 if rank else 0):
    try:
        socket.create_connection(("198.18.0.1", 7)).close()
        break
    except OSError:
        time.sleep(0.01)
"""


@made
def test_ranks_reach_each_other_and_nobody_else():
    done = run("--ranks", "3", "--each", "--", sys.executable, "-c", SERVER)
    assert sorted(done.stdout.split()) == ["198.18.0.2", "198.18.0.3"], done.stderr
    outside = run("--ranks", "1", "--each", "--", "ip", "route", "get", "192.0.2.1")
    assert outside.returncode != 0 and "unreachable" in outside.stderr


@made
def test_at_the_switch_are_ports_of_a_rate():
    says = "echo $OPENACLNN_TEST_NETWORKS; ip -br link; tc qdisc show dev port1"
    done = run("--ranks", "2", "--rate", "1gbit", "--", "sh", "-c", says)
    assert len(done.stdout.splitlines()[0].split(",")) == 2
    assert "port1@" in done.stdout and "eth0" not in done.stdout
    assert "tbf" in done.stdout and "rate 1Gbit" in done.stdout, done.stderr


ECHO = """
import os, socket, time
if os.environ["RANK"] == "0":
    with socket.create_server(("198.18.0.1", 7)) as server:
        near = server.accept()[0]
        while word := near.recv(1 << 20):
            near.sendall(word)
else:
    while True:
        try:
            far = socket.create_connection(("198.18.0.1", 7))
            break
        except OSError:
            time.sleep(0.01)
    least, word = 1e9, os.urandom(100_000)
    for _ in range(10):
        begin, back = time.monotonic(), b""
        far.sendall(word)
        while len(back) < len(word):
            back += far.recv(1 << 20)
        assert back == word
        least = min(least, time.monotonic() - begin)
    print(least)
"""


@pytest.mark.skipif(DELAY_WHY_NOT is not None, reason=f"LEFT OUT, {DELAY_WHY_NOT}")
@pytest.mark.parametrize("rate", [(), ("--rate", "1gbit")])
def test_bytes_come_back_after_a_delay_each_way(rate):
    echo = ["--each", "--", sys.executable, "-c", ECHO]
    done = run("--ranks", "2", *rate, "--delay", "20", *echo)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) >= 0.04


@made
def test_an_exit_code_is_passed_on():
    assert run("--ranks", "1", "--", "sh", "-c", "exit 7").returncode == 7
    assert run("--ranks", "1", "--", "sh", "-c", "kill -TERM $$").returncode == 128 + signal.SIGTERM
    # The others, which would go on for a minute, end with it.
    begin = time.monotonic()
    each = run("--ranks", "2", "--each", "--", "sh", "-c", "[ $RANK = 1 ] && exit 3; sleep 60")
    assert each.returncode == 3 and time.monotonic() - begin < 30


def processes_that_say(word: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word in path.read_text():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


@made
def test_a_kill_leaves_nothing(tmp_path):
    word, ready = f"rank-of-{os.getpid()}", tmp_path / "ready"
    command = f": {word}; touch {ready}.$RANK; sleep 60 & sleep 60"
    script = [sys.executable, str(SCRIPT), "--ranks", "2", "--each", "--", "sh", "-c", command]
    with subprocess.Popen(script) as process:
        while not all(Path(f"{ready}.{rank}").exists() for rank in range(2)):
            assert process.poll() is None
            time.sleep(0.01)
        assert len(processes_that_say(word)) >= 3
        process.kill()
    deadline = time.monotonic() + 5
    while processes_that_say(word) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert processes_that_say(word) == []


def test_says_what_is_left_out(monkeypatch, capsys):
    monkeypatch.setattr(ranks_networks.shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(sys, "argv", ["ranks_networks.py", "true"])
    assert ranks_networks.main() == 0
    expected = "LEFT OUT, unshare (Debian: iproute2, util-linux) is not installed"
    assert expected in capsys.readouterr().out


def test_shapes():
    assert Link().rules("port0") == []
    rate = "root tbf rate 1gbit burst 128kb latency 20ms"
    assert Link("1gbit").rules("port0") == [f"qdisc add dev port0 {rate}"]
    assert Link("1gbit", 1.0).rules("port0") == Link("1gbit").rules("port0")
    assert Link(delay_ms=1.0).rules("port3") == []
