# SPDX-License-Identifier: Apache-2.0
"""MindSpore, unchanged, in PyNative mode on the installed libraries.

python3 tests/clients/mindspore.py PREFIX: exit code 1 if a test of mindspore_checks/ fails, or the
wheel cannot be had. It is PyPI's, by version and hash: 804 MB, for Python 3.11, so that continuous
integration leaves it out. What was seen goes to build/clients/results.json.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from run import HERE, PROGRAM_MODE, RESULTS, ROOT, record, row, run

VERSION = "2.10.0"
SHA256 = "068346f4fd716a64fb7ac93a7fc029645cffa9663cec1ccb5924d355647f7f70"
# Below 2, since 2.10.0 was compiled for that.
OTHERS = ("numpy==1.26.4", "scipy==1.17.1", "pytest")
FOLDER = ROOT / f"build/clients/mindspore-{VERSION}"


def make():
    """The Python environment; nothing, or why there is none. What is there already is taken."""
    stamp = FOLDER / "stamp"
    wanted = " ".join((VERSION, SHA256, *OTHERS))
    if stamp.is_file() and stamp.read_text() == wanted:
        return ""
    python = shutil.which("python3.11")
    if python is None:
        return "python3.11, which the wheel is for, is not there"
    print(f"test-clients: making {FOLDER} with {python}", flush=True)
    subprocess.run([python, "-m", "venv", "--clear", FOLDER], check=True)
    pip = [FOLDER / "bin/python", "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    requirement = FOLDER / "requirements.txt"
    requirement.write_text(f"mindspore=={VERSION} --hash=sha256:{SHA256}\n")
    needed = ["protobuf", "asttokens", "pillow", "packaging", "psutil", "astunparse", "safetensors",
              "dill", *OTHERS]  # fmt: skip
    for what in (["--no-deps", "--require-hashes", "-r", requirement], needed):
        if subprocess.run([*pip, *what]).returncode != 0:
            return f"mindspore {VERSION} cannot be had from the package index"
    stamp.write_text(wanted)
    return ""


def main(prefix):
    prefix = Path(prefix).resolve()
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    client = f"MindSpore {VERSION}"
    if why := make():
        print(f"test-clients: {why}: nothing was tested", file=sys.stderr)
        result = row(client, PROGRAM_MODE, False, said=why)
    else:
        python, checks = FOLDER / "bin/python", HERE / "mindspore_checks"
        result = run(client, python, checks, PROGRAM_MODE, prefix)
    record([result])
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
