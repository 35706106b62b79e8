# SPDX-License-Identifier: Apache-2.0
"""Writes what the public headers of the operators declare, for the build.

python3 scripts/operators/generate_declarations.py FOLDER HEADERS…: what CMake does. HEADERS are folders that
hold aclnnop/; files of FOLDER that are right stay untouched:

    capture.inc  OPERATOR(name, parameters, their names, outputs), for libopenaclnn_capture.so
    headers.inc  all of them
    handles.inc  PHASE1(name, names of its handles), for the tests of bad handles; headers that were
                 made have come with theirs
    exports.txt  the functions that libopapi.so exports for clients
"""

import re
import sys
from pathlib import Path

FUNCTION = re.compile(
    r"^ACL_FUNC_VISIBILITY aclnnStatus\s+(aclnn\w+?)(GetWorkspaceSize)?\(([^)]*)\);", re.MULTILINE
)
HANDLE = re.compile(r"acl(Tensor|Scalar|IntArray|BoolArray|TensorList|ScalarList)\s?\*")

# Outputs that nothing in the declaration tells from inputs.
OUTPUTS = {"aclnnForeachNonFiniteCheckAndUnscale": ["scaledGrads", "foundInf"]}


def name_of(parameter):
    return re.search(r"\w+$", parameter)[0]


def outputs(name, parameters):
    """The names of the tensors that the operator writes: those that are not const, and the ones
    that say so of operators whose tensors are all const."""
    if name in OUTPUTS:
        return OUTPUTS[name]
    tensors = [each for each in parameters if re.match(r"(const )?aclTensor(List)?\*", each)]
    written = [each for each in tensors if not each.startswith("const ") or each.endswith("Ref")]
    written = written or [each for each in tensors if re.search("[oO]ut(put)?$", each)]
    return [name_of(each) for each in written or tensors[-1:]]


def operators(header):
    """Name and parameters of each operator that the header declares."""
    for name, phase1, declared in FUNCTION.findall(header.read_text()):
        if phase1:
            # The last two are the same for all: the workspace's size and the executor.
            yield name, [" ".join(each.split()) for each in declared.split(",")][:-2]


def is_made(header):
    return "Made by scripts/" in header.read_text()


def made_by(comment):
    return f"// SPDX-License-Identifier: Apache-2.0\n// {comment}; made from the public headers.\n"


def capture(declared):
    lines = []
    for name, parameters in declared:
        names = [name_of(each) for each in parameters]
        lists = map(", ".join, (parameters, names, outputs(name, parameters)))
        lines.append(f"OPERATOR({name}, {', '.join(f'({each})' for each in lists)})\n")
    return made_by("OPERATOR(name, parameters, their names, outputs)") + "".join(sorted(lines))


def handles(declared):
    lines = []
    for name, parameters in declared:
        names = (f'"{name_of(each)}"' for each in parameters if HANDLE.search(each))
        lines.append(f"PHASE1({name}, {', '.join(names)})\n")
    return made_by("PHASE1(name, names of its handles)") + "".join(sorted(lines))


def write(path, text):
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main(folder, *roots):
    headers = sorted(path for root in roots for path in Path(root, "aclnnop").glob("*.h"))
    found = {header: list(operators(header)) for header in headers}
    declared = [each for group in found.values() for each in group]
    includes = "".join(f'#include "aclnnop/{path.name}"\n' for path, each in found.items() if each)
    write(Path(folder, "headers.inc"), made_by("Every header that declares operators") + includes)
    write(Path(folder, "capture.inc"), capture(declared))
    written = [each for path, group in found.items() for each in group if not is_made(path)]
    write(Path(folder, "handles.inc"), handles(written))
    exports = [name + phase1 for path in headers for name, phase1, _ in
               FUNCTION.findall(path.read_text())]  # fmt: skip
    write(Path(folder, "exports.txt"), "".join(f"{each}\n" for each in sorted(exports)))


if __name__ == "__main__":
    main(*sys.argv[1:])
