# SPDX-License-Identifier: Apache-2.0
"""The environment that puts the libraries in place, and programs started in it."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from . import libraries
from .errors import Error, InputError


def environment(home: Path | None = None) -> dict[str, str]:
    """The variables that the toolkit's set_env.sh sets or changes, with their new values."""
    script = (home or libraries.find()) / "set_env.sh"
    if not script.is_file():
        raise Error(f"the toolkit has no {script}")
    # `env` of a shell that has sourced the script: the script stays the only home of the rules.
    command = ["bash", "-c", '. "$0" && env -0', str(script)]
    try:
        done = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        detail = getattr(error, "stderr", b"").decode("utf-8", "replace")
        raise Error(f"cannot source {script}: {detail or error}") from None
    entries = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    after = dict(entry.split("=", 1) for entry in entries if "=" in entry)
    ignored = {"_", "SHLVL", "PWD", "OLDPWD"}
    return {
        name: value
        for name, value in sorted(after.items())
        if name not in ignored and os.environ.get(name) != value
    }


def shown(variables: dict[str, str]) -> dict[str, str]:
    """`variables`, and those of the toolkit that were in place already."""
    names = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "LD_LIBRARY_PATH",
             "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH", "PYTHONPATH")
    here = {name: os.environ[name] for name in names if name in os.environ}
    return dict(sorted({**here, **variables}.items()))


def _capturing(home: Path) -> dict[str, str]:
    """What OPENACLNN_CAPTURE needs: its library in front of the program's."""
    if not os.environ.get("OPENACLNN_CAPTURE"):
        return {}
    library = home.resolve() / "lib64" / "libopenaclnn_capture.so"
    if not library.is_file():
        raise Error(f"the toolkit has no {library}, which OPENACLNN_CAPTURE needs")
    if re.search(r"[\s:]", str(library)):
        raise Error(f"{library} has a space or a colon in its path: LD_PRELOAD cannot name it")
    others = [each for each in re.split(r"[\s:]+", os.environ.get("LD_PRELOAD", "")) if each]
    # Behind those of the user: the runtime of a sanitizer must come first.
    return {"LD_PRELOAD": " ".join(dict.fromkeys([*others, str(library)]))}


def find(command: list[str]) -> tuple[str, dict[str, str]]:
    """The command's program, and the environment that has the libraries in place."""
    if not command:
        raise InputError("expected a command after --")
    home = libraries.find()
    variables = {**os.environ, **environment(home), **_capturing(home)}
    program = shutil.which(command[0], path=variables.get("PATH"))
    if program is None:
        raise InputError(f"no command {command[0]!r}, expected a program on PATH or its path")
    return program, variables


def become(program: str, command: list[str], variables: dict[str, str]) -> None:
    """Becomes the command; returns only by an error."""
    try:
        os.execve(program, command, variables)
    except OSError as error:
        raise Error(f"cannot start {program}: {error.strerror}") from None
