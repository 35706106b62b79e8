# SPDX-License-Identifier: Apache-2.0
"""The public headers of the supporting operators, from their records."""

import textwrap

from check_records import FAMILIES

WIDTH = 100

TEMPLATE = """\
// SPDX-License-Identifier: Apache-2.0
{title}
#ifndef OPENACLNN_ACLNNOP_ACLNN_{guard}_H_
#define OPENACLNN_ACLNNOP_ACLNN_{guard}_H_

#include "aclnn/acl_meta.h"
{includes}{declarations}
#endif  // OPENACLNN_ACLNNOP_ACLNN_{guard}_H_
"""

DECLARATIONS = """
#ifdef __cplusplus
extern "C" {{
#endif

/*
{domain}
 */
{functions}
#ifdef __cplusplus
}}
#endif
"""

FUNCTIONS = """
/**
 * {name}, phase 1: checks the arguments and plans the work.
 *
{formula}
 *
{parameters}
 * @param[out] workspaceSize bytes of device memory that phase 2 needs; written on success only.
 * @param[out] executor the plan, for phase 2; written on success only.
{refusals}{page}
 */
{phase1}

/** Phase 2: queues the work on a stream. Asynchronous; codes as for aclnnEmbedding. */
{phase2}
"""

WORDS = {
    "in": "tensor",
    "out": "tensor",
    "const out": "tensor",
    "in[]": "list of tensors",
    "out[]": "list of tensors",
    "scalar": "number",
    "scalar[]": "list of numbers",
    "ints": "array of integers",
    "bools": "array of truth values",
    "float": "number",
    "double": "number",
    "int64": "integer",
    "uint64": "integer",
    "int8": "integer",
    "int": "integer",
    "bool": "whether",
    "dtype": "data type",
    "string": "text",
}
TYPES = {
    "numeric": "FLOAT, FLOAT16, BFLOAT16, DOUBLE, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64 "
    "and BOOL",
    "real": "FLOAT, FLOAT16, BFLOAT16 and DOUBLE",
}
TYPES["complex"] = f"{TYPES['numeric'].replace(' and', ',')}, COMPLEX64 and COMPLEX128"
TYPES["movable"] = TYPES["complex"].replace("INT64,", "INT64, UINT64,")
TYPES["numeric64"] = TYPES["numeric"].replace("INT64 and", "INT64, UINT64 and")

# Headers under the names by which programs include what others declare. Where there is nothing to
# declare the operator is absent: a program that calls none of it compiles.
ALIASES = {
    "argmax": ["arg_max"],
    "clamp": ["clamp_max", "clamp_max_tensor", "clamp_min", "clamp_min_tensor", "clamp_tensor"],
    "ger": [],
    "grouped_matmul_v3": [],
    "logsoftmax": ["log_softmax"],
    "pow": ["pow_scalar_tensor", "pow_tensor_scalar"],
    "recurrent_gated_delta_rule": [],
    "repeat_interleave": [
        "repeat_interleave_int", "repeat_interleave_int_with_dim", "repeat_interleave_with_dim",
    ],
    "sum": [],
    "trans_matmul_weight": ["calculate_matmul_weight_size"],
}


def wrapped(text, first=" * ", rest=None):
    """As lines of a comment."""
    return textwrap.fill(
        text, WIDTH, initial_indent=first, subsequent_indent=rest or first,
        break_long_words=False, break_on_hyphens=False,
    )


def declaration(name, parameters):
    head = f"ACL_FUNC_VISIBILITY aclnnStatus {name}("
    one = f"{head}{', '.join(parameters)});"
    if len(one) <= WIDTH:
        return one
    # Below the parenthesis, or where that is too far to the right below the name.
    longest = max(map(len, parameters)) + 2
    deep = len(head) + longest <= WIDTH
    if not deep:
        head = f"ACL_FUNC_VISIBILITY aclnnStatus\n{name}("
    indent = len(head.rsplit("\n")[-1])
    if indent + longest > WIDTH:
        head, indent = f"ACL_FUNC_VISIBILITY aclnnStatus {name}(\n    ", 4
    lines, line = [], ""
    for each in [*(f"{p}," for p in parameters[:-1]), f"{parameters[-1]});"]:
        if line and indent + len(line) + 1 + len(each) > WIDTH:
            lines.append(line)
            line = each
        else:
            line = f"{line} {each}".strip()
    return head + ("\n" + " " * indent).join([*lines, line])


