# SPDX-License-Identifier: Apache-2.0
"""Runs PyTorch's databases of operators and modules on the NPU of torch-npu, beside the CPU.

python3 tests/clients/opinfo.py PREFIX [NAME …]: without names all of both; exit code 1 if one gives
wrong numbers or ends its process. Each operator has a result for each way of calling it (forward,
with operands that are not contiguous, in place, backward), each module for its forward and backward,
the worst of its types and samples:

native       on the NPU, equal to the CPU within rounding
random       on the NPU, where the CPU itself gives other numbers with another seed
fallback     torch-npu runs it on the CPU
unsupported  torch-npu refuses it before it calls the libraries
refused      the libraries refuse it by an error code
missing      torch-npu looks for a function that the libraries lack
differs      other numbers than on the CPU, for a reason that DIFFERS names
wrong        other numbers or shapes than on the CPU
crashed      the process ended

Of calls that PyTorch documents as mistakes (errors) it is native where each raises an exception, and
accepts where one does not, though it does on the CPU.

The table goes to build/clients/opinfo.json and, in short, to build/clients/results.json.
"""

import argparse
import collections
import json
import os
import selectors
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from run import HERE, RESULTS, VERSIONS, environment, record, row, wheel_python

TORCH = "2.8.0"
# torch-npu drops what it has queued behind a call that fails: each call is waited for.
MODE = {"OPENACLNN_SOC": "Ascend910B1", "ASCEND_LAUNCH_BLOCKING": "1"}
# What the worker imports beyond PyTorch.
NEEDS = "expecttest==0.3.0"
WORKER = HERE / "opinfo/worker.py"
WAYS = ("forward", "noncontiguous", "inplace", "backward", "errors", "module", "module backward")
RED = ("wrong", "crashed")
# Where torch-npu or the device's functions ask for something else than the CPU computes.
NO_SCALES = "aclnnUpsampleNearest2d has sizes and no scales: 4 * 1.7 is 6, and 4 / 6 the scale"
MASKS = "torch-npu's indices are masks of bits"
CORRECTION = "torch-npu hands a correction on as an integer"
ZERO = "the CPU's fmod gives NaN by the least normal number"
DIFFERS = {
    "addr": "torch-npu multiplies what is added by a beta of 0",
    "fmod": ZERO,
    "native_dropout_backward": "torch-npu's masks are bits",
    "native_layer_norm": "torch-npu makes the mean of no rows in another shape",
    "nn.functional.binary_cross_entropy_with_logits": "torch-npu has no gradient of the target",
    "nn.functional.gelu": "the device's formula has tanh",
    "nn.functional.interpolate.nearest": NO_SCALES,
    "nn.functional.max_pool1d": MASKS,
    "nn.functional.max_pool2d": MASKS,
    "nn.functional.upsample_nearest": NO_SCALES,
    "nn.KLDivLoss": "where the target is NaN the gradient of KlDiv is 0",
    "nn.MaxPool1d": MASKS,
    "nn.MaxPool2d": MASKS,
    "remainder": ZERO,
    "searchsorted": "torch-npu does not look at `side`",
    "triangular_solve": "the device gives back the triangle of the coefficients alone",
    **dict.fromkeys(("std", "std_mean", "var", "var_mean"), CORRECTION),
}
LIMIT_S = 300  # for an operator, after which its process is ended


class Worker:
    """A process that answers for operators, and another one when it has ended."""

    def __init__(self, prefix):
        self.prefix, self.process = prefix, None

    def start(self, *options):
        self.process = subprocess.Popen(
            [wheel_python(TORCH), "-W", "ignore", WORKER, *options],
            env=environment(self.prefix, MODE), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def names(self):
        self.start("--list")
        return json.loads(self.process.communicate()[0])

    def ask(self, name):
        if self.process is None:
            self.start()
        print(name, file=self.process.stdin, flush=True)
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            in_time = ready.select(LIMIT_S)
            line = self.process.stdout.readline() if in_time else ""
        if line:
            return json.loads(line)
        if not in_time:
            self.process.kill()
        code = self.process.wait()
        self.process = None
        why = f"process ended with {code}" if in_time else f"no answer in {LIMIT_S} s"
        return {"name": name, "ways": {"forward": {"result": "crashed", "why": why, "samples": 0}}}


def run_all(prefix, names):
    """As many workers as processors; each answer as it comes."""
    workers = [Worker(prefix) for _ in range(len(os.sched_getaffinity(0)))]
    left = iter(names)

    def work(worker):
        found = []
        for name in left:
            found.append(worker.ask(name))
            for way, said in found[-1]["ways"].items():
                if said["result"] == "wrong" and name in DIFFERS:
                    said |= {"result": "differs", "why": DIFFERS[name]}
                elif said["result"] in RED:
                    print(f"{said['result']:<8}{name}, {way}: {said['why']}", flush=True)
        return found

    with ThreadPoolExecutor(len(workers)) as pool:
        return sorted(sum(pool.map(work, workers), []), key=lambda each: each["name"])


def summary(answers):
    """Of each way how many operators have which result, and a row for the page of clients."""
    rows = []
    for way in WAYS:
        seen = [(each["name"], each["ways"][way]) for each in answers if way in each["ways"]]
        counts = collections.Counter(said["result"] for _, said in seen if said["result"])
        red = [name for name, said in seen if said["result"] in RED]
        words = ", ".join(f"{count} {result}" for result, count in counts.most_common())
        print(f"{way:<14}{words}")
        client = f"PyTorch {TORCH}'s operator database on torch-npu {VERSIONS[TORCH]}: {way}"
        rows.append(row(client, MODE, not red, failed=red, said=words))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix", type=Path)
    parser.add_argument("operators", nargs="*", metavar="OP")
    arguments = parser.parse_args()
    prefix = arguments.prefix.resolve()
    if subprocess.run([HERE / "setup.sh", TORCH, VERSIONS[TORCH]]).returncode != 0:
        return 1
    pip = [wheel_python(TORCH), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    subprocess.run([*pip, NEEDS], check=True)
    answers = run_all(prefix, arguments.operators or Worker(prefix).names())
    RESULTS.with_name("opinfo.json").write_text(json.dumps(answers, indent=1) + "\n")
    rows = summary(answers)
    if not arguments.operators:
        record(rows)
    return 0 if all(each["ok"] for each in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
