# SPDX-License-Identifier: Apache-2.0
"""What OPENACLNN_CHECK=full asks of operands is what operators read (uses.py)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import records

TOPICS = sorted({each.topic for each in records.load()})


@pytest.mark.parametrize("topic", TOPICS)
def test_what_is_asked_for_is_what_is_read(topic, tmp_path):
    path = Path(__file__).parent / "uses.py"
    surroundings = os.environ | {"OPENACLNN_CHECK_JSON": str(tmp_path / "reports.json")}
    done = subprocess.run(
        [sys.executable, path, topic], capture_output=True, text=True, env=surroundings
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-2000:]
