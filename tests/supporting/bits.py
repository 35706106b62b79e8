# SPDX-License-Identifier: Apache-2.0
"""The bits of every case, to show that they are the same before and after a change.

    OPENACLNN_HOME=build/install .venv/bin/python tests/supporting/bits.py --write FILE
    OPENACLNN_HOME=build/install .venv/bin/python tests/supporting/bits.py --compare FILE

All NaN count as one, and so do all refusals. Comparing exits with 1 where bits differ, and names
each operator with the numbers of its cases.
"""

import argparse
import json
import os
import sys
from pathlib import Path

import driver
import records
from openaclnn.native import runtime


def digests() -> dict[str, list[str]]:
    """Of the cases of each operator that there is, in order."""
    started = runtime.start()
    stream = runtime.Stream(started)
    return {
        record.name: [
            driver.run(started, stream, record, number).digest
            for number in range(driver.count_of(record))
        ]
        for record in records.load()
        if started.kit.has(record.api)
    }


def differences(before: dict[str, list[str]], after: dict[str, list[str]]) -> dict[str, list[int]]:
    """The cases that differ by operator; one that is gone differs whole, a new one does not."""
    found = {}
    for name in sorted(before):
        pair = before.get(name, []), after.get(name, [])
        longest = max(map(len, pair))
        padded = (each + [""] * (longest - len(each)) for each in pair)
        numbers = [i for i, (a, b) in enumerate(zip(*padded, strict=True)) if a != b]
        if numbers:
            found[name] = numbers
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    ways = parser.add_mutually_exclusive_group(required=True)
    ways.add_argument("--write", type=Path)
    ways.add_argument("--compare", type=Path)
    given = parser.parse_args()
    now = digests()
    if given.write:
        given.write.write_text(json.dumps(now, indent=0) + "\n", "utf-8")
        return 0
    found = differences(json.loads(given.compare.read_text("utf-8")), now)
    for name, numbers in found.items():
        print(f"{name}: {len(numbers)} of {len(now.get(name, []))} cases differ: {numbers}")
    print(f"{len(now) - len(found)} of {len(now)} operators have the same bits")
    return 1 if found else 0


if __name__ == "__main__":
    os.environ.setdefault("OPENACLNN_SOC", "Ascend910B1")
    sys.exit(main())
