# SPDX-License-Identifier: Apache-2.0
"""Checks the shape of commits: one idea each, a subject that can be read in a list, a body.

python3 scripts/checks/check_commits.py [BASE]: those since BASE, merges aside; a line for each fault, exit
code 1. BASE is any commit, such as the merge base with the branch that a pull request is for;
without it, those since the check is part of continuous integration. Where git knows no such
history (a shallow clone, a tree without .git) it says LEFT OUT.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

# The last commit that the rules do not hold for: those before it were written without them.
LAST_BEFORE = "45c0f6cf9becf2562e384ffde08595fe0eed5ad0"

MAX_SUBJECT = 60
MAX_ADDED_LINES = 500

# `scope: what it does`; the scope is a folder, a file or a thing.
SUBJECT = re.compile(r"[\w./-]+(?:, [\w./-]+)*: \S.*[^.\s]")

# Lines of data are as many as there are things to list, or to measure.
DATA = re.compile(
    r"data/|docs/figures/|tests/supporting/pages/|.*\.(?:inc|out)$|.*_table\.cc$|.*/(?:operators|latex)\.toml$|CONFORMANCE\.md$"
    # a line for each operator's example, or for each call of a model
    r"|python/openaclnn/(?:examples|benchmark/drawn/calls)\.json$"
    # error_table.inc and the pages made from headers and the tool, in another language
    r"|docs/site/locale/.*/(?:errors|build/docs/pages/\w+)\.po$"
)


class Commit(NamedTuple):
    name: str
    subject: str
    body: str
    added: int  # lines that this commit neither moved nor took from elsewhere; data aside


def git(root, *arguments):
    done = subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)
    return done.stdout.decode("utf-8", errors="replace")


def read_commits(root, base):
    """Oldest first."""
    for name in git(root, "rev-list", "--reverse", "--no-merges", f"{base}..HEAD").split():
        subject, _, body = git(root, "show", "-s", "--format=%s%x00%b", name).partition("\0")
        diff = git(root, "show", "--format=", "-U0", "-M", "--no-ext-diff", name)
        yield Commit(name[:12], subject, body.strip(), added_lines(diff))


def added_lines(diff):
    """How many lines of a diff are new: not blank, no data, and not removed elsewhere in it."""
    added, removed = Counter(), Counter()
    is_data = False
    for line in diff.splitlines():
        if line.startswith("diff --git "):
            is_data = DATA.match(line.rpartition(" b/")[2]) is not None
        elif line.startswith(("+++", "---")) or is_data:
            continue
        elif line.startswith("+"):
            added[line[1:].strip()] += 1
        elif line.startswith("-"):
            removed[line[1:].strip()] += 1
    new = added - removed
    del new[""]
    return new.total()


def faults_of(commit):
    if len(commit.subject) > MAX_SUBJECT:
        yield f"the subject has {len(commit.subject)} characters, at most {MAX_SUBJECT}"
    if not SUBJECT.fullmatch(commit.subject):
        yield "the subject is not `scope: what it does`, without a full stop"
    if not commit.body:
        yield "no body says why"
    if commit.added > MAX_ADDED_LINES:
        yield f"{commit.added} new lines are more than one idea, at most {MAX_ADDED_LINES}"


def has_history(root, base):
    """Whether this is a repository whose HEAD comes after `base`, with all that is between."""
    try:
        top = git(root, "rev-parse", "--show-toplevel").strip()
        git(root, "merge-base", "--is-ancestor", base, "HEAD")
    except (OSError, subprocess.CalledProcessError):
        return False
    return Path(top).resolve() == Path(root).resolve()


def main(arguments, root=ROOT, last_before=LAST_BEFORE):
    if len(arguments) > 1:
        sys.exit(__doc__.split("\n\n")[1])
    base = arguments[0] if arguments else last_before
    if not arguments and not has_history(root, base):
        print(f"commits: LEFT OUT, there is no history since {base[:12]} here")
        return 0
    commits = list(read_commits(root, base))
    faults = [f"{c.name} {c.subject}: {fault}" for c in commits for fault in faults_of(c)]
    for fault in faults:
        print(fault)
    print(f"commits: {len(faults)} faults" if faults else f"commits: {len(commits)} ok")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
