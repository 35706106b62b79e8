# SPDX-License-Identifier: Apache-2.0
"""Lets each allocation of a call of each operator fail, once and with all after it, in any thread.

    shortage.py ALLOCATOR [--every N] [--seed SEED] [--large] [OPERATOR...]

ALLOCATOR is the library made of short_memory_preload.cc. What has to hold of a call that fails: it
says so with a code and a message that names it, nothing is lost, what is left of it can be ended,
and the same call succeeds with memory again, from the same executor if it had got one. Each second
call is left to the workers, the others are run by the thread that waits. `--every 5` lets the
fifth part of the allocations fail, which ones the seed says; `--large` takes operands that are cut
into blocks.
"""

import argparse
import ctypes
import faulthandler
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

from subjects import Subject, drawn, subjects

import draw
import numpy as np
import records
from openaclnn.native import runtime
from openaclnn.native.call import Call
from openaclnn.operators.operator import Problem

CODES = (200000, 207001, 207003)  # memory of the host or of the device, a resource
COMPLETE = 0  # ACL_STREAM_STATUS_COMPLETE
SECONDS = 120  # that the calls for one allocation may take: any more is a hang
TRIES = 10  # what a failure loses it loses each time; what it keeps it keeps once
LARGE = 70_001  # elements, of which most operators make several blocks
LARGEST = 2**24  # bytes of all inputs: each failure copies them anew


def _large(record: records.Record) -> Iterator[Problem]:
    """One with shapes of LARGE elements, of fewer where the record adds dimensions to them."""
    elements = LARGE
    while True:
        with mock.patch.object(draw.Draw, "shape", _long_shape(elements)):
            problem = next(drawn(record), None)
        if problem is None:
            return
        if _input_bytes(problem) <= LARGEST:
            yield problem
            return
        elements //= 8


def _long_shape(elements: int) -> Callable:
    def shape(self, least: int = 0, most: int = 3, high: int = 5, walk=None) -> tuple[int, ...]:
        return (1,) * (max(least, 1) - 1) + (elements,) if most > 0 else ()

    return shape


def _input_bytes(problem: Problem) -> int:
    return sum(one.array.nbytes for each in problem.inputs.values() for one in _members(each))


class Allocator:
    """Which allocations fail."""

    def __init__(self):
        library = ctypes.CDLL(None)
        self._begin, self._end = library.short_memory_begin, library.short_memory_end
        self._live = library.short_memory_live_blocks
        self._begin.argtypes = (ctypes.c_int64, ctypes.c_int)
        self._end.restype = self._live.restype = ctypes.c_int64

    def begin(self, first: int, once: bool) -> None:
        self._begin(first, once)

    def end(self) -> int:
        return self._end()

    def live(self) -> int:
        return self._live()


class Trial:
    """One operator's call, as often as allocations of it may fail."""

    def __init__(self, started: runtime.Runtime, stream: runtime.Stream, subject: Subject):
        self._runtime, self._kit, self._stream = started, started.kit, stream
        self._function, self._api = subject.function, subject.function.api
        self._problem = next(subject.problems())
        self._allocator = Allocator()
        self.faults: list[str] = []
        self.injected = 0
        self._expected = self._plain_call()

    def fail(self, first: int, once: bool, worker: bool) -> bool:
        """Whether any allocation failed: otherwise the call makes fewer."""
        free, live = self._free(), self._allocator.live()
        failures = self._short_call(first, once, worker)
        self.injected += failures
        for _ in range(TRIES):
            if self._allocator.live() <= live:
                break
            live = self._allocator.live()
            self._short_call(first, once, worker)
        else:
            self._fault(f"{self._allocator.live() - live} blocks are lost each time")
        if self._free() != free:
            self._fault(f"{free - self._free()} bytes of the device are lost")
        if self._plain_call() != self._expected:
            self._fault("the next call computes something else")
        return failures > 0

    def _short_call(self, first: int, once: bool, worker: bool) -> int:
        with Call(self._runtime, self._function, self._problem, self._stream) as call:
            workspace = call._reserve(call.workspace_bytes())
            size, executor = ctypes.c_uint64(), ctypes.c_void_p()
            plan = (*call.arguments, ctypes.byref(size), ctypes.byref(executor))
            run = (workspace, size, executor, self._stream.handle)
            self._allocator.begin(first, once)
            planned = self._outcome(f"{self._api}GetWorkspaceSize", plan)
            launched = self._outcome(self._api, run) if planned[0] == 0 else (0, "")
            ended = self._wait(worker) if (planned[0], launched[0]) == (0, 0) else (0, "")
            failures = self._allocator.end()
            self._judge(planned, launched, ended, failures)
            if planned[0] != 0 and executor.value:
                self._fault("phase 1 fails and gives an executor")
            if launched[0] != 0:
                again = self._outcome(self._api, run)
                if again[0] != 0:
                    self._fault(f"with memory again phase 2 says {again}")
                    self._kit.function("aclDestroyAclOpExecutor")(executor)
                ended = self._outcome("aclrtSynchronizeStream", (self._stream.handle,))
                if ended[0] != 0:
                    self._fault(f"with memory again the task says {ended}")
            if planned[0] == 0 and ended[0] == 0 and _bytes(call) != self._expected:
                self._fault("the results are wrong")
        return failures

    def _judge(self, planned, launched, ended, failures: int) -> None:
        phases = {"phase 1": planned, "phase 2": launched, "the task": ended}
        for phase, (code, text) in phases.items():
            if code == 0:
                continue
            if failures == 0:
                self._fault(f"{phase} fails for no reason: {code}: {text}")
            elif code not in CODES or not text.startswith("EE10") or f"{self._api}:" not in text:
                self._fault(f"{phase}: {code}: {text or 'no message'}")

    def _wait(self, worker: bool) -> tuple[int, str]:
        """For the task; whoever synchronises would run it."""
        status, until = ctypes.c_int(), time.monotonic() + SECONDS / 2
        query = self._kit.function("aclrtStreamQuery")
        while worker and query(self._stream.handle, ctypes.byref(status)) == 0:
            if status.value == COMPLETE or time.monotonic() > until:
                break
        return self._outcome("aclrtSynchronizeStream", (self._stream.handle,))

    def _outcome(self, api: str, arguments: tuple) -> tuple[int, str]:
        code = self._kit.function(api)(*arguments)
        return (code, self._kit.recent_message()) if code != 0 else (0, "")

    def _plain_call(self) -> list[bytes]:
        with Call(self._runtime, self._function, self._problem, self._stream) as call:
            call.run()
            return _bytes(call)

    def _free(self) -> int:
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self._kit.call("aclrtGetMemInfo", ctypes.c_int(1), ctypes.byref(free), ctypes.byref(total))
        return free.value

    def _fault(self, what: str) -> None:
        self.faults.append(what)


