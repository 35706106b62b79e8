# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of this folder on the installed libraries, once for each way that a client works.

python3 tests/clients/run.py PREFIX [VERSION …]: programs without PyTorch, then the torch-npu that
belongs to each version of torch, ranks under torchrun and ten trainings of examples/train_text.py
included; exit code 1 if one of the runs failed. `--try TORCH:TORCH_NPU` runs a pair that nothing is promised about, whose
failure is no failure of this command: as it is and, where that does not load, with what `openaclnn
run` preloads for it. What was seen goes to build/clients/results.json, for
scripts/site/generate_conformance.py; rows of clients that this run did not have stay.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/clients"
RESULTS = ROOT / "build/clients/results.json"

# torch, and the torch-npu that belongs to it.
VERSIONS = {"2.8.0": "2.8.0.post5", "2.9.0": "2.9.0.post9"}

# A mode takes 173 s on one of two busy processors of a Zen 3. A test that waits for ever says where
# before the whole is stopped.
HUNG_TEST, HUNG_MODE = 240, 1500  # s

# The task queue of torch-npu calls from a thread of its own in 1 and 2, and prepares in 2.
MODES = (
    {
        "OPENACLNN_SOC": "Ascend910B1",
        "TASK_QUEUE_ENABLE": "1",
        "ASCEND_LAUNCH_BLOCKING": "0",
    },
    {"OPENACLNN_SOC": "Ascend910B1", "TASK_QUEUE_ENABLE": "0"},
    {"OPENACLNN_SOC": "Ascend910B1", "TASK_QUEUE_ENABLE": "2"},
    {"OPENACLNN_SOC": "Ascend910B1", "ASCEND_LAUNCH_BLOCKING": "1"},
    {"OPENACLNN_SOC": "Ascend950PR_9579", "TASK_QUEUE_ENABLE": "1"},
)

PROGRAMS = {
    "C samples": "test_samples.py",
    "C mistakes": "test_mistakes.py",
    "ctypes": "test_ctypes.py",
    "InfiniCore-style": "test_infinicore_style.py",
}
FLAGSHIP = "examples/train_text.py"
PROGRAM_MODE = {"OPENACLNN_SOC": "Ascend910B1"}


def environment(prefix, mode):
    """As set_env.sh makes it; the wheel walks ASCEND_HOME_PATH for version files."""
    return os.environ | {
        "ASCEND_HOME_PATH": str(prefix),
        "ASCEND_OPP_PATH": str(prefix / "opp"),
        "LD_LIBRARY_PATH": str(prefix / "lib64/openaclnn/cann/lib64"),
        "PYTHONPATH": f"{ROOT / 'python'}:{prefix / 'python/site-packages'}",
        "ASCEND_GLOBAL_LOG_LEVEL": "4",
        **mode,
    }


def wheel_python(torch):
    return ROOT / f"build/clients/torch-{torch}/bin/python"


def row(client, mode, ok, passed=0, failed=(), said=""):
    """What one run gave; `said` tells what numbers of tests do not."""
    return {
        "client": client,
        "mode": mode,
        "ok": ok,
        "passed": passed,
        "failed": list(failed),
        "said": said,
    }


