# SPDX-License-Identifier: Apache-2.0
"""Runs the tool as often as it is asked, each time in a copy of a process that has imported it.

To start the tool anew takes 0.4 s, of which the imports are nearly all. Standard input has a line of
JSON for each run, standard output its exit code, or -signal.
"""

import atexit
import ctypes
import faulthandler
import json
import os
import signal
import sys
from pathlib import Path
from subprocess import PIPE, Popen

from openaclnn.tool import (  # noqa: F401
    call_command,
    cli,
    list_command,
    operator_commands,
    tool_commands,
)
from openaclnn.tool.traces import trace_command  # noqa: F401

LIMIT_S = 300  # libraries that count their lines are ten times as slow


class Tool:
    """Such a process, for as long as whoever made it lives."""

    def __init__(self):
        site = ["-S"] if sys.flags.no_site else []
        self._process = Popen([sys.executable, *site, __file__], stdin=PIPE, stdout=PIPE, text=True)

    def run(self, arguments: list[str], folder: Path, environment: dict, said: Path) -> int:
        """`said` gets the files stdout and stderr."""
        order = {"arguments": arguments, "folder": str(folder), "said": str(said)}
        print(json.dumps({**order, "environment": environment}), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())


def _become(order: dict) -> None:
    """What `python -m openaclnn` does; does not return."""
    signal.alarm(LIMIT_S)  # what the tool becomes keeps it
    said = Path(order["said"])
    files = [(os.devnull, os.O_RDONLY), (said / "stdout", os.O_RDWR), (said / "stderr", os.O_RDWR)]
    for descriptor, (path, flags) in enumerate(files):
        file = os.open(path, flags | os.O_CREAT, 0o600)
        os.dup2(file, descriptor)
        os.close(file)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    faulthandler.enable()
    sys.argv = ["openaclnn", *order["arguments"]]
    try:
        cli.main()
    except SystemExit as end:
        code = end.code
    atexit._run_exitfuncs()
    sys.stdout.flush()
    ctypes.CDLL(None).exit(code)  # and what the libraries do at exit


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _become(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
