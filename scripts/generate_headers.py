# SPDX-License-Identifier: Apache-2.0
"""Writes the public headers of the supporting operators from their table.

python3 scripts/generate_headers.py [--check]: with --check nothing is written, and the exit code is
1 where a file is not what the table says.
"""

import re
import subprocess
import sys
from pathlib import Path

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
}
SNAKE = {
    "NLLLoss": "nll_loss",
    "NLLLossBackward": "nll_loss_backward",
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
    return dict(re.findall(r"#define (\w+)\(name, \.\.\.\)\s*ENTRY\(name, \((.*?)\)", text))


def operators():
    """Name, parameters and formula of each line of the table."""
    known = signatures()
    text = (FAMILY / "operator_table.inc").read_text()
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

FORMULAS = {
    "Abs": "out = |self|",
    "BitwiseNot": "out = ~self",
    "Ceil": "out = ceil(self)",
    "Cos": "out = cos(self)",
    "Erf": "out = erf(self)",
    "Exp": "out = exp(self)",
    "Expm1": "out = exp(self) - 1",
    "Floor": "out = floor(self)",
    "Gelu": "out = self / 2 * (1 + erf(self / sqrt(2)))",
    "GeluV2": "out = Gelu of self; approximate: 0 exact, 1 by tanh",
    "IsFinite": "out = whether self is neither infinite nor NaN",
    "IsInf": "out = self is infinite",
    "IsNegInf": "out = self is -infinity",
    "IsPosInf": "out = self is +infinity",
    "Log": "out = log(self)",
    "Log1p": "out = log(1 + self)",
    "LogicalNot": "out = self == 0",
    "Neg": "out = -self",
    "Reciprocal": "out = 1 / self",
    "Relu": "out = max(self, 0)",
    "Round": "out = self to the nearest integer, ties to even",
    "Rsqrt": "out = 1 / sqrt(self)",
    "Sigmoid": "out = 1 / (1 + exp(-self))",
    "Sign": "out = -1, 0 or 1, as self is",
    "Silu": "out = self / (1 + exp(-self))",
    "Sin": "out = sin(self)",
    "Sqrt": "out = sqrt(self)",
    "Tanh": "out = tanh(self)",
    "Trunc": "out = self without its fraction",
    "One": "out = 1",
    "Zero": "out = 0",
    "EqTensor": "out = self == other",
    "NeTensor": "out = self != other",
    "GtTensor": "out = self > other",
    "GeTensor": "out = self >= other",
    "LtTensor": "out = self < other",
    "LeTensor": "out = self <= other",
    "EqScalar": "out = self == other",
    "NeScalar": "out = self != other",
    "GtScalar": "out = self > other",
    "GeScalar": "out = self >= other",
    "LtScalar": "out = self < other",
    "LeScalar": "out = self <= other",
    "BitwiseAndTensor": "out = self & other",
    "BitwiseOrTensor": "out = self | other",
    "BitwiseXorTensor": "out = self ^ other",
    "BitwiseAndScalar": "out = self & other",
    "BitwiseOrScalar": "out = self | other",
    "BitwiseXorScalar": "out = self ^ other",
    "LogicalAnd": "out = self != 0 and other != 0",
    "LogicalOr": "out = self != 0 or other != 0",
    "LogicalXor": "out = (self != 0) != (other != 0)",
    "Maximum": "out = max(self, other); NaN if one is",
    "Minimum": "out = min(self, other); NaN if one is",
    "Mul": "out = self * other",
    "Muls": "out = self * other",
    "Div": "out = self / other",
    "Divs": "out = self / other",
    "FloorDivide": "out = floor(self / other)",
    "FloorDivides": "out = floor(self / other)",
    "RemainderTensorTensor": "out = self - floor(self / other) * other",
    "RemainderTensorScalar": "out = self - floor(self / other) * other",
    "PowTensorTensor": "out = self ^ other",
    "PowTensorScalar": "out = self ^ other",
    "PowScalarTensor": "out = self ^ exponent",
    "ClampMax": "out = min(self, other)",
    "ClampMin": "out = max(self, other)",
    "Clamp": "out = min(max(self, clipValueMin), clipValueMax); a bound may be null",
    "Add": "out = self + alpha * other",
    "Adds": "out = self + alpha * other",
    "Sub": "out = self - alpha * other",
    "Subs": "out = self - alpha * other",
    "Rsub": "out = other - alpha * self",
    "Rsubs": "out = other - alpha * self",
    "Addcdiv": "out = self + value * tensor1 / tensor2",
    "Addcmul": "out = self + value * tensor1 * tensor2",
    "Lerp": "out = self + weight * (end - self)",
    "Lerps": "out = self + weight * (end - self)",
    "SWhere": "out = condition ? self : other",
    "MaskedFillScalar": "out = mask ? value : self",
    "MaskedFillTensor": "out = mask ? value : self",
    "FillScalar": "out = value",
    "FillTensor": "out = value",
    "Copy": "out = src",
    "Cast": "out = self, in out's type",
    "GeluBackward": (
        "gradInput = gradOutput * (cdf(self) + self * pdf(self)) of the normal distribution"
    ),
    "SigmoidBackward": "gradInput = gradOutput * (1 - self) * self, self the sigmoid's output",
    "SiluBackward": "gradInput = gradOutput * s * (1 + self * (1 - s)), s = sigmoid(self)",
    "TanhBackward": "gradInput = gradOutput * (1 - self^2), self the tanh's output",
    "ThresholdBackward": "out = self > threshold ? gradOutput : 0",
    "Equal": "out = whether self and other have one shape and equal elements",
    "IsClose": "out = |self - other| <= atol + rtol * |other|, or both NaN if equalNan",
    "Mean": "out = mean of self over dim; none is all",
    "ReduceSum": "out = sum of self over dim; none is all",
    "All": "out = whether all of self over dim are not 0",
    "Any": "out = whether one of self over dim is not 0",
    "Amax": "out = largest of self over dim; NaN if one is",
    "Amin": "out = smallest of self over dim; NaN if one is",
    "Max": "out = largest of self; NaN if one is",
    "Min": "out = smallest of self; NaN if one is",
    "MaxDim": "out, indices = largest along dim, and where the first of them is",
    "MinDim": "out, indices = smallest along dim, and where the first of them is",
    "ArgMax": "out = where the first of the largest along dim is",
    "ArgMin": "out = where the first of the smallest along dim is",
    "Softmax": "out = exp(self) / sum over dim of exp(self)",
    "LogSoftmax": "out = self - log(sum over dim of exp(self))",
    "SoftmaxBackward": "gradInput = output * (gradOutput - sum over dim of gradOutput * output)",
    "LogSoftmaxBackward": "gradInput = gradOutput - exp(output) * sum over dim of gradOutput",
    "NLLLoss": (
        "out = -weight[t] * self[i, t], t = target[i]; none (0), mean (1) or sum (2) of them"
    ),
    "NLLLossBackward": "out = gradient of NLLLoss by self",
    "Arange": "out = start, start + step, … before end",
    "Cat": "out = the tensors, one after the other along dim",
    "MaskedSelect": (
        "out = the elements of self where mask is true; their number becomes out's shape"
    ),
    "Gather": "out[…, i, …] = self[…, index[…, i, …], …], at dimension dim",
    "IndexSelect": "out = the slices of self along dim that index names",
    "Nonzero": "out = the places where self is not 0, a row each; their number becomes out's shape",
    "Repeat": "out = self, repeats times along each dimension",
    "Stack": "out = the tensors along a new dimension dim",
    "Tril": "out = self on and below the diagonal, else 0",
    "Triu": "out = self on and above the diagonal, else 0",
    "BatchMatMul": "out = self mat2, matrix by matrix",
    "Matmul": "out = self mat2, as torch.matmul",
    "Mm": "out = self mat2",
    "Addmm": "out = beta * self + alpha * mat1 mat2",
    "Baddbmm": "out = beta * self + alpha * batch1 batch2",
    "Normal": "out = normal numbers of the mean and the deviation",
    "Uniform": "out = numbers in [from, to)",
    "Random": "out = integers in [from, to)",
    "ForeachSqrt": "out = sqrt(x), for each of the list",
    "ForeachAddScalarV2": "out = x + scalar, for each of the list",
    "ForeachDivScalarV2": "out = x / scalar, for each of the list",
    "ForeachMulScalarV2": "out = x * scalar, for each of the list",
    "ForeachAddScalarList": "out = x + scalar, each with its own",
    "ForeachDivScalarList": "out = x / scalar, each with its own",
    "ForeachMulScalarList": "out = x * scalar, each with its own",
    "ForeachDivList": "out = x1 / x2, for each of the lists",
    "ForeachMaximumList": "out = max(x1, x2), for each of the lists",
    "ForeachMulList": "out = x1 * x2, for each of the lists",
    "ForeachAddListV2": "out = x1 + alpha * x2, for each of the lists",
    "ForeachSubListV2": "out = x1 - alpha * x2, for each of the lists",
    "ForeachLerpScalar": "out = x1 + alpha * (x2 - x1), for each of the lists",
    "ForeachAddcdivScalarV2": "out = x1 + scalar * x2 / x3, for each of the lists",
    "ForeachAddcmulScalarV2": "out = x1 + scalar * x2 * x3, for each of the lists",
    "ForeachAddcdivScalarList": "out = x1 + scalar * x2 / x3, each with its own scalar",
}


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
