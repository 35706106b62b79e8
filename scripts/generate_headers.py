# SPDX-License-Identifier: Apache-2.0
"""Writes the public headers of the supporting operators from their table.

python3 scripts/generate_headers.py [--check]: with --check nothing is written, and the exit code is
1 where a file is not what the table says.
"""

import re
import subprocess
import sys
from pathlib import Path

from operator_formulas import FORMULAS

ROOT = Path(__file__).resolve().parent.parent
FAMILY = ROOT / "src/opapi/supporting"
HEADERS = ROOT / "include/aclnnop"
LIST = FAMILY / "headers.inc"

# Operators that share a header with another; the rest by their own name without Inplace.
SHARED = {
    "Adds": "Add",
    "Subs": "Sub",
    "Rsubs": "Rsub",
    "Muls": "Mul",
    "Divs": "Div",
    "Lerps": "Lerp",
    "FloorDivides": "FloorDivide",
    "One": "Ones",
    "DivMod": "Div",
    "DivMods": "Div",
}
SNAKE = {
    "NLLLoss": "nll_loss",
    "NLLLossBackward": "nll_loss_backward",
    "NLLLoss2d": "nll_loss2d",
    "NLLLoss2dBackward": "nll_loss2d_backward",
    "LogAddExp": "logaddexp",
    "LogAddExp2": "logaddexp2",
    "LogSumExp": "logsumexp",
    "XLogYScalarOther": "xlogy_scalar_other",
    "XLogYScalarSelf": "xlogy_scalar_self",
    "XLogYTensor": "xlogy_tensor",
    "BatchMatMul": "batch_matmul",
}

TEMPLATE = """\
// SPDX-License-Identifier: Apache-2.0
// {title}. Made by scripts/generate_headers.py.
#ifndef OPENACLNN_ACLNNOP_ACLNN_{guard}_H_
#define OPENACLNN_ACLNNOP_ACLNN_{guard}_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {{
#endif
{functions}
#ifdef __cplusplus
}}
#endif

#endif  // OPENACLNN_ACLNNOP_ACLNN_{guard}_H_
"""

FUNCTIONS = """
/**
 * Phase 1: checks the arguments and plans the work.
 *
 *     {formula}
 *
 * Types, broadcasting, products and checks are those of all supporting operators: tensors are
 * strided views of numbers, operands meet in a common type, and the result is rounded once.
 *
 * @param[out] workspaceSize bytes of device memory that phase 2 needs; written on success only.
 * @param[out] executor the plan, for phase 2; written on success only.
 * @retval 161001 an argument is null.
 * @retval 561003 the product does not have the operator.
 * @retval 161002 a type, shape, format or value is not allowed; the message says which.
 */
{phase1}

/** Phase 2: queues the work on a stream. Asynchronous; codes as for aclnnEmbedding. */
{phase2}
"""


def signatures():
    """{macro: parameters} of signatures.inc."""
    text = (FAMILY / "signatures.inc").read_text().replace("\\\n", " ")
    define = r"#define (\w+)\(name, (?:\w+, )?\.\.\.\)\s*ENTRY\(name, \((.*?)\)"
    return dict(re.findall(define, text))


def operators():
    """Name, parameters and formula of each line of the table."""
    known = signatures()
    text = "\n".join(path.read_text() for path in sorted(FAMILY.glob("table_*.inc")))
    line = re.compile(r"^([A-Z_]+)\((\w+),\s*(.*?)\)\n(?=\S|\n|$)", re.M | re.S)
    for macro, name, rest in line.findall(text):
        parameters = known.get(macro) or re.match(r"\((.*?)\)", rest, re.S)[1]
        base = name.removeprefix("Inplace")
        formula = FORMULAS.get(name) or FORMULAS[base]
        if name.startswith("Inplace"):
            formula = re.sub(r"\bself\b", "selfRef", formula).replace("out =", "selfRef =")
        yield name, [" ".join(p.split()) for p in parameters.split(",")], formula


def header_of(name):
    base = name.removeprefix("Inplace")
    base = SHARED.get(base, base)
    return SNAKE.get(base) or re.sub(r"(?<!^)(?=[A-Z])", "_", base).lower()


def declaration(name, parameters):
    return f"ACL_FUNC_VISIBILITY aclnnStatus {name}({', '.join(parameters)});"


def formatted(content):
    command = ["clang-format-14", "--assume-filename=include/x.h"]
    done = subprocess.run(
        command, input=content, capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stdout


def pages():
    """{path: content} of everything that is made."""
    groups = {}
    for name, parameters, formula in operators():
        groups.setdefault(header_of(name), []).append((name, parameters, formula))
    made = {}
    for header, members in sorted(groups.items()):
        functions = "".join(
            FUNCTIONS.format(
                formula=formula,
                phase1=declaration(
                    f"aclnn{name}GetWorkspaceSize",
                    [*parameters, "uint64_t* workspaceSize", "aclOpExecutor** executor"],
                ),
                phase2=declaration(f"aclnn{name}", PHASE2),
            )
            for name, parameters, formula in members
        )
        title = ", ".join(name for name, *_ in members)
        made[HEADERS / f"aclnn_{header}.h"] = formatted(
            TEMPLATE.format(title=title, guard=header.upper(), functions=functions)
        )
    includes = "".join(f'#include "aclnnop/aclnn_{header}.h"\n' for header in sorted(groups))
    made[LIST] = (
        "// SPDX-License-Identifier: Apache-2.0\n"
        "// The public headers of the supporting operators; made by scripts/generate_headers.py.\n"
        + includes
    )
    return made


PHASE2 = [
    "void* workspace",
    "uint64_t workspaceSize",
    "aclOpExecutor* executor",
    "aclrtStream stream",
]


def main(arguments):
    wrong = 0
    for path, content in pages().items():
        if path.is_file() and path.read_text() == content:
            continue
        wrong += 1
        if "--check" in arguments:
            print(f"{path.relative_to(ROOT)} is not what the table says: run {Path(__file__).name}")
        else:
            path.write_text(content)
    return 1 if wrong and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
