# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy on a build folder's sources; what was clean before is not read again.

python3 scripts/checks/clang_tidy.py BUILD [--only REGEX] [--jobs N] [--all]: the sources of
BUILD/compile_commands.json whose path has REGEX in it; findings as clang-tidy prints them, exit
code 1 if there are any.

A source counts as clean if no file that it reads has changed since the commit LAST_CLEAN. That does
not hold with --all, where .clang-tidy has changed, and where git does not know the commit.

A source also was clean if its flags, clang-tidy and its configuration, and the text of every file that
it includes were the same then, wherever the tree lay: an empty file stands for that in
$XDG_CACHE_HOME/openaclnn/clang-tidy (~/.cache without it), those of 60 days ago are removed.
"""

import argparse
import functools
import hashlib
import json
import math
import os
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLANG_TIDY = "clang-tidy-14"
# --all found all sources clean in this commit; on two cores that takes half an hour.
LAST_CLEAN = "a2185c8fd0a27e5eaac33e723cc303f3ff432ce6"
KEPT_SECONDS = 60 * 24 * 3600


def cache_folder():
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "openaclnn/clang-tidy"


def sources(build, only):
    """(file, command, folder) of each source, once."""
    entries = {entry["file"]: entry for entry in json.loads((build / "compile_commands.json").read_text())}
    return [(Path(file), shlex.split(entry["command"]), Path(entry["directory"]))
            for file, entry in sorted(entries.items()) if re.search(only, file)]


def changed_since(root, commit):
    """The files that differ from a commit; None where that is not known, or clang-tidy looks for other things."""
    def git(*arguments):
        return subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True,
                              text=True).stdout.split("\0")
    try:
        names = git("diff", "-z", "--name-only", "--no-renames", commit)
        names += git("ls-files", "-z", "--others", "--exclude-standard")
    except (OSError, subprocess.CalledProcessError):
        return None
    return None if ".clang-tidy" in names else {root / name for name in names if name}


@functools.cache
def text_hash(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def checks(root):
    """The version and the checks of clang-tidy."""
    version = subprocess.run([CLANG_TIDY, "--version"], check=True, capture_output=True).stdout
    return hashlib.sha256(version + (root / ".clang-tidy").read_bytes()).hexdigest()


def included(command, folder):
    """All files that a compilation reads, as the compiler lists them for make."""
    command = command[Path(command[0]).name == "ccache":]
    output = command.index("-o")
    rule = subprocess.run([*command[:output], *command[output + 2:], "-M"], cwd=folder, check=True,
                          capture_output=True, text=True).stdout
    return [Path(os.path.normpath(folder / name)) for name in shlex.split(rule.replace("\\\n", " "))[1:]]


def key(root, command, read):
    """Names what clang-tidy would see; the same in every copy of the tree."""
    seen = [checks(root), *command]
    for path in read:
        seen += [str(path), text_hash(path)]
    return hashlib.sha256("\0".join(seen).replace(str(root), "").encode()).hexdigest()


def findings(build, file):
    """The complaints of clang-tidy; empty where it has none."""
    done = subprocess.run([CLANG_TIDY, "--quiet", "-p", str(build), str(file)], capture_output=True,
                          text=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def remove_old(folder):
    for file in folder.iterdir():
        if time.time() - file.stat().st_mtime > KEPT_SECONDS:
            file.unlink(missing_ok=True)


def look_at(root, build, changed, file, command, folder):
    """(whether it was clean before, findings)"""
    read = included(command, folder)
    if changed is not None and changed.isdisjoint(read):
        return True, ""
    clean = cache_folder() / key(root, command, read)
    if clean.exists():
        clean.touch()
        return True, ""
    said = findings(build, file)
    if not said:
        clean.touch()
    return False, said


def main(root=ROOT):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seconds", type=float, default=math.inf)
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    cache_folder().mkdir(parents=True, exist_ok=True)
    remove_old(cache_folder())
    chosen = sources(options.build, options.only)
    changed = None if options.all else changed_since(root, LAST_CLEAN)
    if changed is not None:
        chosen.sort(key=lambda source: source[0] not in changed)

    def look(source):
        late = time.monotonic() > end
        return None if late else look_at(root, options.build, changed, *source)

    known = bad = left_out = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(look, chosen):
            left_out += result is None
            before, said = result or (False, "")
            known += before
            bad += bool(said)
            if said:
                print(said, flush=True)
    late = f", {left_out} left out: {options.seconds:g} s are over" if left_out else ""
    print(f"clang-tidy: {len(chosen)} files, {known} clean before, {bad} with findings{late}")
    return 1 if bad or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
