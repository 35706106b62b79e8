# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, and the exit code of the command-line tool for each."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the command-line tool."""

    OK = 0
    NUMBERS_DIFFER = 1
    USAGE = 2
    NOT_SUPPORTED = 3
    RUNTIME = 4
    MISTAKES_FOUND = 5


class Error(Exception):
    """An error that is told to the user in one line."""

    exit_code = ExitCode.RUNTIME


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
