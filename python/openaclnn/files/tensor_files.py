# SPDX-License-Identifier: Apache-2.0
"""Tensors as a command line names them: FILE.npy, FILE.safetensors[:NAME], or their numbers."""

from pathlib import Path

import numpy as np

from .. import dtypes, names
from ..errors import InputError, quoted
from . import literal, npy, safetensors

_SAFETENSORS = ".safetensors"
_MOST_NAMES = 10


def load(text: str, operand: str) -> np.ndarray:
    """One tensor; of a .safetensors file of several the name says which."""
    if literal.is_one(text):
        return literal.read(text, operand)
    path, name = _divided(text)
    if path.suffix != _SAFETENSORS:
        return npy.load(path, operand, [each.numpy.name for each in dtypes.all_types()])
    found = safetensors.entries(path)
    if name is None and len(found) == 1:
        (name,) = found
    if name not in found:
        known = ", ".join(map(quoted, [*found][:_MOST_NAMES])) or "none"
        known += f" and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else ""
        lacks = f"has no tensor {quoted(name)}" if name is not None else f"has {len(found)} tensors"
        near = names.hint(name, found) if name is not None else ""
        form = f"{path}:NAME, of {known}"
        raise InputError(f"{path}: {lacks} for {operand}, expected {form}{near}")
    return safetensors.load(path, name, found[name])


def load_all(text: str, operand: str) -> list[np.ndarray]:
    """Loads the tensors; for a .safetensors file that is named without a tensor, all of its
    tensors."""
    path, name = _divided(text)
    if path.suffix != _SAFETENSORS or name is not None:
        return [load(text, operand)]
    entries = safetensors.entries(path).items()
    return [safetensors.load(path, each, entry) for each, entry in entries]


def with_result(text: str, operand: str) -> tuple[str, Path | None]:
    """FILE[:RESULT], FILE.safetensors:NAME:RESULT, or numbers: what is worked on, and where it goes.

    Numbers may go to no file.
    """
    if literal.is_one(text):
        return _numbers_with_result(text)
    path, name = _divided(text)
    if path.suffix == _SAFETENSORS:
        source, found, result = (name or "").rpartition(":")
        if not found:
            form = f"{quoted(path)}:NAME:RESULT"
            raise InputError(f"--{operand} is {quoted(text)}, expected {form}")
        return f"{path}:{source}" if source else str(path), Path(result)
    file, *rest = text.split(":")
    if rest[1:]:
        raise InputError(f"--{operand} is {quoted(text)}, expected FILE[:RESULT]")
    return file, Path("".join(rest) or file)


def _numbers_with_result(text: str) -> tuple[str, Path | None]:
    """NUMBERS[:DTYPE][:RESULT]."""
    source, found, result = text.rpartition(":")
    if not found or result in {each.numpy.name for each in dtypes.all_types()}:
        return text, None
    return source, Path(result)


def save(results: list[tuple[Path, str, np.ndarray]]) -> None:
    """Writes results to files; several to one .safetensors file, by their names."""
    together: dict[Path, dict[str, np.ndarray]] = {}
    for path, name, array in results:
        if path.suffix == _SAFETENSORS:
            together.setdefault(path, {})[name] = array
        else:
            npy.save(path, array)
    for path, tensors in together.items():
        safetensors.save(path, tensors)


def takes_several(path: Path) -> bool:
    """Whether more than one result may be written to the file."""
    return path.suffix == _SAFETENSORS


def _divided(text: str) -> tuple[Path, str | None]:
    file, found, name = text.partition(f"{_SAFETENSORS}:")
    return (Path(file + _SAFETENSORS), name) if found else (Path(text), None)
