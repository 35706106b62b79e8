# SPDX-License-Identifier: Apache-2.0
"""What a user's test of an adapter looks like; tests/install/wheel.sh runs it with the wheel."""

import pytest


@pytest.mark.npu
def test_rows_and_their_gradient():
    import torch

    weight = torch.arange(12.0).reshape(4, 3).to("npu").requires_grad_()
    rows = torch.nn.functional.embedding(torch.tensor([2, 0, 2], device="npu"), weight)
    assert rows.detach().cpu().tolist() == [[6, 7, 8], [0, 1, 2], [6, 7, 8]]
    rows.sum().backward()
    assert weight.grad.cpu()[:, 0].tolist() == [1, 0, 2, 0]
