# SPDX-License-Identifier: Apache-2.0
"""Writes what the records of operators by their graph names stand for (graph_records.py reads them).

python3 scripts/operators/generate_graph_operators.py FOLDER HEADERS…: what CMake does. HEADERS are the
folders that hold aclnnop/. Files of FOLDER that are right stay untouched:

    operators.cc  the table of graph_operators.h, with the first phases of the calls
    names.h       the names alone, for libgraph
"""

import json
import re
import sys
from pathlib import Path

from generate_declarations import name_of, operators, write
from graph_records import KINDS, RECORDS, USES, Fault, read_records

MADE = "// Made by scripts/operators/generate_graph_operators.py.\n"
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"

# The function of GraphCall that makes a parameter of a type.
MAKERS = {
    "aclTensor*": "TensorOf",
    "aclTensorList*": "TensorListOf",
    "aclScalar*": "ScalarOf",
    "aclIntArray*": "IntArrayOf",
    "aclBoolArray*": "BoolArrayOf",
    "char*": "TextOf",
}


def declared(folders):
    """{name without aclnn: (header, types of the parameters, their names)}"""
    found = {}
    for folder in folders:
        for header in sorted(Path(folder, "aclnnop").glob("*.h")):
            for name, parameters in operators(header):
                names = [name_of(each) for each in parameters]
                types = [each.removesuffix(name).strip() for each, name in
                         zip(parameters, names, strict=True)]  # fmt: skip
                found[name.removeprefix("aclnn")] = (f"aclnnop/{header.name}", types, names)
    return found


# --- names that expressions use -----------------------------------------------------------------


def _access(kind, i, each):
    """The line that makes a name of a record known to C++."""
    if kind == "attribute":
        cpp = KINDS[each.kind][1]
        otherwise = f", {each.default}" if each.default is not None else ""
        if each.kind in ("integers", "reals") and each.default is not None:
            otherwise = f", {cpp}{each.default}"
        return f"const auto {each.name} = graph_call.attribute<{cpp}>({i}{otherwise});"
    if each.use == "integers":
        return f"const Dims {each.name} = graph_call.integers({i});"
    if each.use in ("number", "read"):
        return f"const double {each.name} = graph_call.{each.use}({i});"
    if each.many:
        return f"const std::vector<GraphTensor>& {each.name} = graph_call.{kind}s_of({i});"
    return f"const GraphTensor& {each.name} = graph_call.{kind}({i});"


def known(operator):
    """{name: (the line that declares it, the text in which it names others)}, in order."""
    made, late = {}, {}
    for kind in ("input", "attribute", "output"):
        for i, each in enumerate(getattr(operator, f"{kind}s")):
            if getattr(each, "use", "") == "scalar":
                line = f"const GraphTensor& {each.name}_given = graph_call.input({i});"
                made[f"{each.name}_given"] = (line, "")
                late[each.name] = f"{each.name}_given.on_host ? {each.name}_kept : One({each.name}_given)"
            else:
                made[each.name] = (_access(kind, i, each), "")
    scratches = 0
    for each in operator.lets:
        if each.scratch:
            line = f"const GraphTensor& {each.name} = graph_call.scratch({scratches});"
            made[each.name] = (line, "")
            scratches += 1
            scalar = each.name.removesuffix("_kept")
            if scalar in late:
                made[scalar] = (f"const GraphTensor {scalar} = {late[scalar]};", late[scalar])
        else:
            made[each.name] = (f"const auto {each.name} = {each.value};", each.value)
    return made


def needed(operator, text):
    """All names in a text, and those that they name."""
    names, wanted = known(operator), set()

    def want(part):
        for word in re.findall(r"(?<![\w.])[A-Za-z_]\w*", re.sub(r'"[^"]*"', "", part)):
            if word in names and word not in wanted:
                wanted.add(word)
                want(names[word][1])

    want(text)
    return wanted


