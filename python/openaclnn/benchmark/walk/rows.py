# SPDX-License-Identifier: Apache-2.0
"""Measures each record beside its peer: a row for each."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import contextmanager

import numpy as np

from ...native import declared, libraries, runtime
from ...native.call import Call
from .. import measure
from ..figures import Ratio, Spread
from ..measure import COLD
from ..meter import Meter
from ..peers import Missing
from ..row import MOST_DIFFERENT, OURS, said_by
from . import source
from .numpy_formula import described, formula
from .source import Walked
from .torch_functions import Functions, flat

TORCH, NUMPY, ROOF = "torch", "numpy", "roof"
_MOST_SECONDS = 5.0  # of a peer's first call: one that takes longer is none
_RANDOM = ("random",)  # topics whose results are other numbers


def measure_all(plan, say) -> None:
    """Says a row for each record."""
    os.environ.setdefault("OPENACLNN_SOC", "Ascend910B1")  # which has every record
    started = runtime.start()
    functions = _functions(plan.threads, say)
    meter = Meter.of_worker(started.kit, plan)
    headers = declared.operators(libraries.load().home / "include")
    wanted = set(plan.operators)
    for record in source.records():
        if wanted and record.api not in wanted:
            continue
        said = {"threads": plan.threads, "dtype": plan.dtype}
        try:
            walked = source.draw(started, record, headers[record.api], plan.dtype)
            say("walk", {"operator": record.api, **said, **_row(started, functions, meter, walked)})
        except Exception as error:  # of any kind: the others are still measured
            say("refused", {"call": record.api, **said, "why": said_by(error)})
    meter.close()


def _functions(threads: int, say) -> Functions | None:
    try:
        import torch
    except (ImportError, OSError) as error:
        say("about", {"versions": {}, "missing": [Missing(TORCH, str(error))]})
        return None
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    say("about", {"versions": {TORCH: torch.__version__}, "missing": []})
    return Functions(torch)


def _row(started, functions: Functions | None, meter: Meter, walked: Walked) -> dict:
    with Call(started, walked.record.function, walked.problem) as call:
        workspace = call.workspace_bytes()
        # Where an operator tells how much it found, the next plan would have room for no more.
        run = call.second_phase() if walked.has_room else call.run
        run()
        expected = flat(list(call.outputs().values()))
        kind, name, peer = _peer(functions, walked, expected)
        ways = {OURS: run} | ({kind: peer} if peer else {})
        measure.prepare(run)
        found = meter.times(ways, COLD, _dtype(walked), (kind,) if peer else ())
        ours = found.times[OURS]
        roof = walked.read_bytes / found.roof.read + walked.write_bytes / found.roof.write
        roof *= 1e-9
        beside = found.times[kind] if peer else Spread(roof, roof, roof, 0)
        return {
            "topic": walked.record.topic,
            "state": COLD,
            "shapes": walked.shapes,
            "read_bytes": walked.read_bytes,
            "write_bytes": walked.write_bytes,
            "workspace_bytes": workspace,
            **vars(found),
            "peer": kind,
            "by": name,
            "ratio": Ratio.of(beside, ours),
            "roof_seconds": roof,
            "roof_share": roof / ours.median,
        }


def _peer(functions: Functions | None, walked: Walked, expected: list) -> tuple[str, str, Callable | None]:
    """Another implementation: its kind, its name, and its fastest way."""
    found = []
    for name, way in functions.ways(walked.record, walked.arguments, described(walked)) if functions else ():
        seconds = _tried(way, walked, expected, functions.is_view)
        if seconds is not None:
            found.append((seconds, name, way))
    if found:
        _, name, way = min(found, key=lambda each: each[0])
        return TORCH, name, way
    way = formula(walked)
    if _tried(way, walked, expected) is not None:
        return NUMPY, walked.record.numpy, way
    return ROOF, "", None


def _tried(way: Callable, walked: Walked, expected: list, is_view=lambda made: False) -> float | None:
    """The seconds of a call; nothing where it fails, takes long, makes something else or a view."""
    try:
        with _limited(_MOST_SECONDS):
            made = flat(way())
        if any(map(is_view, made)) or not _are_alike(list(map(_array, made)), expected, walked):
            return None
        begin = time.perf_counter()
        way()
        return time.perf_counter() - begin
    except Exception:  # of any library, of any kind: it is no peer then
        return None


def _are_alike(made: list, expected: list, walked: Walked) -> bool:
    pairs = [(got, want) for got, want in zip(made, expected, strict=False) if got is not None]
    if not pairs:
        return False
    if walked.record.topic in _RANDOM:
        return all(got.size == want.size for got, want in pairs[:1])
    if walked.has_room:  # whose rest is nobody's
        pairs = [(got, want.reshape(-1)[: got.size]) for got, want in pairs]
    # Others may have other places of equal elements, and other counts than we have.
    first, *others = pairs
    numbers = [first, *((got, want) for got, want in others if want.dtype.kind not in "iub")]
    return all(_difference(got, want) <= MOST_DIFFERENT for got, want in numbers)


def _difference(got: np.ndarray, want: np.ndarray) -> float:
    """The difference of the norms, where both are finite; infinite where one has more elements."""
    wide = np.complex128 if "c" in (got.dtype.kind, want.dtype.kind) else np.float64
    got, want = (each.astype(wide).reshape(-1) for each in (got, want))
    if got.size != want.size:
        return np.inf
    finite = np.isfinite(got) & np.isfinite(want)
    if not finite.any():
        return 0.0
    norm = float(np.linalg.norm(want[finite])) or 1.0
    return float(np.linalg.norm((got - want)[finite])) / norm


def _array(tensor) -> np.ndarray | None:
    """The array that PyTorch or NumPy made; numbers of Python are arrays too."""
    if tensor is None:
        return None
    if not hasattr(tensor, "detach"):
        return np.asarray(tensor)
    tensor = tensor.detach()
    is_complex = tensor.dtype.is_complex
    return tensor.numpy() if is_complex else tensor.double().numpy()


def _dtype(walked: Walked) -> str:
    """The type for whose arithmetic the roof is measured."""
    for each in flat(list(walked.problem.inputs.values())):
        return each.dtype.name
    return "float32"


@contextmanager
def _limited(seconds: float):
    def end(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
