# SPDX-License-Identifier: Apache-2.0
"""Looks at what a program would load here, and at what usually goes wrong."""

import json
import os
import subprocess
import sys
import textwrap
from itertools import groupby, zip_longest
from pathlib import Path

from rich.text import Text

from ... import __version__
from ...errors import Error
from ...native import libraries
from .. import launch, report
from . import doctor_ranks
from .finding import Finding, Verdict

_NAMES = ("libascendcl.so", "libnnopbase.so", "libopapi.so")
_SPLIT_NAMES = ("libopapi_math.so", "libopapi_nn.so", "libopapi_transformer.so")
# Further libraries that torch-npu links.
_CLIENT_NAMES = (
    "libacl_op_compiler.so",
    "libacl_tdt_channel.so",
    "libatb.so",
    "libge_runner.so",
    "libgraph.so",
    "libhccl.so",
)

_SHOWN = {Verdict.OK: "ok", Verdict.NOTE: "note", Verdict.PROBLEM: "PROBLEM"}
_COLOURS = {Verdict.OK: "green", Verdict.NOTE: "yellow", Verdict.PROBLEM: "red"}

# Runs in a process of its own: what the loader finds by bare name, and whether it is ours.
_PROBE = """
import ctypes, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        found[name] = {"error": str(error)}
        continue
    with open("/proc/self/maps") as maps:
        paths = [line.split(None, 5)[5].strip() for line in maps if name.split(".so")[0] in line]
    found[name] = {"path": paths[0] if paths else "", "ours": hasattr(library, "openaclnnGetVersion")}
print(json.dumps(found))
"""


def examine() -> list[Finding]:
    """Everything that was looked at, the problems among it."""
    findings = [*_tool()]
    try:
        home = libraries.find()
    except Error as error:
        return [*findings, Finding("toolkit", Verdict.PROBLEM, str(error))]
    findings.append(Finding("toolkit", Verdict.OK, str(home)))
    findings += _siblings(home)
    findings += _loaded(home)
    findings += _configuration()
    findings += _unknown_variables()
    findings += _torch()
    findings += doctor_ranks.examine(os.environ)
    return findings


def has_problem(findings: list[Finding]) -> bool:
    return any(each.verdict is Verdict.PROBLEM for each in findings)


