# SPDX-License-Identifier: Apache-2.0
"""Digests of what the operators of `openaclnn bench --all` compute, to compare two machines.

    python bench/digests.py here.json [--threads N] [--quick]
    python bench/digests.py --compare here.json there.json

A row is a case in a type: SHA-256 of its inputs, which NumPy draws from seeds, and of its outputs.
`--compare` ends with 1 where outputs of equal inputs differ; OPENACLNN_SIMD says which of a
machine's instruction sets a run takes.
"""

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from openaclnn.native import runtime
from openaclnn.benchmark import cases
from openaclnn.benchmark.worker import bind
from openaclnn.native.call import Call
from openaclnn.operators import OPERATORS


def digest(arrays: Iterable[np.ndarray]) -> str:
    made = hashlib.sha256()
    for each in arrays:
        made.update(np.ascontiguousarray(each).tobytes())
    return made.hexdigest()


def digests(kinds: set[str]) -> dict[str, dict[str, str]]:
    """Of each row: `inputs` and `outputs`."""
    functions = {each.name: each.function for each in OPERATORS}
    started, found = runtime.start(), {}
    for bench, case, dtype in cases.rows([], kinds):
        problem = case.problem(dtype)
        with Call(started, functions[bench.operator], problem) as call:
            call.run()
            outputs = digest(call.outputs().values())
        row = {"inputs": digest(problem.inputs.values()), "outputs": outputs}
        found[f"{bench.operator} {case.name} {dtype}"] = row
    return found


def compare(first: dict, second: dict) -> int:
    """Prints how many rows are equal, and which differ."""
    both = [name for name in first if name in second]
    same = [name for name in both if first[name]["inputs"] == second[name]["inputs"]]
    differ = [name for name in same if first[name]["outputs"] != second[name]["outputs"]]
    for name in differ:
        print(f"differs: {name}")
    print(f"{len(same) - len(differ)} of {len(same)} rows have equal outputs; "
          f"{len(both) - len(same)} have other inputs, "
          f"{len(first) + len(second) - 2 * len(both)} are in one file only")
    return 1 if differ or not same else 0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path, help="to write, or with --compare to read")
    parser.add_argument("other", type=Path, nargs="?", help="with --compare: the second")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--quick", action="store_true", help="tiny shapes, to see that it runs")
    asked = parser.parse_args(arguments)
    if asked.compare != (asked.other is not None):
        parser.error("expected one file to write, or --compare and two files to read")
    if asked.compare:
        first, second = (json.loads(each.read_text()) for each in (asked.file, asked.other))
        return compare(first, second)
    bind(asked.threads)
    found = digests({cases.TINY} if asked.quick else {cases.STATED, cases.SWEEP, cases.TINY})
    asked.file.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{asked.file}: {len(found)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
