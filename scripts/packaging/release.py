# SPDX-License-Identifier: Apache-2.0
"""Makes the release of this tree's version in dist/, checks it, and prints the commands that publish it.

.venv/bin/python scripts/packaging/release.py [STEP ...]         all steps, in the order of `--help`, or some
.venv/bin/python scripts/packaging/release.py --date 2026-12-24  dates the release in CHANGELOG.md and CITATION.cff

`make release` sets up what the steps need. A step that a test leaves a part of out says so again at the
end. Nothing is published and no tag is made here.
"""

import argparse
import datetime
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
PARTS = ROOT / "build/release.parts"
TOOLS = ROOT / "build/wheel.parts/tools/bin"
ARCHITECTURES = ("x86_64", "aarch64")
GLIBC = "2_27"
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
UNDATED = "not released yet"


class Wrong(Exception):
    """A reason why this tree is no release."""


# Statements of the pages.


def version_of(package: str) -> str:
    """The version of python/openaclnn/__init__.py, which the build holds the other places to."""
    return re.search(r'^__version__ = "(.*)"$', package, re.M)[1]


def sections(changelog: str) -> dict[str, tuple[str, str]]:
    """For each release its date and its text."""
    parts = re.split(r"^## (.*)\n", changelog, flags=re.M)
    found = {}
    for heading, text in zip(parts[1::2], parts[2::2], strict=True):
        form = re.fullmatch(r"(\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d|" + UNDATED + ")", heading)
        if form is None:
            raise Wrong(f"CHANGELOG.md has '## {heading}', expected '## 1.2.3 - YYYY-MM-DD'")
        kinds = re.findall(r"^### (.*)$", text, re.M)
        if len(set(kinds)) != len(kinds) or not set(kinds) <= set(KINDS):
            raise Wrong(f"CHANGELOG.md, {form[1]}: the parts are {kinds}, expected of {KINDS}, once each")
        found[form[1]] = form[2], text.strip()
    return found


def notes(changelog: str, version: str) -> str:
    """The section of a release as a page of its own: a paragraph a line, as hosts keep line breaks."""
    found = sections(changelog)
    if version not in found or not found[version][1]:
        raise Wrong(f"CHANGELOG.md says nothing of {version}")
    lines = []
    for line in found[version][1].splitlines():
        starts = re.match(r"\s*(- |#|$)", line)
        if starts or not lines or not lines[-1] or lines[-1].startswith("#"):
            lines.append(line.rstrip())
        else:
            lines[-1] += f" {line.strip()}"
    # Files of the tree are named: a link to them leads nowhere from another page.
    return re.sub(r"\[([^\]]+)\]\((?!https?://)[^)]*\)", r"\1", "\n".join(lines)) + "\n"


def dated(changelog: str, citation: str, version: str, day: datetime.date) -> tuple[str, str]:
    """Both files with the day of the release."""
    if sections(changelog)[version][0] != UNDATED:
        raise Wrong(f"{version} is dated already: {sections(changelog)[version][0]}")
    return (
        changelog.replace(f"## {version} - {UNDATED}\n", f"## {version} - {day.isoformat()}\n"),
        re.sub(r"^(version: .*\n)", rf"\1date-released: {day.isoformat()}\n", citation, flags=re.M),
    )


def commands(version: str, day: str, files: list[str], changed: list[str]) -> list[str]:
    """The commands that publish the release, or those to be run before."""
    if day == UNDATED:
        return [
            f".venv/bin/python scripts/packaging/release.py --date $(date +%F)  # {version} has no date",
            f"git commit -am 'release: {version} has a date'",
            "make release",
        ]
    if changed:
        return [f"git status  # not committed: {', '.join(changed)}", "make release"]
    *packages, page = (shlex.quote(each) for each in files)
    return [
        f"git tag -a v{version} -m 'openaclnn {version}'",
        f"git push origin v{version}",
        f"{TOOLS.relative_to(ROOT)}/twine upload {' '.join(packages)}",
        f"gh release create v{version} --verify-tag --title 'openaclnn {version}' --notes-file {page} {' '.join(packages)}",
    ]


