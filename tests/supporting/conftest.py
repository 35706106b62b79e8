# SPDX-License-Identifier: Apache-2.0
"""The device that the supporting operators are tested on."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
os.environ.setdefault("OPENACLNN_SOC", "Ascend910B1")


@pytest.fixture(scope="session")
def device():
    """The runtime and a stream."""
    from openaclnn import runtime

    started = runtime.start()
    return started, runtime.Stream(started)
