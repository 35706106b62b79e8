# SPDX-License-Identifier: Apache-2.0
"""Changes a source file in one place at a time and counts how many changes its tests see.

    mutate.py FILE.cc --build BUILD --targets TARGET... --test COMMAND... [--most N] [--seed SEED]
              [--coverage GCOVR.json] [--record FILE]
    mutate.py FILE.h --through FILE.cc... --build …

A change turns a comparison, a sign, a condition or a small constant into another, or takes a statement
away; a header is changed for the sources that --through names. Of --targets only what holds the file's
object is made again; the source itself stays as it is, and the objects are put back in the end. A test
that takes five times as long as it should has seen the change.

Not counted are changes that do not compile, and those of which the compiler makes the same code. One that
no test sees is printed, to be answered by a test or by a reason; so is one in a line that no test reaches
by --coverage (`gcovr --json`), without a run. --record keeps what was found: a second run, after new
tests, tries only what was not seen.
"""

import argparse
import collections
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

CHANGES = [
    (r"(?<![<>=!\-])<=(?!>)", ("<", ">=")),
    (r"(?<![<>=!\-])>=", (">", "<=")),
    (r"==", ("!=",)),
    (r"!=", ("==",)),
    (r" < ", (" <= ", " > ")),
    (r" > ", (" >= ", " < ")),
    (r"&&", ("||",)),
    (r"\|\|", ("&&",)),
    (r" \+ ", (" - ",)),
    (r" - ", (" + ",)),
    (r" \* ", (" + ",)),
    (r"\b0\b", ("1",)),
    (r"\b1\b", ("0", "2")),
    (r"\b2\b", ("1", "3")),
    (r"\btrue\b", ("false",)),
    (r"\bfalse\b", ("true",)),
    (r"if \((?!constexpr)", ("if (!(", "if (true || (", "if (false && (")),
    # A call or an assignment that is a whole line.
    (r"(?<=^  )[ ]*(?:\+\+|--)?[\w:.*>\[\]-]+(?:\(.*\)| [-+*|&^]?= [^{]*)?;$", (";",)),
]
NO_STATEMENT = re.compile(r"\s*(return|break|continue|case|default|static_assert)\b")
MOST_MEMORY = 8 << 30  # of a test that has gone astray


def is_statement(line: str) -> bool:
    """Rather than the end of one that began above."""
    return line.count("(") == line.count(")") and not NO_STATEMENT.match(line)


def mutants(text: str) -> list[tuple[int, int, str]]:
    """(begin, end, what stands there instead), outside comments, words and directives."""
    found = []
    for line in re.finditer(r".*\n", text):
        code = line[0].split("//")[0].rstrip()
        if code.startswith(("#", "using", "template")):
            continue
        code = re.sub(r'"(\\.|[^"\\])*"', lambda m: '"' + " " * (len(m[0]) - 2) + '"', code)
        for pattern, others in CHANGES:
            for place in re.finditer(pattern, code):
                if others == (";",) and not is_statement(place[0]):
                    continue
                for other in others:
                    found.append((line.start() + place.start(), line.start() + place.end(), other))
    return found


def changed(text: str, mutant: tuple[int, int, str]) -> str:
    begin, end, other = mutant
    if not other.startswith("if ("):
        return text[:begin] + other + text[end:]
    depth, at = 1, end  # of the condition's brackets
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return text[:begin] + other + text[end : at - 1] + "))" + text[at:]


def makes_again(commands: list[str], objects: set[str]) -> list[str]:
    """Those commands that link or archive one of the objects, and what is made of such archives."""
    stale, found = set(objects), []
    for command in commands:
        words = shlex.split(command)
        if "-c" in words or not stale.intersection(words):
            continue
        found.append(command)
        # A program takes what has changed in a shared library when it is loaded.
        stale.update(word for word in words if word.endswith(".a"))
    return found


def included_as(header: Path, words: list[str]) -> Path:
    """By those whose compiler looks into the folders of these words; of several the innermost counts."""
    folders = [Path(word.removeprefix("-I")) for word in words if word.startswith("-I")]
    names = [header.relative_to(each) for each in folders if header.is_relative_to(each)]
    if not names:
        raise SystemExit(f"{header} is in no folder of {shlex.join(words)}")
    return min(names, key=lambda name: len(name.parts))


