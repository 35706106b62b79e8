# SPDX-License-Identifier: Apache-2.0
"""Prints which share of the lines and branches of src/ the tests have reached, for each folder.

    coverage.py BUILD [--missing FOLDER]

BUILD was made with OPENACLNN_COVERAGE and has run its tests. Branches that only an exception takes or
leads to, and those that the compiler made of lines without code, do not count; tests and references do not
either. The lines themselves are left in BUILD/coverage.json, which mutate.py reads; --missing prints those
of a folder or a file that no test reaches, and lines of which a branch was never taken.
"""

import argparse
import collections
import json
import subprocess
import sys
from pathlib import Path

from gcov_blocks import Place, exceptional

KINDS = ("line", "branch")


def leave_out(files: list[dict], exceptions: set[Place]) -> None:
    """Marks the branches that only an exception takes or leads to."""
    apart = {place[0] for place in exceptions}
    for file in files:
        for line in file["lines"]:
            name = line.get("function_name", "")
            place = (name if name in apart else "", file["file"], line["line_number"])
            for branch in line.get("branches", []):
                if (*place, branch["branchno"]) in exceptions:
                    branch["gcovr/excluded"] = True


def folder_of(file: str) -> str:
    """src/ascendcl/watch of src/ascendcl/watch/race.cc; a family of operators is one folder."""
    parts = file.split("/")[:-1]
    return "/".join(parts[:3] if parts[1] == "opapi" else parts)


def gcovr(*options: str) -> str:
    command = [sys.executable, "-m", "gcovr", "--root", ".", *options]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def measure(build: Path, out: Path) -> None:
    """Writes the lines of src/ to `out`, with branches that do not count marked."""
    gcovr(
        "--object-directory", str(build), "-j", "2",
        "--filter", "src/", "--exclude", r".*(test|bench|test_case|reference)\.(cc|h)$",
        "--exclude-throw-branches", "--exclude-unreachable-branches",
        # In processes that end while threads run, counts are off by some.
        "--gcov-suspicious-hits-threshold", "0",
        "--gcov-ignore-parse-errors", "negative_hits.warn_once_per_file",
        "--json", str(out), str(build),
    )  # fmt: skip
    document = json.loads(out.read_text("utf-8"))
    exceptions = set()
    for graph in build.rglob("*.gcno"):
        exceptions |= exceptional(graph, "src/")
    leave_out(document["files"], exceptions)
    out.write_text(json.dumps(document), "utf-8")


def count(measured: Path) -> dict[str, collections.Counter]:
    """Counts lines and branches of each folder, and how many of them were reached. The instances of a
    template count as one."""
    summary = json.loads(gcovr("--add-tracefile", str(measured), "--merge-lines", "--json-summary", "-"))
    folders = collections.defaultdict(collections.Counter)
    for file in summary["files"]:
        for folder in (folder_of(file["filename"]), "all"):
            for kind in KINDS:
                folders[folder][kind] += file[f"{kind}_total"]
                folders[folder][f"{kind} reached"] += file[f"{kind}_covered"]
    return folders


def missing(measured: Path, place: str) -> str:
    """Lists the lines that no test reaches, then those of which a branch was never taken."""
    options = ("--add-tracefile", str(measured), "--merge-lines", "--filter", place)
    return "".join(gcovr(*options, "--txt", "-", "--txt-metric", kind) for kind in KINDS)


def share(counts: collections.Counter, kind: str) -> str:
    reached, there = counts[f"{kind} reached"], counts[kind]
    return f"{reached:6} of {there:6} {100 * reached / max(1, there):5.1f} %"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--missing", metavar="FOLDER")
    options = parser.parse_args()
    measured = options.build / "coverage.json"
    if options.missing:
        print(missing(measured, options.missing))
        return 0
    measure(options.build, measured)
    folders = count(measured)
    for folder in sorted(folders, key=lambda each: (each == "all", each)):
        print(f"{folder:32} " + "   ".join(f"{kind} {share(folders[folder], kind)}" for kind in KINDS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
