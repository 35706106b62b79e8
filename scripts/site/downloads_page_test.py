# SPDX-License-Identifier: Apache-2.0
"""docs/faq.md names the targets of the Makefile that download more than scripts/setup.sh does."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The levels of scripts/setup.sh that install more than Debian's packages and .venv.
_LEVEL = re.compile(r"scripts/setup\.sh (?:fuzz|wheel)\b")
_DOWNLOADS = re.compile(
    r"-m[\", ]+pip\b.* install\b|apt-get .*download\b|debootstrap|make test-docs|"
    r"tests/clients/setup\.sh|\bHERE / \"setup\.sh\""
)
# `$(if …)` of test-clients chooses one of these.
_CLIENTS = "tests/clients/run.py"


def rules() -> dict[str, tuple[list[str], str]]:
    """The prerequisites and the recipe of each target that `make help-all` lists."""
    text = (ROOT / "Makefile").read_text("utf-8")
    found = re.findall(r"^([a-z0-9-]+):(.*?)##.*\n((?:\t.*\n)*)", text, re.M)
    return {name: (before.split(), recipe) for name, before, recipe in found}


def downloads(name: str) -> bool:
    """Whether the recipe, or that of a target before it, runs a file that downloads."""
    before, recipe = rules()[name]
    recipe = re.sub(r"tests/clients/\$\(if .*?\)\.py", _CLIENTS, recipe)
    named = set(re.findall(r"\.ci/run|(?:bench|scripts|tests)/[\w./-]+", recipe)) - {
        "scripts/setup.sh"
    }
    files = [ROOT / each for each in named]
    return (
        _LEVEL.search(recipe) is not None
        or any(map(downloads, before))
        or any(
            _DOWNLOADS.search(each.read_text("utf-8"))
            for each in files
            if each.is_file()
        )
    )


def test_targets_that_download_are_those_of_the_page():
    page = (ROOT / "docs/faq.md").read_text("utf-8")
    (said,) = re.findall(
        r"These targets download more on their first run: (.*?)\.\n", page, re.S
    )
    assert re.findall(r"`([a-z0-9-]+)`", said) == sorted(filter(downloads, rules()))
