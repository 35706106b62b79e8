# SPDX-License-Identifier: Apache-2.0
"""Makes empty CUDA libraries: PyPI's torch for x86-64 loads with them where CUDA is absent.

python cuda_stand_ins.py TORCH_DIR writes them to `nvidia/cudnn/lib` beside torch, which the RPATH
of every torch reaches. They satisfy the loader, and every function returns 100, "no device"; those
that give the text of an error give one, since torch makes strings of it without a look at the
pointer. The functions and their version nodes are what torch's own libraries leave undefined.
"""

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

CUDA_LIBRARY = re.compile(r"lib(cu|nccl|nvrtc|nvToolsExt|nvshmem|nvJitLink)")
# Names that a library without a version node defines; the node tells all others.
PREFIXES = {
    "ncc": "libnccl",
    "cusparseLt": "libcusparseLt",
    "cuFile": "libcufile",
    "cupti": "libcupti",
    "nvrtc": "libnvrtc",
    "nvshmem": "libnvshmem_host",
    "cu": "libcuda.",
}
# Where the version node is not named after the library.
NODES = {"NVSHMEM": "libnvshmem_host.so.3"}

# Functions that give a text, by how: as what they return, by their second argument, or copied to
# their first one, whose size the second one says.
TEXT = "no device: this library stands in for CUDA's"
RETURNED = re.compile(r"(cuda|cudnn|cublas|cublasLt|cusparse|cusparseLt|nvrtc|nccl)"
                      r"Get(Error|Status)(String|Name)|ncclGetLastError")  # fmt: skip
POINTED_TO = re.compile(r"cuGetError(String|Name)|cuptiGetResultString")
COPIED = re.compile(r"cudnnGetLastErrorString")


def _lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def needed(library):
    """The CUDA libraries that a library names."""
    found = (re.search(r"\(NEEDED\).*\[(.*)\]", line) for line in _lines("readelf", "-d", library))
    return {match[1] for match in found if match and CUDA_LIBRARY.match(match[1])}


def undefined(library):
    """Pairs of an undefined symbol and its version node, which may be ''."""
    for line in _lines("nm", "-D", "--undefined-only", library):
        name, _, node = line.split()[-1].partition("@")
        yield name, node.strip("@")


def symbols_by_library(libraries):
    """{soname: {node: {symbol}}} of everything that must exist."""
    sonames = set().union(*(needed(library) for library in libraries))
    symbols = {soname: defaultdict(set) for soname in sonames}
    for library in libraries:
        for name, node in undefined(library):
            owner = NODES.get(node, node)
            if not node:
                prefix = next((p for p in PREFIXES if name.startswith(p)), None)
                owners = [s for s in sonames if prefix and s.startswith(PREFIXES[prefix])]
                owner = owners[0] if owners else None
            if owner in symbols:
                symbols[owner][node].add(name)
    return symbols


def definition(name):
    """A function in C."""
    if RETURNED.fullmatch(name):
        return f"const char *{name}(void) {{ return text; }}\n"
    if POINTED_TO.fullmatch(name):
        return f"int {name}(int error, const char **said) {{ *said = text; return 0; }}\n"
    if COPIED.fullmatch(name):
        return f'void {name}(char *said, size_t size) {{ snprintf(said, size, "%s", text); }}\n'
    return f"int {name}(void) {{ return 100; }}\n"


def build(path, nodes):
    """Compiles one library."""
    named = {node: "; ".join(sorted(functions)) for node, functions in nodes.items() if node}
    version_script = "".join(f"{node} {{ global: {named[node]}; }};\n" for node in sorted(named))
    names = sorted(set().union(*nodes.values()))
    head = f'#include <stdio.h>\nstatic const char text[] = "{TEXT}";\n'
    source = head + "".join(map(definition, names))
    with tempfile.TemporaryDirectory() as folder:
        code, script = Path(folder, "stand_in.c"), Path(folder, "stand_in.map")
        code.write_text(source)
        script.write_text(version_script)
        options = ["-shared", "-fPIC", "-w", f"-Wl,-soname,{path.name}"]
        if version_script:
            options.append(f"-Wl,--version-script={script}")
        subprocess.run(["gcc", *options, "-o", path, code], check=True)


def main(arguments):
    torch = Path(arguments[0])
    folder = torch.parent / "nvidia" / "cudnn" / "lib"
    folder.mkdir(parents=True, exist_ok=True)
    libraries = sorted(torch.glob("lib/*.so*"))
    for soname, nodes in sorted(symbols_by_library(libraries).items()):
        build(folder / soname, nodes)
        print(f"{soname}: {sum(map(len, nodes.values()))} functions")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
