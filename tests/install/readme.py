#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows README.md and README.zh-CN.md word by word in a new Debian 12: a chroot with nothing in it.

tests/install/readme.py [--list] [--bind FOLDER]… [--env NAME=VALUE]… [PAGE…]

Each line of code of a page is run in one shell, in the page's order, in a clone of the last commit. A
block of code is a file if the page says to save it (`example.c`); a block NAME.out must be in what the
lines before it printed. A comment `exit code 5` says how a line ends; all others must end with 0.
--list prints the steps and runs nothing. Needs root, debootstrap and the network; where no chroot can
be made it says LEFT OUT. What a run leaves is in build/readme.parts.

  CCACHE_DIR       a folder of ccache that the chroot uses too: the build takes minutes less
  DEBIAN_MIRROR    where packages come from (default: http://deb.debian.org/debian)
  SSL_CERT_FILE    the certificates of a network that has its own; they are put into the chroot
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = ROOT / "build/readme.parts"
PAGES = ("README.md", "README.zh-CN.md")
_HOME, _STEPS = "/srv/openaclnn", "/srv/steps"  # in the chroot
_STEP = re.compile(
    r"^<!-- (?P<name>\S+) -->\n```\w*\n(?P<text>.*?)^```$|^ {4}(?P<line>\S[^\n]*)$", re.M | re.S
)
_EXIT_CODE = re.compile(r"#.*?(?:exit code|退出码为) (\d+)")


@dataclass(frozen=True)
class Step:
    """What a reader does next: runs a line, saves a file, or compares what was printed."""

    kind: str  # run, save or compare
    text: str
    name: str = ""
    code: int = 0  # with which a line ends


def steps(page: str) -> list[Step]:
    """The steps of a page in its order; a block that is neither saved nor printed is only read."""
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.M | re.S)
    found = []
    for match in _STEP.finditer(page):
        name, text, line = match["name"], match["text"], match["line"]
        if line is not None:
            code = _EXIT_CODE.search(line)
            found.append(Step("run", re.sub(r"\s+# .*", "", line), code=int(code[1]) if code else 0))
        elif name.endswith(".out"):
            found.append(Step("compare", text, name))
        elif f"`{name}`" in prose:
            found.append(Step("save", text, name))
    return found


def lacks(printed: str, wanted: str) -> str:
    """The first line of `wanted` that is not printed, each after the one before; addresses are alike,
    and what follows `[...]` is not shown."""

    def plain(text: str) -> str:
        return " ".join(re.sub(r"\b0x[0-9a-f]+", "0x...", text).split())

    rest = plain(re.sub(r"^ +from \S+\n", "", printed, flags=re.M))
    for line in filter(plain, wanted.partition("[...]")[0].splitlines()):
        _, found, rest = rest.partition(plain(line))
        if not found:
            return line
    return ""


def script(todo: list[Step]) -> str:
    """The steps for a shell, which keeps what each prints and ends at the first that fails."""
    lines = [f"cd {_HOME}"]
    for number, step in enumerate(todo):
        place = f"{_STEPS}/{number}"
        if step.kind == "save":
            lines.append(f"cp {place}.saved {step.name}")
        elif step.kind == "run":
            lines += [
                f"{{ {step.text}\n}} >{place}.printed 2>&1 </dev/null; code=$?",
                f"echo $code >{place}.code",
                f"[ $code = {step.code} ] || exit 1",
            ]
    return "\n".join(lines) + "\n"


def left_out(why: str) -> None:
    print(f"test-readme: LEFT OUT, {why}")
    sys.exit(0)


def make_root(root: Path) -> None:
    """A new Debian 12 without any package that its base does not need; kept for the next page."""
    bare = PARTS / "bookworm"
    if not (bare / "done").is_file():
        if os.geteuid() != 0:
            left_out("making a chroot needs root")
        if not shutil.which("debootstrap"):
            subprocess.run(["apt-get", "-qq", "install", "-y", "debootstrap"], check=False)
        if not shutil.which("debootstrap"):
            left_out("debootstrap cannot be had")
        shutil.rmtree(bare, ignore_errors=True)
        PARTS.mkdir(parents=True, exist_ok=True)
        mirror = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
        command = ["debootstrap", "--variant=minbase", "bookworm", bare, mirror]
        with (PARTS / "debootstrap.log").open("w") as log:
            if subprocess.run(command, stdout=log, stderr=log, check=False).returncode != 0:
                left_out(f"debootstrap failed: {log.name}")
        (bare / "done").touch()
    subprocess.run(["rm", "-rf", "--one-file-system", root], check=True)
    subprocess.run(["cp", "-a", bare, root], check=True)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    clone = ["git", "clone", "--quiet", "--no-hardlinks", ROOT, root / _HOME[1:]]
    subprocess.run(clone, check=True)


