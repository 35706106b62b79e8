# SPDX-License-Identifier: Apache-2.0
"""pyACL: the runtime of libascendcl.so as Python functions.

Names, arguments and results are those of the public pyACL documentation. A function returns the
error code of the C function; results come before it: `context, ret = acl.rt.create_context(0)`.
Addresses, streams, events and contexts are ints. A function is absent if its C function is.
"""

import sys

from . import _call, _library, _lookup
from . import mdl as mdl
from . import op as op
from . import rt as rt
from . import util as util
from ._constants import *  # noqa: F403

_FUNCTIONS = {
    "finalize": "aclFinalize()",
    "get_soc_name": "aclrtGetSocName() -> text",
    "get_recent_err_msg": "aclGetRecentErrMsg() -> text",
    "get_device_capability": "aclGetDeviceCapability(device_id:uint32, device_info:int32,"
    " >value:int64)",
    "float_to_float16": "aclFloatToFloat16(value:float) -> uint16",
    "float16_to_float": "aclFloat16ToFloat(value:uint16) -> float",
    # memory of an operand
    "data_type_size": "aclDataTypeSize(data_type:int32) -> size",
    "create_data_buffer": "aclCreateDataBuffer(data:ptr, size:size) -> ptr",
    "destroy_data_buffer": "aclDestroyDataBuffer(data_buffer:ptr)",
    "get_data_buffer_addr": "aclGetDataBufferAddr(data_buffer:ptr) -> ptr",
    "get_data_buffer_size": "aclGetDataBufferSize(data_buffer:ptr) -> uint32",
    "get_data_buffer_size_v2": "aclGetDataBufferSizeV2(data_buffer:ptr) -> size",
    "update_data_buffer": "aclUpdateDataBuffer(data_buffer:ptr, data:ptr, size:size)",
    # description of an operand
    "create_tensor_desc": "aclCreateTensorDesc(data_type:int32, dims:int64s, format:int32) -> ptr",
    "destroy_tensor_desc": "aclDestroyTensorDesc(desc:ptr) -> none",
    "get_tensor_desc_type": "aclGetTensorDescType(desc:ptr) -> int32",
    "get_tensor_desc_format": "aclGetTensorDescFormat(desc:ptr) -> int32",
    "get_tensor_desc_size": "aclGetTensorDescSize(desc:ptr) -> size",
    "get_tensor_desc_element_count": "aclGetTensorDescElementCount(desc:ptr) -> size",
    "get_tensor_desc_num_dims": "aclGetTensorDescNumDims(desc:ptr) -> size",
    "get_tensor_desc_dim_v2": "aclGetTensorDescDimV2(desc:ptr, index:size, >dim_size:int64)",
    "get_tensor_desc_address": "aclGetTensorDescAddress(desc:ptr) -> ptr",
    "set_tensor_desc_name": "aclSetTensorDescName(desc:ptr, name:text) -> none",
    "set_tensor_shape": "aclSetTensorShape(desc:ptr, dims:int64s)",
    "set_tensor_format": "aclSetTensorFormat(desc:ptr, format:int32)",
    "set_tensor_const": "aclSetTensorConst(desc:ptr, data_buffer:ptr, length:size)",
    "set_tensor_place_ment": "aclSetTensorPlaceMent(desc:ptr, mem_type:int32)",
}
_OP_COMPILER = {
    "set_compileopt": "aclSetCompileopt(opt:int32, value:text)",
    "get_compileopt_size": "aclGetCompileoptSize(opt:int32) -> size",
}
_INIT = _call.Declaration("aclInit(config_path:text)")
_INIT_WITHOUT_FILE = _call.Declaration("aclInit(config_path:ptr)")


def init(config_path=None):
    """ret = init(config_path)

    Starts the runtime. `config_path` is a JSON file; it may be left out.
    """
    if config_path is None:
        return _call.make(_INIT_WITHOUT_FILE, "acl.init")(0)
    return _call.make(_INIT, "acl.init")(config_path)


def app_log(log_level, message):
    """app_log(log_level, message)

    Writes a line to the log, with the place of the call.
    """
    caller = sys._getframe(1)
    level = _call.number("acl.app_log", "log_level", "int32", log_level)
    if not isinstance(message, str):
        raise TypeError(f"acl.app_log: message is {type(message).__name__}, expected str")
    texts = (caller.f_code.co_name, caller.f_code.co_filename, message)
    function, file, text = (each.encode("utf-8", "surrogateescape") for each in texts)
    write = _library.load(_library.ASCENDCL)["aclAppLog"]
    write.restype = None
    write(
        level,
        function,
        file,
        _call.number("acl.app_log", "line", "uint32", caller.f_lineno),
        b"%s",
        text,
    )


_find, __dir__ = _lookup.functions(
    globals(), [(_library.ASCENDCL, _FUNCTIONS), (_library.OP_COMPILER, _OP_COMPILER)]
)


def __getattr__(name):
    if name == "media":
        raise AttributeError("acl has no media in openaclnn, which has no image and video units")
    return _find(name)


_library.load(_library.ASCENDCL)  # without the library the import fails, not the first call
