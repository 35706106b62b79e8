# SPDX-License-Identifier: Apache-2.0
"""Any bytes as a file that the Python package reads: .npy and .safetensors files, traces, captured calls.

    readers.py npy|safetensors|trace|capture [options of libFuzzer] [CORPUS]

Each is read as a whole or refused in one line (InputError); nothing else may come of it. Atheris
gives the inputs, libFuzzer guided by what of the package they reach.
"""

import io
import shlex
import sys
import tempfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

DTYPES = ["float32", "float16", "bfloat16", "float64", "int64", "int32", "uint8", "bool"]
MEMORY = b"\0"  # between call.json and the contents of its memory
MOST_ELEMENTS = 10_000


def npy_file(data: bytes, folder: Path) -> None:
    from openaclnn.files import npy

    path = folder / "a.npy"
    path.write_bytes(data)
    array = npy.load(path, "grad", DTYPES)
    npy.save(path, array)
    again = npy.load(path, "grad", DTYPES)
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    assert again.tobytes() == array.tobytes()


def safetensors_file(data: bytes, folder: Path) -> None:
    from openaclnn.files import safetensors

    path, copy = folder / "a.safetensors", folder / "b.safetensors"
    path.write_bytes(data)
    found = safetensors.entries(path)
    tensors = {name: safetensors.load(path, name, each) for name, each in found.items()}
    safetensors.save(copy, tensors)
    again = safetensors.entries(copy)
    assert set(again) == set(tensors)
    for name, array in tensors.items():
        other = safetensors.load(copy, name, again[name])
        assert (other.dtype, other.shape) == (array.dtype, array.shape)
        assert other.tobytes() == array.tobytes()


def trace_file(data: bytes, folder: Path) -> None:
    from openaclnn.tool import report
    from openaclnn.tool.traces import trace

    path = folder / "t.json"
    path.write_bytes(data)
    summary = trace.summarise(trace.read(path))
    assert all(0 <= row.min <= row.max <= row.total for row in summary.rows)
    words = io.TextIOWrapper(io.BytesIO(), "utf-8")
    before, sys.stdout = sys.stdout, words
    try:
        report.json_document(summary)
        trace.print_summary(summary)
        words.flush()
    finally:
        sys.stdout = before


def captured_call(data: bytes, folder: Path) -> None:
    from openaclnn.errors import Error
    from openaclnn.replay import c_program, read

    text, _, contents = data.partition(MEMORY)
    (folder / "call.json").write_bytes(with_sums(text, contents))
    for name in ("memory0.before.bin", "memory0.after.bin"):
        (folder / name).write_bytes(contents)
    (call,) = read(folder)
    memory = call.load()
    for argument in call.arguments:
        for tensor in argument.tensors:
            if tensor.memory is None or len(tensor.shape) > 8 or tensor.elements > MOST_ELEMENTS:
                continue
            if memory[tensor.memory].before is not None:
                assert tensor.view(memory[tensor.memory].before).shape == tensor.shape
    try:
        c_program(call, ROOT / "include").encode("ascii")
    except Error as error:  # of no operator, or with other arguments
        one_line(error)


def with_sums(text: bytes, contents: bytes) -> bytes:
    """With the checksum of the contents where it is -1, which no mutation would find."""
    return text.replace(b'"crc32": -1', b'"crc32": %d' % zlib.crc32(contents))


TARGETS = {
    "npy": npy_file,
    "safetensors": safetensors_file,
    "trace": trace_file,
    "capture": captured_call,
}


def one_line(error: Exception) -> None:
    words = str(error)
    assert words.isprintable() and 0 < len(words) < 3000, repr(words)


def attempt(target: str, data: bytes, folder: Path) -> None:
    from openaclnn.errors import InputError

    try:
        TARGETS[target](data, folder)
    except InputError as error:
        one_line(error)


def seeds(corpus: Path) -> list[bytes]:
    return [bytes.fromhex(line) for line in corpus.read_text().split()]


def main() -> None:
    import atheris

    target = sys.argv.pop(1)
    # What libFuzzer gives a shell to start again, for -merge.
    sys.argv[0] = shlex.join([sys.executable, sys.argv[0], target])
    # The loader of an editable installation keeps Atheris from counting.
    sys.meta_path[:] = [each for each in sys.meta_path if "Redirecting" not in type(each).__name__]
    with atheris.instrument_imports(include=["openaclnn"]):
        import openaclnn.files.npy
        import openaclnn.files.safetensors
        import openaclnn.replay
        import openaclnn.tool.traces.trace  # noqa: F401
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        atheris.Setup(sys.argv, lambda data: attempt(target, data, Path(folder)))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
