# SPDX-License-Identifier: Apache-2.0
"""The result of a run of the benchmark: one JSON document, written, read again, and checked."""

import dataclasses
import json
import math
import os
import platform
import subprocess
from pathlib import Path

from .. import __version__
from ..errors import InputError, quoted
from ..files import input_files
from ..files.output_files import write_text
from ..tool.bench import last_level_cache
from ..tool.machine import processor
from .cases import Bench
from .figures import geometric_mean

FORMAT = "openaclnn bench"
VERSION = 2

_MEMBERS = {
    "format": str,
    "version": int,
    "machine": dict,
    "versions": dict,
    "commit": (str, type(None)),
    "started": str,
    "quiet": dict,
    "roofs": list,
    "rows": list,
    "supporting": list,
    "means": list,
    "missing": list,
    "refused": list,
    "failed": list,
}
_LATER_MEMBERS = ("walk", "drawn")  # which files of earlier releases lack
_ROW_MEMBERS = ("operator", "case", "dtype", "threads", "state", "times", "counts")
_CALL_MEMBERS = ("call", "dtype", "threads", "state", "times", "ratio", "counts")
_WALK_MEMBERS = ("operator", "dtype", "threads", "state", "times", "peer", "ratio", "counts")
_MEMBERS_OF_ROWS = {
    "rows": _ROW_MEMBERS,
    "supporting": _CALL_MEMBERS,
    "walk": _WALK_MEMBERS,
    "drawn": _CALL_MEMBERS,
}


def machine() -> dict:
    return {
        "processor": processor(),
        "processors": len(os.sched_getaffinity(0)),
        "architecture": platform.machine(),
        "system": platform.platform(),
        "last_level_cache": last_level_cache(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    }


def versions() -> dict:
    return {"openaclnn": __version__, "python": platform.python_version()}


def commit() -> str | None:
    """That of the source tree, with a + where it was edited; None outside of one."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def means(rows: list[dict], benches: list[Bench]) -> list[dict]:
    """The geometric mean of each operator against its fastest peers, of stated rows that count."""
    found = []
    for bench in benches:
        for state in ("cold", "warm"):
            ratios = [
                row["ratio"]["value"]
                for row in rows
                if (row["operator"], row["state"], row["kind"]) == (bench.operator, state, "stated")
                and row["counts"]
                and row["ratio"]
            ]
            mean = geometric_mean(ratios)
            said = {"operator": bench.operator, "state": state, "rows": len(ratios)}
            found.append({**said, "mean": mean, "target": bench.target})
    return found


_SAID = {"supporting": "supporting calls", "walk": "all records", "drawn": "drawn calls"}


def call_means(part: str, calls: list[dict]) -> list[dict]:
    """The means of calls that are a row each, against PyTorch on the CPU."""
    found = []
    for threads, state in sorted({(each["threads"], each["state"]) for each in calls}):
        ratios = [
            each["ratio"]["value"]
            for each in calls
            if (each["threads"], each["state"]) == (threads, state) and each["counts"]
            if each.get("peer", "torch") == "torch"
        ]
        said = {"operator": f"{_SAID[part]}, {threads} threads", "state": state}
        found.append(
            {**said, "rows": len(ratios), "mean": geometric_mean(ratios), "target": 1.0}
        )
    return found


def plain(value):
    """Turns a value into one that JSON has; a figure that JSON lacks is null."""
    if dataclasses.is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def write(document: dict, path: Path) -> None:
    check(document, str(path))
    write_text(path, json.dumps(plain(document), indent=1, allow_nan=False) + "\n")


def read(path: Path) -> dict:
    text = input_files.read(path, "what bench --figures wrote")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not what bench --figures wrote: {error}") from None
    check(document, str(path))
    return document


def check(document, name: str) -> None:
    """Raises what is wrong with a document."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f"{name} is not what bench --figures wrote")
    if document.get("version") != VERSION:
        raise InputError(
            f"{name} has version {quoted(document.get('version'))} of the format, expected {VERSION}"
        )
    for member, kind in _MEMBERS.items():
        if not isinstance(document.get(member), kind):
            raise InputError(f"{name} has no {member} as bench --figures writes it")
    for list_name in _LATER_MEMBERS:
        if not isinstance(document.setdefault(list_name, []), list):
            raise InputError(f"{name} has no {list_name} as bench --figures writes it")
    for list_name, members in _MEMBERS_OF_ROWS.items():
        for number, row in enumerate(document[list_name]):
            for member in members:
                if not isinstance(row, dict) or member not in row:
                    raise InputError(f"{name}: {list_name}[{number}] has no {member}")
