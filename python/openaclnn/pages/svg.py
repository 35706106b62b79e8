# SPDX-License-Identifier: Apache-2.0
"""Settings that all figures share: how matplotlib writes SVG, and whether it is here."""

import sys
from importlib.util import find_spec

from ..errors import Error

STYLE = {
    "svg.hashsalt": "openaclnn",  # the same figures give the same file
    "svg.fonttype": "none",  # letters, not their outlines: a third of the size
}


def require(option: str) -> None:
    """Refuses `option` before any work is done where there is no matplotlib."""
    if find_spec("matplotlib") is None:
        install = f"{sys.executable} -m pip install matplotlib"
        raise Error(f"{option} needs matplotlib, which is not here: {install}")
