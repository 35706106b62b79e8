# SPDX-License-Identifier: Apache-2.0
"""Errors, and the exit code of the command-line tool for each."""

from enum import IntEnum

_MOST_QUOTED = 80  # characters
_MOST_PATH = 1000


class ExitCode(IntEnum):
    """Exit codes of the command-line tool."""

    OK = 0
    NUMBERS_DIFFER = 1
    USAGE = 2
    NOT_SUPPORTED = 3
    RUNTIME = 4
    MISTAKES_FOUND = 5


def escaped(text: str) -> str:
    """With escapes for what would begin a line or move the cursor of a terminal."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def quoted(given: object, most: int = _MOST_QUOTED) -> str:
    """A user's text as a line repeats it: with escapes, and of a long text the beginning."""
    text = str(given)
    said = escaped(text[: most + 1])
    return said if len(said) <= most else f"{said[: most - 3]}..."


def quoted_path(path: object) -> str:
    """A path, which is cut only where no file could have it."""
    return quoted(path, _MOST_PATH)


class Error(Exception):
    """An error that is told to the user in one line."""

    exit_code = ExitCode.RUNTIME

    def __init__(self, message: object = ""):
        super().__init__(escaped(str(message)))


class InputError(Error, ValueError):
    """The user's file or argument is not what the operator takes."""

    exit_code = ExitCode.USAGE


class ToolkitNotFound(Error):
    """There are no openaclnn libraries where they were looked for."""


class NotSupported(Error):
    """The product has nothing of what was asked."""

    exit_code = ExitCode.NOT_SUPPORTED


class AclError(Error):
    """A C function returned something other than 0."""

    def __init__(self, code: int, message: str, api: str):
        super().__init__(message or f"{api} returned {code}")
        self.code = code
        self.message = message
        self.api = api

    @property
    def exit_code(self) -> ExitCode:
        if self.api == "aclInit":
            return ExitCode.USAGE  # it reads nothing but the environment
        if self.code == _PARAM_INVALID and " dtype is " in self.message:
            return ExitCode.NOT_SUPPORTED  # what no product takes is refused before the call
        return _EXIT_CODES.get(self.code, ExitCode.RUNTIME)


_PARAM_INVALID = 161002
_EXIT_CODES = {
    _PARAM_INVALID: ExitCode.USAGE,
    507035: ExitCode.USAGE,  # a value in the user's data breaks a documented rule
    561002: ExitCode.NOT_SUPPORTED,  # too large for the product
    561003: ExitCode.NOT_SUPPORTED,  # the product has no such operator
}
