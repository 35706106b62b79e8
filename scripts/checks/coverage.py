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


def count(lines: list[dict]) -> collections.Counter:
    """Counts each kind, and how many of it were reached; a line may be listed once a function."""
    counts = collections.Counter()
    for line in merged(lines):
        counts["line"] += 1
        counts["line reached"] += line["count"] > 0
        counts["branch"] += len(line["branches"])
        counts["branch reached"] += sum(each["count"] > 0 for each in line["branches"])
    return counts


def merged(lines: list[dict]) -> list[dict]:
    """Those that count, by number."""
    of_number = {}
    for line in lines:
        if line.get("gcovr/excluded"):
            continue
        branches = [each for each in line.get("branches", []) if not each.get("gcovr/excluded")]
        known = of_number.setdefault(line["line_number"], {**line, "count": 0, "branches": []})
        known["count"] += line["count"]
        if len(known["branches"]) == len(branches):
            pairs = zip(known["branches"], branches, strict=True)
            branches = [{"count": a["count"] + b["count"]} for a, b in pairs]
        known["branches"] = max(branches, known["branches"], key=len)
    return [of_number[number] for number in sorted(of_number)]


def missing(lines: list[dict]) -> list[str]:
    """Lines of a file that were not reached, or of which a branch was not."""
    found = []
    for line in merged(lines):
        never = sum(each["count"] == 0 for each in line["branches"])
        if line["count"] == 0:
            found.append(f"{line['line_number']}: not reached")
        elif never:
            found.append(f"{line['line_number']}: {never} of {len(line['branches'])} branches not taken")
    return found


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


def measure(build: Path) -> list[dict]:
    out = build / "coverage.json"
    subprocess.run(
        [sys.executable, "-m", "gcovr", "--root", ".", "--object-directory", str(build), "-j", "2",
         "--filter", "src/", "--exclude", r".*(test|bench|test_case|reference)\.(cc|h)$",
         "--exclude-throw-branches", "--exclude-unreachable-branches",
         # In processes that end while threads run, counts are off by some.
         "--gcov-suspicious-hits-threshold", "0",
         "--gcov-ignore-parse-errors", "negative_hits.warn_once_per_file",
         "--json", str(out), str(build)],
        check=True,
    )  # fmt: skip
    document = json.loads(out.read_text("utf-8"))
    exceptions = set()
    for graph in build.rglob("*.gcno"):
        exceptions |= exceptional(graph, "src/")
    leave_out(document["files"], exceptions)
    out.write_text(json.dumps(document), "utf-8")
    return document["files"]


def share(counts: collections.Counter, kind: str) -> str:
    reached, there = counts[f"{kind} reached"], counts[kind]
    return f"{reached:6} of {there:6} {100 * reached / max(1, there):5.1f} %"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--missing")
    options = parser.parse_args()
    if options.missing:
        files = json.loads((options.build / "coverage.json").read_text("utf-8"))["files"]
        for file in files:
            if file["file"].startswith(options.missing):
                print(*(f"{file['file']}:{each}" for each in missing(file["lines"])), sep="\n")
        return 0
    folders = collections.defaultdict(collections.Counter)
    for file in measure(options.build):
        counts = count(file["lines"])
        folders[folder_of(file["file"])] += counts
        folders["all"] += counts
    for folder in sorted(folders, key=lambda each: (each == "all", each)):
        print(f"{folder:32} " + "   ".join(f"{kind} {share(folders[folder], kind)}" for kind in KINDS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
