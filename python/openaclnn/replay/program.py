# SPDX-License-Identifier: Apache-2.0
"""Prints a captured call as a C program that needs nothing but the public headers and libraries."""

import os
from pathlib import Path

from .capture import SCALAR_BYTES, Argument, Capture, Saved, Scalar, Tensor
from .signature import check

_HEAD = """\
/* {api}, captured on {product} by {made_by}.
 *
 *   gcc program.c -I$ASCEND_HOME_PATH/include -L$ASCEND_HOME_PATH/lib64 \\
 *     -lopapi -lnnopbase -lascendcl -o program && ./program [FOLDER]
 *
 * FOLDER is that of the captured call, with the contents of its memory. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/{header}"

static void check(const char* what, int code) {{
  const char* words = code == 0 ? NULL : aclGetRecentErrMsg();
  if (code == 0) return;
  printf("%s: %d %s\\n", what, code, words == NULL ? "" : words);
  exit(1);
}}

static char* load(const char* folder, const char* name, size_t bytes) {{
  char path[4096];
  char* contents = malloc(bytes + 1);
  FILE* file;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  file = fopen(path, "rb");
  if (contents == NULL || file == NULL || fread(contents, 1, bytes, file) != bytes) {{
    printf("cannot read %zu bytes of %s\\n", bytes, path);
    exit(1);
  }}
  fclose(file);
  return contents;
}}

/* Device memory with what was in it before the call. */
static char* upload(const char* folder, const char* name, size_t bytes) {{
  void* device = NULL;
  char* contents = name == NULL ? calloc(bytes, 1) : load(folder, name, bytes);
  check("aclrtMalloc", aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  check("aclrtMemcpy", aclrtMemcpy(device, bytes, contents, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  free(contents);
  return device;
}}

/* How many bytes are not those that the captured call left. */
static size_t different(const char* folder, const char* name, const char* device, size_t bytes) {{
  char* expected = load(folder, name, bytes);
  char* got = malloc(bytes);
  size_t i, count = 0;
  check("aclrtMemcpy", aclrtMemcpy(got, bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  for (i = 0; i < bytes; ++i) count += got[i] != expected[i];
  free(expected);
  free(got);
  return count;
}}

int main(int argc, char** argv) {{
  const char* folder = argc > 1 ? argv[1] : {folder};
  uint64_t workspace_size = 0;
  void* workspace = NULL;
  aclOpExecutor* executor = NULL;
  aclrtStream stream = NULL;
  check("aclInit", aclInit(NULL));
  check("aclrtSetDevice", aclrtSetDevice(0));
  check("aclrtCreateStream", aclrtCreateStream(&stream));

"""

_TAIL = """\

  check("{api}GetWorkspaceSize",
        {api}GetWorkspaceSize({arguments}, &workspace_size, &executor));
  printf("workspace: %llu bytes\\n", (unsigned long long)workspace_size);
  if (workspace_size > 0) {{
    check("aclrtMalloc", aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST));
  }}
  check("{api}", {api}(workspace, workspace_size, executor, stream));
  check("aclrtSynchronizeStream", aclrtSynchronizeStream(stream));
{comparisons}
  check("aclrtDestroyStream", aclrtDestroyStream(stream));
  check("aclrtResetDevice", aclrtResetDevice(0));
  return aclFinalize();
}}
"""

_ARRAYS = {
    "int_array": ("int64_t", "IntArray"),
    "float_array": ("float", "FloatArray"),
    "bool_array": ("bool", "BoolArray"),
}


def c_program(capture: Capture, include: Path) -> str:
    """The program; `include` is searched for the operator's header."""
    head = _HEAD.format(
        api=capture.api,
        product=capture.product,
        made_by=capture.made_by,
        header=check(capture, include).header,
        folder=_string(os.fsencode(capture.folder.resolve())),
    )
    memory = "".join(
        f"  char* memory{i} = upload(folder, {_file(piece.before)}, {piece.size});\n"
        for i, piece in enumerate(capture.memory)
    )
    objects = "".join(f"  {line}\n" for each in capture.arguments for line in _object(each))
    comparisons = "".join(
        f'  printf("{_names(capture, i)}: %zu of {piece.size} bytes differ\\n",\n'
        f'         different(folder, {_file(piece.left)}, memory{i}, {piece.size}));\n'
        for i, piece in enumerate(capture.memory)
        if piece.left and _names(capture, i)
    )
    arguments = ", ".join(_passed(each) for each in capture.arguments)
    tail = _TAIL.format(api=capture.api, arguments=arguments, comparisons=comparisons)
    return head + memory + objects + tail


