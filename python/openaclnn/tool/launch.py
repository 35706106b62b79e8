# SPDX-License-Identifier: Apache-2.0
"""The environment that puts the libraries in place, and programs started in it."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from ..errors import Error, InputError, quoted
from ..native import libraries


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


def _preloaded(home: Path, wanted: dict[str, str]) -> dict[str, str]:
    """The variable that puts libraries of the toolkit in front of the program's, for what needs each."""
    libraries_of_it = []
    for name, what in wanted.items():
        library = home.resolve() / "lib64" / name
        if not library.is_file():
            raise Error(f"the toolkit has no {library}, which {what} needs")
        if re.search(r"[\s:]", str(library)):
            raise Error(f"{library} has a space or a colon in its path: LD_PRELOAD cannot name it")
        libraries_of_it.append(str(library))
    if not libraries_of_it:
        return {}
    others = [each for each in re.split(r"[\s:]+", os.environ.get("LD_PRELOAD", "")) if each]
    # Behind those of the user: the runtime of a sanitizer must come first.
    return {"LD_PRELOAD": " ".join(dict.fromkeys([*others, *libraries_of_it]))}


def _python_of(program: str, path: str | None) -> str | None:
    """The interpreter that the program is, or that its first line names, by itself or through env."""
    if re.fullmatch(r"python[0-9.]*", Path(program).name):
        return program
    try:
        with open(program, "rb") as file:
            first = file.readline(512).decode("utf-8", "surrogateescape")
    except OSError:  # it may be run and not read
        return None
    words = re.match(r"#!\s*(\S+)(?:\s+(?:-S\s+)?(\S+))?", first)
    if words is None:
        return None
    named = words[2] if Path(words[1]).name == "env" and words[2] else words[1]
    return shutil.which(named, path=path) if re.fullmatch(r"python[0-9.]*", Path(named).name) else None


def _torch_npu(python: str, variables: dict[str, str]) -> tuple[int, ...]:
    """The version of torch-npu that an interpreter would import; nothing where it has none."""
    ask = "from importlib.metadata import version; print(version('torch-npu'))"
    command = [os.path.abspath(python), "-c", ask]
    try:  # from elsewhere: modules of this folder are not what it asks
        done = subprocess.run(command, capture_output=True, env=variables, cwd="/", timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    numbers = re.match(rb"(\d+)\.(\d+)", done.stdout) if done.returncode == 0 else None
    return tuple(map(int, numbers.groups())) if numbers else ()


def _needed_first(home: Path, program: str, variables: dict[str, str]) -> dict[str, str]:
    """Libraries that the program needs in front of its own, and what needs them."""
    needed = {}
    if variables.get("OPENACLNN_CAPTURE"):
        needed["libopenaclnn_capture.so"] = "OPENACLNN_CAPTURE"
    python = _python_of(program, variables.get("PATH"))
    # It ends the process beside the CUDA build of PyTorch; before 2.13 nothing can be done about that.
    # LD_PRELOAD cannot name a path with a space: beside other builds of PyTorch it starts all the same.
    nameable = not re.search(r"[\s:]", str(home.resolve()))
    if nameable and python and _torch_npu(python, variables) >= (2, 13):
        needed["libopenaclnn_torch_keys.so"] = "torch-npu 2.13 or later"
    return needed


def find(command: list[str]) -> tuple[str, dict[str, str]]:
    """The command's program, and the environment that has the libraries in place."""
    if not command:
        raise InputError("expected a command after --")
    home = libraries.find()
    variables = {**os.environ, **environment(home)}
    program = shutil.which(command[0], path=variables.get("PATH"))
    if program is None:
        raise InputError(f"no command {quoted(repr(command[0]))}, expected a program on PATH or its path")
    return program, variables | _preloaded(home, _needed_first(home, program, variables))


def become(program: str, command: list[str], variables: dict[str, str]) -> None:
    """Becomes the command; returns only by an error."""
    try:
        os.execve(program, command, variables)
    except OSError as error:
        raise Error(f"cannot start {program}: {error.strerror}") from None
