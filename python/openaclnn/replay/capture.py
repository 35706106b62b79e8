# SPDX-License-Identifier: Apache-2.0
"""Reads what libopenaclnn_capture.so saved: a folder for each call, with call.json in it."""

import json
import math
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import dtypes
from ..errors import InputError, quoted
from ..files import input_files

FORMAT = 1
FILE = "call.json"


@dataclass(frozen=True)
class Saved:
    """A file of the call's folder with the contents of memory."""

    file: str
    crc32: int


@dataclass(frozen=True)
class Memory:
    """Device memory that tensors of the call share; not saved before: it could not be read."""

    size: int
    before: Saved | None
    after: Saved | None  # none where nothing changed

    @property
    def left(self) -> Saved | None:
        """The values that the call left there; values that did not change are not saved twice."""
        return self.after or self.before


@dataclass(frozen=True)
class Contents:
    """The bytes of a piece of memory; none: it could not be read."""

    before: bytes | None
    after: bytes | None


@dataclass(frozen=True)
class Tensor:
    """A tensor as aclCreateTensor was told; `memory` none: it has no elements or no address."""

    dtype: int  # aclDataType
    element_bytes: int
    format: int  # aclFormat
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    storage_shape: tuple[int, ...]
    memory: int | None
    byte: int  # of the data's address from the memory's; negative where the view begins later

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def numpy(self) -> np.dtype:
        """The type of the elements; raw bytes if NumPy has no such type."""
        return dtypes.of_number(self.dtype) or np.dtype(f"V{self.element_bytes}")

    def view(self, contents: bytes) -> np.ndarray:
        """The elements in the bytes of its memory."""
        dtype = self.numpy
        if self.elements == 0:
            try:
                return np.empty(self.shape, dtype)
            except ValueError:  # NumPy multiplies the extents beside a zero too
                return np.empty(0, dtype)
        steps = [
            stride * self.element_bytes if extent > 1 else 0
            for extent, stride in zip(self.shape, self.strides, strict=True)
        ]
        start = self.byte + self.offset * self.element_bytes
        return np.ndarray(self.shape, dtype, contents, start, steps)

    def reach(self) -> tuple[int, int]:
        """The bytes of its memory from the first element to behind the last."""
        first = last = self.offset
        for extent, stride in zip(self.shape, self.strides, strict=True):
            first += min(0, (extent - 1) * stride)
            last += max(0, (extent - 1) * stride)
        return (
            self.byte + first * self.element_bytes,
            self.byte + (last + 1) * self.element_bytes,
        )


@dataclass(frozen=True)
class Scalar:
    """The value of an aclScalar, as its type's bytes."""

    dtype: int
    contents: bytes


@dataclass(frozen=True)
class Argument:
    """An argument of phase 1: what kind of C value it is, and the value; None is null."""

    name: str
    kind: str
    value: object
    output: bool

    @property
    def tensors(self) -> list[Tensor]:
        members = self.value if self.kind == "tensor_list" else [self.value]
        return [each for each in members or [] if isinstance(each, Tensor)]


@dataclass(frozen=True)
class Outcome:
    """The result of a step, and its message."""

    code: int
    message: str


@dataclass(frozen=True)
class Capture:
    """A call of an operator."""

    folder: Path
    api: str
    product: str
    made_by: str
    arguments: tuple[Argument, ...]
    workspace_size: int
    memory: tuple[Memory, ...]
    steps: dict[str, Outcome | None]  # phase 1, phase 2, synchronise; None: not reached

    def files(self) -> list[Path]:
        """Those that it is read from."""
        saved = (each for piece in self.memory for each in (piece.before, piece.after) if each)
        found = (self.folder / name for name in (FILE, *(each.file for each in saved)))
        return [each for each in found if each.exists()]

    def load(self) -> list[Contents]:
        """The contents of the memory."""
        return [self._load(piece) for piece in self.memory]

    def _load(self, piece: Memory) -> Contents:
        before = piece.before and _contents(self.folder / piece.before.file, piece, piece.before)
        after = piece.after and _contents(self.folder / piece.after.file, piece, piece.after)
        return Contents(before, before if piece.after is None else after)


