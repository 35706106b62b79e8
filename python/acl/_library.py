# SPDX-License-Identifier: Apache-2.0
"""Finds the C libraries that the functions of this package call."""

import ctypes
import os
from functools import cache
from pathlib import Path

ASCENDCL = "libascendcl.so"
OP_COMPILER = "libacl_op_compiler.so"

_FOLDER = Path(__file__).resolve().parent


def _homes():
    """Yields the folders that may hold lib64 with the libraries."""
    for name in ("OPENACLNN_HOME", "ASCEND_HOME_PATH"):
        if os.environ.get(name):
            yield Path(os.environ[name])
        if name == "OPENACLNN_HOME":
            yield from _FOLDER.parents[2:3]  # HOME/python/site-packages/acl
    yield _FOLDER.parents[1] / "build" / "install"  # in the source tree


@cache
def load(name):
    """Returns a library by its name, the one that the process has loaded if there is one."""
    try:
        return ctypes.CDLL(name, mode=os.RTLD_NOLOAD)
    except OSError:
        pass
    for home in _homes():
        path = home / "lib64" / name
        if path.is_file():
            return _open(str(path))
    return _open(name)


def _open(path):
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"acl cannot load {path}: {error}; start the program with `openaclnn run`,"
            " or set OPENACLNN_HOME to an installation"
        ) from None
