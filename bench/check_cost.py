# SPDX-License-Identifier: Apache-2.0
"""What OPENACLNN_CHECK costs: the times of `openaclnn bench --all` with off, fast and full.

python bench/check_cost.py [--rounds N] [OPTION ...]: the options go to `bench --all`, as
--operator, --threads, --quick. The levels take turns, so that what else the machine does meets all
of them; of each row the median over the rounds counts, as a multiple of that with off.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from openaclnn.benchmark import document
from openaclnn.benchmark.compare import KEYS, OURS_OF

LEVELS = ("off", "fast", "full")


def measure(level: str, options: list[str]) -> dict[tuple, float]:
    """The median time of each row in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "out.json"
        site = ["-S"] if sys.flags.no_site else []
        command = [sys.executable, *site, "-m", "openaclnn", "bench", "--all", *options]
        variables = {**os.environ, "OPENACLNN_CHECK": level}
        subprocess.run(
            [*command, "--json", file], env=variables, stdout=subprocess.DEVNULL, check=True
        )
        found = document.read(file)
    return {
        tuple(row[key] for key in keys): row["times"][OURS_OF[member]]["median"]
        for member, keys in KEYS.items()
        for row in found[member]
    }


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    asked, options = parser.parse_known_args(arguments)
    rounds = [{level: measure(level, options) for level in LEVELS} for _ in range(asked.rounds)]

    def median(level: str, key: tuple) -> float:
        return statistics.median(each[level][key] for each in rounds if key in each[level])

    common = [key for key in rounds[0]["off"] if all(key in rounds[0][each] for each in LEVELS)]
    ratios = {
        level: {key: median(level, key) / median("off", key) for key in common}
        for level in LEVELS[1:]
    }
    print("| row | off, us | fast | full |\n|---|---|---|---|")
    for key in common:
        numbers = " | ".join(f"{ratios[level][key]:.3f}" for level in LEVELS[1:])
        print(f"| {' '.join(map(str, key))} | {1e6 * median('off', key):.1f} | {numbers} |")
    for name, join in (("geometric mean", statistics.geometric_mean), ("greatest", max)):
        numbers = " | ".join(f"{join(ratios[level].values()):.3f}" for level in LEVELS[1:])
        print(f"| {name} | | {numbers} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
