# SPDX-License-Identifier: Apache-2.0
"""Programs started with the checks of the libraries, and what those have found."""

import atexit
import contextlib
import ctypes
import errno
import json
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from ..errors import Error, ExitCode, InputError, quoted_path

_MOST_LINES = 10  # of one check
_API_CHECK = "apicheck"  # what refused calls are counted under
_ROOM = 1 << 16  # bytes: several reports
_KEEP_SIZE = 1  # FALLOC_FL_KEEP_SIZE
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

# Starts a program with its command and its environment, and returns its exit code.
Start = Callable[[str, list[str], dict[str, str]], int]


class Level(StrEnum):
    """Values of OPENACLNN_CHECK."""

    OFF = "off"
    FAST = "fast"
    FULL = "full"


class ApiErrors(StrEnum):
    """Whether refused calls are errors; the words are compute-sanitizer's."""

    NO = "no"
    EXPLICIT = "explicit"


class LeakCheck(StrEnum):
    """Whether what is left at aclFinalize is an error; the words are compute-sanitizer's."""

    NO = "no"
    FULL = "full"


@dataclass
class Findings:
    """Findings that the processes of a run have reported."""

    errors: Counter[str] = field(default_factory=Counter)  # of each check, repeated ones as well
    codes: Counter[str] = field(default_factory=Counter)  # that refused calls returned
    titles: dict[str, list[str]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    leaks: int = 0
    leak_titles: list[str] = field(default_factory=list)
    cut: bool = False  # a report, which could not be written whole

    @classmethod
    def read(cls, file: Path, begin: int = 0) -> "Findings":
        """From a file that OPENACLNN_CHECK_JSON named; what is no line of its is passed over."""
        findings = cls()
        # By process, what its next sums count again: a process that is killed writes none.
        reported: dict[int, Counter[str]] = {}
        codes: dict[int, Counter[str]] = {}
        left: Counter[int] = Counter()
        for line in filter(None, file.read_bytes()[begin:].split(b"\n")):
            try:
                entry = json.loads(line.decode("utf-8", "replace"))
            except ValueError:
                findings.cut = True
                continue
            try:
                pid = entry["pid"]
                if "summary" in entry:
                    # The summary has no findings from before a process became another program.
                    counts = Counter({name: int(n) for name, n in entry["summary"].items()})
                    findings.errors.update(counts | reported.pop(pid, Counter()))
                    known = Counter({code: int(n) for code, n in entry.get("codes", {}).items()})
                    findings.codes.update(known | codes.pop(pid, Counter()))
                elif "leaks" in entry:
                    findings.leaks += max(int(entry["leaks"]), left.pop(pid, 0))
                elif entry["severity"] == "error":
                    findings.titles.setdefault(entry["check"], []).append(entry["title"])
                    reported.setdefault(pid, Counter())[entry["check"]] += 1
                    if entry["check"] == _API_CHECK:
                        codes.setdefault(pid, Counter())[str(entry["code"])] += 1
                elif entry["severity"] == "leak":
                    findings.leak_titles.append(entry["title"])
                    left[pid] += 1
                else:
                    findings.warnings.append(entry["title"])
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
        for counts in reported.values():
            findings.errors.update(counts)
        for counts in codes.values():
            findings.codes.update(counts)
        findings.leaks += left.total()
        return findings

    def lines(self, leak_check: LeakCheck) -> list[str]:
        """The summary."""
        count = self.errors.total() + (self.leaks if leak_check is LeakCheck.FULL else 0)
        lines = [f"openaclnn: check summary: {_counted(count, 'error')}"]
        for check, number in sorted(self.errors.items()):
            titles = self.titles.get(check, [])
            of = ", ".join(f"{code} {n}" for code, n in sorted(self.codes.items()))
            by_code = f" (codes: {of})" if check == _API_CHECK and of else ""
            lines.append(
                f"  {check}: {_counted(number, 'error')}, {len(titles)} reported{by_code}"
            )
            lines += _cut(titles, len(titles))
        if self.leaks:
            hint = "" if leak_check is LeakCheck.FULL else " (--leak-check full counts them)"
            lines.append(f"  leaks: {self.leaks}{hint}")
            lines += _cut(self.leak_titles, self.leaks)
        if self.warnings:
            lines.append(f"  warnings: {len(self.warnings)}")
            lines += _cut(self.warnings, len(self.warnings))
        return lines

    def found(self, leak_check: LeakCheck) -> bool:
        return bool(self.errors.total() or (self.leaks and leak_check is LeakCheck.FULL))


class Reports:
    """New lines of the file that OPENACLNN_CHECK_JSON names."""

    def __init__(self, file: Path):
        self._file = file
        self._read = file.stat().st_size if file.exists() else 0

    @classmethod
    def begin(cls) -> "Reports":
        """Begins to read the file that is named already, or one for as long as this process
        lives."""
        named = os.environ.get("OPENACLNN_CHECK_JSON")
        if named and "PYTEST_XDIST_WORKER" not in os.environ:  # those would share one
            file = Path(named).absolute()
            os.environ["OPENACLNN_CHECK_JSON"] = str(file)  # a child may run in another folder
            return cls(file)
        _remove_left()
        prefix = f"{_TEMPORARY}{os.getpid()}-"
        descriptor, file = tempfile.mkstemp(prefix=prefix, suffix=".jsonl")
        os.close(descriptor)
        # Registered before aclInit, so that it runs after what Python's clients do at exit. The
        # libraries' last line comes later still, and makes the file again.
        atexit.register(Path(file).unlink, missing_ok=True)
        os.environ["OPENACLNN_CHECK_JSON"] = file
        return cls(Path(file))

    def new(self) -> list[str]:
        """The mistakes that were reported since this was asked last."""
        if not self._file.exists() or self._file.stat().st_size == self._read:
            return []
        with open(self._file, "rb") as file:
            file.seek(self._read)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._read += len(whole)
        entries = (_entry(line) for line in whole.decode("utf-8", "replace").split("\n") if line)
        # A refused call is an exception of the test's, which may be the one that it expects.
        return [
            _told(each)
            for each in entries
            if each.get("severity") == "error" and each.get("check") != _API_CHECK
        ]


_TEMPORARY = "openaclnn-check-of-"


def _remove_left() -> None:
    """Removes the files of processes that have ended."""
    for file in Path(tempfile.gettempdir()).glob(f"{_TEMPORARY}*-*.jsonl"):
        process = file.name.removeprefix(_TEMPORARY).partition("-")[0]
        with contextlib.suppress(OSError):  # another user's
            if not Path("/proc", process).exists():
                file.unlink()


def _entry(line: str) -> dict:
    """A line of the file; nothing where it is none of ours."""
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}


