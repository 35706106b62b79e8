# SPDX-License-Identifier: Apache-2.0
"""Refusals reach Python as errors that say why, and the process lives on."""

import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
import torch_npu


def still_works():
    assert torch.equal((torch.ones(3, device="npu") + 1).cpu(), torch.full((3,), 2.0))


def test_an_index_out_of_range():
    weight, indices = torch.randn(7, 5).npu(), torch.tensor([[1, 2], [9, 0]]).npu()
    with pytest.raises(RuntimeError, match="indices value 2 is 9, expected 0 <= value < 7"):
        F.embedding(indices, weight)
        torch.npu.synchronize()
    still_works()


# With the task queue, torch-npu drops the calls that follow a refused one, whatever the device: so
# in a process of its own.
WRONG_TYPE = """
import torch, torch_npu
x, mask = torch.randn(2, 3, 4, 16).npu(), torch.rand(2, 3, 4, 16).npu()
try:
    torch_npu.npu_scaled_masked_softmax(x, mask, 1.0, False)
    torch.npu.synchronize()
except RuntimeError as error:
    print(error)
print("alive")
"""


def test_a_wrong_type():
    done = subprocess.run([sys.executable, "-c", WRONG_TYPE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "mask dtype is FLOAT, expected one of BOOL" in done.stdout, done.stdout
    assert done.stdout.endswith("alive\n")


def test_an_operator_that_is_not_there():
    # A missing aclnn function sends torch-npu to aclop, which must not pretend either.
    script = "import torch, torch_npu; torch.eye(8).npu().trace(); torch.npu.synchronize()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1 and "Trace" in done.stderr, done.stderr
