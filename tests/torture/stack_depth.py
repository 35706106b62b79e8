# SPDX-License-Identifier: Apache-2.0
"""How much stack the tasks of each operator use, against what the libraries count on.

    stack_depth.py PRELOAD [--calls N] [--most KIB] [--all] [OPERATOR...]

PRELOAD is the library made of stack_depth_preload.cc. All tasks are run by workers. Calls are made
by a thread of a small stack, which both phases and the synchronise have to do with. Prints the
deepest operators, each with what its caller has used, interpreter included, and returns 1 if any
task needs more than `--most`.
"""

import argparse
import ctypes
import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from shortage import _large
from subjects import Subject, subjects

import numpy as np
from openaclnn import operators
from openaclnn.native import runtime
from openaclnn.native.call import Call
from openaclnn.operators.operator import Problem

# Bytes of the stack of the thread that calls: less than a task may need, interpreter included.
CALLER = 192 << 10
SHOWN = 10


# Rows that are summed into one: the deepest tree that a kernel recurses through. Columns of one
# tile and more.
DEEP = "aclnnEmbeddingDenseBackward", (1024, 2100)


def _deep() -> Subject:
    api, shape = DEEP
    for operator in operators.OPERATORS:
        if operator.function.api == api:
            arrays = np.ones(shape, np.float32), np.zeros(shape[0], np.int64)
            problem = operator.problem(*arrays, num_weights=4, padding_idx=1)
            return Subject(operator.function, lambda problem=problem: iter([problem]))
    raise AssertionError(f"{api} is no room's")


def _calls() -> Iterator[tuple[Subject, int]]:
    """All operators, each with what it is called with and how often at most."""
    yield from ((each, sys.maxsize) for each in subjects())
    yield from ((each, 1) for each in subjects(_large))
    yield _deep(), 1


def _deepest(started, stream, subject: Subject, calls: int) -> tuple[int, int]:
    """KiB of a worker's stack, and of the caller's."""
    library = ctypes.CDLL(None)
    takes = library.stack_depth_take, library.stack_depth_take_callers
    for take in takes:
        take.restype = ctypes.c_uint64
        take()
    for problem in itertools.islice(subject.problems(), calls):
        failed = _on_small_stack(started, stream, subject, problem)
        if failed is not None:
            raise failed
    worker, caller = (take() >> 10 for take in takes)
    return worker, caller


def _on_small_stack(started, stream, subject: Subject, problem: Problem):
    """Makes the call; returns what it raised."""
    raised = None

    def call() -> None:
        nonlocal raised
        try:
            started.kit.call("aclrtSetCurrentContext", context)
            with Call(started, subject.function, problem, stream) as made:
                made.run()
        except Exception as error:
            raised = error

    context = ctypes.c_void_p()
    started.kit.call("aclrtGetCurrentContext", ctypes.byref(context))
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    return raised


def measure(options) -> int:
    """All operators; returns 1 where one needs too much."""
    started = runtime.start()
    stream = runtime.Stream(started)
    threading.stack_size(CALLER)
    depths: dict[str, tuple[int, int]] = {}
    for subject, most in _calls():
        api = subject.function.api
        if options.operators and api not in options.operators:
            continue
        if started.kit.has(api):
            depth = _deepest(started, stream, subject, min(options.calls, most))
            depths[api] = max(depths.get(api, (0, 0)), depth)
    ordered = sorted(depths.items(), key=lambda each: each[1], reverse=True)
    for api, (worker, caller) in ordered if options.all else ordered[:SHOWN]:
        print(f"{worker:5} KiB, caller {caller:4} KiB  {api}")
    too_much = [api for api, (worker, _) in ordered if worker > options.most]
    print(f"{len(ordered)} operators, {len(too_much)} need more than {options.most} KiB")
    return int(bool(too_much))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("preload", type=Path)
    parser.add_argument("operators", nargs="*")
    parser.add_argument("--calls", type=int, default=8, help="of each operator")
    parser.add_argument("--most", type=int, default=192)
    parser.add_argument("--all", action="store_true", help="prints all operators")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return measure(options)
    environment = os.environ | {
        "LD_PRELOAD": str(options.preload.resolve()),
        "OPENACLNN_SOC": "Ascend910B1",
        "ASCEND_GLOBAL_LOG_LEVEL": "4",
        "OPENBLAS_NUM_THREADS": "1",
    }
    return subprocess.run([sys.executable, *sys.argv, "--child"], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
