# SPDX-License-Identifier: Apache-2.0
"""Starts workers, collects what they say, makes the document."""

import datetime
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from ..errors import InputError, quoted
from ..tool import launch
from . import calls, cases, document, measure, quiet
from .worker import CALLS, DRAWN, ROOMS, WALK, Plan

_PACKAGE = Path(__file__).resolve().parents[1]
_PEERS_PYTHON = _PACKAGE.parents[1] / "build" / "bench" / "venv" / "bin" / "python"
_WORKER = "openaclnn.benchmark.worker"
# Parts, as a failure names them.
_WORDS = {ROOMS: "operators", CALLS: "supporting calls", WALK: "walk", DRAWN: "drawn calls"}
_BESIDE = "requirements"  # the folder of bin/openaclnn's own packages, one for each Python


@dataclass(frozen=True)
class Request:
    """The user's choices."""

    operators: list[str]  # none: all
    threads: list[int]  # none: one, two, and all
    quick: bool
    parts: tuple[str, ...] = (ROOMS, CALLS)
    dtype: str = "float32"


class _Terminated(KeyboardInterrupt):
    """SIGTERM: as Ctrl-C."""


@dataclass
class _Found:
    """The rows that workers have sent."""

    versions: dict = field(default_factory=dict)
    missing: dict = field(default_factory=dict)
    roofs: list = field(default_factory=list)
    rows: list = field(default_factory=list)
    supporting: list = field(default_factory=list)
    walk: list = field(default_factory=list)
    drawn: list = field(default_factory=list)
    refused: list = field(default_factory=list)
    failed: list = field(default_factory=list)


def peers_python() -> str:
    """The Python that has the peers: the one named, that of bench/setup.sh, this one."""
    named = os.environ.get("OPENACLNN_BENCH_PYTHON")
    if named:
        return named
    return str(_PEERS_PYTHON) if _PEERS_PYTHON.is_file() else sys.executable


def run(request: Request) -> dict:
    """Measures; the document, also of what was measured before Ctrl-C or SIGTERM."""
    request = _checked(request)
    signal.signal(signal.SIGTERM, _terminate)
    benches = cases.benches(request.operators if ROOMS in request.parts else ())
    observer = quiet.Observer([os.getpid()])
    before, since = observer.load(), observer.look()
    time.sleep(0.0 if request.quick else 1.0)
    busy = observer.busy(since)
    if busy > quiet.MOST_BUSY:
        print(f"openaclnn: others keep {busy:.2f} processors busy: rows may not count",
              file=sys.stderr)
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    found = _Found()
    for plan in _plans(request):
        if not _work(plan, found):
            break
    means = document.means(found.rows, benches) if ROOMS in request.parts else []
    for part, rows in ((CALLS, found.supporting), (WALK, found.walk), (DRAWN, found.drawn)):
        means += document.call_means(part, rows)
    return document.plain({
        "format": document.FORMAT,
        "version": document.VERSION,
        "machine": document.machine(),
        "versions": {**document.versions(), **found.versions},
        "commit": document.commit(),
        "started": started,
        "quiet": {
            "quick": request.quick,
            "load": before,
            "busy": busy,
            "load_after": observer.load(),
        },
        "roofs": found.roofs,
        "rows": found.rows,
        "supporting": found.supporting,
        "walk": found.walk,
        "drawn": found.drawn,
        "means": means,
        "missing": [{"peer": name, "why": why} for name, why in found.missing.items()],
        "refused": found.refused,
        "failed": found.failed,
    })


def _terminate(*_) -> None:
    raise _Terminated