class Objects:
    """The objects that the build makes of the file, made of another text; for a header, of the
    sources that include it."""

    def __init__(self, file: Path, build: Path, targets: list[str], through: list[Path] = ()):
        self.build, self.copy, self.folder = build, build / "mutant" / file.name, build / "mutant"
        listed = json.loads((build / "compile_commands.json").read_text("utf-8"))
        sources = [each.resolve() for each in through or [file]]
        entries = [each for each in listed if Path(each["file"]) in sources]
        ninja = ["ninja", "-C", str(build), "-t", "commands", *targets]
        lines = subprocess.run(ninja, capture_output=True, text=True, check=True).stdout.splitlines()
        used = {word for line in lines if " -c " not in line for word in line.split()}
        self.compiles = {}
        for each in entries:
            words = shlex.split(each["command"])
            name = words[words.index("-o") + 1]
            if name not in used:
                continue
            if through:
                self.copy = self.folder / included_as(file.resolve(), words)
                words.insert(-1, f"-iquote{self.folder}")  # which comes before -I
            words = [str(self.copy) if word == str(file.resolve()) else word for word in words]
            words = words[Path(words[0]).name == "ccache" :]
            # Without lines and columns the same code is the same object.
            self.compiles[name] = [*words, "-g0", f"-iquote{file.resolve().parent}"]
        self.links = makes_again(lines, set(self.compiles))
        if not self.links:
            raise SystemExit(f"{file} is in none of {targets}")
        self.copy.parent.mkdir(parents=True, exist_ok=True)
        for name in self.compiles:
            shutil.copy2(build / name, self.kept(name))

    def kept(self, name: str) -> Path:
        return self.folder / name.replace("/", "_")

    def make(self, text: str) -> list[bytes] | None:
        """The objects; nothing where the text does not compile."""
        self.copy.write_text(text, "utf-8")
        for command in self.compiles.values():
            if subprocess.run(command, cwd=self.build, capture_output=True).returncode != 0:
                return None
        return [(self.build / name).read_bytes() for name in self.compiles]

    def link(self) -> None:
        for command in self.links:
            subprocess.run(command, cwd=self.build, shell=True, check=True, capture_output=True)

    def put_back(self) -> None:
        for name in self.compiles:
            shutil.copy2(self.kept(name), self.build / name)
        self.link()


def passes(command: str, seconds: float) -> bool:
    limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    process = subprocess.Popen(
        shlex.split(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, preexec_fn=limit, env={**os.environ, "GTEST_FAIL_FAST": "1"},
    )  # fmt: skip
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:  # also what it has left running
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def seconds_of(tests: list[str]) -> dict[str, float]:
    """How long each may take."""
    limits = {}
    for test in tests:
        begin = time.monotonic()
        if not passes(test, 600):
            raise SystemExit(f"fails without a change: {test}")
        limits[test] = 10 + 5 * (time.monotonic() - begin)
    return limits


def unreached(coverage: Path | None, file: Path) -> set[int]:
    """Lines of code that no test reaches."""
    if coverage is None:
        return set()
    files = json.loads(coverage.read_text("utf-8"))["files"]
    of_file = [each for each in files if file.resolve().as_posix().endswith("/" + each["file"])]
    counts = collections.Counter()
    for line in (line for each in of_file for line in each["lines"]):
        counts[line["line_number"]] += line["count"]
    return {line for line, count in counts.items() if count == 0}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--through", type=Path, nargs="+", default=[])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--targets", nargs="+", required=True)
    parser.add_argument("--test", nargs="+", required=True)
    parser.add_argument("--most", type=int, default=1000, help="that count")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--coverage", type=Path)
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    text = options.file.read_text("utf-8")
    chosen = mutants(text)
    random.Random(options.seed).shuffle(chosen)
    record = {}
    if options.record and options.record.exists():
        record = json.loads(options.record.read_text("utf-8"))
    dark = unreached(options.coverage, options.file)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # through what puts the objects back
    objects = Objects(options.file, options.build.resolve(), options.targets, options.through)
    counts = collections.Counter()
    try:
        same = objects.make(text)
        objects.link()
        limits = seconds_of(options.test)
        for mutant in chosen:
            if counts["seen"] + counts["not seen"] + counts["not reached"] == options.most:
                break
            line = text.count("\n", 0, mutant[0]) + 1
            lines = changed(text, mutant).splitlines()
            key = f"{text.splitlines()[line - 1].strip()} -> {lines[line - 1].strip()}, {mutant[0]}"
            verdict = record.get(key)
            if verdict not in ("seen", "same code", "does not compile"):
                verdict = "not reached" if line in dark else None
            if verdict is None:
                made = objects.make(changed(text, mutant))
                if made is None or made == same:
                    verdict = "same code" if made else "does not compile"
                else:
                    objects.link()
                    right = all(passes(test, limits[test]) for test in options.test)
                    verdict = "not seen" if right else "seen"
            record[key] = verdict
            counts[verdict] += 1
            if verdict in ("not seen", "not reached"):
                print(f"{options.file}:{line}: {verdict}: {key.rpartition(',')[0]}", flush=True)
            if options.record:
                options.record.write_text(json.dumps(record, indent=0), "utf-8")
    finally:
        objects.put_back()
    tried = counts["seen"] + counts["not seen"] + counts["not reached"]
    print(f"{options.file}: {counts['seen']} of {tried} seen, {100 * counts['seen'] // max(1, tried)} %; "
          f"{counts['same code']} the same code, {counts['does not compile']} do not compile; "
          f"{len(chosen)} there are; seed {options.seed}")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
