# SPDX-License-Identifier: Apache-2.0
"""acl.mdl: offline models and dumps, which the libraries refuse with a code."""

from . import _library, _lookup

_FUNCTIONS = {
    "load_from_file": "aclmdlLoadFromFile(model_path:text, >model_id:uint32)",
    "load_from_mem": "aclmdlLoadFromMem(model:ptr, model_size:size, >model_id:uint32)",
    "load_from_file_with_mem": "aclmdlLoadFromFileWithMem(model_path:text, >model_id:uint32,"
    " work_ptr:ptr, work_size:size, weight_ptr:ptr, weight_size:size)",
    "load_from_mem_with_mem": "aclmdlLoadFromMemWithMem(model:ptr, model_size:size,"
    " >model_id:uint32, work_ptr:ptr, work_size:size, weight_ptr:ptr, weight_size:size)",
    "unload": "aclmdlUnload(model_id:uint32)",
    "query_size": "aclmdlQuerySize(file_name:text, >work_size:size, >weight_size:size)",
    "query_size_from_mem": "aclmdlQuerySizeFromMem(model:ptr, model_size:size, >work_size:size,"
    " >weight_size:size)",
    "execute": "aclmdlExecute(model_id:uint32, input:ptr, output:ptr)",
    "execute_async": "aclmdlExecuteAsync(model_id:uint32, input:ptr, output:ptr, stream:ptr)",
    "create_desc": "aclmdlCreateDesc() -> ptr",
    "destroy_desc": "aclmdlDestroyDesc(model_desc:ptr)",
    "get_desc": "aclmdlGetDesc(model_desc:ptr, model_id:uint32)",
    "get_num_inputs": "aclmdlGetNumInputs(model_desc:ptr) -> size",
    "get_num_outputs": "aclmdlGetNumOutputs(model_desc:ptr) -> size",
    "get_input_size_by_index": "aclmdlGetInputSizeByIndex(model_desc:ptr, index:size) -> size",
    "get_output_size_by_index": "aclmdlGetOutputSizeByIndex(model_desc:ptr, index:size) -> size",
    "get_input_name_by_index": "aclmdlGetInputNameByIndex(model_desc:ptr, index:size) -> text",
    "get_output_name_by_index": "aclmdlGetOutputNameByIndex(model_desc:ptr, index:size) -> text",
    "create_dataset": "aclmdlCreateDataset() -> ptr",
    "destroy_dataset": "aclmdlDestroyDataset(dataset:ptr)",
    "get_dataset_num_buffers": "aclmdlGetDatasetNumBuffers(dataset:ptr) -> size",
    "get_dataset_buffer": "aclmdlGetDatasetBuffer(dataset:ptr, index:size) -> ptr",
    "init_dump": "aclmdlInitDump()",
    "set_dump": "aclmdlSetDump(dump_cfg_path:text)",
    "finalize_dump": "aclmdlFinalizeDump()",
}
_ADD = {"_add_dataset_buffer": "aclmdlAddDatasetBuffer(dataset:ptr, data_buffer:ptr)"}

__getattr__, __dir__ = _lookup.functions(globals(), [(_library.ASCENDCL, _FUNCTIONS | _ADD)])


def add_dataset_buffer(dataset, data_buffer):
    """dataset, ret = add_dataset_buffer(dataset, data_buffer)

    Calls aclmdlAddDatasetBuffer.
    """
    return dataset, __getattr__("_add_dataset_buffer")(dataset, data_buffer)