def lines_for(operator, text):
    """The declarations of these names."""
    wanted = needed(operator, text)
    return [line for name, (line, _) in known(operator).items() if name in wanted]


# --- functions ----------------------------------------------------------------------------------


def argument(declared_type, text):
    bare = declared_type.removeprefix("const ").replace(" ", "")
    if bare in MAKERS:
        return f"graph_call.{MAKERS[bare]}({text})"
    return f"static_cast<{declared_type}>({text})"


def plan(operator, i, api):
    """The first phase of a call."""
    call = operator.calls[i]
    if call.operator not in api:
        raise Fault(f"calls has {call.operator!r}, expected an operator that a header declares")
    _, types, names = api[call.operator]
    if len(call.arguments) != len(types):
        raise Fault(f"calls gives {call.operator} {len(call.arguments)} arguments, expected "
                    f"{len(types)} ({', '.join(names)})")  # fmt: skip
    made = [argument(*each) for each in zip(types, call.arguments, strict=True)]
    lines = [f"[[maybe_unused]] const int64_t {call.turn} = graph_call.turn;"] if call.turn else []
    lines += lines_for(operator, ", ".join([*call.arguments, call.condition]))
    if call.condition:
        lines.append(f"if (!({call.condition})) return 0;")
    listed = ",\n      ".join([*made, "bytes", "executor"])
    lines.append(f"return aclnn{call.operator}GetWorkspaceSize(\n      {listed});")
    return (
        f"aclnnStatus Plan{operator.name}{i}(\n    GraphCall& graph_call, uint64_t* bytes, "
        "aclOpExecutor** executor) {\n" + "".join(f"  {line}\n" for line in lines) + "}\n\n"
    )


def turns(operator, i):
    """How often the neighbours of a call that take turns with it are called."""
    text = operator.calls[i].turns
    lines = "".join(f"  {line}\n" for line in lines_for(operator, text))
    return (
        f"int64_t TurnsOf{operator.name}{i}(const GraphCall& graph_call) {{\n{lines}"
        f"  return static_cast<int64_t>({text});\n}}\n\n"
    )


def first_of_turns(operator, i):
    """The first of the neighbours that take turns."""
    own = (operator.calls[i].turn, operator.calls[i].turns)
    while i > 0 and (operator.calls[i - 1].turn, operator.calls[i - 1].turns) == own:
        i -= 1
    return i


def words_of(text):
    """Arguments of Concat."""
    parts = re.split(r"\{(.*?)\}(?!\})", text)
    return ", ".join(json.dumps(each) if at % 2 == 0 else each
                     for at, each in enumerate(parts) if each)  # fmt: skip


def code_of(operator, words):
    first = re.match(r"\w*", words)[0]
    for kind, code in (("attributes", "ATTR"), ("outputs", "OUTPUT")):
        if first in {each.name for each in getattr(operator, kind)}:
            return f"ACL_ERROR_OP_{code}_NOT_MATCH"
    return "ACL_ERROR_OP_INPUT_NOT_MATCH"


def prepare(operator):
    """Refuses what the record does not expect, then adds the scratch memory."""
    names = known(operator)
    expected = ", ".join(
        part for condition, words in operator.expects
        for part in (condition, *re.findall(r"\{(.*?)\}(?!\})", words))
    )  # fmt: skip
    scratches = {each.name: each.value for each in operator.lets if each.scratch}
    first = needed(operator, expected)
    later = needed(operator, ", ".join(scratches.values())) - first
    lines = []
    for i, each in enumerate(operator.inputs):
        # Values that the host has to know are read before anything else is done.
        if each.use in ("integers", "number", "read") and each.name not in first | later:
            lines.append(f"(void)graph_call.{each.use}({i});")
    lines += [line for name, (line, _) in names.items() if name in first]
    for condition, words in operator.expects:
        lines.append(
            f"if (!({condition})) {{\n    GraphCall::Refuse({code_of(operator, words)}, "
            f"Concat({words_of(words)}));\n  }}"
        )
    for name, (line, _) in names.items():
        if name in scratches:
            head = f"const GraphTensor& {name} = " if name in later else ""
            lines.append(f"{head}graph_call.AddScratch({scratches[name]});")
        elif name in later:
            lines.append(line)
    call = " graph_call" if lines else ""
    body = "".join(f"  {line}\n" for line in lines)
    return f"void Prepare{operator.name}(GraphCall&{call}) {{\n{body}}}\n\n"


