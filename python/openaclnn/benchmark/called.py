# SPDX-License-Identifier: Apache-2.0
"""Which operators each call of a framework makes, as a trace of it says.

openaclnn run -- PYTHON -m openaclnn.benchmark.called FILE: with a Python that has torch-npu; the
site reads docs/figures/called.json.
"""

import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from . import calls

_SIDE = 16  # of the square that most calls take
_RUNS = 12  # more often than any preparation calls one operator


def of_calls() -> dict[str, list[str]]:
    """By the name of the call; each is made in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["OPENACLNN_TRACE"] = f"{folder}/%p.json"
        import torch
        import torch_npu  # noqa: F401  makes torch.npu, and reads no variable before its first use

        return {call.name: _of(torch, call, Path(folder)) for call in calls.find()}


def _of(torch, call: calls.Call, folder: Path) -> list[str]:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os._exit(_make(torch, call))
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        raise RuntimeError(f"{call.name} failed")
    events = json.loads((folder / f"{child}.json").read_text())
    events = events if isinstance(events, list) else events["traceEvents"]
    tasks = Counter(each["name"] for each in events if each.get("cat") == "task")
    return sorted(name for name, count in tasks.items() if count >= _RUNS and "aclnn" in name)


def _make(torch, call: calls.Call) -> int:
    run = call.make(calls.Device(torch, "npu", getattr(torch, call.dtypes[0]), n=_SIDE))
    for _ in range(_RUNS):
        run()
    torch.npu.synchronize()
    return 0


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(of_calls(), indent=1) + "\n", "utf-8")
