# SPDX-License-Identifier: Apache-2.0
"""Writes docs/called_operators.txt: the operators that clients look up by name.

python3 tests/clients/called_operators.py WHEEL …: one wheel of each client in CLIENTS, as
`pip download --no-deps` leaves it. torch-npu's libraries have the names of both functions of an
operator. MindSpore's have the first name and make the second one from it.
"""

import re
import sys
import zipfile
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "docs/called_operators.txt"
FIRST_PHASE = "GetWorkspaceSize"
_NAME = re.compile(rb"(?<![A-Za-z0-9_])(aclnn[A-Z]\w*)\0")
_WIDTH = 100
_HEAD = """\
# aclnn operators that clients look up by name. tests/clients/called_operators.py reads their wheels.
# scripts/site/generate_conformance.py lists those that libopapi.so does not export.
"""
# Names in MindSpore's library that its own code answers: operators that it makes from others, and
# what it gives to the functions of its own libraries.
_MINDSPORE_OWN = {
    f"aclnn{name}"
    for name in (
        "AsStrided Contiguous CreateSymmetricMemory Dropout Empty EmptyLike Expand Finalize FuncDropoutExt Gemm"
        " Generator GetMem ImagView Init Mla NewEmpty PutMem PutMemSignal RealView SignalOp SignalWaitUntil"
        " ToDevice ToDtype ToOther View ViewDtype"
    ).split()
}


def in_library(binary: bytes) -> set[str]:
    """The names that a library has as whole strings."""
    return {each.decode() for each in _NAME.findall(binary)}


def of_torch_npu(names: Iterable[str]) -> set[str]:
    """The operators among the names, by their second function."""
    known = set(names)
    return {each for each in known if each + FIRST_PHASE in known}


def of_mindspore(names: Iterable[str]) -> set[str]:
    return {each for each in names if not each.endswith(FIRST_PHASE)} - _MINDSPORE_OWN


# By how a wheel's file begins: the client's name, its libraries that call, and their operators.
CLIENTS = {
    "torch_npu": ("torch-npu", ("torch_npu/lib/",), of_torch_npu),
    "mindspore": ("MindSpore", ("mindspore/_c_expression", "mindspore/lib/plugin/lib"), of_mindspore),
}


def in_wheel(wheel: Path) -> tuple[str, set[str]]:
    """The client with its version, and the operators that it looks up."""
    package, version = wheel.name.split("-")[:2]
    name, begins, operators = CLIENTS[package]
    with zipfile.ZipFile(wheel) as opened:
        files = [each for each in opened.namelist() if each.startswith(begins) and ".so" in each]
        names = set().union(*(in_library(opened.read(each)) for each in files))
    return f"{name} {version}", operators(names)


def text_of(called: dict[str, set[str]]) -> str:
    """Sections of the operators that the same clients look up."""
    names = set().union(*called.values())
    by_clients = sorted(
        (", ".join(client for client, has in called.items() if name in has), name) for name in names
    )
    parts = [_HEAD]
    for clients, group in groupby(by_clients, lambda each: each[0]):
        parts.append(f"\n[{clients}]\n{_wrapped(name for _, name in group)}")
    return "".join(parts)


def _wrapped(names: Iterable[str]) -> str:
    lines = [""]
    for name in names:
        if lines[-1] and len(lines[-1]) + 1 + len(name) > _WIDTH:
            lines.append("")
        lines[-1] += f" {name}" if lines[-1] else name
    return "".join(f"{line}\n" for line in lines)


def main(wheels: list[str]) -> int:
    if not wheels:
        print(__doc__, file=sys.stderr)
        return 2
    FILE.write_text(text_of(dict(in_wheel(Path(each)) for each in wheels)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
