# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of this folder on the installed libraries, once for each way that torch-npu works.

python3 tests/clients/run.py PREFIX [VERSION …]: exit code 1 if one of the runs failed. What was seen
goes to build/clients/results.json, for scripts/generate_conformance.py.
"""

import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "build/clients/results.json"

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
    """What one run gave."""
    python = ROOT / f"build/clients/torch-{version}/bin/python"
    report = RESULTS.with_name("report.xml")
    report.unlink(missing_ok=True)
    options = ["-q", "-p", "no:cacheprovider", "-W", "ignore", f"--junitxml={report}"]
    command = [python, "-m", "pytest", *options, ROOT / "tests/clients"]
    started = time.monotonic()
    done = subprocess.run(command, env=environment(prefix, mode), cwd=ROOT)
    cases = ElementTree.parse(report).iter("testcase") if report.is_file() else ()
    failed, passed = [], 0
    for case in cases:
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(f"{case.get('classname')}.{case.get('name')}")
        elif case.find("skipped") is None:
            passed += 1
    ok = done.returncode == 0
    words = ", ".join(f"{name}={value}" for name, value in mode.items())
    seconds = time.monotonic() - started
    print(f"{'ok' if ok else 'FAILED':<8}torch-npu {VERSIONS[version]}, {words}, {seconds:.0f} s")
    return {
        "client": f"torch-npu {VERSIONS[version]}",
        "mode": mode,
        "ok": ok,
        "passed": passed,
        "failed": failed,
    }


def main(arguments):
    prefix = Path(arguments[0]).resolve()
    versions = arguments[1:] or VERSIONS
    for version in versions:
        subprocess.run([ROOT / "tests/clients/setup.sh", version, VERSIONS[version]], check=True)
    results = [run(version, mode, prefix) for version in versions for mode in MODES]
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    return 0 if all(result["ok"] for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
