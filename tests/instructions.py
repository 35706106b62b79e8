# SPDX-License-Identifier: Apache-2.0
"""Counts what a call of each operator costs, in instructions, where clocks cannot be trusted.

    instructions.py BUILD_DIR [--update]

One thread, AVX2 (valgrind has no AVX-512), the room's first case of a real model in each of its
types, the calls of bench/supporting, and a supporting operator that has next to nothing to do: what
each of 50 more calls (of bench/supporting 10, of the last 5,000) adds to a program of one. So starting is not counted, and what it varies by, 200,000
instructions, is little. More than 3 % above what tests/instructions.json says
fails; --update writes what was counted. So does OPENACLNN_CHECK=fast if it adds more than 3 % to
the small call.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

RECORDED = Path(__file__).with_suffix(".json")
MORE = 1.03  # what other versions of libc and libstdc++ may add
MORE_CALLS = 50
MORE_SUPPORTING_CALLS = 10
MORE_SMALL_CALLS = 5000
SMALL_CALL = "small_call"
FAST_MORE = 1.03  # what OPENACLNN_CHECK=fast may cost
LESS = 0.9  # so much better that the bound should follow
# The C library copies and fills by one instruction, which is counted for each byte, from a length on
# that it takes from the processor's caches: embedding_forward has 752,231 instructions without it
# and 2,274,711 from 2,048 bytes on.
TUNABLES = ":".join(f"glibc.cpu.x86_{what}_threshold=100000000" for what in ("rep_movsb", "rep_stosb"))
SETTING = {"OPENACLNN_NUM_THREADS": "1", "OPENACLNN_SIMD": "avx2", "GLIBC_TUNABLES": TUNABLES}


def count(program: list, calls: int, check: str = "fast") -> int:
    """Instructions of a whole run."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *program]
    environment = os.environ | SETTING | {"OPENACLNN_CHECK": check}
    run = subprocess.run([*command, f"--calls={calls}"], env=environment,
                         capture_output=True, text=True)  # fmt: skip
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode or not found:
        raise SystemExit(f"{program}: exit code {run.returncode}: {run.stderr}")
    return int(found[1])


def programs_of(build: Path) -> dict[str, tuple[list, int]]:
    """By name a command and how many more calls of it are counted."""
    rooms = {each.name.removesuffix("_bench"): ([each], MORE_CALLS) for each in build.glob("bench/*ward_bench")}
    calls = build / "bench/supporting_calls"
    names = subprocess.run([calls], check=True, capture_output=True, text=True).stdout.split()
    supporting = {name: ([calls, name], MORE_SUPPORTING_CALLS) for name in names}
    small = {SMALL_CALL: ([build / f"bench/{SMALL_CALL}_bench"], MORE_SMALL_CALLS)}
    return dict(sorted(rooms.items())) | supporting | small


def verdict(counted: int, recorded: int | None) -> str:
    if recorded is None:
        return "NEW: run it with --update"
    if counted > recorded * MORE:
        return f"MORE: {counted / recorded:.3f} of {recorded}"
    return "ok" if counted > recorded * LESS else f"ok, {counted / recorded:.3f} of the recorded"


def main(build: Path, update: bool) -> int:
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    counts, failed = {}, False
    found = programs_of(build)
    programs, further = zip(*found.values(), strict=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        often = pool.map(count, programs, [1 + calls for calls in further])
        once = pool.map(count, programs, [1] * len(programs))
        unchecked = pool.map(count, [programs[-1]] * 2, [1 + MORE_SMALL_CALLS, 1], ["off"] * 2)
    for name, calls, more, less in zip(found, further, often, once, strict=True):
        counts[name] = (more - less) // calls
        says = verdict(counts[name], recorded.get(name))
        failed |= says[0].isupper()
        print(f"{name:28}{counts[name]:15,}  {says}", flush=True)
    more, less = unchecked
    share = counts[SMALL_CALL] * MORE_SMALL_CALLS / (more - less)
    says = "ok" if share <= FAST_MORE else f"MORE: expected at most {FAST_MORE}"
    failed |= says[0].isupper()
    print(f"{SMALL_CALL}, of that unchecked {share:14.3f}  {says}")
    gone = sorted(set(recorded) - set(counts))
    if gone:
        print("recorded, but not there:", ", ".join(gone))
    if update:
        RECORDED.write_text(json.dumps(counts, indent=2) + "\n")
        return 0
    return int(failed or bool(gone))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), "--update" in sys.argv[2:]))
