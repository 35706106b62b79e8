# SPDX-License-Identifier: Apache-2.0
"""Finds the installed C libraries, loads them and calls their functions."""

import ctypes
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import AclError, Error, ToolkitNotFound

if TYPE_CHECKING:
    from .support import Support

_PACKAGE = Path(__file__).resolve().parents[1]
_LIBRARIES = (
    "libascendcl.so",
    "libnnopbase.so",
    "libopapi.so",
    "openaclnn/libopenaclnn_reference.so",
)


@contextmanager
def untraced() -> Iterator[None]:
    """Libraries that are loaded within begin no trace: that of OPENACLNN_TRACE is the program's."""
    trace = os.environ.pop("OPENACLNN_TRACE", None)
    try:
        yield
    finally:
        if trace is not None:
            os.environ["OPENACLNN_TRACE"] = trace


def find() -> Path:
    """The directory that holds lib64/ with the libraries."""
    named = os.environ.get("OPENACLNN_HOME")
    if named:
        if _missing(Path(named)):
            raise ToolkitNotFound(
                f"OPENACLNN_HOME is {named}, which has no {_missing(Path(named))}"
            )
        return Path(named)
    # Those of a wheel, and those that lie about an installed package: HOME/python/site-packages.
    candidates = [_PACKAGE / "cann", *_PACKAGE.parents[2:3]]
    ascend_home = os.environ.get("ASCEND_HOME_PATH")
    if ascend_home:
        candidates.append(Path(ascend_home))
    candidates.append(_PACKAGE.parents[1] / "build" / "install")
    for candidate in candidates:
        if not _missing(candidate):
            return candidate
    looked = ", ".join(str(candidate) for candidate in candidates)
    raise ToolkitNotFound(f"no openaclnn toolkit in {looked}; set OPENACLNN_HOME to one")


def _missing(home: Path) -> str:
    """The first library that `home` lacks, or nothing."""
    for name in _LIBRARIES:
        if not (home / "lib64" / name).is_file():
            return f"lib64/{name}"
    return ""


class Toolkit:
    """The loaded libraries."""

    def __init__(self, home: Path):
        self.home = home
        self._libraries = [_load(home / "lib64" / name) for name in _LIBRARIES]
        self._functions = {}

    def function(self, name: str, restype=ctypes.c_int):
        """The exported function `name`; its arguments must be ctypes values."""
        if name not in self._functions:
            library = next((each for each in self._libraries if hasattr(each, name)), None)
            if library is None:
                raise ToolkitNotFound(f"the toolkit in {self.home} has no function {name}")
            function = library[name]
            function.restype = restype
            self._functions[name] = function
        return self._functions[name]

    def has(self, name: str) -> bool:
        """Whether one of the libraries exports the function."""
        return any(hasattr(each, name) for each in self._libraries)

    def call(self, name: str, *arguments) -> None:
        """Calls a function that returns an error code; raises what it reports."""
        code = self.function(name)(*arguments)
        if code != 0:
            raise AclError(code, self.recent_message(), name)

    def recent_message(self) -> str:
        """This thread's last message from the libraries, without its line ends."""
        text = self.function("aclGetRecentErrMsg", ctypes.c_char_p)()
        return " ".join(text.decode("utf-8", "replace").split()) if text else ""

    @cached_property
    def support(self) -> "Support":
        """Which dtypes each operator takes on each product."""
        from .support import Support  # with NumPy, which nothing else here needs

        text = self.function("openaclnn_support_json", ctypes.c_char_p)()
        if not text:
            raise Error(self.recent_message() or "openaclnn_support_json returned null")
        return Support.parse(json.loads(text))

    def unknown_variables(self) -> list[str]:
        """A sentence about each OPENACLNN_ variable of the environment that means nothing."""
        text = self.function("openaclnn_unknown_variables_json", ctypes.c_char_p)()
        return json.loads(text) if text else []

    def configuration(self) -> dict:
        """The settings that the libraries derive from the environment's variables."""
        text = self.function("openaclnn_configuration_json", ctypes.c_char_p)()
        if not text:
            raise Error(self.recent_message() or "openaclnn_configuration_json returned null")
        return json.loads(text)


def load_all(home: Path) -> None:
    """Loads what programs name: to this process the loader then gives these, wherever it would look.

    It reads LD_LIBRARY_PATH when a process starts, and finds what is loaded already by the name
    that a library has in itself, which links to it have not.
    """
    for library in sorted((home / "lib64").glob("lib*.so")):
        # Those of openaclnn's own must be in front of all, or are none.
        if not library.is_symlink() and not library.name.startswith("libopenaclnn_"):
            _load(library)


def _load(library: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(library))
    except OSError as error:
        raise ToolkitNotFound(f"cannot load {library}: {error}") from None


@lru_cache(maxsize=1)
def load() -> Toolkit:
    """The toolkit of this process."""
    return Toolkit(find())