# The steps

VERSION = version_of((ROOT / "python/openaclnn/__init__.py").read_text("utf-8"))
SDIST = DIST / f"openaclnn-{VERSION}.tar.gz"
NOTES = DIST / f"release-notes-{VERSION}.md"
left_out: list[str] = []


def ask(*command: str) -> list[str]:
    """The lines that a command says."""
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return ended.stdout.splitlines()


def run(*command, cwd: Path = ROOT, **variables: str) -> str:
    """Runs a command, shows what it says and gives it back."""
    words = [str(each) for each in command]
    print("$", shlex.join(words), flush=True)
    said = []
    with subprocess.Popen(
        words,
        cwd=cwd,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            said.append(line)
    if process.returncode:
        raise Wrong(f"{shlex.join(words)} ended with {process.returncode}")
    left_out.extend(line.strip() for line in said if "LEFT OUT" in line)
    return "".join(said)


def wheel_of(architecture: str) -> Path:
    found = [*DIST.glob(f"openaclnn-{VERSION}-*_{architecture}.whl")]
    if len(found) != 1 or f"manylinux_{GLIBC}_{architecture}" not in found[0].name:
        names = [each.name for each in found]
        raise Wrong(f"dist/ has {names} for {architecture}, expected one wheel for glibc {GLIBC}")
    return found[0]


def clean() -> None:
    """remove what earlier builds have left in dist/"""
    for each in [*DIST.glob("openaclnn-*"), *DIST.glob("release-notes-*")]:
        each.unlink()


def wheel() -> None:
    """the wheel for x86-64"""
    if os.uname().machine != ARCHITECTURES[0]:
        raise Wrong(f"this machine is {os.uname().machine}; a release is made on {ARCHITECTURES[0]}")
    run("scripts/packaging/wheel.sh", DIST)


def aarch64() -> None:
    """the wheel for aarch64 by a cross compiler, and what it does under qemu"""
    run("scripts/packaging/wheel.sh", DIST, "aarch64")
    run("tests/install/wheel_aarch64.sh", DIST)


def sdist() -> None:
    """the sources: all that git knows and nothing else"""
    program = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    run(".venv/bin/python", "-c", program, DIST)
    with tarfile.open(SDIST) as archive:
        held = {each.name.partition("/")[2] for each in archive if not each.isdir()} - {"PKG-INFO"}
    known = set(ask("git", "-c", "core.quotePath=off", "ls-files"))
    if held != known:
        raise Wrong(f"{SDIST.name} and git differ in {sorted(held ^ known)[:10]}")


def rebuild() -> None:
    """a wheel from the sources alone, with the files of the other"""
    shutil.rmtree(PARTS / "sources", ignore_errors=True)
    shutil.unpack_archive(SDIST, PARTS / "sources")
    (tree,) = (PARTS / "sources").iterdir()
    (tree / ".venv").symlink_to(ROOT / ".venv")
    (tree / "build/wheel.parts").mkdir(parents=True)
    (tree / "build/wheel.parts/tools").symlink_to(TOOLS.parent)
    run("scripts/packaging/wheel.sh", "dist", cwd=tree)
    (made,) = (tree / "dist").glob("*.whl")
    expected, names = ({*zipfile.ZipFile(each).namelist()} for each in (wheel_of("x86_64"), made))
    if made.name != wheel_of("x86_64").name or names != expected:
        raise Wrong(f"the wheel from {SDIST.name} differs in {sorted(names ^ expected)[:10]}")


def check() -> None:
    """twine, auditwheel, the version and the platform in each package"""
    wheels = {each: wheel_of(each) for each in ARCHITECTURES}
    run(TOOLS / "twine", "check", "--strict", SDIST, *wheels.values())
    for architecture, file in wheels.items():
        said = " ".join(run(TOOLS / "auditwheel", "show", file, PATH=f"{TOOLS}:{os.environ['PATH']}").split())
        tag = re.search(r'platform tag: "([^"]+)"', said)
        if tag is None or tag[1] != f"manylinux_{GLIBC}_{architecture}":
            raise Wrong(f"auditwheel: {file.name} is of {tag and tag[1]}, expected glibc {GLIBC}")
        with zipfile.ZipFile(file) as archive:
            (place,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
            if message_from_bytes(archive.read(place))["Version"] != VERSION:
                raise Wrong(f"{file.name} does not say that it is {VERSION}")


def notebook() -> None:
    """examples/gradients.ipynb with the wheel, in an environment of its own"""
    place = PARTS / "notebook"
    run(".venv/bin/python", "-m", "venv", "--clear", place)
    pip = (place / "bin/python", "-m", "pip", "--disable-pip-version-check", "--quiet", "install")
    run(*pip, wheel_of("x86_64"), "-c", "requirements.txt")
    run(*pip, "--no-deps", "-r", "requirements-dev.txt")
    run(place / "bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/cli/test_notebook.py")


def debian() -> None:
    """the wheel in Debian 12 and 13 (chroots; root)"""
    run("tests/install/wheel.sh", DIST)


def write_notes() -> None:
    """dist/release-notes-VERSION.md, from CHANGELOG.md"""
    NOTES.write_text(notes((ROOT / "CHANGELOG.md").read_text("utf-8"), VERSION), "utf-8")
    print(NOTES.relative_to(ROOT))


def publish() -> None:
    """print the commands that publish; run none"""
    files = [*map(wheel_of, ARCHITECTURES), SDIST, NOTES]
    missing = [each.name for each in files if not each.is_file()]
    if missing:
        raise Wrong(f"dist/ lacks {', '.join(missing)}")
    day = sections((ROOT / "CHANGELOG.md").read_text("utf-8"))[VERSION][0]
    changed = [line[3:] for line in ask("git", "status", "--porcelain")]
    print(f"\nopenaclnn {VERSION} is in dist/. To publish it:\n")
    for each in commands(VERSION, day, [str(each.relative_to(ROOT)) for each in files], changed):
        print(f"    {each}")


STEPS = {
    "clean": clean,
    "wheel": wheel,
    "aarch64": aarch64,
    "sdist": sdist,
    "rebuild": rebuild,
    "check": check,
    "notebook": notebook,
    "debian": debian,
    "notes": write_notes,
    "publish": publish,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Makes a release in dist/ and checks it.",
        epilog="steps:\n" + "\n".join(f"  {name:10}{step.__doc__}" for name, step in STEPS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("step", nargs="*", help="without one: all of them")
    parser.add_argument("--date", type=datetime.date.fromisoformat, help="date the release; no step runs")
    given = parser.parse_args()
    unknown = [each for each in given.step if each not in STEPS]
    if unknown:
        parser.error(f"no step {unknown[0]}, expected of {', '.join(STEPS)}")
    try:
        if given.date:
            paths = ROOT / "CHANGELOG.md", ROOT / "CITATION.cff"
            texts = dated(*(each.read_text("utf-8") for each in paths), VERSION, given.date)
            for path, text in zip(paths, texts, strict=True):
                path.write_text(text, "utf-8")
            return
        DIST.mkdir(exist_ok=True)
        PARTS.mkdir(parents=True, exist_ok=True)
        for name in given.step or STEPS:
            print(f"== {name}: {STEPS[name].__doc__}", flush=True)
            STEPS[name]()
    except Wrong as wrong:
        sys.exit(f"release: {wrong}")
    finally:
        for each in left_out:
            print(f"release: {each}")


if __name__ == "__main__":
    main()
