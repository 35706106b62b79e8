# SPDX-License-Identifier: Apache-2.0
"""Writes what the records of the supporting operators stand for (operator_records.py reads them).

python3 scripts/operators/generate_operators.py SOURCES HEADERS: what CMake does. Both folders are this
script's alone. Into SOURCES go, for each topic, the structs of the parameters and the C entries of
both phases, the rows of tests/abi, and topics.json, which the tool lists operators by; into HEADERS
go the public headers. A file that is right stays untouched, so that nothing is compiled again.
"""

import json
import re
import sys
import textwrap
from pathlib import Path

import operator_headers
from check_records import FAMILIES, TYPES
from operator_records import RECORDS, read_topics

MADE = "// Made by scripts/operators/generate_operators.py.\n"
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"
WIDTH = 100

COLLECTORS = {
    "in": "In",
    "out": "Out",
    "const out": "Out",
    "in[]": "InList",
    "out[]": "OutList",
    "scalar": "Scalar",
    "scalar[]": "ScalarList",
    "ints": "Ints",
    "bools": "Bools",
}
# The type of a member, and its value where an operator of the shape lacks it.
MEMBERS = {
    "in": ("const Tensor&", "NoTensor()"),
    "out": ("const Tensor&", "NoTensor()"),
    "const out": ("const Tensor&", "NoTensor()"),
    "in[]": ("GivenList", ""),
    "out[]": ("GivenList", ""),
    "scalar": ("const Value&", "NoValue()"),
    "ints": ("const IntList&", "NoInts()"),
    "bools": ("std::vector<bool>", ""),
    "dtype": ("aclDataType", "ACL_DT_UNDEFINED"),
    "string": ("const char*", "nullptr"),
}


def filled(head, items, tail, indent="    "):
    """head, the items with commas between them, tail; in lines that are short enough."""
    one = head + ", ".join(items) + tail
    if len(one) <= WIDTH:
        return one
    kept = head + ", ".join(each.replace(" ", "\0") for each in items) + tail.replace(" ", "\0")
    return textwrap.fill(
        kept, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    ).replace("\0", " ")


def declared(parameters):
    return [f"{each.c_type} {each.name}" for each in parameters]


def values_of(operator):
    """{plain parameter: how it takes part as a scalar}."""
    return {
        each[each.find("(") + 1 :].rstrip(")"): each for each in operator.record.get("values", [])
    }


def collected(operator, parameter):
    """How a struct takes a parameter in."""
    value = values_of(operator).get(parameter.name)
    if value:
        return f"Constant({value})"
    method = COLLECTORS.get(parameter.kind)
    if method is None:
        return parameter.name
    if parameter.kind == "bools" and parameter.optional:
        given = f'Bools("{parameter.name}", {parameter.name})'
        return f"{parameter.name} == nullptr ? std::vector<bool>() : {given}"
    optional = "Optional" if parameter.optional else ""
    of_lists = "this, " if parameter.optional and method.endswith("List") else ""
    if parameter.name in operator.record.get("as_given", ()):
        method += "AsGiven"
    if parameter.name in operator.record.get("factors", ()):
        method = "Factor"
    if parameter.kind == "bools" and parameter.optional:  # an absent one has no flags
        name = parameter.name
        return f'{name} == nullptr ? std::vector<bool>{{}} : Bools("{name}", {name})'
    uses = operator.use(parameter)
    more = f", OPENACLNN_{uses[0][1].upper()}" if len(uses) == 1 and uses[0][1] != "all" else ""
    if flag := operator.flag(parameter):
        more = f", Asked(this->{flag[0].member}, {flag[1]})"  # the member's, which comes before
    return f'{optional}{method}({of_lists}"{parameter.name}", {parameter.name}{more})'


# --- the structs ------------------------------------------------------------------------------