def run(client, python, tests, mode, prefix):
    """The tests of one file or folder in one mode."""
    handle, name = tempfile.mkstemp(".xml", dir=RESULTS.parent)
    os.close(handle)
    report = Path(name)
    options = ["-q", "-rs", "-p", "no:cacheprovider", "-W", "ignore", f"--junitxml={report}"]
    options += ["-o", f"faulthandler_timeout={HUNG_TEST}"]
    command = ["timeout", f"{HUNG_MODE}", python, "-m", "pytest", *options, tests]
    started = time.monotonic()
    done = subprocess.run(
        command,
        env=environment(prefix, mode),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    cases = ElementTree.parse(report).iter("testcase") if report.stat().st_size else ()
    failed, passed = [], 0
    for case in cases:
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(f"{case.get('classname')}.{case.get('name')}")
        elif case.find("skipped") is None:
            passed += 1
    report.unlink()
    ok = done.returncode == 0
    words = ", ".join(f"{name}={value}" for name, value in mode.items())
    seconds = time.monotonic() - started
    result = f"{'ok' if ok else 'FAILED':<8}{client}, {words}, {seconds:.0f} s"
    print(done.stdout + result, flush=True)
    said = "" if ok or failed else f"ended with {done.returncode}"
    return row(client, mode, ok, passed, failed, said)


def run_programs(prefix):
    python = ROOT / ".venv/bin/python"
    return [
        run(client, python, HERE / "programs" / tests, PROGRAM_MODE, prefix)
        for client, tests in PROGRAMS.items()
    ]


def run_training(client, python, trainings, mode, prefix):
    """The flagship, trained so often."""
    command = [python, "-W", "ignore", FLAGSHIP, "--runs", str(trainings)]
    done = subprocess.run(
        command, env=environment(prefix, mode), cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    print(done.stdout, flush=True)
    seen = [line for line in done.stdout.splitlines() if re.search("same bits|<= 0.001", line)]
    said = "; ".join(seen[-2:]) or f"ended with {done.returncode}"
    return row(f"{client}: {FLAGSHIP}", mode, done.returncode == 0, said=said)


def run_wheel(torch, torch_npu, modes, trainings, prefix):
    """The tests in each mode; in the first those of ranks, and the flagship, trained so often."""
    client, python = f"torch-npu {torch_npu}", wheel_python(torch)
    # A mode keeps one processor busy: its tests are Python, and tensors of a few elements. Of five on
    # two processors the last is alone, where the flagship has room.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = pool.map(lambda mode: run(client, python, HERE / "pytorch", mode, prefix), modes)
        trained = pool.submit(run_training, client, python, trainings, modes[0], prefix)
    # The processes of torchrun keep all processors busy.
    ranks = run(f"{client}: ranks", python, HERE / "ranks", modes[0], prefix)
    return [*rows, ranks, trained.result()]


def first_words(text):
    """Of an error's output the line that tells what happened first."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"(what\(\): |\w*Error: )", line)]
    return (telling[:1] or lines[-1:] or ["nothing was printed"])[0].removeprefix("what():").strip()


def red(client, mode, said):
    """A row for what did not come to its tests."""
    print(f"red     {client}, {mode or 'as it is'}: {said}", flush=True)
    return row(client, mode, False, said=said)


def why_not_loaded(torch, mode, prefix):
    """The reason why the wheel cannot be imported, or None."""
    done = subprocess.run(
        [wheel_python(torch), "-c", "import torch, torch_npu; assert torch.npu.is_available()"],
        env=environment(prefix, mode),
        capture_output=True,
        text=True,
    )
    return None if done.returncode == 0 else first_words(done.stderr)


def try_wheel(torch, torch_npu, prefix):
    """A mode of each product, if it can be imported; each way that cannot is a row with why."""
    client = f"torch-npu {torch_npu}"
    setup = subprocess.run([HERE / "setup.sh", torch, torch_npu], capture_output=True, text=True)
    if setup.returncode != 0:
        return [red(client, {}, first_words(setup.stderr))]
    rows = []
    keys = "libopenaclnn_torch_keys.so"
    for preloaded in ({}, {"LD_PRELOAD": str(prefix / "lib64" / keys)}):
        said = why_not_loaded(torch, MODES[0] | preloaded, prefix)
        if said is None:
            modes = [MODES[0] | preloaded, MODES[-1] | preloaded]
            rows += run_wheel(torch, torch_npu, modes, 2, prefix)
            break
        rows.append(red(client, preloaded, f"does not load: {said}"))
    for each in rows:
        if "LD_PRELOAD" in each["mode"]:
            each["mode"] = each["mode"] | {"LD_PRELOAD": keys}
    return rows


def record(rows):
    """Rows of the same clients give way; those of others, from other runs, stay."""

    def client(one):
        return one["client"].partition(":")[0]

    before = json.loads(RESULTS.read_text()) if RESULTS.is_file() else []
    seen = {client(new) for new in rows}
    kept = [old for old in before if client(old) not in seen]
    both = sorted(kept + rows, key=lambda one: one["client"])
    RESULTS.write_text(json.dumps(both, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix", type=Path)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="of torch")
    parser.add_argument("--without-torch", action="store_true")
    parser.add_argument(
        "--try", action="append", default=[], metavar="TORCH:TORCH_NPU", dest="tried"
    )
    arguments = parser.parse_args()
    prefix = arguments.prefix.resolve()
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    if arguments.tried:
        for pair in arguments.tried:
            record(try_wheel(*pair.split(":"), prefix))
        return 0
    versions = [] if arguments.without_torch else arguments.versions or VERSIONS
    for version in versions:
        if subprocess.run([HERE / "setup.sh", version, VERSIONS[version]]).returncode != 0:
            return 1
    rows = run_programs(prefix)
    for version in versions:
        rows += run_wheel(version, VERSIONS[version], MODES, 10, prefix)
    record(rows)
    return 0 if all(row["ok"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
