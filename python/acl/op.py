# SPDX-License-Identifier: Apache-2.0
"""acl.op: operators by their graph names, and their attributes."""

import ctypes

from . import _call, _library, _lookup

_ATTRIBUTES = {
    "create_attr": "aclopCreateAttr() -> ptr",
    "destroy_attr": "aclopDestroyAttr(attr:ptr) -> none",
    "set_attr_bool": "aclopSetAttrBool(attr:ptr, attr_name:text, attr_value:uint8)",
    "set_attr_int": "aclopSetAttrInt(attr:ptr, attr_name:text, attr_value:int64)",
    "set_attr_float": "aclopSetAttrFloat(attr:ptr, attr_name:text, attr_value:float)",
    "set_attr_string": "aclopSetAttrString(attr:ptr, attr_name:text, attr_value:text)",
    "set_attr_data_type": "aclopSetAttrDataType(attr:ptr, attr_name:text, attr_value:int32)",
    "set_attr_list_bool": "aclopSetAttrListBool(attr:ptr, attr_name:text, attr_value:uint8s)",
    "set_attr_list_int": "aclopSetAttrListInt(attr:ptr, attr_name:text, attr_value:int64s)",
    "set_attr_list_float": "aclopSetAttrListFloat(attr:ptr, attr_name:text, attr_value:floats)",
    "set_model_dir": "aclopSetModelDir(model_dir:text)",
}

_COMPILED = _call.Declaration(
    "aclopCompileAndExecute(op_type:text, num_inputs:int32, input_desc:ptr, inputs:ptr,"
    " num_outputs:int32, output_desc:ptr, outputs:ptr, attr:ptr, engine_type:int32,"
    " compile_flag:int32, op_path:text, stream:ptr)",
    _library.OP_COMPILER,
)
_LIST_LIST_INT = _call.Declaration(
    "aclopSetAttrListListInt(attr:ptr, attr_name:text, lists:int32, counts:ptr, values:ptr)"
)


def set_attr_list_list_int(attr, attr_name, values):
    """ret = set_attr_list_list_int(attr, attr_name, values)

    Calls aclopSetAttrListListInt.
    """
    name = "acl.op.set_attr_list_list_int"
    rows = [_call.array(name, f"values[{at}]", "int64", row) for at, row in enumerate(values)]
    counts = (ctypes.c_int * max(len(rows), 1))(*(count.value for count, _ in rows))
    addresses = (ctypes.c_void_p * max(len(rows), 1))(*(ctypes.addressof(row) for _, row in rows))
    call = _call.make(_LIST_LIST_INT, name)
    return call(attr, attr_name, len(rows), ctypes.addressof(counts), ctypes.addressof(addresses))


def compile_and_execute(
    op_type,
    input_desc,
    inputs,
    output_desc,
    outputs,
    attr,
    engine_type,
    compile_flag,
    op_path,
    stream,
):
    """ret = compile_and_execute(op_type, input_desc, inputs, output_desc, outputs, attr,
                                 engine_type, compile_flag, op_path, stream)

    Calls aclopCompileAndExecute.
    """
    name = "acl.op.compile_and_execute"
    held_inputs = _operands(name, "input", input_desc, inputs)
    held_outputs = _operands(name, "output", output_desc, outputs)
    call = _call.make(_COMPILED, name)
    lists = [*_addresses(held_inputs), *_addresses(held_outputs)]
    return call(op_type, *lists, attr, engine_type, compile_flag, op_path, stream)


def _operands(name, what, descriptions, buffers):
    """Returns the number of inputs or outputs, and the arrays of their descriptions and buffers."""
    count, described = _call.array(name, f"{what}_desc", "ptr", descriptions)
    buffer_count, held = _call.array(name, f"{what}s", "ptr", buffers)
    if buffer_count.value != count.value:
        raise ValueError(
            f"{name}: {what}s has {buffer_count.value} items, expected {count.value} as"
            f" {what}_desc has"
        )
    return count.value, described, held


def _addresses(operands):
    count, *arrays = operands
    return [count, *(ctypes.addressof(each) for each in arrays)]


__getattr__, __dir__ = _lookup.functions(globals(), [(_library.ASCENDCL, _ATTRIBUTES)])