def members_of(struct, operators):
    """[(name, a parameter that has it)] in an order that suits all operators."""
    merged = {}
    for operator in operators:
        names = list(merged)
        at = 0
        for each in operator.parameters:
            if each.member in merged:
                at = names.index(each.member) + 1
            else:
                names.insert(at, each.member)
                merged[each.member] = each
                at += 1
        if operator.in_place and "out" not in merged:
            names.append("out")
            merged["out"] = None
        merged = {name: merged[name] for name in names}
    for operator in operators:
        own = [each.member for each in operator.parameters if each.role]
        order = [name for name in merged if name in own]
        if own != order:
            path = f"src/opapi/supporting/{operator.topic}/operators.toml"
            what = f"is {', '.join(own)}, expected {', '.join(order)} as in others of {struct}"
            raise SystemExit(f"{path}: {operator.name}: parameters: {what}")
    return merged


def member_type(parameter):
    return MEMBERS.get(parameter.kind, (parameter.c_type, ""))


def constructor(struct, operator, members, tagged):
    arguments = ["const Row& operator_row", *([operator.name] if tagged else [])]
    head = f"  {'' if len(arguments) + len(operator.parameters) > 1 else 'explicit '}{struct}("
    own = {each.member: each for each in operator.parameters}
    constants = operator.record.get("constants", {})
    made = ["Params(operator_row)"]
    for name, parameter in members.items():
        if name in own:
            made.append(f"{name}({collected(operator, own[name])})")
        elif operator.in_place and name == "out":
            made.append("out(self)")
        elif member_type(parameter)[1]:
            made.append(f"{name}({member_type(parameter)[1]})")
    made += [f"{name}({json.dumps(value)})" for name, value in constants.items()]
    signature = filled(head, [*arguments, *declared(operator.parameters)], ")")
    chosen = list(set_uses(operator))
    body = [filled("      : ", made, " {" if chosen else " {}", " " * 8)]
    return "\n".join([signature, *body, *chosen, *(["  }"] if chosen else [])])


def set_uses(operator):
    """The lines that say how tensors are used, where arguments decide it."""
    members = {each.name: f"this->{each.member}" for each in operator.parameters}
    for each in operator.parameters:
        uses = operator.use(each)
        if len(uses) > 1:
            chosen = " : ".join(
                (f"{condition} ? " if condition else "") + f"OPENACLNN_{use.upper()}"
                for condition, use in uses
            )
            chosen = re.sub(r"(?<![\w.>])\w+", lambda word: members.get(word[0], word[0]), chosen)
            line = f"    Use({members[each.name]}, {chosen});"
            if "List" in each.c_type:
                yield f"    for (const Tensor* each : {members[each.name]}.tensors) {{"
                line = f"      Use(*each, {chosen});"
            yield textwrap.fill(line, WIDTH, subsequent_indent=" " * 8, break_long_words=False)
            if "List" in each.c_type:
                yield "    }"


def struct_of(struct, operators):
    members = members_of(struct, operators)
    tagged = len(operators) > 1
    lines = [filled("/// Of ", [each.name for each in operators], ".", "/// ")]
    lines.append(f"struct {struct} : Params {{")
    if tagged:
        lines += [f"  struct {each.name} {{}};" for each in operators]
    lines += [constructor(struct, each, members, tagged) for each in operators] + [""]
    for name, parameter in members.items():
        if parameter is None:
            lines.append(f"  const Tensor& {name};")
            continue
        kind = member_type(parameter)[0]
        lines.append(f"  {kind} {name}{'' if kind.endswith('&') else '{}'};")
    constants = {}
    for operator in operators:
        constants |= operator.record.get("constants", {})
    for name, value in constants.items():
        lines.append(f"  {'bool' if isinstance(value, bool) else 'int64_t'} {name}{{}};")
    return "\n".join([*lines, "};\n"])


