# SPDX-License-Identifier: Apache-2.0
"""The supporting operators by topic, as the build wrote them beside the libraries."""

import json
from collections.abc import Container
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import Error

_FILE = "share/openaclnn/topics.json"


@dataclass(frozen=True)
class Topic:
    """Operators that do similar work."""

    name: str
    about: str  # a sentence
    operators: tuple[str, ...]

    def only(self, apis: Container[str]) -> "Topic":
        """The topic with those of its operators."""
        return replace(self, operators=tuple(each for each in self.operators if each in apis))


def read(home: Path) -> list[Topic]:
    """Those of the toolkit that lies there."""
    path = home / _FILE
    try:
        found = json.loads(path.read_text("utf-8"))
        return [Topic(each["name"], each["about"], tuple(each["operators"])) for each in found]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Error(f"the toolkit has no {path} that can be read: {error}") from None
