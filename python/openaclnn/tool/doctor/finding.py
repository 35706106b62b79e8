# SPDX-License-Identifier: Apache-2.0
"""One thing that `openaclnn doctor` has looked at."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Finding:
    what: str
    verdict: Verdict
    detail: str