STEPS = ("phase_1", "phase_2", "synchronize")
SCALAR_BYTES = 16  # of the largest
_RANGES = {
    "int8": (-(2**7), 2**7 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}


def read(path: Path) -> list[Capture]:
    """The calls in a folder: itself one, or one in each of its folders."""
    if not path.is_dir():
        raise InputError(f"{path} is not a folder, expected one that OPENACLNN_CAPTURE named")
    if (path / FILE).is_file():
        return [_read_call(path)]
    found = sorted(each.parent for each in path.glob(f"[!.]*/{FILE}"))
    if not found:
        left = "".join(f"; {each} was not finished" for each in unfinished(path))
        raise InputError(
            f"{path} has no captured call, expected {FILE} in it or in its folders{left}"
        )
    return [_read_call(each) for each in found]


def unfinished(path: Path) -> list[Path]:
    """The folders of calls whose processes were killed while they saved them, or still save
    them."""
    return sorted(path.glob(".unfinished-*"))


def _read_call(folder: Path) -> Capture:
    file = folder / FILE
    text = input_files.read(file, "a captured call")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file} is damaged: {error}") from None
    found = document.get("format") if isinstance(document, dict) else None
    if type(found) is not int or found != FORMAT:
        raise InputError(f"{file} format is {quoted(repr(found))}, expected {FORMAT}: another version's")
    try:
        return _parse(folder, document)
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise InputError(f"{file} is damaged: {type(error).__name__} {error}") from None


def _parse(folder: Path, document: dict) -> Capture:
    memory = tuple(_memory(each) for each in _list(document["memory"]))
    arguments = tuple(_argument(each) for each in _list(document["arguments"]))
    for argument in arguments:
        for tensor in argument.tensors:
            _check(argument.name, tensor, memory)
    made_by = _text(document["made_by"])
    if not (made_by.isascii() and made_by.isprintable()) or "*/" in made_by:
        raise ValueError(f"made_by is {quoted(repr(made_by))}")
    return Capture(
        folder=folder,
        api=_text(document["api"], r"aclnn\w+"),
        product=_text(document["product"], r"[\w.-]*"),
        made_by=made_by,
        arguments=arguments,
        workspace_size=_int(document["workspace_size"], "uint64"),
        memory=memory,
        steps={step: _outcome(document[step]) for step in STEPS},
    )


def _int(value, kind: str = "int64") -> int:
    low, high = _RANGES[kind]
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{quoted(repr(value))} is no {kind}")
    return value


def _text(value, pattern: str = r"[^\0]*") -> str:
    if type(value) is not str or not re.fullmatch(pattern, value, re.ASCII | re.DOTALL):
        raise ValueError(f"{quoted(repr(value))} is no text that is expected there")
    value.encode()  # half of a surrogate pair is no text either
    return value


def _bool(value) -> bool:
    if type(value) is not bool:
        raise ValueError(f"{quoted(repr(value))} is no bool")
    return value


def _flag(value) -> bool:
    """A member of an array of bool, which may be written as a number."""
    return _bool({0: False, 1: True}.get(value, value))


def _real(value) -> float:
    if type(value) not in (int, float) and value not in ("inf", "-inf", "nan"):
        raise ValueError(f"{quoted(repr(value))} is no number")
    return float(value)


def _list(value) -> list:
    if type(value) is not list:
        raise ValueError(f"{quoted(repr(value))} is no list")
    return value


def _outcome(document: dict | None) -> Outcome | None:
    if document is None:
        return None
    return Outcome(_int(document["code"], "int32"), _text(document["message"]))


def _memory(document: dict) -> Memory:
    size = _int(document["bytes"])
    if size < 0:
        raise ValueError(f"memory of {size} bytes")
    return Memory(size, _saved(document["before"]), _saved(document["after"]))


