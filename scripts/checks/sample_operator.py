# SPDX-License-Identifier: Apache-2.0
"""Adds an operator of each kind to a copy of the tree, counts the edits, builds and tests them.

.venv/bin/python scripts/checks/sample_operator.py [--jobs N] [--preset P] [--count]: the copy is in
build/sample_operator. A room must need one edit outside what is new, CHANGELOG.md; a record, with an
expression or with a plan of its own, must be the one edit, to the operators.toml of its topic. With
--count nothing is built.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / "build/sample_operator/tree"
VENV = ROOT / "build/sample_operator/venv"
TEMPLATES = ROOT / "tests/sample_operator"

CHANGELOG = "CHANGELOG.md"
CHANGELOG_LINE = "- Operator SampleScale.\n"

# Where the new files of a room and of a record may be.
ROOM_PLACES = (
    "src/opapi/sample_scale/",
    "include/aclnnop/aclnn_sample_scale.h",
    "examples/sample_scale.",
    "python/openaclnn/operators/sample_scale.py",
)
# Records by the folder of tests/sample_operator/ that they are in: the topic, and the operator.
TOPICS = {
    "record": "src/opapi/supporting/elementwise/",
    "plan": "src/opapi/supporting/reduce/",
}
OPERATORS = ("SampleScale", "SampleCube", "SampleRows")

# Pages that scripts write anew when there is an operator more; `--check` says that it is not
# current.
PAGES = {
    "generate_readme.py": ("README.md", "README.zh-CN.md"),
    "generate_conformance.py": ("CONFORMANCE.md",),
    "generate_command_line.py": ("docs/command-line.md",),
    "generate_help_examples.py": ("python/openaclnn/examples.json",),
}

LIBRARIES = (
    "ascendcl nnopbase opapi openaclnn_reference openaclnn_capture "
    "acl_op_compiler acl_tdt_channel ascend_hal atb c_sec ge_runner graph hccl hcomm msprofiler "
    "openaclnn_torch_keys platform runtime"
).split()
NATIVE_TESTS = ("sample_scale_forward_test", "abi_handles", "abi_load")
CTEST = "^(sample_scale_forward_test|abi_handles|abi_load|abi_symbols)$"


class Change(NamedTuple):
    """The change that git sees between two states of the copy."""

    new: list
    edited: list


class Wrong(Exception):
    """The error that the samples are there to find."""


def run(command, folder=None, **environment):
    print(f"-- {' '.join(map(str, command))}", flush=True)
    folder = folder or COPY
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment})
    if done.returncode != 0:
        raise Wrong(f"{command[0]} returned {done.returncode}")


def git(folder, *arguments):
    """Git in a repository of the copy's own, whose author is nobody."""
    who = ["-c", "user.name=sample", "-c", "user.email=sample", "-c", "core.excludesFile="]
    command = ["git", "-C", str(folder), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def copy_tree(source, folder):
    """Copies the files that git tracks or would track; files that are as they were are left
    alone."""
    command = ["git", "-C", str(source), "ls-files", "-z", "-co", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    wanted = {path for path in listed if path and (source / path).is_file()}
    shutil.rmtree(folder / ".git", ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    there = git(folder, "ls-files", "-z", "-o", "--exclude-standard").split("\0")
    for path in set(there) - wanted - {""}:
        (folder / path).unlink()
    for path in wanted:
        copy_file(source / path, folder / path)
    commit(folder)


def copy_file(source, target):
    if target.is_file() and target.read_bytes() == source.read_bytes():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)  # its time is now: what was built from the old one is stale


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "sample: as it is")


def change(folder):
    """Since the last commit."""
    listed = git(folder, "status", "--porcelain", "-uall", "--no-renames").splitlines()
    new = [line[3:] for line in listed if line.startswith("??")]
    return Change(new, [line[3:] for line in listed if not line.startswith("??")])


def append(path, text):
    path.write_text(path.read_text() + text)


def add_files(kind, folder):
    template = TEMPLATES / kind
    for path in template.rglob("*"):
        if path.is_file() and path.parent != template and "__pycache__" not in path.parts:
            copy_file(path, folder / path.relative_to(template))


def add_room(folder):
    """The room's files as they are in tests/sample_operator/room, and a line of CHANGELOG.md."""
    add_files("room", folder)
    append(folder / CHANGELOG, CHANGELOG_LINE)


def records_of(kind):
    """The file that a record of this kind is added to."""
    return f"{TOPICS[kind]}operators.toml"


def add_record(kind, folder):
    """One [[operator]] more, and beside it the expression or the plan that no other one has."""
    add_files(kind, folder)
    text = (TEMPLATES / kind / "record.toml").read_text()
    append(folder / records_of(kind), "\n" + text[text.index("[[operator]]") :])


def expect_edits(kind, found, places, edited):
    """The count that this script is for."""
    print(f"{kind}: {len(found.new)} new files, {len(found.edited)} edited: {found.edited}")
    outside = [path for path in found.new if not path.startswith(places)]
    if outside:
        raise Wrong(f"{kind}: files where none belong: {', '.join(outside)}")
    if found.edited != [edited]:
        raise Wrong(f"{kind}: {found.edited} are edited, expected {edited} alone")


def add_samples(folder):
    """All operators, each counted by itself."""
    add_room(folder)
    expect_edits("room", change(folder), ROOM_PLACES, CHANGELOG)
    commit(folder)
    for kind, topic in TOPICS.items():
        add_record(kind, folder)
        expect_edits(kind, change(folder), (topic,), records_of(kind))
        commit(folder)


def build(preset, jobs):
    run(["cmake", "--preset", preset])
    targets = [*LIBRARIES, *NATIVE_TESTS, "sample_scale_forward_bench", "fuzz_kernels"]
    run(["cmake", "--build", "--preset", preset, "-j", str(jobs), "--target", *targets])
    run(["cmake", "--install", f"build/{preset}", "--prefix", "build/install"])


def make_python():
    """An interpreter with the packages of this one, but the copy's openaclnn: as .venv has it, the
    package would be found by its own importer, in the tree that it was installed from."""
    venv.create(VENV, with_pip=False, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(VENV)}))
    paths = [COPY / "python", sysconfig.get_path("purelib")]
    (packages / "sample.pth").write_text("".join(f"{path}\n" for path in paths))
    tool = VENV / "bin/openaclnn"
    tool.write_text(f"#!{VENV}/bin/python\nfrom openaclnn.__main__ import main\nraise SystemExit(main())\n")
    tool.chmod(0o755)