# --- the table ----------------------------------------------------------------------------------


def rows(operator, api):
    made = []
    for kind in ("input", "output"):
        listed = "".join(
            f'    {{"{each.copies or each.name}", OperandUse::{USES[each.use]}, '
            f"{str(each.optional).lower()}, {str(each.many).lower()}}},\n"
            for each in getattr(operator, f"{kind}s")
        )
        made.append(f"constexpr GraphOperand k{operator.name}{kind.title()}s[] = {{\n{listed}}};\n")
    if operator.attributes:
        listed = "".join(
            f'    {{"{each.name}", GraphAttribute::{KINDS[each.kind][0]}, '
            f"{str(each.default is None).lower()}}},\n"
            for each in operator.attributes
        )
        made.append(f"constexpr GraphAttribute k{operator.name}Attributes[] = {{\n{listed}}};\n")
    listed, functions = "", [prepare(operator)]
    for i, each in enumerate(operator.calls):
        functions.append(plan(operator, i, api))
        first, count = first_of_turns(operator, i), "nullptr"
        if each.turn:
            count = f"TurnsOf{operator.name}{first}"
            functions += [turns(operator, i)] if i == first else []
        listed += f"    {{Plan{operator.name}{i}, aclnn{each.operator}, {count}}},\n"
    made.append(f"constexpr GraphStep k{operator.name}Steps[] = {{\n{listed}}};\n\n")
    return "".join([*functions, *made])


def row(operator):
    name = operator.name
    attributes = f"k{name}Attributes" if operator.attributes else "{}"
    return (
        f'    {{"{name}", k{name}Inputs, k{name}Outputs, {attributes}, Prepare{name}, '
        f"k{name}Steps}},\n"
    )


def table(records, api):
    headers = {api[call.operator][0] for each in records for call in each.calls
               if call.operator in api}  # fmt: skip
    made = [LICENCE, "// Operators by their graph names.\n", MADE, "\n#include <cmath>\n\n"]
    includes = ["ascendcl/report/error.h",
                "companions/acl_op_compiler/graph_operators.h",
                "companions/acl_op_compiler/graph_views.h", *headers]  # fmt: skip
    made += [f'#include "{each}"\n' for each in sorted(includes)]
    made += ["\nnamespace openaclnn {\nnamespace {\n\n"]
    for each in records:
        try:
            made.append(rows(each, api))
        except Fault as fault:
            raise SystemExit(f"{RECORDS}: {each.name}: {fault}") from fault
    made += ["constexpr GraphOperator kOperators[] = {\n", *map(row, records), "};\n\n"]
    made += ["}  // namespace\n\nstd::span<const GraphOperator> GraphOperators() "]
    made += ["{ return kOperators; }\n\n}  // namespace openaclnn\n"]
    return "".join(made)


def names(records):
    listed = "".join(f'    "{each.name}",\n' for each in records)
    return (
        f"{LICENCE}// The graph names of operators that aclopCompileAndExecute runs.\n{MADE}"
        "#pragma once\n\n#include <string_view>\n\nnamespace openaclnn {\n\n"
        f"inline constexpr std::string_view kGraphOperatorNames[] = {{\n{listed}}};\n\n"
        "}  // namespace openaclnn\n"
    )


def main(folder, *headers):
    records = read_records()
    write(Path(folder, "operators.cc"), table(records, declared(headers)))
    write(Path(folder, "names.h"), names(records))


if __name__ == "__main__":
    main(*sys.argv[1:])