def _saved(document: dict | None) -> Saved | None:
    if document is None:
        return None
    return Saved(_text(document["file"], r"\w[\w.-]*"), _int(document["crc32"]))


def _contents(file: Path, piece: Memory, saved: Saved) -> bytes:
    with input_files.opened(file, f"{piece.size} bytes of memory") as opened:
        held = input_files.size(opened)
        if held == piece.size:  # a longer one might not fit into this machine's memory
            contents = opened.read(held)
            held = len(contents)
    if held != piece.size:
        raise InputError(f"{file} is damaged: {held} bytes, expected {piece.size}")
    if zlib.crc32(contents) != saved.crc32:
        raise InputError(f"{file} is damaged: its CRC-32 is not the one in {FILE}")
    return contents


def _argument(document: dict) -> Argument:
    name, kind = (_text(document[each], r"[A-Za-z]\w*") for each in ("name", "kind"))
    try:
        value = _value(kind, document["value"])
    except (ValueError, TypeError) as error:
        raise ValueError(f"{quoted(name)}: {error}") from None
    return Argument(name, kind, value, _bool(document.get("output", False)))


def _value(kind: str, value):
    """The value of an argument of that kind; TypeError, ValueError or KeyError: it is none."""
    plain = {"float": _real, "double": _real, "bool": _bool}
    objects = {"tensor": _tensor, "scalar": _scalar, "string": _text}
    arrays = {"int_array": _int, "float_array": _real, "bool_array": _flag}
    if kind in plain:
        return plain[kind](value)
    if kind in _RANGES:
        return _int(value, kind)
    if value is None:
        return None
    if kind in objects:
        return objects[kind](value)
    if kind in ("tensor_list", "scalar_list"):
        member = objects[kind.removesuffix("_list")]
        return [None if each is None else member(each) for each in _list(value)]
    if kind in arrays:
        return [arrays[kind](each) for each in _list(value)]
    raise ValueError(f"kind is {quoted(repr(kind))}, which this version does not know")


def _tensor(document: dict) -> Tensor:
    shape, strides, storage_shape = (
        tuple(_int(each) for each in _list(document[name]))
        for name in ("shape", "strides", "storage_shape")
    )
    if len(strides) != len(shape):
        raise ValueError(f"{len(strides)} strides, expected {len(shape)}")
    dtype, element_bytes = _int(document["dtype"], "int32"), _int(document["element_bytes"])
    known = dtypes.of_number(dtype)
    if known and element_bytes != known.itemsize:
        raise ValueError(f"element_bytes is {element_bytes}, expected {known.itemsize}")
    return Tensor(
        dtype=dtype,
        element_bytes=element_bytes,
        format=_int(document["format"], "int32"),
        shape=shape,
        strides=strides,
        offset=_int(document["offset"]),
        storage_shape=storage_shape,
        memory=None if document["memory"] is None else _int(document["memory"]),
        byte=_int(document["byte"]),
    )


def _scalar(document: dict) -> Scalar:
    dtype, contents = _int(document["dtype"], "int32"), bytes.fromhex(document["bytes"])
    known = dtypes.of_number(dtype)
    if len(contents) > SCALAR_BYTES or known and len(contents) != known.itemsize:
        raise ValueError(f"a scalar of {len(contents)} bytes")
    return Scalar(dtype, contents)


def _check(name: str, tensor: Tensor, memory: tuple[Memory, ...]) -> None:
    """A view must lie in its memory: it is read from there."""
    if tensor.memory is None:
        return
    if not 0 <= tensor.memory < len(memory):
        raise ValueError(f"{quoted(name)} has memory {tensor.memory} of {len(memory)}")
    if min(tensor.shape, default=1) <= 0 or tensor.element_bytes <= 0:
        raise ValueError(f"{quoted(name)} has memory, but no elements")
    first, end = tensor.reach()
    if first < 0 or end > memory[tensor.memory].size:
        raise ValueError(f"{quoted(name)} reaches outside its memory")
