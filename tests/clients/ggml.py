# SPDX-License-Identifier: Apache-2.0
"""Builds ggml's CANN backend, unchanged, against the installed libraries and runs its own suite.

python3 tests/clients/ggml.py PREFIX [OP …]: exit code 1 if it does not build or a case fails; with
--fetch in place of PREFIX it only gets the sources, or fails where they are not to be had. They are
those of ggml-python on PyPI, by version and hash; `test-backend-ops` compares every operator on
CANN0 with ggml's CPU backend. What was seen goes to build/clients/results.json.
"""

import collections
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from run import RESULTS, ROOT, record, row

MODE = {"OPENACLNN_SOC": "Ascend910B1"}
CASE = re.compile(
    r"^\s*([A-Z0-9_]+)\(.*\): (?:\x1b\[[0-9;]*m)?(OK|FAIL|not supported)", re.MULTILINE
)
FATAL = re.compile(r"fatal error: (.+)")
MISSING = re.compile(r"undefined reference to `(\w+)'")


@dataclass(frozen=True)
class Sources:
    """A source distribution on PyPI that holds ggml, and what is built of it."""

    package: str
    version: str
    sha256: str
    inside: str
    settings: dict
    targets: tuple

    @property
    def folder(self):
        return ROOT / "build/clients" / self.package

    def fetch(self):
        """The sources; what is there already is taken."""
        name = f"{self.package.replace('-', '_')}-{self.version}"
        source = self.folder / name / self.inside
        if source.is_dir():
            return source
        self.folder.mkdir(parents=True, exist_ok=True)
        wanted = self.folder / "requirements.txt"
        wanted.write_text(f"{self.package}=={self.version} --hash=sha256:{self.sha256}\n")
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes",
             "--no-binary", self.package, "-r", wanted, "-d", self.folder],
            check=True,
        )  # fmt: skip
        # Not by tarfile: Python 3.11.2, which Debian 12 has, knows no filter.
        archive = self.folder / f"{name}.tar.gz"
        subprocess.run(["tar", "-xzf", archive, "-C", self.folder, "--no-same-owner"], check=True)
        return source

    def build(self, prefix):
        """Plain CMake; nothing, or why it does not build."""
        settings = {"CMAKE_BUILD_TYPE": "Release", "GGML_CANN": "ON", "SOC_TYPE": "Ascend910B1",
                    "GGML_OPENMP": "OFF", "CANN_INSTALL_DIR": prefix, **self.settings}  # fmt: skip
        if shutil.which("ccache"):
            settings |= {f"CMAKE_{each}_COMPILER_LAUNCHER": "ccache" for each in ("C", "CXX")}
        made = self.folder / "build"
        commands = (
            ["cmake", "-S", self.fetch(), "-B", made, "-G", "Ninja",
             *(f"-D{name}={value}" for name, value in settings.items())],
            ["ninja", "-C", made, f"-j{len(os.sched_getaffinity(0))}", *self.targets],
        )  # fmt: skip
        text = ""
        for command in commands:
            ran = subprocess.run(command, capture_output=True, text=True)
            text += ran.stdout + ran.stderr
            if ran.returncode != 0:
                missing = {each.removesuffix("GetWorkspaceSize") for each in MISSING.findall(text)}
                why = sorted(missing) or sorted(set(FATAL.findall(text))) or text.splitlines()[-1:]
                return f"does not build: {', '.join(why)}"
        return ""


SUITE = Sources(
    "ggml-python",
    "0.0.45",
    "10aac52075cf3c7ef2b00d6c35b1c23f7b018dbeff8ae8df67339b4be1166f05",
    "vendor/ggml",
    {"GGML_BUILD_TESTS": "ON", "GGML_BUILD_EXAMPLES": "OFF"},
    ("test-backend-ops",),
)


def run(prefix, operators):
    """{operator: Counter of OK, FAIL and not supported}."""
    threads = str(len(os.sched_getaffinity(0)))
    command = [SUITE.folder / "build/bin/test-backend-ops", "test", "-b", "CANN0", "-j", threads]
    if operators:
        command += ["-o", ",".join(operators)]
    environment = os.environ | MODE | {"LD_LIBRARY_PATH": str(prefix / "lib64")}
    ran = subprocess.run(command, capture_output=True, text=True, env=environment)
    found = collections.defaultdict(collections.Counter)
    for name, outcome in CASE.findall(ran.stdout):
        found[name][outcome] += 1
    return ran.returncode, found


def seen(prefix, operators):
    """A row of the results."""
    client = f"ggml-cann of {SUITE.package} {SUITE.version}"
    if why := SUITE.build(prefix):
        return row(client, MODE, False, said=why)
    code, found = run(prefix, operators)
    total = sum(found.values(), collections.Counter())
    good = code == 0 and total["FAIL"] == 0 and total["OK"] > 0
    said = f"{total['OK']} of {total['OK'] + total['FAIL']} cases passed"
    said += "" if code in (0, 1) else f", ended by {code}"
    failed = sorted(name for name, each in found.items() if each["FAIL"])
    return row(client, MODE, good, total["OK"], failed, said)


def main(prefix, *operators):
    if prefix == "--fetch":
        SUITE.fetch()
        return 0
    result = seen(Path(prefix).resolve(), operators)
    print(f"{result['client']}: {result['said']}", *result["failed"])
    if not operators:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        record([result])
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
