# SPDX-License-Identifier: Apache-2.0
"""What PyTorch calls can be captured, though the wheel opens the libraries itself, and replayed."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import torch, torch_npu
x = torch.randn(9, 2, 4).npu().requires_grad_()
w, b = torch.randn(3, 4, 5).npu(), torch.randn(5).npu()
torch.conv_tbc(x, w, b, 1).sum().backward()
print(x.grad.cpu().transpose(0, 1).abs().sum() > 0)
"""


def test_calls_are_the_same_again(tmp_path):
    library = Path(os.environ["ASCEND_HOME_PATH"]) / "lib64/libopenaclnn_capture.so"
    capturing = {"LD_PRELOAD": str(library), "OPENACLNN_CAPTURE": str(tmp_path / "calls")}
    preloaded = os.environ.get("LD_PRELOAD", "")
    capturing["LD_PRELOAD"] += f" {preloaded}" if preloaded else ""
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        env=os.environ | capturing,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (ended.returncode, ended.stdout) == (0, "tensor(True)\n"), ended.stderr
    names = [each.name.partition("-")[2] for each in sorted((tmp_path / "calls").iterdir())]
    assert "aclnnConvTbc" in names and "aclnnConvTbcBackward" in names, names
    replay = [sys.executable, "-m", "openaclnn", "replay", str(tmp_path / "calls")]
    environment = {**os.environ, "OPENACLNN_HOME": os.environ["ASCEND_HOME_PATH"]}
    again = subprocess.run(replay, env=environment, capture_output=True, text=True, timeout=120)
    assert again.returncode == 0, again.stdout + again.stderr
    assert again.stdout.count("the same") == len(names)
