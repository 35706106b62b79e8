# SPDX-License-Identifier: Apache-2.0
"""Writes the list of operators that libopenaclnn_capture.so stands in front of, from the headers.

python3 scripts/generate_capture.py FILE: what CMake does. A list that is right stays untouched.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include/aclnnop"

PHASE_1 = re.compile(
    r"^ACL_FUNC_VISIBILITY aclnnStatus\s+(aclnn\w+)GetWorkspaceSize\(([^)]*)\);", re.MULTILINE
)


# Outputs that nothing in the declaration tells from inputs.
OUTPUTS = {"aclnnForeachNonFiniteCheckAndUnscale": ["scaledGrads", "foundInf"]}


def outputs(name, parameters):
    """The names of the tensors that the operator writes: those that are not const, and the ones
    that say so of operators whose tensors are all const."""
    if name in OUTPUTS:
        return OUTPUTS[name]
    tensors = [each for each in parameters if re.match(r"(const )?aclTensor(List)?\*", each)]
    written = [each for each in tensors if not each.startswith("const ") or each.endswith("Ref")]
    written = written or [each for each in tensors if re.search("[oO]ut(put)?$", each)]
    return [re.search(r"\w+$", each)[0] for each in written or tensors[-1:]]


def operators(header):
    """Name, parameters and their names of each operator that the header declares."""
    for name, declared in PHASE_1.findall(header.read_text()):
        parameters = [" ".join(each.split()) for each in declared.split(",")]
        # The last two are the same for all: the workspace's size and the executor.
        yield name, parameters[:-2], [re.search(r"\w+$", each)[0] for each in parameters[:-2]]


def content():
    includes, lines = [], []
    for header in sorted(HEADERS.glob("*.h")):
        found = list(operators(header))
        if not found:
            continue
        includes.append(f'#include "aclnnop/{header.name}"')
        for name, parameters, names in found:
            lists = map(", ".join, (parameters, names, outputs(name, parameters)))
            lines.append(f"OPERATOR({name}, {', '.join(f'({each})' for each in lists)})")
    return (
        "// SPDX-License-Identifier: Apache-2.0\n"
        "// OPERATOR(name, parameters, their names, outputs); made by scripts/generate_capture.py.\n"
        + "\n".join([*includes, "", *sorted(lines)])
        + "\n"
    )


def main(file):
    text = content()
    if not file.is_file() or file.read_text() != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
