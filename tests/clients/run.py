# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of this folder on the installed libraries, once for each way that torch-npu works.

python3 tests/clients/run.py PREFIX [VERSION …]: exit code 1 if one of the runs failed.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# torch, and the torch-npu that belongs to it.
VERSIONS = {"2.8.0": "2.8.0.post5", "2.9.0": "2.9.0.post9"}

# The task queue of torch-npu calls from a thread of its own in 1 and 2, and prepares in 2.
MODES = (
    {"OPENACLNN_SOC": "Ascend910B1", "TASK_QUEUE_ENABLE": "1"},
    {"OPENACLNN_SOC": "Ascend910B1", "TASK_QUEUE_ENABLE": "0"},
    {"OPENACLNN_SOC": "Ascend910B1", "TASK_QUEUE_ENABLE": "2"},
    {"OPENACLNN_SOC": "Ascend910B1", "ASCEND_LAUNCH_BLOCKING": "1"},
    {"OPENACLNN_SOC": "Ascend950PR_9579", "TASK_QUEUE_ENABLE": "1"},
)


def environment(prefix, mode):
    """As set_env.sh makes it; the wheel walks ASCEND_HOME_PATH for version files."""
    return os.environ | {
        "ASCEND_HOME_PATH": str(prefix),
        "ASCEND_OPP_PATH": str(prefix / "opp"),
        "LD_LIBRARY_PATH": str(prefix / "lib64"),
        "PYTHONPATH": str(ROOT / "python"),
        "ASCEND_GLOBAL_LOG_LEVEL": "4",
        **mode,
    }


def run(version, mode, prefix):
    python = ROOT / f"build/clients/torch-{version}/bin/python"
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore"]
    started = time.monotonic()
    done = subprocess.run(
        [*command, ROOT / "tests/clients"], env=environment(prefix, mode), cwd=ROOT
    )
    words = ", ".join(f"{name}={value}" for name, value in mode.items())
    result = "ok" if done.returncode == 0 else "FAILED"
    print(f"{result:<8}torch-npu {VERSIONS[version]}, {words}, {time.monotonic() - started:.0f} s")
    return done.returncode == 0


def main(arguments):
    prefix = Path(arguments[0]).resolve()
    versions = arguments[1:] or VERSIONS
    for version in versions:
        subprocess.run([ROOT / "tests/clients/setup.sh", version, VERSIONS[version]], check=True)
    results = [run(version, mode, prefix) for version in versions for mode in MODES]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
