# SPDX-License-Identifier: Apache-2.0
"""Writes a program that prints the binary interface of the public headers, those of operators aside.

python3 tests/abi/layout.py INCLUDE PROGRAM: what CMake does. The program is C and C++; it prints the
value of each enumerator, constant and macro, the size of each type, the place of each member of a
structure, and the functions with their types. tests/abi/layout.out is what it has to print: a
program that was built with older headers goes on working as long as no line of it changes.
"""

import re
import sys
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
ENUM = re.compile(r"\benum (\w+)(?: OPENACLNN_ENUM_INT)? \{(.*?)\}", re.DOTALL)
STRUCT = re.compile(r"\bstruct (\w+) \{(.*?)\}", re.DOTALL)
MEMBER = re.compile(r"(\w+)(?:\[\w+\])?;")
CONSTANT = re.compile(r"^static const int (\w+) =", re.MULTILINE)
MACRO = re.compile(r"^#define (\w+) (.+)$", re.MULTILINE)
ALIAS = re.compile(r"^typedef (?!enum|struct|union)[^;()]*?(\w+);", re.MULTILINE)
FUNCTION = re.compile(r"^ACL_FUNC_VISIBILITY ([^;]*?);", re.MULTILINE | re.DOTALL)
# Macros of the preprocessor's own kind.
NO_VALUE = re.compile(r"__attribute__|^:|_H_$")


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def number(kind, name, value):
    return f'  printf("%s %lld\\n", {quoted(f"{kind} {name}")}, (long long)({value}));'


def lines_of(header):
    """The statements that print what one header declares."""
    text = COMMENT.sub("", header.read_text())
    for name, body in ENUM.findall(text):
        yield number("size", name, f"sizeof(enum {name})")
        for enumerator in re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|\s*$)", body):
            yield number("value", enumerator, enumerator)
    for name, body in STRUCT.findall(text):
        yield number("size", name, f"sizeof(struct {name})")
        for member in MEMBER.findall(body):
            yield number("offset", f"{name}.{member}", f"offsetof(struct {name}, {member})")
    for name in ALIAS.findall(text):
        yield number("size", name, f"sizeof({name})")
    for name in CONSTANT.findall(text):
        yield number("value", name, name)
    for name, value in MACRO.findall(text):
        if NO_VALUE.search(value) or name.endswith("_H_") or name.startswith("OPENACLNN_ENUM"):
            continue
        if value.startswith('"'):
            yield f'  printf("%s %s\\n", {quoted(f"text {name}")}, {name});'
        else:
            yield number("value", name, name)
    for declared in FUNCTION.findall(text):
        function = re.sub(r"__attribute__.*|#.*", "", " ".join(declared.split())).strip().replace("( ", "(")
        yield f"  puts({quoted(f'function {function}')});"


def main(include, program):
    # Those of operators declare functions alone, of types that are here.
    found = sorted(Path(include).rglob("*.h"))
    headers = [path for path in found if path.parent.name != "aclnnop"]
    names = [path.relative_to(include) for path in headers]
    text = (
        "// SPDX-License-Identifier: Apache-2.0\n"
        "// Prints the binary interface of the public headers; made by tests/abi/layout.py.\n"
        "#include <stddef.h>\n#include <stdio.h>\n"
        + "".join(f'#include "{name}"\n' for name in names)
        + "\nint main(void) {\n"
    )
    for path, name in zip(headers, names, strict=True):
        text += f'  puts("# {name}");\n' + "".join(f"{line}\n" for line in lines_of(path))
    text += "  return 0;\n}\n"
    path = Path(program)
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
