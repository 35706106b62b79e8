# SPDX-License-Identifier: Apache-2.0
"""Files of results: refused before the work, and written whole or not at all; and streams."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from .errors import InputError, quoted_path

_MOST_LINKS = 40  # one after the other, as the kernel has it


def check_writable(path: Path, streams: bool = False) -> None:
    """Refuses an output path that cannot be written, before any work is done.

    With `streams` a pipe, a device or what is open already will do, as write_text takes them.
    """
    target, said = _followed(path), quoted_path(path)
    if streams and _is_stream(target):
        if target.is_dir() or not os.access(target, os.W_OK):
            raise InputError(f"{said}: cannot be written, expected a file or what is open")
        return
    if target.is_symlink() or _is_stream(target):
        raise InputError(f"{said}: cannot be replaced, expected a regular file for the result")
    folder = (target if path.is_symlink() else path).parent
    if not folder.is_dir():
        raise InputError(f"{said}: no folder {quoted_path(folder)}, expected one for the result")
    if target.is_dir() or not os.access(folder, os.W_OK):
        raise InputError(f"{said}: cannot be written, expected a file in a writable folder")


def replace(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Makes `path` what `write` writes, or leaves it as it was before.

    Of a symbolic link that is what it points to.
    """
    path = _followed(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "xb") as file:
            write(file)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """As replace, with text in UTF-8; a stream gets it as it comes."""
    contents = text.encode()
    target = _followed(path)
    if _is_stream(target):
        with open(_descriptor(target), "wb") as file:
            file.write(contents)
    else:
        replace(path, lambda file: file.write(contents))


def _descriptor(stream: Path) -> int:
    """One to write to; of what this process has open a copy, which goes on at the same place."""
    if stream.parent == Path(os.path.realpath("/proc/self/fd")):
        return os.dup(int(stream.name))
    return os.open(stream, os.O_WRONLY | os.O_APPEND)


def _is_stream(target: Path) -> bool:
    """A pipe, a device, or what /proc has: what processes have open is there, files as well."""
    if target.is_relative_to("/proc"):
        return True
    return target.exists() and not (target.is_file() or target.is_dir())


def _followed(path: Path) -> Path:
    """Where links lead; a link still where they go round, and where it is one of /proc.

    Those lead to what is open, not to a name.
    """
    for _ in range(_MOST_LINKS):
        path = Path(os.path.realpath(path.parent), path.name)
        if path.is_relative_to("/proc") or not path.is_symlink():
            break
        path = path.parent / os.readlink(path)
    return path
