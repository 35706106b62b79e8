# SPDX-License-Identifier: Apache-2.0
"""Models of Hugging Face's transformers on the NPU of torch-npu, beside the CPU.

python3 tests/clients/models.py PREFIX: exit code 1 if a test of models/ fails, or a package cannot be
had; --fetch in place of PREFIX gets the packages and runs nothing. They are PyPI's and are put beside
torch-npu's, not among them: its other tests need none. What was seen goes to build/clients/results.json.
"""

import subprocess
import sys
from pathlib import Path

from run import HERE, PROGRAM_MODE, RESULTS, ROOT, VERSIONS, record, row, run, wheel_python

TORCH = "2.8.0"
VERSION = "4.57.1"
PACKAGES = (
    f"transformers=={VERSION}", "tokenizers==0.22.1", "huggingface-hub==0.36.0",
    "safetensors==0.6.2", "regex", "tqdm", "requests", "urllib3", "certifi", "idna",
    "charset_normalizer",
)  # fmt: skip
FOLDER = ROOT / f"build/clients/transformers-{VERSION}"


def make():
    """The packages; nothing, or why they are not there. What is there already is taken."""
    if subprocess.run([HERE / "setup.sh", TORCH, VERSIONS[TORCH]]).returncode != 0:
        return f"torch-npu {VERSIONS[TORCH]} cannot be had from the package index"
    stamp = FOLDER / "stamp"
    wanted = " ".join(PACKAGES)
    if stamp.is_file() and stamp.read_text() == wanted:
        return ""
    print(f"test-clients: making {FOLDER}", flush=True)
    # The packages need a torch and a numpy that torch-npu's environment has.
    command = [wheel_python(TORCH), "-m", "pip", "--disable-pip-version-check", "--quiet",
               "install", "--upgrade", "--no-deps", "--target", FOLDER, *PACKAGES]  # fmt: skip
    if subprocess.run(command).returncode != 0:
        return f"transformers {VERSION} cannot be had from the package index"
    stamp.write_text(wanted)
    return ""


def main(prefix):
    if prefix == "--fetch":
        return 1 if make() else 0
    prefix = Path(prefix).resolve()
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    client = f"transformers {VERSION}"
    if why := make():
        print(f"test-clients: {why}: nothing was tested", file=sys.stderr)
        result = row(client, PROGRAM_MODE, False, said=why)
    else:
        paths = f"{ROOT / 'python'}:{prefix / 'python/site-packages'}:{FOLDER}"
        mode = PROGRAM_MODE | {"PYTHONPATH": paths}
        result = run(client, wheel_python(TORCH), HERE / "models", mode, prefix)
        result["mode"] = PROGRAM_MODE
    record([result])
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