def _bytes(call: Call) -> list[bytes]:
    """What is in the outputs' memory."""
    memory = call.storages().values()
    return [np.asarray(one).tobytes() for each in memory for one in _members(each)]


def _members(value) -> list:
    """Of a list of tensors, or the one tensor."""
    return value if isinstance(value, list) else [value]


def torture(options, progress: mmap.mmap) -> int:
    """All operators from the one that `progress` names; returns 1 for faults."""
    started = runtime.start()
    stream, faulty = runtime.Stream(started), False
    injected = calls = 0
    chosen = subjects(_large if options.large else drawn)
    if options.operators:
        chosen = [each for each in chosen if each.function.api in options.operators]
    for number, subject in enumerate(chosen):
        if number < options.skip or not started.kit.has(subject.function.api):
            continue
        api = subject.function.api
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        trial = Trial(started, stream, subject)
        for once in (True, False):
            first = (zlib.crc32(api.encode()) + options.seed + once) % options.every
            worker = False
            while True:
                where = f"{api}, allocation {first}{'' if once else ' and all after it'}"
                _note(progress, f"{number} {where}")
                faulthandler.dump_traceback_later(SECONDS, exit=True)
                more = trial.fail(first, once, worker)
                calls += 1
                if trial.faults:
                    print(f"{where}: {'; '.join(trial.faults)}", flush=True)
                    faulty = True
                    trial.faults.clear()
                    break
                if not more:
                    break
                first, worker = first + options.every, not worker
        faulthandler.cancel_dump_traceback_later()
        injected += trial.injected
    _note(progress, "")
    print(f"{len(chosen) - options.skip} operators, {calls} calls, {injected} allocations failed")
    return int(faulty)


def _note(progress: mmap.mmap, text: str) -> None:
    progress[:] = text.encode().ljust(len(progress), b"\0")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("allocator", type=Path)
    parser.add_argument("operators", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--skip", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--progress", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.progress:
        faulthandler.enable()
        with options.progress.open("r+b") as file, mmap.mmap(file.fileno(), 0) as progress:
            return torture(options, progress)
    return _watch(options)


def _watch(options) -> int:
    """Runs all in a child; where that dies, says in what, and goes on behind it."""
    failed = False
    environment = os.environ | {"LD_PRELOAD": str(options.allocator.resolve())}
    environment |= {"OPENACLNN_SOC": "Ascend910B1", "ASCEND_GLOBAL_LOG_LEVEL": "4"}
    print(f"seed {options.seed}, every {options.every}")
    with tempfile.NamedTemporaryFile() as file:
        skip = 0
        while True:
            file.seek(0)
            file.write(b"\0" * 256)
            file.flush()
            more = ["--progress", file.name, "--skip", str(skip)]
            code = subprocess.run([sys.executable, *sys.argv, *more], env=environment).returncode
            file.seek(0)
            number, _, where = file.read(256).rstrip(b"\0").decode().partition(" ")
            if not where:
                return int(failed or code)
            name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            print(f"{where}: {name}", flush=True)
            failed, skip = True, int(number) + 1


if __name__ == "__main__":
    sys.exit(main())
