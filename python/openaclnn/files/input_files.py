# SPDX-License-Identifier: Apache-2.0
"""Opens the files that a user names as inputs: regular ones, which have an end."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ..errors import InputError, quoted_path

_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


@contextmanager
def opened(path: Path, expected: str) -> Iterator[BinaryIO]:
    """The file, open to be read; what cannot be read or is no regular file is refused."""
    try:
        with open(path, "rb", opener=_at_once) as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                kind = _KINDS.get(stat.S_IFMT(mode), "a special file")
                raise InputError(f"{path}: {kind}, expected {expected} in a regular file")
            yield file
    except OSError as error:
        raise InputError(f"{quoted_path(path)}: {error.strerror}, expected {expected}") from None


def read(path: Path, expected: str) -> bytes:
    """All that is in the file."""
    with opened(path, expected) as file:
        return file.read()


def size(file: BinaryIO) -> int:
    """The bytes of an open file."""
    return os.fstat(file.fileno()).st_size


def _at_once(path: str, flags: int) -> int:
    # Not blocking: it might be a pipe that nobody writes. No terminal becomes this process's own.
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
