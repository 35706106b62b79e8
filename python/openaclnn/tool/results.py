# SPDX-License-Identifier: Apache-2.0
"""Results of a call: arrays that go to files, to standard output as .npy, or are printed."""

import io
import sys
from itertools import islice
from pathlib import Path

import numpy as np

from ..errors import InputError, quoted_path
from ..files import output_files, tensor_files
from . import report

STANDARD_OUTPUT = Path("-")
_WHOLE = 16  # elements of an array that is printed whole
_FIRST = 8  # of one that is not


def check_files(files: dict[str, Path], json: bool) -> None:
    """Refuses what cannot be written, before any work is done."""
    streamed = [name for name, path in files.items() if path == STANDARD_OUTPUT]
    for name in streamed:
        if json:
            raise InputError(f"--{name} is -, where --json prints, expected a file")
        if len(streamed) > 1:
            raise InputError(f"--{name} is - as --{streamed[-1]} is, expected one for standard output")
        if sys.stdout.isatty():
            expected = f"expected a pipe or a file; without --{name} the numbers are printed"
            raise InputError(f"--{name} is -, which is a terminal, {expected}")
    for path in files.values():
        if path != STANDARD_OUTPUT:
            output_files.check_writable(path)


def leave(document: dict, found: dict[str, np.ndarray], files: dict[str, Path], json: bool) -> None:
    """Writes the results that have files, and says all; `document` is what --json says besides."""
    written = {name: path for name, path in files.items() if path != STANDARD_OUTPUT}
    tensor_files.save([(path, name, found[name]) for name, path in written.items()])
    if len(written) < len(files):
        (name,) = files.keys() - written.keys()
        contents = io.BytesIO()  # NumPy would look for a place in a pipe
        np.save(contents, found[name], allow_pickle=False)
        sys.stdout.buffer.write(contents.getbuffer())
        sys.stdout.flush()
    elif json:
        outputs = {name: _described(array) for name, array in found.items()}
        paths = {name: str(path) for name, path in written.items()}
        report.json_document({**document, "outputs": outputs, "files": paths})
    else:
        for name, array in found.items():
            _print(name, array, written.get(name))


def _described(array: np.ndarray) -> dict:
    first = list(map(_number, islice(array.flat, _FIRST)))
    return {"shape": array.shape, "dtype": array.dtype.name, "first": first}


def _number(value: np.generic) -> bool | int | float | str:
    """As JSON has it, which has no complex numbers; floats with the digits that their type has."""
    kind = value.dtype.kind
    if kind == "c":
        return str(value)
    return bool(value) if kind == "b" else int(value) if kind in "iu" else float(str(value))


def _print(name: str, array: np.ndarray, path: Path | None) -> None:
    """A line of what it is; the first values where it is in no file."""
    place = f"{quoted_path(path)}: " if path else ""
    print(f"{place}{name} {array.dtype} {array.shape}")
    if path is None:
        print(f"    {_values(array)}")


def _values(array: np.ndarray) -> str:
    """All of a small array, as `call` reads it; of others the first, in their order."""
    if array.size <= _WHOLE:
        return _nested(array)
    return ", ".join(map(_text, islice(array.flat, _FIRST))) + ", ..."


def _nested(array: np.ndarray) -> str:
    if not array.ndim:
        return _text(array[()])
    return f"[{', '.join(map(_nested, array))}]"


def _text(value: np.generic) -> str:
    """The shortest text that is this number in its type."""
    return str(value).lower() if value.dtype.kind == "b" else str(value)
