# SPDX-License-Identifier: Apache-2.0
"""The aclnn operators on NumPy arrays, through the C libraries of openaclnn.

Every operator that `operators` has a module for is a function here, made when it is first named;
`ops` has those of all headers, by their C names.
"""

import importlib
import sys

from .errors import AclError, Error, InputError, ToolkitNotFound  # noqa: F401, for users

__version__ = "0.2.0"

_ERRORS = ["AclError", "Error", "InputError", "ToolkitNotFound"]


def __getattr__(name: str):
    try:
        return _made(name)
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        words = f"openaclnn.{name} needs NumPy, which {sys.executable} does not have: "
        ways = f"`{sys.executable} -m pip install numpy`, or Debian's python3-numpy"
        raise ModuleNotFoundError(words + ways, name="numpy") from None


def _made(name: str):
    if name == "__all__":
        from .operators import VERSIONS

        return [*_ERRORS, *VERSIONS]
    if name == "ops":
        return importlib.import_module(f"{__name__}.ops")
    import pkgutil

    # Names of other modules pass here while they are imported, perhaps by the operators' own.
    folders = [f"{each}/operators" for each in __path__]
    if name in (each.name for each in pkgutil.iter_modules(folders)):
        from . import api
        from .operators import VERSIONS

        if name in VERSIONS:
            return globals().setdefault(name, api.function(name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
