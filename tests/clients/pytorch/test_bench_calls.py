# SPDX-License-Identifier: Apache-2.0
"""Every call that `openaclnn bench --all` times through torch-npu runs, on small tensors."""

import pytest
import torch

from openaclnn.benchmark import calls

CASES = [(call, dtype) for call in calls.find() for dtype in call.dtypes]


@pytest.mark.parametrize(("call", "dtype"), CASES, ids=[f"{c.name} {t}" for c, t in CASES])
def test_call(call, dtype):
    for device in ("npu", "cpu"):
        run = call.make(calls.Device(torch, device, getattr(torch, dtype), n=16))
        run()
        run()
    torch.npu.synchronize()
