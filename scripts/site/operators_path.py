# SPDX-License-Identifier: Apache-2.0
"""Lets scripts of the site import those of scripts/operators: they import this module first."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "operators"))