def environment():
    """The environment of programs that use the built libraries."""
    toolkit = f"{COPY}/build/install"
    return {
        "OPENACLNN_HOME": toolkit,
        "ASCEND_HOME_PATH": toolkit,
        "LD_LIBRARY_PATH": f"{toolkit}/lib64",
        "ASCEND_GLOBAL_LOG_LEVEL": "4",
    }


def python(*arguments):
    run([VENV / "bin/python", *arguments], **environment())


def write_pages():
    """By scripts, not by hand: nothing else changes, and then they are current."""
    for script, pages in PAGES.items():
        python(f"scripts/site/{script}")
        python(f"scripts/site/{script}", "--check")
        for page in set(pages) - set(change(COPY).edited):
            raise Wrong(f"{page} does not say that there are operators more")
    found, written = change(COPY), sum(PAGES.values(), ())
    if found.new or set(found.edited) - set(written):
        raise Wrong(f"{found.new + found.edited} are written, expected {list(written)}")


def expect_listed():
    command = [VENV / "bin/python", "-m", "openaclnn", "list", "--json"]
    place = {"cwd": COPY, "env": {**os.environ, **environment()}}
    listed = subprocess.run(command, check=True, capture_output=True, text=True, **place).stdout
    for name in OPERATORS:
        if f"aclnn{name}" not in listed:
            raise Wrong(f"openaclnn list has no aclnn{name}")


def check(preset):
    """The samples through everything that knows operators."""
    run(["ctest", "--preset", preset, "-R", CTEST, "--output-on-failure", "--no-tests=error"])
    make_python()
    expect_listed()
    python("-m", "openaclnn", "check", "sample_scale", "--shape", "33,65")
    write_pages()
    for tests, names in {
        "tests/cli": "sample_scale",
        "tests/clients/programs/test_samples.py": "sample_scale or every_operator",
        "tests/supporting": "SampleCube or SampleRows or what_there_is",
    }.items():
        python("-m", "pytest", "-q", "-p", "no:cacheprovider", tests, "-k", names)


def violations():
    done = subprocess.run(
        [sys.executable, "scripts/checks/check_layout.py"], cwd=COPY, capture_output=True, text=True
    )
    return {line for line in done.stdout.splitlines() if re.match(r"\S+:\d+: ", line)}


def expect_no_violations(before):
    if added := sorted(violations() - before):
        raise Wrong("\n".join(["the samples break rules of the layout:", *added]))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--preset", default="dev")
    parser.add_argument("--count", action="store_true", help="count the edits, build nothing")
    options = parser.parse_args(arguments)
    try:
        copy_tree(ROOT, COPY)
        before = violations()
        add_samples(COPY)
        expect_no_violations(before)
        if not options.count:
            build(options.preset, options.jobs)
            check(options.preset)
    except Wrong as wrong:
        print(f"sample operators: {wrong}")
        return 1
    print("sample operators: ok")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
