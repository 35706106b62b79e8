# SPDX-License-Identifier: Apache-2.0
"""A page that one script writes whole, and that a test holds to what the script would write."""

import sys
from pathlib import Path


def write_or_check(page: Path, text: str, script: str, arguments: list[str]) -> int:
    """Writes the page; with --check alone it changes nothing, and is 1 where the page is not current."""
    if arguments != ["--check"]:
        page.write_text(text, "utf-8")
        return 0
    if page.read_text("utf-8") != text:
        print(f"{page.name} is not current: scripts/site/{script}", file=sys.stderr)
        return 1
    return 0