def _is_report(line: str) -> bool:
    """Whether it is a line of ours, also one that could not be written whole, or an empty one."""
    entry = _entry(line)
    if not entry:
        return line.startswith('{"pid":') or not line.strip()
    kinds = ({"summary"}, {"leaks"}, {"check", "severity", "title"})
    return "pid" in entry and any(kind <= entry.keys() for kind in kinds)


_CALLERS = re.compile(r" from \S+\+0x.*")  # standard error has them, a line each


def _told(entry: dict) -> str:
    lines = [f"openaclnn: {entry.get('check')}: {entry.get('title')}"]
    for name in ("what", "where", "fix"):
        if entry.get(name):
            lines.append(f"  {name + ':':<6} {_CALLERS.sub('', str(entry[name]))}")
    return "\n".join(lines)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number or 'no'} {noun}s"


def _cut(titles: list[str], count: int) -> list[str]:
    """The first of so many."""
    lines = [f"    {title}" for title in titles[:_MOST_LINES]]
    more = count - len(lines)
    return [*lines, f"    and {more} more"] if more > 0 else lines


def run(
    program: str,
    command: list[str],
    variables: dict[str, str],
    json_file: Path | None,
    leak_check: LeakCheck,
    start: Start,
) -> int:
    """Runs it to its end; the code is 5 if something was reported, else what `start` returns, but 4
    if reports may be lost.

    `json_file` begins anew, if it has nothing but reports; one that OPENACLNN_CHECK_JSON names is
    added to.
    """
    if json_file is not None:
        _check_replaceable(json_file)
    named = variables.get("OPENACLNN_CHECK_JSON")
    if json_file is not None or named:
        file = Path(json_file or named).resolve()
        begin = file.stat().st_size if json_file is None and file.is_file() else 0
        _make(file, begin)
        return _run(program, command, variables, file, leak_check, start, begin)
    with tempfile.TemporaryDirectory(prefix="openaclnn-check-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "report.jsonl"
        _make(file)
        return _run(program, command, variables, file, leak_check, start)


def _check_replaceable(file: Path) -> None:
    """Refuses what has anything but reports: the program, its script or another file by mistake."""
    try:
        if not file.is_file():
            return  # _make knows the rest
        with open(file, "rb") as opened:
            lines = iter(lambda: opened.readline(_ROOM), b"")
            replaceable = all(_is_report(line.decode("utf-8", "replace")) for line in lines)
    except OSError as error:
        raise InputError(f"cannot read {quoted_path(file)}: {error.strerror}") from None
    if not replaceable:
        said = f"--check-json is {quoted_path(file)}, which has something else than reports"
        raise InputError(f"{said}, expected a new file, or one of reports")


def _make(file: Path, begin: int = 0) -> None:
    """A file, which only the user may read if it is new; empty, unless reports begin later on."""
    # Not blocking: it might be a pipe that nobody reads.
    flags = os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | (0 if begin else os.O_TRUNC)
    try:
        descriptor = os.open(file, flags, 0o600)
    except OSError as error:
        raise InputError(f"cannot write {file}: {error.strerror}") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InputError(f"cannot write {file}: expected a plain file")
        _set_room_aside(descriptor)
    except OSError as error:
        raise Error(f"cannot write {file}: {error.strerror}") from None
    finally:
        os.close(descriptor)


def _set_room_aside(descriptor: int) -> None:
    """Behind the end of the file, whoever writes to it; OSError where there is none.

    What is full later has this room still. Not all file systems can.
    """
    end, most = os.fstat(descriptor).st_size, resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if most != resource.RLIM_INFINITY and most < end + _ROOM:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    numbers = map(ctypes.c_int64, (end, _ROOM))
    failed = ctypes.CDLL(None, use_errno=True).fallocate(descriptor, _KEEP_SIZE, *numbers)
    if failed and (number := ctypes.get_errno()) in _FULL:
        raise OSError(number, os.strerror(number))


def _missing(file: Path, findings: Findings) -> str:
    """Why reports may be missing; nothing where the file has had room for all of them.

    Which the libraries say on standard error alone: the file has what they could write.
    """
    if findings.cut:
        return "one is cut"
    descriptor = os.open(file, os.O_WRONLY | os.O_NONBLOCK)
    try:
        _set_room_aside(descriptor)
    except OSError as error:
        return error.strerror
    finally:
        os.close(descriptor)
    return ""


def _run(
    program: str,
    command: list[str],
    variables: dict[str, str],
    file: Path,
    leak_check: LeakCheck,
    start: Start,
    begin: int = 0,
) -> int:
    code = start(program, command, {**variables, "OPENACLNN_CHECK_JSON": str(file)})
    try:
        findings = Findings.read(file, begin)
        missing = _missing(file, findings)
    except OSError as error:
        raise Error(f"the reports are lost: {file}: {error.strerror}") from None
    found = findings.found(leak_check)
    lines = findings.lines(leak_check)
    if missing and not found:
        del lines[0]  # that there were none
    if missing:
        lines.append(f"openaclnn: reports may be lost: {quoted_path(file)}: {missing}")
    if sys.stderr is not None:  # it was closed: then standard output is the program's alone
        with contextlib.suppress(OSError):  # a full disk; the code says it all the same
            print("\n".join(lines), file=sys.stderr, flush=True)
    if found:
        return ExitCode.MISTAKES_FOUND
    return ExitCode.RUNTIME if missing else code


def wait(program: str, command: list[str], variables: dict[str, str]) -> int:
    """Starts it once; its exit code, as a shell gives it: 128 and the number of the signal."""
    came: list[int] = []
    process = None

    def pass_on(number: int, _) -> None:
        came.append(number)
        if process is not None:
            process.send_signal(number)

    # Signals that end this process are passed on to end the command; the terminal's signals the
    # command gets itself. Set before it is started, and handlers, which it does not inherit.
    answers = {signal.SIGTERM: pass_on, signal.SIGHUP: pass_on}
    answers |= {number: lambda number, _: None for number in (signal.SIGINT, signal.SIGQUIT)}
    for number, answer in answers.items():
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup; the command ignores it too
            signal.signal(number, answer)
    try:
        process = subprocess.Popen(command, executable=program, env=variables)
    except OSError as error:
        raise Error(f"cannot start {program}: {error.strerror}") from None
    for number in came:
        process.send_signal(number)
    code = process.wait()
    return code if code >= 0 else 128 - code
