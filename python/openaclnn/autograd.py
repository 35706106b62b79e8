# SPDX-License-Identifier: Apache-2.0
"""Functions for torch.autograd over the C API, on tensors of torch-npu.

`import torch_npu` first: the functions work on the tensors' own device memory and on the current
stream, in the libraries that torch-npu has loaded.
"""

import ctypes

import torch

from .native import libraries, meta

_NUMBERS = {
    torch.float32: 0,
    torch.float16: 1,
    torch.bfloat16: 27,
    torch.int32: 3,
    torch.int64: 9,
    torch.bool: 12,
}


class GroupedBias(torch.autograd.Function):
    """y[i] = x[i] + bias[j] for the rows i of group j; the groups are runs of rows.

    x (R, H), bias (G, H), ends (G): where each group ends, the last R; int32 or int64. The bias
    gradient is aclnnGroupedBiasAddGrad.
    """

    @staticmethod
    def forward(ctx, x, bias, ends):
        ctx.save_for_backward(ends)
        rows = torch.arange(x.shape[0], device=x.device)
        # The group of a row is how many groups end before it or at it.
        group = (rows[:, None] >= ends[None, :]).sum(1)
        return x + bias.index_select(0, group)

    @staticmethod
    def backward(ctx, grad):
        (ends,) = ctx.saved_tensors
        bias_grad = torch.empty(ends.shape[0], grad.shape[1], dtype=grad.dtype, device=grad.device)
        call("aclnnGroupedBiasAddGrad", grad, ends, bias_grad)
        return grad, bias_grad, None


def call(api, *arguments):
    """Both phases of an operator on the current stream; arguments are tensors, or of ctypes."""
    kit = libraries.load()
    # Asking for the stream also waits until torch-npu's task queue has handed its work over.
    stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
    tensors = [each for each in arguments if isinstance(each, torch.Tensor)]
    handles = {id(tensor): _handle(kit, tensor) for tensor in tensors}
    passed = [handles.get(id(each), each) for each in arguments]
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    try:
        kit.call(f"{api}GetWorkspaceSize", *passed, ctypes.byref(size), ctypes.byref(executor))
    finally:
        for handle in handles.values():
            kit.function("aclDestroyTensor")(handle)
    workspace = torch.empty(size.value, dtype=torch.uint8, device=tensors[0].device)
    address = ctypes.c_void_p(workspace.data_ptr() if size.value else None)
    kit.call(api, address, size, executor, stream)


def _handle(kit, tensor):
    """An aclTensor over the tensor's own memory."""
    storage = tensor.untyped_storage()
    return meta.create_tensor(
        kit,
        shape=tensor.shape,
        strides=tensor.stride(),
        offset=tensor.storage_offset(),
        storage_shape=[storage.nbytes() // tensor.element_size()],
        dtype=_NUMBERS[tensor.dtype],
        address=storage.data_ptr(),
    )
