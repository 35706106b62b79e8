# SPDX-License-Identifier: Apache-2.0
"""Measures an operator and its peers on one problem: two rows, one cold and one warm."""

from collections.abc import Callable, Iterator

import numpy as np

from ..native.call import Call
from ..native.runtime import Runtime
from ..operators import OPERATORS
from ..operators.operator import Operator, Problem
from . import measure
from .cases import Bench, Case
from .figures import Ratio
from .measure import COLD, WARM
from .meter import Meter, Timed

OURS, SECOND_PHASE = "ours", "ours, second phase"
MOST_DIFFERENT = 0.3  # of the norm: 16-bit sums of a peer are far off, another formula is farther

_BY_NAME: dict[str, Operator] = {each.name: each for each in OPERATORS}


def rows(
    runtime: Runtime, peers: list, meter: Meter, bench: Bench, case: Case, dtype: str
) -> Iterator[dict]:
    """The rows of a case in a type. What a peer refuses is a word in them."""
    problem = case.problem(dtype)
    with Call(runtime, _BY_NAME[bench.operator].function, problem) as call:
        call.run()
        expected = _flat([each.astype(np.float64) for each in call.outputs().values()])
        ours = {OURS: call.run, SECOND_PHASE: call.second_phase()}
        for each in ours.values():
            measure.prepare(each)
        theirs, differences, refused = _peers_ways(peers, bench, problem, expected)
        said = {
            "operator": bench.operator,
            "case": case.name,
            "kind": case.kind,
            "shapes": problem.shapes,
            "dtype": dtype,
            "threads": meter.threads,
            "read_bytes": problem.read_bytes,
            "write_bytes": problem.write_bytes,
            "operations": problem.operations,
            "workspace_bytes": call.workspace_bytes(),
            "differences": differences,
            "refused": refused,
        }
        for state in (COLD, WARM):
            found = meter.times({**ours, **theirs}, state, dtype, theirs)
            beside = _beside_roof(problem, found)
            yield {**said, "state": state, **vars(found), **_beside_peers(found), **beside}


def _peers_ways(
    peers: list, bench: Bench, problem: Problem, expected: np.ndarray
) -> tuple[dict[str, Callable], dict[str, float], dict[str, str]]:
    """Ways that work, how far their results are from ours, and what the others said."""
    ways, differences, refused = {}, {}, {}
    for peer in peers:
        try:
            found = peer.ways(bench, problem)
        except Exception as error:  # of any library, of any kind
            refused[peer.name] = said_by(error)
            continue
        for name, way in found.items():
            full = f"{peer.name} {name}"
            try:
                got = _flat(peer.arrays(measure.prepare(way)))
            except Exception as error:
                refused[full] = said_by(error)
                continue
            differences[full] = _difference(got, expected)
            if differences[full] <= MOST_DIFFERENT:
                ways[full] = way
            else:
                refused[full] = f"differs by {differences[full]:.2g} of the norm"
    return ways, differences, refused


def _beside_peers(found: Timed) -> dict:
    peers = {name: each for name, each in found.times.items() if name not in (OURS, SECOND_PHASE)}
    fastest = min(peers, key=lambda name: peers[name].median, default=None)
    ratio = Ratio.of(peers[fastest], found.times[OURS]) if fastest else None
    return {"fastest_peer": fastest, "ratio": ratio}


def _beside_roof(problem: Problem, found: Timed) -> dict:
    """Warm data do not come from memory: no roof was measured beside them."""
    if not found.roof:
        return {}
    seconds = found.roof.seconds(problem)
    return {
        "roof_seconds": seconds,
        "roof_limit": found.roof.limit(problem),
        "roof_share": seconds / found.times[OURS].median,
    }


def _difference(got: np.ndarray, expected: np.ndarray) -> float:
    if got.shape != expected.shape:
        return float("inf")
    norm = float(np.linalg.norm(expected)) or 1.0
    difference = float(np.linalg.norm(got - expected)) / norm
    return difference if np.isfinite(difference) else float("inf")


def _flat(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([each.reshape(-1) for each in arrays])


def said_by(error: Exception) -> str:
    """The first line of what a library said."""
    return f"{type(error).__name__}: {error}".split("\n", 1)[0][:200]
