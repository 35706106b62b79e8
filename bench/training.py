# SPDX-License-Identifier: Apache-2.0
"""Trains the model of examples/train_text.py on the NPU and with PyTorch on the CPU, in turn.

    python bench/training.py [--pairs N] [--steps N] [--threads N]

Run by a Python that has torch and torch-npu; `make bench-training` sets one up. Each training is a
process of its own, so that neither has threads of the other's beside it, in random order within a
pair; steps that compile and touch memory are not timed. Prints tokens a second of each and the
median of the pairs' ratios.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WARM_UP = 20  # steps


def train(name: str, steps: int) -> float:
    """Tokens a second, in this process."""
    sys.path.insert(0, str(ROOT / "examples"))
    import train_text

    text = (ROOT / "data/alice29.txt").read_bytes()
    device = train_text.Npu() if name == "npu" else train_text.Cpu()
    if name == "npu":
        train_text.torch.npu.conv.allow_hf32 = False
    train_text.train(device, text, WARM_UP)
    device.synchronize()
    began = time.monotonic()
    train_text.train(device, text, steps)
    device.synchronize()
    return steps * train_text.BATCH * train_text.LENGTH / (time.monotonic() - began)


def measure(name: str, steps: int, threads: int) -> float:
    """The same in a process of its own, on as many processors."""
    processors = ",".join(map(str, sorted(os.sched_getaffinity(0))[:threads]))
    launch = [sys.executable, "-m", "openaclnn", "run", "--"] if name == "npu" else []
    command = [*launch, sys.executable, "-W", "ignore", __file__]
    options = ["--train", name, "--steps", str(steps)]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": str(threads),
        "OPENACLNN_NUM_THREADS": str(threads),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": str(int(name == "npu")),
        "TORCH_CPP_LOG_LEVEL": "ERROR",
    }
    bound = ["taskset", "-c", processors, *command, *options]
    done = subprocess.run(bound, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--threads", type=int, default=min(2, len(os.sched_getaffinity(0))))
    parser.add_argument("--train", choices=("npu", "cpu"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.train:
        print(train(asked.train, asked.steps))
        return
    ratios = []
    for pair in range(1, asked.pairs + 1):
        speeds = {}
        for name in random.sample(("npu", "cpu"), 2):
            speeds[name] = measure(name, asked.steps, asked.threads)
        ratios.append(speeds["npu"] / speeds["cpu"])
        words = ", ".join(f"{name} {speeds[name]:,.0f}" for name in ("npu", "cpu"))
        print(f"pair {pair}: {words} tokens a second, ratio {ratios[-1]:.2f}", flush=True)
    middle = statistics.median(ratios)
    print(f"npu / cpu: {middle:.2f} (median of {len(ratios)}; {min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
