# SPDX-License-Identifier: Apache-2.0
"""Programs end well however late they give their tensors back."""

import os
import subprocess
import sys

PROGRAM = """
import torch, torch_npu
kept = [torch.ones(9, device="npu"), torch.randn(1 << 20).npu()]
print((kept[0] + 1).sum().item())
"""


def test_tensors_that_outlive_the_runtime():
    """Without its cache torch-npu frees each of them by itself, after aclFinalize."""
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        env={**os.environ, "PYTORCH_NO_NPU_MEMORY_CACHING": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (ended.returncode, ended.stdout) == (0, "18.0\n"), ended.stderr
