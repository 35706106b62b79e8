# SPDX-License-Identifier: Apache-2.0
"""Makes libraries to link against that look like those of an older glibc.

python3 scripts/packaging/glibc_stubs.py FOLDER VERSION [COMPILER]

What is linked with -LFOLDER asks for the newest version of each symbol that is not newer than
VERSION, and so loads wherever glibc is at least that. Today's glibc names every version that it
still serves, which is all that a linker needs to know; a symbol without one so old is left out, so
that using it is an error of the link. Until 2.34 threads and dlopen had libraries of their own,
which must be asked for: today's are empty. COMPILER (gcc) may be a cross compiler.
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_SYMBOL = re.compile(
    r"(?P<size>\d+) (?P<kind>FUNC|IFUNC|OBJECT)\s+(?:GLOBAL|WEAK)\s+DEFAULT\s+\w+"
    r" (?P<name>\w+)@@?(?P<version>GLIBC_[\d.]+)$"
)
_WHOLE = ("libc.so.6", "libm.so.6")
_SEPARATE = ("libpthread.so.0", "libdl.so.2")


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.removeprefix("GLIBC_").split(".")))


@dataclass(frozen=True)
class Symbol:
    """A symbol as a linker sees it."""

    version: str
    kind: str
    size: int


def symbols(library: Path, most: tuple[int, ...]) -> dict[str, Symbol]:
    """The symbols that an older glibc would bind in a library."""
    listed = subprocess.run(
        ["readelf", "-W", "--dyn-syms", library], capture_output=True, text=True, check=True
    )
    found: dict[str, Symbol] = {}
    for line in listed.stdout.splitlines():
        match = _SYMBOL.search(line)
        if not match or numbers(match["version"]) > most:
            continue
        kind = "object" if match["kind"] == "OBJECT" else "function"
        here = Symbol(match["version"], kind, int(match["size"]))
        newest = found.setdefault(match["name"], here)
        if numbers(here.version) > numbers(newest.version):
            found[match["name"]] = here
    return found


def assembly(found: dict[str, Symbol]) -> str:
    lines = [".text"]
    for number, (name, symbol) in enumerate(sorted(found.items())):
        own = f"s{number}"
        lines += [f".globl {own}", f".type {own}, %{symbol.kind}", f".size {own}, {symbol.size}"]
        lines += [f"{own}: .symver {own}, {name}@@{symbol.version}"]
    return "\n".join([*lines, '.section .note.GNU-stack,"",%progbits', ""])


def link(compiler: str, folder: Path, soname: str, found: dict[str, Symbol]) -> None:
    source, version_script = folder / f"{soname}.s", folder / f"{soname}.map"
    source.write_text(assembly(found))
    versions = sorted({each.version for each in found.values()}, key=numbers)
    nodes = "".join(f"{each} {{}};\n" for each in versions)
    version_script.write_text(nodes + "LOCAL {local: s*;};\n")
    command = [compiler, "-shared", "-nostdlib", f"-Wl,-soname,{soname}"]
    command += [f"-Wl,--version-script={version_script}", source, "-o", folder / soname]
    subprocess.run(command, check=True)


def system(compiler: str, name: str) -> Path:
    """The library that programs of this compiler, which may be one for others, are linked to."""
    command = [compiler, f"-print-file-name={name}"]
    return Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())


def loader(compiler: str) -> Path:
    """The program that starts programs; libc.so names it for symbols that it defines itself."""
    command = [compiler, "-dumpmachine"]
    machine = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    name = "ld-linux-aarch64.so.1" if machine.startswith("aarch64") else "ld-linux-x86-64.so.2"
    return system(compiler, name)


def main(arguments: list[str]) -> int:
    folder, most = Path(arguments[0]), numbers(arguments[1])
    compiler = arguments[2] if arguments[2:] else "gcc"
    folder.mkdir(parents=True, exist_ok=True)
    for soname in _WHOLE:
        link(compiler, folder, soname, symbols(system(compiler, soname), most))
    for soname in _SEPARATE:
        link(compiler, folder, soname, {})
    rest = f"{system(compiler, 'libc_nonshared.a')} AS_NEEDED ( {loader(compiler)} )"
    (folder / "libc.so").write_text(f"GROUP ( {folder / _WHOLE[0]} {rest} )\n")
    (folder / "libm.so").write_text(f"INPUT ( {folder / _WHOLE[1]} )\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