def meaning(topic, operator, parameter):
    about = {**topic.about, **operator.record.get("about", {})}
    text = about.get(parameter.name, WORDS[parameter.kind])
    if operator.in_place and parameter.name == "selfRef":
        text = "tensor; operand and result"
    if parameter.kind == "const out" and parameter.name not in operator.record.get("unused", ()):
        text += "; written although it is const"
    types = operator.types_in_words(parameter)
    text += f"; {types}" if types else ""
    return text + ("; null leaves it out" if parameter.optional else "")


def refusals(operator):
    handles = [each.name for each in operator.parameters if each.is_handle and not each.optional]
    nulls = ", ".join([*handles, "workspaceSize or executor"])
    yield wrapped(f"{nulls} is null.", " * @retval 161001 ", " *         ")
    if operator.families != list(FAMILIES):
        yield f" * @retval 561003 the product is not one of {', '.join(operator.families)}."
    types = operator.record["types"]
    words = TYPES[types] if isinstance(types, str) else ", ".join(types)
    own = "; a tensor with types above takes only those" if operator.record.get("takes") else ""
    yield wrapped(
        f"a data type (allowed: {words}; BFLOAT16 on A2, A3 and 950{own}), a shape, a format or a value "
        "is not allowed; the message says which.",
        " * @retval 161002 ",
        " *         ",
    )
    yield " * @retval 361001 no product is known, or libraries are of different versions."


def note(operator):
    if "page" not in operator.record:
        return ""
    return "\n" + wrapped(f"follows {operator.record['page']}.", " * @note ", " *       ")


def functions(topic, operator):
    parameters = []
    for each in operator.parameters:
        role = "in,out" if operator.is_read(each) else each.role or "in"
        first = f" * @param[{role}] {each.name} "
        parameters.append(wrapped(meaning(topic, operator, each), first, " *         "))
    declared = [f"{each.c_type} {each.name}" for each in operator.parameters]
    phase2 = ["void* workspace", "uint64_t workspaceSize", "aclOpExecutor* executor"]
    return FUNCTIONS.format(
        name=operator.name,
        formula=wrapped(operator.formula, " *     ", " *         "),
        parameters="\n".join(parameters),
        refusals="\n".join(refusals(operator)),
        page=note(operator),
        phase1=declaration(
            f"{operator.api}GetWorkspaceSize",
            [*declared, "uint64_t* workspaceSize", "aclOpExecutor** executor"],
        ),
        phase2=declaration(operator.api, [*phase2, "aclrtStream stream"]),
    ) + most(operator, declared)


def most(operator, declared):
    """The function that tells the workspace for any lengths, if there is one."""
    if "most" not in operator.record:
        return ""
    said = declaration(
        f"{operator.api}GetMaxWorkspaceSize",
        [*declared, "uint64_t* workspaceSize", "aclOpExecutor** executor"],
    )
    return f"""
/**
 * Plans a call as {operator.api}GetWorkspaceSize does. workspaceSize is enough for every call that
 * differs only in the lengths of sequences.
 */
{said}
"""


def _page(header, title, declarations=""):
    includes = [f'#include "aclnnop/aclnn_{each}.h"\n' for each in ALIASES.get(header, ())]
    return TEMPLATE.format(
        title=wrapped(f"{title}. Made by scripts/operators/generate_operators.py.", "// "),
        guard=header.upper(),
        includes="".join(includes),
        declarations=declarations,
    )


def pages(topics):
    """{file name: content}."""
    groups = {}
    for topic in topics:
        for operator in topic.operators:
            groups.setdefault(operator.header, []).append((topic, operator))
    made = {}
    for header, members in groups.items():
        text = " ".join(members[0][0].text.split())
        if any(operator.record.get("takes") for _, operator in members):
            text += " If types are listed beside a tensor below, it takes only those."
        declarations = DECLARATIONS.format(
            domain=wrapped(text),
            functions="".join(functions(*member) for member in members),
        )
        names = ", ".join(operator.name for _, operator in members)
        made[header] = _page(header, names, declarations)
    return {f"aclnn_{header}.h": made[header] for header in sorted(made)}


def aliases():
    """Headers that declare nothing themselves; those of `pages` take precedence."""
    title = "Another name for what it includes, if there is anything"
    return {f"aclnn_{header}.h": _page(header, title) for header in ALIASES}


if __name__ == "__main__":  # those that the build makes
    from operator_records import read_topics

    made = {each.header for topic in read_topics() for each in topic.operators} | set(ALIASES)
    print("\n".join(f"aclnnop/aclnn_{header}.h" for header in sorted(made)))