def structs(topic):
    checks = {(each.check, each.shape) for each in topic.operators}
    plans = {(each.plan, each.shape) for each in topic.operators}
    parameters = [each for operator in topic.operators for each in operator.parameters]
    has_lists = any(each.optional and each.kind in ("in[]", "out[]") for each in parameters)
    more = '#include "supporting/optional_list.h"\n' if has_lists else ""
    made = [LICENCE, f"// The parameters of the {topic.name} operators, their checks and plans.\n",
            MADE, f'#pragma once\n\n#include "supporting/family.h"\n{more}\n',
            "namespace openaclnn::supporting {\n\n"]
    made += [struct_of(struct, operators) + "\n" for struct, operators in topic.shapes.items()]
    for check, shape in sorted(checks):
        made.append(f"void {check}(const {shape}& p, Checker& checker);\n")
    for plan, shape in sorted(plans):
        made.append(f"Plan {plan}(const {shape}& p, const Product& product);\n")
    made.append("\n}  // namespace openaclnn::supporting\n")
    return "".join(made)


def expressions(topics):
    names = {
        each.record["expression"]
        for topic in topics
        for each in topic.operators
        if "expression" in each.record
    }
    return (
        f"{LICENCE}// The expressions that records name.\n{MADE}"
        '#pragma once\n\n#include "kernels/simd/target.h"\n\nnamespace openaclnn::supporting {\n\n'
        "struct Expression;\n\nOPENACLNN_TARGET_DECLARE(namespace expressions {\n"
        + filled("extern const Expression ", sorted(names), ";")
        + "\n})\n\n}  // namespace openaclnn::supporting\n"
    )


# --- the entries ------------------------------------------------------------------------------


def types_of(operator):
    types = operator.record["types"]
    if isinstance(types, str):
        return TYPES[types]
    return f"Dtypes({', '.join(f'ACL_{each}' for each in types)})"


def support(operator):
    """(the name of its table, the table where it is its own); tensors in the order of a call's."""
    tensors = [each for each in operator.parameters if each.role]
    taken = {
        each.name: [operator.takes(each, family) for family in FAMILIES] for each in tensors
    }
    if not any(map(any, taken.values())):
        taken = {}
    if not taken and operator.families == list(FAMILIES):
        return "kEverywhere", ""

    def line(name, sets):
        there = [
            each if family in operator.families else "kNone"
            for family, each in zip(FAMILIES, sets, strict=True)
        ]
        return filled(f'    {{"{name}", {{', there, "}},", "        ") + "\n"

    def dtypes(names):
        return f"Dtypes({', '.join(f'ACL_{each}' for each in names)})" if names else "~kNone"

    name = f"kSupportOf{operator.name}"
    lines = [line("", ["~kNone"] * len(FAMILIES))]
    lines += [line(each, map(dtypes, types)) for each, types in taken.items()]
    return name, f"const OperandSupport {name}[] = {{\n{''.join(lines)}}};\n"


def row(operator):
    expression = "nullptr"
    if "expression" in operator.record:
        chosen = f"OPENACLNN_TARGET_SELECT(expressions::{operator.record['expression']})"
        expression = f"[]() -> const Expression* {{ return {chosen}; }}"
    cast = "p" if operator.shape == "Params" else f"static_cast<const {operator.shape}&>(p)"
    table, own = support(operator)
    return f"""\
{own}const Row k{operator.name} = {{
    {{"{operator.api}", {table}}},
    {types_of(operator)},
    [](const Params& p, Checker& checker) {{ {operator.check}({cast}, checker); }},
    [](const Params& p, const Product& product) {{ return {operator.plan}({cast}, product); }},
    {expression},
    {operator.may_alias},
    {operator.shared},
    {operator.laid_out},
}};
"""


def used(operator):
    """The parameters of an entry; engines have no use for the plain ones that are no scalars."""
    for each in operator.parameters:
        unused = (
            operator.shape == "Params"
            and each.kind not in (*COLLECTORS, "dtype")
            and each.name not in values_of(operator)
            and each.name not in operator.modes
        )
        yield each.c_type if unused else f"{each.c_type} {each.name}"


def one_of(modes):
    """The modes in words: names of 0, 1, … with their numbers."""
    *most, last = modes
    return f"{', '.join(most)} or {last}" if most else last