def variables(root: Path, more: list[str]) -> dict[str, str]:
    """The environment of somebody who has just logged in as root, and the way to the network."""
    named = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/srv", "LANG": "C.UTF-8"}
    certificates = os.environ.get("SSL_CERT_FILE")
    if certificates:
        inside = "/etc/certificates.crt"
        shutil.copy(certificates, root / inside[1:])
        named |= {"SSL_CERT_FILE": inside, "PIP_CERT": inside, "REQUESTS_CA_BUNDLE": inside}
    proxies = ("http_proxy", "https_proxy", "no_proxy")
    named |= {name: os.environ[name] for name in proxies if name in os.environ}
    if "CCACHE_DIR" in os.environ:  # its entries are of other folders
        named |= {"CCACHE_DIR": "/srv/ccache", "CCACHE_BASEDIR": _HOME, "CCACHE_NOHASHDIR": "1"}
    return named | dict(each.split("=", 1) for each in more)


def mounts(root: Path, folders: list[str]) -> str:
    """What the chroot sees of this machine, for a shell with mounts of its own."""
    pairs = [(each, each) for each in folders]
    if "CCACHE_DIR" in os.environ:
        pairs.append((os.environ["CCACHE_DIR"], "/srv/ccache"))
    lines = ["set -e", f"mount -t proc proc {root}/proc", f"mount --rbind /dev {root}/dev"]
    for there, inside in pairs:
        lines += [f"mkdir -p {root}{inside}", f"mount --bind {there} {root}{inside}"]
    return "\n".join(lines)


def follow(page: str, arguments) -> list[str]:
    """Runs the steps of a page in a new chroot; what was wrong."""
    todo, root = steps((ROOT / page).read_text("utf-8")), PARTS / "root"
    make_root(root)
    folder = root / _STEPS[1:]
    folder.mkdir(parents=True)
    for number, step in enumerate(todo):
        if step.kind == "save":
            (folder / f"{number}.saved").write_text(step.text, "utf-8")
    (folder / "all").write_text(script(todo), "utf-8")
    settings = [f"{name}={value}" for name, value in variables(root, arguments.env).items()]
    inner = f'{mounts(root, arguments.bind)}\nexec chroot {root} env -i "$@" bash {_STEPS}/all'
    begin = time.monotonic()
    subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "bash", "-c", inner, "-", *settings], check=False
    )
    print(f"test-readme: {page}: {time.monotonic() - begin:.0f} s")
    return judged(todo, folder)


def judged(todo: list[Step], folder: Path) -> list[str]:
    """What was wrong with the steps that a shell has run: the first of the lines that failed, which
    ends the shell, and each block of which something was not printed."""
    printed = ""
    said = []
    for number, step in enumerate(todo):
        if step.kind == "run":
            code = folder / f"{number}.code"
            now = folder / f"{number}.printed"
            text = now.read_text("utf-8", "replace") if now.is_file() else ""
            ended = code.read_text().strip() if code.is_file() else "nothing"
            print(f"  {'ok ' if ended == str(step.code) else 'RED'} {step.text}")
            if ended != str(step.code):
                return [*said, f"`{step.text}` ended with {ended}, expected {step.code}:\n{text[-3000:]}"]
            printed += text
        elif step.kind == "compare":
            if line := lacks(printed, step.text):
                said.append(f"{step.name}: `{line}` was not printed, but:\n{printed[-3000:]}")
            printed = ""
    return said


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", nargs="*", default=PAGES)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--bind", action="append", default=[], metavar="FOLDER")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    chosen = parser.parse_args(arguments)
    said = []
    for page in chosen.pages:
        if chosen.list:
            for step in steps((ROOT / page).read_text("utf-8")):
                print(f"{page}: {step.kind} {step.name or step.text}" + f" [{step.code}]" * bool(step.code))
        else:
            said += [f"{page}: {each}" for each in follow(page, chosen)]
    for each in said:
        print(f"test-readme: {each}", file=sys.stderr)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
