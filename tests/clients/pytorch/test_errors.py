# SPDX-License-Identifier: Apache-2.0
"""Refusals reach Python as errors that say why, and the process lives on."""

import os
import re
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
import torch_npu  # noqa: F401  (makes the device known)


def still_works():
    assert torch.equal((torch.ones(3, device="npu") + 1).cpu(), torch.full((3,), 2.0))


def test_an_index_out_of_range():
    weight, indices = torch.randn(7, 5).npu(), torch.tensor([[1, 2], [9, 0]]).npu()
    with pytest.raises(RuntimeError, match="indices value 2 is 9, expected 0 <= value < 7"):
        F.embedding(indices, weight)
        torch.npu.synchronize()
    still_works()


# torch-npu drops the calls that follow one which was refused in its task queue, whatever the
# device: so in a process of its own.
REFUSED = """
import torch, torch_npu
def on_npu(*shape, dtype=torch.float16):
    return torch.ones(shape, dtype=dtype, device="npu")
try:
    CALL
    torch.npu.synchronize()
except RuntimeError as error:
    print(error)
print((torch.ones(3, device="npu") + 1).tolist())
print("alive")
"""
WRONG_TYPES = {
    "torch.conv_tbc(on_npu(9, 3, 4, dtype=torch.int32), on_npu(3, 4, 5), on_npu(5), 1)": (
        "EZ1001: aclnnConvTbc: self dtype is INT32, expected one of FLOAT, FLOAT16"
    ),
    "torch_npu.npu_scaled_masked_softmax(on_npu(2, 3, 4, 16), on_npu(2, 3, 4, 16), 1.0, False)": (
        "EZ1001: aclnnScaledMaskedSoftmax: mask dtype is FLOAT16, expected BOOL"
    ),
}
NOT_ON_950 = {
    "torch_npu.npu_nsa_compress(on_npu(64, 2, 32), on_npu(32, 2), 32, 16, actual_seq_len=[64])": (
        "aclnnNsaCompress: product family is 950, expected A2 on "
    ),
    "torch.ops.npu.npu_nsa_compress_grad("
    "on_npu(3, 2, 32), on_npu(64, 2, 32), on_npu(32, 2), 32, 16, actual_seq_len=[64])": (
        "aclnnNsaCompressGrad: product family is 950, expected A2 on "
    ),
    "torch.nn.functional.rrelu(on_npu(2, 3))": (
        "aclnnRReluWithNoise: product family is 950, expected one of 910, A2, A3 on "
    ),
}


def assert_refused(call, words):
    script = REFUSED.replace("CALL", call)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    queue, blocking = map(os.environ.get, ("TASK_QUEUE_ENABLE", "ASCEND_LAUNCH_BLOCKING"))
    # Where the queue's thread prepares too, torch-npu prints what that thread was told and raises
    # an error that says "as above".
    said = done.stderr + done.stdout if queue == "2" else done.stdout
    assert words in said and "call acl api failed" in done.stdout, said
    assert done.stdout.endswith("alive\n")
    if queue == "0" or blocking == "1":
        assert "[2.0, 2.0, 2.0]" in done.stdout


@pytest.mark.parametrize(("call", "words"), WRONG_TYPES.items(), ids=["conv", "softmax"])
def test_a_wrong_type(call, words):
    assert_refused(call, words)


@pytest.mark.parametrize(("call", "words"), NOT_ON_950.items(), ids=["NSA", "its gradient", "rrelu"])
def test_what_950_lacks(call, words, product):
    if not product.startswith("Ascend950"):
        pytest.skip("the product has it")
    assert_refused(call, words)


# By call, what torch-npu itself says on 950 instead of calling an operator.
RECURRENT = {
    "GRU(2, 2).npu()(x)": r"gru do not have aclnn implementation",
    "LSTM(2, 2).npu()(x)": None,
    "LSTMCell(2, 2).npu()(x[0])": r"lstm_cell do not have aclnn implementation",
}


@pytest.mark.parametrize("call", RECURRENT, ids=lambda call: call.split("(")[0])
def test_recurrent_layers_run_or_are_refused(call, product):
    words = RECURRENT[call] if product.startswith("Ascend950") else None
    script = (
        "import torch, torch_npu; x = torch.ones(1, 1, 2).npu()\n"
        f"torch.nn.{call}; torch.npu.synchronize()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    refused = words is not None and re.search(words, done.stderr)
    assert done.returncode == (1 if refused else 0), done.stderr