def mode_checks(operator):
    """The lines that look at what names a mode or a type."""
    for each in operator.parameters:
        modes = operator.modes.get(each.name)
        if each.kind == "dtype":
            yield f'    params->Type("{each.name}", {each.name});'
        if modes is None:
            continue
        values, words = list(map(str, modes)), list(map(str, modes))
        if each.kind == "string":
            values = [f'"{mode}"' for mode in modes]
            words = [mode or "an empty one" for mode in modes]
        elif isinstance(modes[0], str):
            values = list(map(str, range(len(modes))))
            words = [f"{mode} ({number})" for number, mode in enumerate(modes)]
        head = f'    params->Mode("{each.name}", {each.name}, {{{", ".join(values)}}},'
        yield f'{head}\n                 "{one_of(words)}");'


def collect(operator, tagged):
    """The lines that make the arguments of a call."""
    checks = list(mode_checks(operator))
    made = f"std::make_unique<{operator.shape}>("
    if operator.shape != "Params":
        tag = [f"{operator.shape}::{operator.name}{{}}"] if tagged else []
        names = [f"k{operator.name}", *tag, *(each.name for each in operator.parameters)]
        head = "    auto params = " if checks else "    return "
        lines = [filled(head + made, names, ");", " " * 8), *checks]
        return "\n".join([*lines, "    return params;"] if checks else lines)
    values = values_of(operator)
    lines = [f"    auto params = {made}k{operator.name});"]
    for each in operator.parameters:
        if each.name in values or each.kind in COLLECTORS:
            lines.append(f"    params->{collected(operator, each)};")
    return "\n".join([*lines, *checks, "    return params;"])


def most(operator, more):
    """The entry that tells the workspace for any lengths of sequences, if there is one."""
    if "most" not in operator.record:
        return ""
    head = f"aclnnStatus {operator.api}GetMaxWorkspaceSize("
    declared = [f"{each.c_type} {each.name}" for each in operator.parameters]
    names = [*(each.name for each in operator.parameters), "workspaceSize", "executor"]
    call = filled(f"  return {operator.api}GetWorkspaceSize(", names, ");", "      ")
    return f"""\
{filled(head, [*declared, *more], ") {")}
  const AnyLengths any;
{call}
}}
"""


def entry(operator, tagged):
    more = ["uint64_t* workspaceSize", "aclOpExecutor** executor"]
    head = f"aclnnStatus {operator.api}GetWorkspaceSize("
    signature = filled(head, [*used(operator), *more], ") {")
    return most(operator, more) + f"""\
{signature}
  return PlanRow(k{operator.name}, workspaceSize, executor, [&]() -> std::unique_ptr<Params> {{
{collect(operator, tagged)}
  }});
}}
aclnnStatus {operator.api}(
    void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {{
  return openaclnn::RunOperation(k{operator.name}.op, workspace, workspaceSize, executor, stream);
}}
"""


def entries(topic):
    headers = sorted({f"aclnnop/aclnn_{each.header}.h" for each in topic.operators})
    includes = sorted(
        ["generated/expressions.h", f"generated/{topic.name}.h", *topic.includes]
    )
    tags = {name: len(operators) > 1 for name, operators in topic.shapes.items()}
    rows = ", ".join(f"&k{each.name}" for each in topic.operators)
    made = [LICENCE, f"// The C entry points of the {topic.name} operators.\n", MADE, "\n"]
    made += [f'#include "{each}"\n' for each in headers + includes]
    made += ["\nnamespace openaclnn::supporting {\nnamespace {\n\n"]
    made += [row(each) + "\n" for each in topic.operators]
    made += [filled("const Row* const kRows[] = {", [rows], "};"),
             "\n\n}  // namespace\n\n",
             f"extern const std::span<const Row* const> k{topic.name.title()}Rows;\n",
             f"constinit const std::span<const Row* const> k{topic.name.title()}Rows = kRows;\n",
             "\n}  // namespace openaclnn::supporting\n\n",
             "// NOLINTNEXTLINE(google-build-using-namespace): what is made above\n"
             "using namespace openaclnn::supporting;\n\n"
             'extern "C" {\n\n']
    made += [entry(each, tags.get(each.shape)) + "\n" for each in topic.operators]
    made += ['}  // extern "C"\n']
    return "".join(made)


