# SPDX-License-Identifier: Apache-2.0
"""Copies what the command-line tool needs from the environment that runs this.

python3 scripts/packaging/install_requirements.py FOLDER: the packages that requirements.txt names, with their
licences, into FOLDER/python3.x, which is named by the Python that can load them. `make install` puts
them beside the tool, which then needs no other Python than the system's.
"""

import shutil
import sys
from importlib import metadata
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements.txt"


def files(name: str):
    """A package's files below the folder of packages: neither programs nor byte code."""
    for file in metadata.distribution(name).files:
        if file.parts[0] != ".." and file.suffix != ".pyc":
            yield file


def main(arguments: list[str]) -> int:
    version = "{}.{}".format(*sys.version_info)
    folder = Path(arguments[0]) / f"python{version}"
    lines = REQUIREMENTS.read_text().splitlines()
    for name in (line.partition("==")[0] for line in lines if line and line[0] != "#"):
        for file in files(name):
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copy(file.locate(), target)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
