# SPDX-License-Identifier: Apache-2.0
"""Reads what libopenaclnn_capture.so saved: a folder for each call, with call.json in it."""

import json
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import dtypes
from ..errors import InputError

FORMAT = 1
FILE = "call.json"


@dataclass(frozen=True)
class Memory:
    """Device memory that tensors of the call share; null bytes: it could not be read."""

    size: int
    before: bytes | None
    after: bytes | None
    names: tuple[str | None, str | None]  # the files; none where nothing changed


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

    def view(self, contents: bytes) -> np.ndarray:
        """The elements in the bytes of its memory; as raw bytes if NumPy has no such type."""
        dtype = dtypes.of_number(self.dtype) or np.dtype(f"V{self.element_bytes}")
        if self.memory is None:
            return np.empty(self.shape, dtype)
        steps = [stride * self.element_bytes for stride in self.strides]
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
    """What a step returned, and its message."""

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

    def input_bytes(self, tensor: Tensor) -> bytes | None:
        return b"" if tensor.memory is None else self.memory[tensor.memory].before

    def output_bytes(self, tensor: Tensor) -> bytes | None:
        return b"" if tensor.memory is None else self.memory[tensor.memory].after


STEPS = ("phase_1", "phase_2", "synchronize")


def read(path: Path) -> list[Capture]:
    """The calls in a folder: itself one, or one in each of its folders."""
    if not path.is_dir():
        raise InputError(f"{path} is not a folder, expected one that OPENACLNN_CAPTURE named")
    if (path / FILE).is_file():
        return [_read_call(path)]
    found = sorted(each.parent for each in path.glob(f"[!.]*/{FILE}"))
    if not found:
        raise InputError(f"{path} has no captured call, expected {FILE} in it or in its folders")
    return [_read_call(each) for each in found]


def _read_call(folder: Path) -> Capture:
    file = folder / FILE
    try:
        document = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file} is damaged: {error}") from None
    found = document.get("format") if isinstance(document, dict) else None
    if found != FORMAT:
        raise InputError(f"{file} format is {found!r}, expected {FORMAT}: another version's")
    try:
        return _parse(folder, document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{file} is damaged: {type(error).__name__} {error}") from None


def _parse(folder: Path, document: dict) -> Capture:
    memory = tuple(_memory(folder, each) for each in document["memory"])
    arguments = tuple(_argument(each) for each in document["arguments"])
    for argument in arguments:
        for tensor in argument.tensors:
            _check(argument.name, tensor, memory)
    return Capture(
        folder=folder,
        api=str(document["api"]),
        product=str(document["product"]),
        made_by=str(document["made_by"]),
        arguments=arguments,
        workspace_size=int(document["workspace_size"]),
        memory=memory,
        steps={
            step: Outcome(int(document[step]["code"]), str(document[step]["message"]))
            if document[step]
            else None
            for step in STEPS
        },
    )


def _memory(folder: Path, document: dict) -> Memory:
    size = int(document["bytes"])
    before = _contents(folder, document["before"], size)
    after = before if document["after"] is None else _contents(folder, document["after"], size)
    names = tuple(each and str(each["file"]) for each in (document["before"], document["after"]))
    return Memory(size, before, after, names)


def _contents(folder: Path, document: dict | None, size: int) -> bytes | None:
    if document is None:
        return None
    file = folder / Path(document["file"]).name
    try:
        contents = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from None
    if len(contents) != size:
        raise InputError(f"{file} is damaged: {len(contents)} bytes, expected {size}")
    if zlib.crc32(contents) != document["crc32"]:
        raise InputError(f"{file} is damaged: its CRC-32 is not the one in {FILE}")
    return contents


def _argument(document: dict) -> Argument:
    kind, value = document["kind"], document["value"]
    if value is not None:
        match kind:
            case "tensor":
                value = _tensor(value)
            case "tensor_list":
                value = [None if each is None else _tensor(each) for each in value]
            case "scalar":
                value = _scalar(value)
            case "scalar_list":
                value = [None if each is None else _scalar(each) for each in value]
            case "float" | "double":
                value = float(value)  # "inf" and "nan" are strings
            case "float_array":
                value = [float(each) for each in value]
    return Argument(str(document["name"]), str(kind), value, bool(document.get("output", False)))


def _tensor(document: dict) -> Tensor:
    lists = (
        tuple(int(each) for each in document[name])
        for name in ("shape", "strides", "storage_shape")
    )
    shape, strides, storage_shape = lists
    return Tensor(
        dtype=int(document["dtype"]),
        element_bytes=int(document["element_bytes"]),
        format=int(document["format"]),
        shape=shape,
        strides=strides,
        offset=int(document["offset"]),
        storage_shape=storage_shape,
        memory=None if document["memory"] is None else int(document["memory"]),
        byte=int(document["byte"]),
    )


def _scalar(document: dict) -> Scalar:
    return Scalar(int(document["dtype"]), bytes.fromhex(document["bytes"]))


def _check(name: str, tensor: Tensor, memory: tuple[Memory, ...]) -> None:
    """A view must lie in its memory: it is read from there."""
    if tensor.memory is None:
        return
    if not 0 <= tensor.memory < len(memory):
        raise ValueError(f"{name} has memory {tensor.memory} of {len(memory)}")
    first, end = tensor.reach()
    if first < 0 or end > memory[tensor.memory].size:
        raise ValueError(f"{name} reaches outside its memory")
