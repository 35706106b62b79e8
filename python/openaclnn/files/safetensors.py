# SPDX-License-Identifier: Apache-2.0
"""Reads .safetensors files strictly and writes them atomically, bfloat16 included.

A file is the length of a header in 8 bytes, the header in JSON (by the name of each tensor its
dtype, its shape, and where its bytes begin and end), and the bytes.
"""

import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import dtypes
from ..errors import InputError, quoted
from . import input_files, output_files

_TYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
    "C64": "complex64",
}
_NAMES = {numpy: name for name, numpy in _TYPES.items()}
_ALIGNMENT = 8
_MOST_HEADER = 100_000_000  # what other readers take
_EXPECTED = "a .safetensors file"


@dataclass(frozen=True)
class Entry:
    """Where a tensor lies in the file."""

    dtype: np.dtype
    shape: tuple[int, ...]
    start: int

    @property
    def nbytes(self) -> int:
        return self.dtype.itemsize * math.prod(self.shape)


def entries(path: Path) -> dict[str, Entry]:
    """The entries of the file, in the order of the bytes."""
    with input_files.opened(path, _EXPECTED) as file:
        held = input_files.size(file)
        head = file.read(8)
        length = struct.unpack("<Q", head)[0] if len(head) == 8 else held
        if length > min(held - 8, _MOST_HEADER):
            raise InputError(f"{path}: not {_EXPECTED}, expected a header in front")
        header = _parsed(path, file.read(length))
    found = {
        name: _entry(path, name, each, 8 + length, held)
        for name, each in header.items()
        if name != "__metadata__"
    }
    return dict(sorted(found.items(), key=lambda each: each[1].start))


def load(path: Path, name: str, entry: Entry) -> np.ndarray:
    """The tensor of that name."""
    with input_files.opened(path, _EXPECTED) as file:
        file.seek(entry.start)
        values = np.fromfile(file, np.uint8, entry.nbytes)
    if values.size != entry.nbytes:
        raise InputError(f"{path}: truncated, expected {entry.nbytes} bytes of {quoted(name)}")
    try:
        return values.view(entry.dtype).reshape(entry.shape)
    except (ValueError, OverflowError):  # more than NumPy has
        said = f"{quoted(name)} shape is {quoted(list(entry.shape))}"
        raise InputError(f"{path}: {said}, expected one of an array") from None


def save(path: Path, tensors: dict[str, np.ndarray]) -> None:
    """Writes the tensors to `path`, which is either the whole file or as it was before."""
    header, end = {}, 0
    for name, array in tensors.items():
        start, end = end, end + array.nbytes
        if (kind := _NAMES.get(array.dtype.name)) is None:
            said = f"{path}: {quoted(name)} dtype is {array.dtype.name}"
            raise InputError(f"{said}, expected one of {', '.join(_NAMES)}")
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)

    def write(file) -> None:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            file.write(np.ascontiguousarray(array).tobytes())

    output_files.replace(path, write)


def _parsed(path: Path, text: bytes) -> dict:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise InputError(f"{path}: not {_EXPECTED}, expected a header in JSON")
    return header


def _entry(path: Path, name: str, given, base: int, held: int) -> Entry:
    said = f"{path}: {quoted(name)}"
    match given:
        case {"dtype": str(kind), "shape": list(shape), "data_offsets": [int(start), int(end)]}:
            pass
        case _:
            raise InputError(f"{said} is {quoted(given)}, expected dtype, shape and data_offsets")
    if kind not in _TYPES:
        known = ", ".join(_TYPES)
        raise InputError(f"{said} dtype is {quoted(kind)}, expected one of {known}")
    if not dtypes.is_shape(shape):
        raise InputError(f"{said} shape is {quoted(shape)}, expected lengths")
    entry = Entry(dtypes.parse(_TYPES[kind]), tuple(shape), base + start)
    if start < 0 or end - start != entry.nbytes or base + end > held:
        raise InputError(
            f"{said} data_offsets is {quoted([start, end])}, expected {entry.nbytes} bytes "
            f"of the {held - base} that follow the header"
        )
    return entry
