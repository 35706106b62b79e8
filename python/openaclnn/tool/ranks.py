# SPDX-License-Identifier: Apache-2.0
"""The ranks of one machine: a process each, started and ended together, as torchrun's are."""

import contextlib
import ctypes
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from ..errors import Error

GRACE = 30.0  # seconds from SIGTERM to SIGKILL, as torchrun has
_POLL = 0.1  # seconds; the end of a rank's output is seen at once
_LONGEST_LINE = 1 << 16
_PR_SET_PDEATHSIG = 1
_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


def environment(variables: Mapping[str, str], ranks: int, rank: int, port: int) -> dict[str, str]:
    """The environment of rank `rank`; the user's settings of threads and devices stay.

    `%r` in OPENACLNN_TRACE is the rank: each writes a trace of its own.
    """
    share = str(max(len(os.sched_getaffinity(0)) // ranks, 1))
    found = {
        "OPENACLNN_DEVICE_COUNT": str(ranks),
        "OPENACLNN_NUM_THREADS": share,
        "OMP_NUM_THREADS": share,
        "PYTHONUNBUFFERED": "1",  # or a rank that is ended keeps its last words
        **variables,
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(ranks),
        "LOCAL_WORLD_SIZE": str(ranks),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }
    if "OPENACLNN_TRACE" in found:
        found["OPENACLNN_TRACE"] = found["OPENACLNN_TRACE"].replace("%r", str(rank))
    return found


def _ends_with(parent: int):
    """Prepares a rank before its program: it gets SIGTERM where this process is killed."""
    prctl = ctypes.CDLL(None).prctl  # found before the fork

    def follow() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)

    return follow


def free_port() -> int:
    """A port that nobody listens on now; rank 0 will."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(
    ranks: int, program: str, command: list[str], variables: Mapping[str, str], grace: float = GRACE
) -> int:
    """Starts the command `ranks` times; the exit code of the first that failed, or 0.

    That one ends the others: SIGTERM, then, `grace` seconds later, SIGKILL. A signal that would end
    this process goes to all. Lines of output begin with the rank.
    """
    running = _Running(grace)
    with running.forwarding(), running.ending():
        port = free_port()
        try:
            for rank in range(ranks):
                running.start(rank, program, command, environment(variables, ranks, rank, port))
                if running.deadline is not None:
                    break
        except OSError as error:
            raise Error(f"cannot start {program}: {error.strerror}") from None
        if running.deadline is not None:  # a signal came before all were there to get it
            running.stop(signal.SIGTERM)
        try:
            return running.wait()
        except OSError as error:
            raise Error(f"cannot write what the ranks print: {error.strerror}") from None


@dataclass
class _Stream:
    """A rank's output, as far as it is no whole line yet."""

    target: BinaryIO
    label: bytes
    rest: bytes = b""

    def take(self, data: bytes) -> None:
        *lines, self.rest = (self.rest + data).split(b"\n")
        if len(self.rest) > _LONGEST_LINE:
            lines.append(self.rest)
            self.rest = b""
        self._write(lines)

    def end(self) -> None:
        if self.rest:
            self._write([self.rest])

    def _write(self, lines: list[bytes]) -> None:
        # At once, so that lines of ranks do not mix. A reader who went away ends nothing.
        with contextlib.suppress(BrokenPipeError):
            self.target.write(b"".join(self.label + line + b"\n" for line in lines))
            self.target.flush()


@dataclass
class _Running:
    """The processes, and what is to become of them."""

    grace: float
    processes: list[subprocess.Popen] = field(default_factory=list)
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    failed: tuple[int, int] | None = None  # rank and exit code of the first
    deadline: float | None = None  # after which none is waited for

    @contextlib.contextmanager
    def forwarding(self):
        """Passes signals that would end this process to the ranks, which are in groups of their
        own."""
        before = {
            number: signal.signal(number, lambda number, _: self.stop(number))
            for number in _FORWARDED
            if signal.getsignal(number) != signal.SIG_IGN
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            self.selector.close()

    @contextlib.contextmanager
    def ending(self):
        """No rank outlives an error here."""
        try:
            yield
        except BaseException:
            self.stop(signal.SIGTERM)
            while any(process.poll() is None for process in self.processes):
                if time.monotonic() > self.deadline:
                    self._signal(signal.SIGKILL)
                time.sleep(_POLL)
            raise

    def start(self, rank: int, program: str, command: list[str], variables) -> None:
        process = subprocess.Popen(
            command,
            executable=program,
            env=variables,
            bufsize=0,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,  # a signal reaches what the rank has started, too
            preexec_fn=_ends_with(os.getpid()),  # of one thread, so that this is safe
        )
        self.processes.append(process)
        label = f"[{rank}] ".encode()
        for source, target in ((process.stdout, sys.stdout), (process.stderr, sys.stderr)):
            os.set_blocking(source.fileno(), False)
            stream = _Stream(target.buffer, label)
            self.selector.register(source, selectors.EVENT_READ, stream)

    def stop(self, number: int) -> None:
        """To all that still run; what does not end is killed."""
        if self.deadline is None:
            self.deadline = time.monotonic() + self.grace
        self._signal(number)

    def wait(self) -> int:
        while any(process.poll() is None for process in self.processes):
            self._read(_POLL)
            self._look()
            if self.deadline is not None and time.monotonic() > self.deadline:
                self._signal(signal.SIGKILL)
        self._look()
        # A process that a rank left running may hold its pipes: only the bytes that are there are
        # read.
        while self._read(0):
            pass
        for key in list(self.selector.get_map().values()):
            self._close(key)
        return self.failed[1] if self.failed else 0

    def _look(self) -> None:
        for rank, process in enumerate(self.processes):
            code = process.poll()
            if not code or self.failed:
                continue
            self.failed = (rank, code if code > 0 else 128 - code)
            said = f"code {code}" if code > 0 else f"signal {-code}"
            print(f"openaclnn: rank {rank} ended with {said}", file=sys.stderr, flush=True)
            self.stop(signal.SIGTERM)

    def _signal(self, number: int) -> None:
        for process in self.processes:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, number)

    def _read(self, seconds: float) -> bool:
        """Whether there was something."""
        if not self.selector.get_map():
            time.sleep(seconds)
            return False
        ready = self.selector.select(seconds)
        for key, _ in ready:
            data = key.fileobj.read(_LONGEST_LINE)
            if data:
                key.data.take(data)
            elif data == b"":
                self._close(key)
        return bool(ready)

    def _close(self, key: selectors.SelectorKey) -> None:
        key.data.end()
        self.selector.unregister(key.fileobj)
        key.fileobj.close()
