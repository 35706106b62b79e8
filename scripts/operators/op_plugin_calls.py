# SPDX-License-Identifier: Apache-2.0
"""Arguments that op-plugin (BSD) passes to aclnn functions: facts of the order and the types of
parameters.

python3 scripts/operators/op_plugin_calls.py CHECKOUT COMMIT prints a line of the table of page_facts.py for each
operator: from EXEC_NPU_CMD in C++, where declarations before a call tell the types, and from `exec` of
op_plugin/config/op_plugin_functions.yaml, where the function's schema does. Needs PyYAML.
"""

import re
import sys
from pathlib import Path

from page_facts import Facts

CALL = re.compile(r"EXEC_NPU_(?:NO_FORMAT_CHECK_)?CMD(?:_SYNC|_V1|_V2)?\s*\(\s*aclnn(\w+)\s*,")
# C++ types, the first that fits, and what the macro makes of them.
TYPES = (
    (r"TensorList|(vector|SmallVector|ArrayRef)<\s*(at::)?Tensor|ITensorListRef", "aclTensorList*"),
    (r"(ArrayRef|vector|SmallVector)<\s*(at::)?Scalar\b", "aclScalarList*"),
    (r"array<\s*bool|(ArrayRef|vector)<\s*bool", "aclBoolArray*"),
    (r"\bTensor\b", "aclTensor*"),
    (r"\bScalarType\b|aclDataType", "aclDataType"),
    (r"\bScalar\b", "aclScalar*"),
    (r"IntArrayRef|(SmallVector|vector|ArrayRef|array)<\s*(int64_t|(c10::)?SymInt)|array_list|DimVector",
     "aclIntArray*"),
    (r"\bchar\b|string", "char*"),
    (r"\buint64_t\b", "uint64_t"), (r"\bint64_t\b|SymInt", "int64_t"), (r"\bint8_t\b", "int8_t"),
    (r"\bbool\b", "bool"), (r"\bdouble\b", "double"), (r"\bfloat\b", "float"),
    (r"\bint(32_t)?\b", "int"),
)
SCHEMA = {
    "Tensor": "aclTensor*", "Scalar": "aclScalar*", "int": "int64_t", "SymInt": "int64_t",
    "float": "double", "bool": "bool", "str": "char*", "ScalarType": "aclDataType",
    "Tensor[]": "aclTensorList*", "Tensor?[]": "aclTensorList*", "Scalar[]": "aclScalarList*",
    "int[]": "aclIntArray*", "SymInt[]": "aclIntArray*", "bool[]": "aclBoolArray*",
}  # fmt: skip
MAKES_TENSORS = re.compile(r"apply_tensor|apply_out|\.to\(|at::(empty|zeros)|contiguous|_cast\(|copy_")


def arguments(text, start):
    """The arguments of a call, and where it ends."""
    depth, parts, part = 1, [], ""
    for place in range(start, len(text)):
        letter = text[place]
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0:
            break
        if letter == "," and depth == 1:
            parts.append(part)
            part = ""
        else:
            part += letter
    return [" ".join(each.split()) for each in [*parts, part] if each.strip()]


def type_of(argument, before):
    """The C type of an argument, by the last declaration of its name before the call."""
    if re.fullmatch(r"-?\d+|-?\d*\.\d+f?|-?\d+e-?\d+|true|false", argument):
        return "bool" if argument[0] in "tf" else "integer" if argument.isdigit() else "real"
    if cast := re.match(r"static_cast<(.*?)>\(", argument):
        return cpp_type(cast[1])
    named = re.fullmatch(r"\*?([A-Za-z_]\w*)(\.value\(\))?", argument)
    if not named:
        return "aclTensor*" if MAKES_TENSORS.search(argument) else "?"
    declared = re.compile(
        r"((?:const\s+)?[A-Za-z_][\w:]*(?:<[^<>;{}()]*(?:<[^<>]*>[^<>]*)*>)?\s*[&*]*)\s+?[&*]*"
        rf"\b{named[1]}\b\s*(=[^=][^;]*|[;,){{(])"
    )
    found = [
        each for each in declared.finditer(before)
        if each[1].split()[0] not in ("return", "else", "case", "throw")
    ]  # fmt: skip
    if not found:
        return "?"
    if "auto" in found[-1][1]:
        return "aclTensor*" if MAKES_TENSORS.search(found[-1][2]) else "?"
    return cpp_type(found[-1][1])


def cpp_type(text):
    return next((kind for pattern, kind in TYPES if re.search(pattern, text)), "?")


def calls_of(text):
    """(operator, types) of each call in a C++ source."""
    text = re.sub(r"//.*", "", re.sub(r"(?s)/\*.*?\*/", "", text))
    for call in CALL.finditer(text):
        before = text[: call.start()]
        function = before[before.rfind("\n}") + 1:]
        yield call[1], [type_of(each, function) for each in arguments(text, call.end())]


def schema_type(text):
    kind = re.sub(r"\(\w+!?\)|\?$", "", text)
    return SCHEMA.get(re.sub(r"\[\d+\]", "[]", kind), "?")


def calls_of_schemas(text):
    """Calls of the functions that are made from their schemas."""
    import yaml

    entries = [each for section in yaml.safe_load(text).values() if isinstance(section, list)
               for each in section]  # fmt: skip
    for entry in entries:
        made = entry.get("gen_opapi") if isinstance(entry, dict) else None
        if not isinstance(made, dict) or "exec" not in made:
            continue
        given, result = re.fullmatch(r"\S+?\((.*)\) -> (.*)", entry["func"]).groups()
        types = {}
        for each in re.split(r",\s*(?![^()]*\))", given):
            if " " in each.strip():
                kind, name = each.split()[:2]
                types[name.split("=")[0]] = schema_type(kind)
        outputs = [] if "!" in given else ["aclTensor*"] * result.count("Tensor")
        operator, *names = (each.strip() for each in re.split(r",\s*(?![^()]*\))", made["exec"]))
        literal = {"true": "bool", "false": "bool"}
        passed = [
            types.get(each) or literal.get(each) or ("aclTensor*" if re.fullmatch(r"out\d?", each) else "?")
            for each in names
        ] or [*types.values(), *outputs]
        yield operator.removeprefix("aclnn"), passed


def read_checkout(folder, commit):
    """{operator: the facts with most types, of calls that differ}"""
    best = {}

    def known(facts):
        types = facts.parameters.split(", ")
        return len(types) - types.count("?"), len(types)

    sources = [*sorted(folder.glob("op_plugin/**/*.cpp"))]
    sources.append(folder / "op_plugin/config/op_plugin_functions.yaml")
    for path in sources:
        read = calls_of if path.suffix == ".cpp" else calls_of_schemas
        for operator, types in read(path.read_text(encoding="utf-8")):
            where = str(path.relative_to(folder))
            facts = Facts(operator, "op-plugin", commit, ", ".join(types), where=where)
            if operator not in best or known(facts) > known(best[operator]):
                best[operator] = facts
    return best


if __name__ == "__main__":
    for _, facts in sorted(read_checkout(Path(sys.argv[1]), sys.argv[2]).items()):
        sys.stdout.write(facts.line())