def _checked(request: Request) -> Request:
    """With the operators' names as their part has them."""
    most = len(os.sched_getaffinity(0))
    for threads in request.threads:
        if not 1 <= threads <= most:
            raise InputError(f"--threads has {threads}, expected 1 to {most}, the processors here")
    if WALK in request.parts:
        from . import walk

        return replace(request, operators=walk.checked(request.operators))
    known = _operators()
    named = [each.name for each in calls.find()]
    for name in request.operators if ROOMS in request.parts else ():
        if name not in known and not any(each.startswith(name) for each in named):
            expected = f"one of {', '.join(sorted(known))}, or how a call begins"
            raise InputError(f"no operator {quoted(repr(name))}, expected {expected}")
    return request


def _operators() -> set[str]:
    return {each.operator for each in cases.benches()}


def _plans(request: Request) -> list[Plan]:
    most = len(os.sched_getaffinity(0))
    usual = {1, min(2, most), most} if WALK not in request.parts else {min(2, most)}
    threads = request.threads or sorted(usual)
    effort = measure.QUICK if request.quick else measure.SHORT if WALK in request.parts else measure.Effort()
    kinds = [cases.TINY] if request.quick else [cases.STATED, cases.SWEEP]
    of_calls = [name for name in request.operators if name not in _operators()]
    parts = [each for each in request.parts if each != CALLS or of_calls or not request.operators]
    return [
        Plan(each, [os.getpid()], request.operators, kinds, part, request.dtype, asdict(effort))
        for part in parts
        for each in threads
    ]


def _work(plan: Plan, found: _Found) -> bool:
    """Runs one worker to its end; whether to go on, which Ctrl-C and SIGTERM say not to. What the
    worker said before it failed or was interrupted is kept."""
    handlers: dict[str, Callable] = {
        "roofs": found.roofs.append,
        ROOMS: found.rows.append,
        CALLS: found.supporting.append,
        WALK: found.walk.append,
        DRAWN: found.drawn.append,
        "refused": found.refused.append,
        "about": lambda about: _about(about, found),
    }
    with subprocess.Popen(
        _command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=_environment(plan),
        text=True,
    ) as worker:
        worker.stdin.write(json.dumps(asdict(plan)))
        worker.stdin.close()
        interrupted = 0
        try:
            for line in worker.stdout:
                ((kind, what),) = json.loads(line).items()
                handlers[kind](what)
                _tell(kind, what)
        except KeyboardInterrupt as how:
            interrupted = signal.SIGTERM if isinstance(how, _Terminated) else signal.SIGINT
            worker.kill()
    if interrupted or worker.returncode:
        code = -interrupted if interrupted else worker.returncode
        found.failed.append({"what": _WORDS[plan.part], "threads": plan.threads, "code": code})
    return not interrupted


def _about(about: dict, found: _Found) -> None:
    found.versions.update(about["versions"])
    found.missing.update({each["peer"]: each["why"] for each in about["missing"]})


def _command() -> list[str]:
    python = peers_python()
    site = ["-S"] if sys.flags.no_site and python == sys.executable else []
    return [python, *site, "-W", "ignore", "-m", _WORKER]


def _environment(plan: Plan) -> dict[str, str]:
    paths = [str(_PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    if peers_python() == sys.executable:  # `make install` may have put packages beside the libraries
        paths += [each for each in sys.path if Path(each).parent.name == _BESIDE]
    return {
        **os.environ,
        **launch.environment(),
        "PYTHONPATH": os.pathsep.join(paths),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",  # torch-npu only where it is measured
        "TORCHINDUCTOR_COMPILE_THREADS": "1",  # no processes that outlive a compilation
        "OPENACLNN_NUM_THREADS": str(plan.threads),
        "OMP_NUM_THREADS": str(plan.threads),
    }


def _tell(kind: str, what: dict) -> None:
    """A line on stderr for each row: a run takes a while."""
    if kind not in _WORDS:
        return
    name = what.get("operator") or what["call"]
    counts = "" if what["counts"] else f"  does not count: {what['why_not']}"
    case = what.get("case", "")
    words = f"{name} {case} {what['dtype']} {what['threads']} {what['state']}"
    print(f"{words}{counts}", file=sys.stderr)
