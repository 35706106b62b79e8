# SPDX-License-Identifier: Apache-2.0
"""The list of operators that libopenaclnn_capture.so stands in front of."""

import re

from operator_records import ROOT

HEADERS = ROOT / "include/aclnnop"

PHASE_1 = re.compile(
    r"^ACL_FUNC_VISIBILITY aclnnStatus\s+(aclnn\w+)GetWorkspaceSize\(([^)]*)\);", re.MULTILINE
)


def outputs(parameters):
    """The names of the tensors that the operator writes: those that are not const, or the ones that
    say so where all are."""
    tensors = [each for each in parameters if re.match(r"(const )?aclTensor(List)?\*", each)]
    written = [each for each in tensors if not each.startswith("const ") or each.endswith("Ref")]
    written = written or [each for each in tensors if re.search("[oO]ut(put)?$", each)]
    return [re.search(r"\w+$", each)[0] for each in written or tensors[-1:]]


def declared(header):
    """Name, parameters, their names and the outputs of each operator that a header declares."""
    for name, text in PHASE_1.findall(header.read_text(encoding="utf-8")):
        # The last two are the same for all: the workspace's size and the executor.
        parameters = [" ".join(each.split()) for each in text.split(",")][:-2]
        names = [re.search(r"\w+$", each)[0] for each in parameters]
        yield name, parameters, names, outputs(parameters)


def recorded(topics):
    """The same of the operators that have records."""
    for operator in (each for topic in topics for each in topic.operators):
        parameters = [f"{each.c_type} {each.name}" for each in operator.parameters]
        names = [each.name for each in operator.parameters]
        yield operator.api, parameters, names, [each.name for each in operator.outputs]


def content(topics):
    found = list(recorded(topics))
    includes = {f"aclnn_{each.header}.h" for topic in topics for each in topic.operators}
    for header in sorted(HEADERS.glob("*.h")):
        of_room = list(declared(header))
        found += of_room
        includes |= {header.name} if of_room else set()
    lines = []
    for name, parameters, names, written in found:
        lists = map(", ".join, (parameters, names, written))
        lines.append(f"OPERATOR({name}, {', '.join(f'({each})' for each in lists)})")
    return (
        "// SPDX-License-Identifier: Apache-2.0\n"
        "// OPERATOR(name, parameters, their names, outputs).\n"
        "// Made by scripts/generate_operators.py.\n"
        + "\n".join([*(f'#include "aclnnop/{each}"' for each in sorted(includes)), ""])
        + "\n".join(sorted(lines))
        + "\n"
    )
