# SPDX-License-Identifier: Apache-2.0
"""Files of results: refused before the work, and written whole or not at all."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from .errors import InputError, quoted_path


def check_writable(path: Path, streams: bool = False) -> None:
    """Refuses an output path that cannot be written, before any work is done.

    With `streams` a pipe or a device will do, as write_text takes them.
    """
    target, said = _followed(path), quoted_path(path)
    if streams and _is_stream(target):
        return
    if target.is_symlink() or _is_stream(target):
        raise InputError(f"{said}: cannot be replaced, expected a regular file for the result")
    folder = (target if path.is_symlink() else path).parent
    if not folder.is_dir():
        raise InputError(f"{said}: no folder {quoted_path(folder)}, expected one for the result")
    if target.is_dir() or not os.access(folder, os.W_OK):
        raise InputError(f"{said}: cannot be written, expected a file in a writable folder")


def replace(path: Path, write: Callable[[BinaryIO], None]) -> None:
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
    """As replace, with text in UTF-8; a pipe or a device gets it as it comes."""
    if _is_stream(_followed(path)):
        path.write_text(text, "utf-8")
    else:
        replace(path, lambda file: file.write(text.encode()))


def _is_stream(path: Path) -> bool:
    return path.exists() and not (path.is_file() or path.is_dir())


def _followed(path: Path) -> Path:
    """Where links lead; a link still where they go round (Path.resolve raises there)."""
    return Path(os.path.realpath(path))