def print_findings(findings: list[Finding]) -> None:
    """Prints the findings: subject and result side by side, or one beneath the other where a path
    needs the room."""
    console = report.console()
    mark_width = max(map(len, _SHOWN.values())) + 2
    name_width = max(len(each.what) for each in findings) + 2
    for (verdict, detail), alike in groupby(findings, lambda each: (each.verdict, each.detail)):
        names = [each.what for each in alike]
        room = console.width - mark_width - name_width
        if max(map(len, detail.split()), default=0) <= room:
            pairs = zip_longest(names, _wrapped(detail, room), fillvalue="")
            lines = [f"{name:{name_width}}{words}".rstrip() for name, words in pairs]
        else:
            lines = [*names, *_wrapped(detail, room + name_width)]
        mark = (f"{_SHOWN[verdict]:{mark_width}}", _COLOURS[verdict])
        text = f"\n{'':{mark_width}}".join(lines)
        console.print(Text.assemble(mark, text), soft_wrap=True)


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of whole words, of which one may be longer."""
    return textwrap.wrap(text, max(width, 1), break_long_words=False, break_on_hyphens=False)


def _tool() -> list[Finding]:
    python = ".".join(str(part) for part in sys.version_info[:3])
    return [Finding("tool", Verdict.OK, f"openaclnn {__version__}, Python {python}")]


def _siblings(home: Path) -> list[Finding]:
    """The libraries that should lie next to each other."""
    folder = home / "lib64"
    missing = [name for name in _NAMES if not (folder / name).exists()]
    if missing:
        return [Finding("siblings", Verdict.PROBLEM, f"{folder} has no {', '.join(missing)}")]
    beside = [name for name in _CLIENT_NAMES if not (folder / name).exists()]
    if beside:
        detail = f"{folder} has no {', '.join(beside)}, without which torch-npu does not load"
        return [Finding("siblings", Verdict.PROBLEM, detail)]
    split = [name for name in _SPLIT_NAMES if not (folder / name).exists()]
    if split and not _is_of_a_wheel(home):
        detail = f"{folder} has no {', '.join(split)}, which programs of later releases are linked with"
        return [Finding("siblings", Verdict.NOTE, detail)]
    return [Finding("siblings", Verdict.OK, f"all in {folder}")]


def _is_of_a_wheel(home: Path) -> bool:
    """A wheel holds no links, which other names of libopapi.so are."""
    return home.resolve() == Path(__file__).resolve().parents[2] / "cann"


def _probe(variables: dict[str, str]) -> dict[str, dict]:
    command = [sys.executable, "-c", _PROBE, *_NAMES]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    if done.returncode != 0:
        raise Error(f"loading the libraries ended a process: {done.stderr.strip()}")
    return json.loads(done.stdout)


def _loaded(home: Path) -> list[Finding]:
    """Libraries that a program loads by name: as the environment is, and under `openaclnn run`."""
    findings = []
    try:
        now = _probe(dict(os.environ))
        under_run = _probe({**os.environ, **launch.environment(home)})
    except Error as error:
        return [Finding("loader", Verdict.PROBLEM, str(error))]
    for name in _NAMES:
        findings.append(_where(name, "here", now[name]))
    for name in _NAMES:
        findings.append(_where(name, "under run", under_run[name]))
    return findings


def _where(name: str, place: str, found: dict) -> Finding:
    what = f"{name} {place}"
    if "error" in found:
        error = found["error"].removeprefix(f"{name}: ")
        if place != "here":
            return Finding(what, Verdict.PROBLEM, error)
        is_absent = "No such file" in error
        detail = "not on this shell's path" if is_absent else error
        advice = "`openaclnn run -- PROGRAM` puts it there, or source set_env.sh"
        return Finding(what, Verdict.OK if is_absent else Verdict.NOTE, f"{detail}; {advice}")
    if not found["ours"]:
        detail = f"{found['path']} is another library, most likely a real CANN in the way"
        return Finding(what, Verdict.PROBLEM, detail)
    return Finding(what, Verdict.OK, found["path"])


def _unknown_variables() -> list[Finding]:
    try:
        sentences = libraries.load().unknown_variables()
    except Error:  # which the configuration says
        return []
    return [Finding("environment", Verdict.NOTE, sentence) for sentence in sentences]


def _torch() -> list[Finding]:
    """Whether torch and torch-npu of this Python, if it has them, belong together."""
    from importlib import metadata  # slow, and only this needs it

    try:
        torch, torch_npu = (metadata.version(name) for name in ("torch", "torch-npu"))
    except metadata.PackageNotFoundError:
        return []
    if torch.partition("+")[0] == torch_npu.partition(".post")[0]:
        return [Finding("torch", Verdict.OK, f"torch {torch}, torch-npu {torch_npu}")]
    detail = f"torch is {torch}, torch-npu is {torch_npu}: expected the same three numbers"
    return [Finding("torch", Verdict.PROBLEM, detail)]


def _configuration() -> list[Finding]:
    """The finding for the settings that the libraries derive from the environment's variables."""
    try:
        toolkit = libraries.load()
        settings = toolkit.configuration()
    except Error as error:
        return [Finding("configuration", Verdict.PROBLEM, str(error))]
    version = settings["version"]
    same = version == __version__
    memory = settings["device_memory"] / 2**30
    return [
        Finding("versions", Verdict.OK if same else Verdict.PROBLEM,
                f"libraries {version}, tool {__version__}, CANN {settings['cann']} emulated"),
        Finding("product", Verdict.OK, f"{settings['product']} (family {settings['family']})"),
        Finding("SIMD level", Verdict.OK, settings["simd"]),
        Finding("threads", Verdict.OK, str(settings["threads"])),
        Finding("devices", Verdict.OK if settings["devices"] else Verdict.PROBLEM,
                f"{settings['devices']} with {memory:.1f} GiB each"),
    ]
