# SPDX-License-Identifier: Apache-2.0
"""Files of results: refused before the work, and written whole or not at all; and streams."""

import os
import secrets
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ..errors import Error, InputError, quoted_path

_ENDS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_MOST_LINKS = 40  # one after the other, as the kernel has it
_PERMISSIONS = 0o777  # of a mode


def check_writable(path: Path, streams: bool = False) -> None:
    """Refuses an output path that cannot be written, before any work is done.

    With `streams` a pipe, a device or what is open already will do, as write_text takes them.
    """
    try:
        _check(path, quoted_path(path), streams)
    except OSError as error:  # a name that the file system cannot have, a folder that is not shown
        said = f"{quoted_path(path)}: {error.strerror}"
        raise InputError(f"{said}, expected a file in a writable folder") from None


def _check(path: Path, said: str, streams: bool) -> None:
    target = _followed(path)
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

    Of a symbolic link that is what it points to. A file that is there keeps its permissions.
    """
    with _naming(path), _ending_tidily():
        target = _followed(path)
        # Short, for a name may be as long as the file system has them.
        temporary = target.with_name(f".openaclnn-{secrets.token_hex(8)}")
        try:
            with open(temporary, "xb") as file:
                _permit(file, target)
                write(file)
            os.replace(temporary, target)
        except FileExistsError:  # it is someone else's
            raise
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def write_text(path: Path, text: str) -> None:
    """As replace, with text in UTF-8; a stream gets it as it comes.

    Of names of files that are no UTF-8 the text has escapes.
    """
    contents = text.encode("utf-8", "backslashreplace")
    target = _followed(path)
    if _is_stream(target):
        with _naming(path), open(_descriptor(target), "wb") as file:
            file.write(contents)
    else:
        replace(path, lambda file: file.write(contents))


class _Ended(BaseException):
    """A signal that ends the process."""


@contextmanager
def _ending_tidily() -> Iterator[None]:
    """Signals that would end the process are raised meanwhile, and end it when that is over."""
    if threading.current_thread() is not threading.main_thread():  # which alone may have handlers
        yield
        return
    ends = [each for each in _ENDS if signal.getsignal(each) == signal.SIG_DFL]
    came, over = [], False

    def end(number: int, _) -> None:
        for each in ends:
            signal.signal(each, signal.SIG_IGN)
        came.append(number)
        if not over:
            raise _Ended

    try:
        for each in ends:
            signal.signal(each, end)
        yield
    finally:
        over = True
        for each in ends:
            signal.signal(each, signal.SIG_DFL)
        for each in came:
            signal.raise_signal(each)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Tells errors of the system as those of the file that was asked for."""
    try:
        yield
    except OSError as error:  # NumPy's have no strerror
        raise Error(f"cannot write {quoted_path(path)}: {error.strerror or error}") from None


def _permit(file: BinaryIO, target: Path) -> None:
    """Gives a new file the permissions of the one that it replaces, if there is one."""
    if target.exists():
        mode = target.stat().st_mode & _PERMISSIONS
        if mode != os.fstat(file.fileno()).st_mode & _PERMISSIONS:
            os.fchmod(file.fileno(), mode)


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
