# SPDX-License-Identifier: Apache-2.0
"""The device that the supporting operators are tested on."""

import json
import os
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path += [str(SCRIPTS / "operators"), str(SCRIPTS / "site")]
os.environ.setdefault("OPENACLNN_SOC", "Ascend910B1")
os.environ.setdefault("OPENACLNN_CHECK", "full")
FOLDER = tempfile.TemporaryDirectory()
REPORTS = Path(os.environ.setdefault("OPENACLNN_CHECK_JSON", f"{FOLDER.name}/reports.json"))


@pytest.fixture(scope="session")
def device():
    """The runtime and a stream."""
    from openaclnn.native import runtime

    started = runtime.start()
    return started, runtime.Stream(started)


def reports():
    """What the library has told until now, but for values that tests of refusals ask for."""
    if not REPORTS.exists():
        return []
    told = map(json.loads, REPORTS.read_text().splitlines())
    return [each["title"] for each in told if each.get("severity") == "error" and each["code"] != 507035]


@pytest.fixture(autouse=True)
def nothing_is_reported():
    """Operators write all of their outputs, and read what was written."""
    before = len(reports())
    yield
    assert reports()[before:] == []
