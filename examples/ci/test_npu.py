# SPDX-License-Identifier: Apache-2.0
"""Two tests to begin with: `python -m pytest --npu` runs them without an NPU."""

import numpy as np
import pytest

import openaclnn


@pytest.mark.npu(torch=False)
def test_on_numpy_arrays():
    left = np.arange(6, dtype=np.float32).reshape(2, 3)
    right = np.ones((3, 2), dtype=np.float32)
    product = openaclnn.ops.matmul(left, right, cubeMathType=0)
    np.testing.assert_array_equal(product, [[3, 3], [12, 12]])


@pytest.mark.npu
def test_through_torch_npu():
    import torch

    weight = torch.arange(12.0).reshape(4, 3).to("npu").requires_grad_()
    rows = torch.nn.functional.embedding(torch.tensor([2, 0, 2], device="npu"), weight)
    rows.sum().backward()
    assert weight.grad.cpu()[:, 0].tolist() == [1, 0, 2, 0]
