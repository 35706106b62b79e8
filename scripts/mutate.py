# SPDX-License-Identifier: Apache-2.0
"""Changes a source file in one place at a time and counts how many changes its tests see.

    mutate.py FILE --build BUILD_DIR --targets TARGET... --test COMMAND... [--most N] [--seed SEED]

A change turns a comparison, a sign, a condition or a small constant into another. One that does not
compile counts for nothing; one that no test sees is printed, to be answered by a test or by a reason. A
test that takes longer than --seconds has seen it. The file is put back in the end.
"""

import argparse
import random
import re
import shlex
import signal
import subprocess
import sys
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
]


def mutants(text: str) -> list[tuple[int, int, str]]:
    """(begin, end, what stands there instead), outside comments, words and directives."""
    found = []
    for line in re.finditer(r".*\n", text):
        code = line[0].split("//")[0]
        if code.startswith(("#", "using", "template")):
            continue
        code = re.sub(r'"(\\.|[^"\\])*"', lambda m: '"' + " " * (len(m[0]) - 2) + '"', code)
        for pattern, others in CHANGES:
            for place in re.finditer(pattern, code):
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


def run(command: list[str], seconds: int) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=seconds).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def seen(options) -> bool | None:
    """Whether a test fails; nothing where the change does not compile."""
    if not run(["cmake", "--build", options.build, "--target", *options.targets], 900):
        return None
    return not all(run(shlex.split(test), options.seconds) for test in options.test)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--build", required=True)
    parser.add_argument("--targets", nargs="+", required=True)
    parser.add_argument("--test", nargs="+", required=True)
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    text = options.file.read_text("utf-8")
    if seen(options) is not False:
        raise SystemExit("the tests fail without a change")
    chosen = mutants(text)
    random.Random(options.seed).shuffle(chosen)
    counts = {True: 0, False: 0, None: 0}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # through what puts the file back
    try:
        for mutant in chosen[: options.most]:
            options.file.write_text(changed(text, mutant), "utf-8")
            verdict = seen(options)
            counts[verdict] += 1
            if verdict is False:
                number = text.count("\n", 0, mutant[0]) + 1
                was = text.splitlines()[number - 1].strip()
                print(f"{options.file}:{number}: not seen: {mutant[2]!r} in: {was}", flush=True)
    finally:
        options.file.write_text(text, "utf-8")
        run(["cmake", "--build", options.build, "--target", *options.targets], 900)
    tried = counts[True] + counts[False]
    print(f"{options.file}: {counts[True]} of {tried} seen, {100 * counts[True] // max(1, tried)} %; "
          f"{counts[None]} do not compile; {len(chosen)} there are; seed {options.seed}")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