def _file(saved: Saved | None) -> str:
    return "NULL" if saved is None else _string(saved.file.encode())


def _string(contents: bytes) -> str:
    """A literal of plain ASCII: no escape of three digits reaches into what follows."""
    plain = (
        chr(byte) if 32 <= byte < 127 and byte not in b'?"\\' else f"\\{byte:03o}"
        for byte in contents
    )
    return f'"{"".join(plain)}"'


def _names(capture: Capture, memory: int) -> str:
    """The outputs that are in a piece of memory."""
    return ", ".join(
        each.name
        for each in capture.arguments
        if each.output and any(tensor.memory == memory for tensor in each.tensors)
    )


def _object(argument: Argument) -> list[str]:
    """The statements that make what an argument is."""
    name, value = argument.name, argument.value
    if value is None:
        return []
    match argument.kind:
        case "tensor":
            return _tensor(name, value)
        case "scalar":
            return _scalar(name, value)
        case "tensor_list" | "scalar_list":
            one, kind = (
                (_tensor, "Tensor") if argument.kind == "tensor_list" else (_scalar, "Scalar")
            )
            lines = [
                line for i, each in enumerate(value) if each for line in one(f"{name}_{i}", each)
            ]
            members = ", ".join(
                f"{name}_{i}" if each else "NULL" for i, each in enumerate(value)
            )
            return [
                *lines,
                f"const acl{kind}* {name}_members[] = {{{members or 'NULL'}}};",
                f"acl{kind}List* {name} = aclCreate{kind}List({name}_members, {len(value)});",
            ]
        case "int_array" | "float_array" | "bool_array":
            ctype, made = _ARRAYS[argument.kind]
            values = ", ".join(_number(argument.kind, each) for each in value) or "0"
            return [
                f"const {ctype} {name}_values[] = {{{values}}};",
                f"acl{made}* {name} = aclCreate{made}({name}_values, {len(value)});",
            ]
    return []


def _tensor(name: str, tensor: Tensor) -> list[str]:
    def array(what: str, values) -> str:
        return f"const int64_t {name}_{what}[] = {{{', '.join(map(str, values)) or '0'}}};"

    address = "NULL"
    if tensor.memory is not None:
        address = f"memory{tensor.memory} + {tensor.byte}"
    return [
        array("shape", tensor.shape),
        array("strides", tensor.strides),
        array("storage", tensor.storage_shape),
        f"aclTensor* {name} = aclCreateTensor({name}_shape, {len(tensor.shape)}, "
        f"(aclDataType){tensor.dtype}, {name}_strides, {tensor.offset}, "
        f"(aclFormat){tensor.format}, {name}_storage, {len(tensor.storage_shape)}, {address});",
    ]


def _scalar(name: str, scalar: Scalar) -> list[str]:
    contents = ", ".join(f"0x{byte:02x}" for byte in scalar.contents)
    return [
        f"unsigned char {name}_bytes[{SCALAR_BYTES}] = {{{contents or 0}}};",
        f"aclScalar* {name} = aclCreateScalar({name}_bytes, (aclDataType){scalar.dtype});",
    ]


def _passed(argument: Argument) -> str:
    """The argument as the call names it."""
    value = argument.value
    match argument.kind:
        case "string":
            return "NULL" if value is None else f"(char*){_string(value.encode())}"
        case "bool" | "int8" | "int32" | "int64" | "uint64" | "float" | "double":
            return _number(argument.kind, value)
    return "NULL" if value is None else argument.name


def _number(kind: str, value) -> str:
    if kind.startswith("bool"):
        return "true" if value else "false"
    if kind.startswith(("float", "double")):
        if value != value or value in (float("inf"), float("-inf")):
            return "NAN" if value != value else "INFINITY" if value > 0 else "-INFINITY"
        return repr(float(value))
    if value == -(2**63):
        return "INT64_MIN"
    return f"{value}u" if kind == "uint64" else str(value)
