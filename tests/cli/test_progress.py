# SPDX-License-Identifier: Apache-2.0
"""Progress bars: on a terminal, past a second, on stderr."""

import os
import pty
import subprocess
import sys

import pytest

PROGRAM = "import sys, time; from openaclnn.tool.progress import stage\n"
PROGRAM += "with stage('working', 2) as advance: advance(1); time.sleep(float(sys.argv[1]))"


def shown(seconds: float) -> bytes:
    """What a stage of that length writes to a terminal."""
    ours, theirs = pty.openpty()
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(seconds)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    assert (finished.returncode, finished.stdout) == (0, b"")
    os.close(theirs)
    try:
        return os.read(ours, 1 << 16)
    except OSError:  # nothing was written
        return b""
    finally:
        os.close(ours)


@pytest.mark.parametrize("seconds, expected", [(0.1, False), (3, True)])
def test_a_bar_is_shown_after_a_second(seconds, expected):
    assert (b"working" in shown(seconds)) == expected


def test_nothing_is_shown_where_stderr_is_a_file():
    command = [sys.executable, "-c", PROGRAM, "1.2"]
    assert subprocess.run(command, capture_output=True, check=True).stderr == b""
