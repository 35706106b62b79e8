# SPDX-License-Identifier: Apache-2.0
"""A small language model on llama.cpp's CANN backend, unchanged, beside its CPU backend.

python3 tests/clients/llama.py PREFIX: exit code 1 if it does not build, or another text than the
CPU's comes of weights in FLOAT. The sources are those of llama-cpp-python on PyPI, by version and
hash. The model has two layers and weights by chance (llama_model.py). Of quantised weights the CPU
multiplies quantised activations, so that texts may part. What was seen goes to
build/clients/results.json.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from ggml import MODE, Sources
from run import RESULTS, ROOT, record, row

LLAMA = Sources(
    "llama-cpp-python",
    "0.3.36",
    "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e",
    "vendor/llama.cpp",
    # Not for this machine: its processor may say AMX where the system does not let it.
    {"LLAMA_CURL": "OFF", "LLAMA_BUILD_TESTS": "OFF", "LLAMA_BUILD_SERVER": "OFF",
     "GGML_NATIVE": "OFF"},  # fmt: skip
    ("llama-completion", "llama-quantize"),
)
WEIGHTS = ("F32", "F16", "Q8_0", "Q4_0")
PROMPT = "Embedding, softmax"
TOKENS = 128
_TRIES = 9  # llama.cpp may end before it has written what it logs, text and speed in turn
SPEED = re.compile(r"\s eval time = .* ([0-9.]+) tokens per second")


def models():
    """{type of weights: file}."""
    files = {each: LLAMA.folder / f"{each}.gguf" for each in WEIGHTS}
    environment = os.environ | {"PYTHONPATH": str(LLAMA.fetch() / "gguf-py")}
    script = Path(__file__).parent / "llama_model.py"
    subprocess.run([ROOT / ".venv/bin/python", script, files["F32"]], check=True, env=environment)
    for each in WEIGHTS[1:]:
        quantize = LLAMA.folder / "build/bin/llama-quantize"
        subprocess.run([quantize, "--pure", files["F32"], files[each], each], check=True,
                       capture_output=True, env=environment)  # fmt: skip
    return files


def write(prefix, model, device):
    """(text, tokens a second), always the likeliest token; nothing where it does not come to the end.
    One thread: ggml's own spin, more of them than there are processors."""
    command = [LLAMA.folder / "build/bin/llama-completion", "-m", model, "-n", str(TOKENS),
               "--device", device, "-t", "1", "--temp", "0", "-no-cnv", "--no-warmup",
               "-p", PROMPT]  # fmt: skip
    environment = os.environ | MODE | {"LD_LIBRARY_PATH": str(prefix / "lib64")}
    for _ in range(_TRIES):
        ran = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, env=environment, timeout=600
        )
        if ran.returncode != 0:
            return None
        if speed := SPEED.search(ran.stderr.decode(errors="replace")):
            return ran.stdout, float(speed[1])
    return None


def seen(prefix):
    """A row of the results."""
    client = f"llama.cpp of {LLAMA.package} {LLAMA.version}: {TOKENS} tokens"
    if why := LLAMA.build(prefix):
        return row(client, MODE, False, said=why)
    said, failed, passed = [], [], 0
    for weights, model in models().items():
        npu, cpu = (write(prefix, model, device) for device in ("CANN0", "none"))
        if npu is None or cpu is None:
            failed.append(f"{weights}: {'NPU' if npu is None else 'CPU'} ends early")
            continue
        same = npu[0] == cpu[0]
        if not same and weights in ("F32", "F16"):
            failed.append(f"{weights}: another text")
        passed += same
        print(f"{weights}: {npu[1]} t/s, CPU {cpu[1]} t/s, {'the same' if same else 'another'} text")
        said.append(f"{weights} {'the same' if same else 'another'} text")
    return row(client, MODE, not failed, passed, failed, ", ".join(said))


def main(prefix):
    result = seen(Path(prefix).resolve())
    print(f"{result['client']}: {result['said']}", *result["failed"])
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    record([result])
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
