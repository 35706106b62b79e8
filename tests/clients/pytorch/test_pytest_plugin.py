# SPDX-License-Identifier: Apache-2.0
"""pytest --npu in a shell that has sourced nothing: torch-npu finds what the plugin has loaded."""

import os
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[3] / "python"
TESTS = """
import pytest

@pytest.mark.npu
def test_gradient():
    import torch

    weight = torch.randn(16, 8, device="npu", requires_grad=True)
    rows = torch.tensor([1, 2, 3], device="npu")
    torch.nn.functional.embedding(rows, weight).sum().backward()
    assert weight.grad.sum().item() == 24
"""


def run(folder: Path, *options: str) -> subprocess.CompletedProcess:
    set_by_the_toolkit = ("LD_LIBRARY_PATH", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH")
    variables = {name: text for name, text in os.environ.items() if name not in set_by_the_toolkit}
    variables["OPENACLNN_HOME"] = os.environ["ASCEND_HOME_PATH"]
    variables["PYTHONPATH"] = f"{PACKAGE}:{os.environ.get('PYTHONPATH', '')}"
    variables["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # by name, wherever it is installed
    plugin = ("-p", "openaclnn.pytest_plugin", "-p", "no:cacheprovider", "-W", "ignore")
    command = [sys.executable, "-m", "pytest", *plugin, *options]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=300)


def test_torch_npu_in_place(tmp_path):
    (tmp_path / "conftest.py").write_text("import torch\n")  # before any test asks for the device
    (tmp_path / "test_it.py").write_text(TESTS)
    ended = run(tmp_path, "--npu-required", "--npu-check", "full")
    assert ended.returncode == 0 and "1 passed" in ended.stdout, ended