def table(topics):
    names = [f"k{topic.name.title()}Rows" for topic in topics]
    declarations = "".join(f"extern const std::span<const Row* const> {name};\n" for name in names)
    return f"""\
{LICENCE}// The rows of all topics.
{MADE}
#include "supporting/family.h"

namespace openaclnn::supporting {{

{declarations}
std::vector<const Row*> Table() {{
  std::vector<const Row*> rows;
  for (const auto& topic : {{{', '.join(names)}}}) {{
    rows.insert(rows.end(), topic.begin(), topic.end());
  }}
  return rows;
}}

}}  // namespace openaclnn::supporting
"""


# --- for others -------------------------------------------------------------------------------


def abi_rows(topics):
    lines = []
    for operator in (each for topic in topics for each in topic.operators):
        names = [f'"{each.name}{"?" if each.optional else ""}"'
                 for each in operator.parameters if each.is_handle]
        for which in ("Get", "GetMax") if "most" in operator.record else ("Get",):
            function = f"{operator.api}{which}WorkspaceSize"
            head = f'  AddPhase1(live, "{function}", {function}, {{'
            lines.append(filled(head, names, "}, &rows);", "            ") + "\n")
    return (
        f"{LICENCE}// The tables of handle_rows.h for the supporting operators.\n{MADE}\n"
        '#include "abi/handle_rows.h"\n#include "abi/phase1_rows.h"\n'
        '#include "generated/supporting_headers.inc"\n\nnamespace openaclnn {\n\n'
        "std::vector<HandleRow> SupportingRows(const Live& live) {\n"
        "  std::vector<HandleRow> rows;\n" + "".join(lines) + "  return rows;\n}\n\n"
        "}  // namespace openaclnn\n"
    )


def phases_1(topics):
    operators = (each for topic in topics for each in topic.operators)
    lines = "".join(f"PHASE1({operator.api})\n" for operator in operators)
    return f"{LICENCE}// PHASE1(name) of the supporting operators.\n{MADE}\n{lines}"


def topics_json(topics):
    """Names, what they hold (the first sentence of the records' file), operators."""
    made = []
    for topic in topics:
        _, about, *_ = (RECORDS / topic.name / "operators.toml").read_text("utf-8").splitlines()
        names = [each.api for each in topic.operators]
        made.append({"name": topic.name, "about": about.removeprefix("# "), "operators": names})
    return json.dumps(made, indent=1) + "\n"


def main(sources, headers):
    topics = read_topics()
    public = operator_headers.aliases() | operator_headers.pages(topics)
    made = {headers / "aclnnop" / name: text for name, text in public.items()}
    for topic in topics:
        made[sources / f"{topic.name}.h"] = structs(topic)
        made[sources / f"{topic.name}.cc"] = entries(topic)
    made[sources / "expressions.h"] = expressions(topics)
    made[sources / "table.cc"] = table(topics)
    made[sources / "topics.json"] = topics_json(topics)
    includes = "".join(f'#include "aclnnop/{name}"\n' for name in sorted(public))
    sentence = "// The public headers of the supporting operators.\n"
    made[sources / "supporting_headers.inc"] = LICENCE + sentence + MADE + includes
    made[sources / "tests/supporting_rows.cc"] = abi_rows(topics)
    made[sources / "tests/supporting_phase1.inc"] = phases_1(topics)
    for folder in (sources, headers):
        for path in folder.rglob("*") if folder.is_dir() else ():
            if path.is_file() and path not in made:
                path.unlink()
    for path, text in made.items():
        if not path.is_file() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
