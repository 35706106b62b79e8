# SPDX-License-Identifier: Apache-2.0
"""Every call that `openaclnn bench --all` times through torch-npu runs, on small tensors."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from openaclnn.benchmark import calls

# By types, what torch-npu asks for on 950.
NOT_ON_950 = {
    "max_pool2d backward": (("bfloat16",), "the page of MaxPool2dWithIndicesBackward has FLOAT alone"),
}
CASES = [(call, dtype) for call in calls.find() for dtype in call.dtypes]


@pytest.mark.parametrize(("call", "dtype"), CASES, ids=[f"{c.name} {t}" for c, t in CASES])
def test_call(call, dtype, product):
    if product.startswith("Ascend950") and (why := NOT_ON_950.get(call.name)) and dtype in why[0]:
        pytest.skip(why[1])
    for device in ("npu", "cpu"):
        run = call.make(calls.Device(torch, device, getattr(torch, dtype), n=16))
        run()
        run()
    torch.npu.synchronize()


@pytest.mark.skipif(
    not torch.__version__.startswith("2.8.")
    or os.environ.get("OPENACLNN_SOC") != "Ascend910B1"
    or os.environ.get("TASK_QUEUE_ENABLE") != "1",
    reason="the documentation has the operators of torch 2.8 on Ascend910B1, once is enough",
)
def test_the_documentation_has_the_operators_of_each_call(tmp_path):
    file = tmp_path / "called.json"
    command = [sys.executable, "-W", "ignore", "-m", "openaclnn.benchmark.called", str(file)]
    subprocess.run(command, check=True)
    documented = Path(__file__).resolve().parents[3] / "docs/figures/called.json"
    assert json.loads(documented.read_text()) == json.loads(file.read_text())
