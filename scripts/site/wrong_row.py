# SPDX-License-Identifier: Apache-2.0
"""Draws the picture of README.md, docs/figures/wrong_row.svg: a gradient with one wrong row.

python3 scripts/site/wrong_row.py [FILE]: needs .venv and the installed libraries. It makes the gradient of
an embedding as a training script might that forgets the row of the padding, lets `openaclnn check`
judge it, and takes the map of the errors out of the report.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs/figures/wrong_row.svg"
ROWS, COLUMNS, PADDING = 16, 48, 5
_OUTSIDE = 1  # the exit code of a check that finds wrong numbers
_MAP = re.compile(r'<figure>(<svg [^>]*aria-label="Errors in place\b.*?</svg>)', re.S)


def save_problem(folder: Path) -> None:
    """Saves indices, the gradient of the rows that they name, and their sums, the padding's too."""
    random = np.random.default_rng(0)
    indices = random.integers(0, ROWS, 400)
    grad = random.standard_normal((indices.size, COLUMNS)).astype(np.float32)
    out = np.zeros((ROWS, COLUMNS), np.float32)
    np.add.at(out, indices, grad)
    for name, array in {"grad": grad, "indices": indices, "out": out}.items():
        np.save(folder / f"{name}.npy", array)


def report(folder: Path) -> str:
    """Lets the tool judge the sums; returns the page that it writes."""
    command = [
        sys.executable, "-m", "openaclnn", "check", "embedding_dense_backward",
        "--grad", "grad.npy", "--indices", "indices.npy", "--num-weights", str(ROWS),
        "--padding-idx", str(PADDING), "--out", "out.npy", "--report", "report.html",
    ]  # fmt: skip
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if ended.returncode != _OUTSIDE:
        sys.exit(f"wrong_row: the check ended with {ended.returncode}: {ended.stdout}{ended.stderr}")
    return (folder / "report.html").read_text("utf-8")


def main(arguments: list[str]) -> int:
    picture = Path(arguments[0]) if arguments else PICTURE
    with tempfile.TemporaryDirectory() as folder:
        save_problem(Path(folder))
        page = report(Path(folder))
    found = _MAP.search(page)
    if found is None:
        sys.exit("wrong_row: the report has no map of the errors")
    picture.write_text(found[1] + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
