# SPDX-License-Identifier: Apache-2.0
"""Fixtures that all tests of the scripts share."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent / "operators"))  # which those of the site import


@pytest.fixture(autouse=True)
def without_the_callers_repository(monkeypatch):
    """A hook of Git has these variables: what a test commits would go to the caller's repository."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
