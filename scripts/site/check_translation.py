# SPDX-License-Identifier: Apache-2.0
"""Checks that README.zh-CN.md is of README.md as it is now.

python3 scripts/site/check_translation.py [--stamp]: each section of the translation begins with
`<!-- translation: SECTION DIGEST -->`. Where the digest is not that of the English section, that
was edited since: translate what changed, then run this with --stamp, which writes the digests.
Commands, C and CMake must be the same in both, comments aside, and so must be what sentences name.
"""

import hashlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENGLISH, CHINESE = "README.md", "README.zh-CN.md"
_MARK = re.compile(r"^<!-- translation: (?P<name>.*?)(?: (?P<digest>[0-9a-f]{12}))? -->\n", re.M)
_GENERATED = re.compile(r"<!-- Written by .*?<!-- to here -->\n", re.S)
_CODE = re.compile(r"^```[\s\S]*?^```$|(?:^ {4}.*\n)+", re.M)
_COMMENT = re.compile(r"\s+# .*")


def sections(text: str) -> dict[str, str]:
    """The parts of the English page by their headings; what stands before the first is `intro`."""
    parts = re.split(r"^## (.*)\n", text, flags=re.M)
    return dict(zip(["intro", *parts[1::2]], parts[::2], strict=True))


def sections_of_translation(text: str) -> dict[str, str]:
    """Sections of the Chinese page, by the English headings."""
    parts = _MARK.split(text)
    return dict(zip(parts[1::3], parts[3::3], strict=True))


def named(section: str) -> set[str]:
    """Texts between backquotes in sentences and tables."""
    prose = _CODE.sub("", _GENERATED.sub("", section))
    return {f"`{each}`" for each in re.findall(r"`([^`\n]+)`", prose)}


def digest(section: str) -> str:
    """The digest of the text that is written by hand."""
    return hashlib.sha256(_GENERATED.sub("", section).encode()).hexdigest()[:12]


def code(text: str) -> list[str]:
    """The lines of code, without comments of a shell."""
    found = "\n".join(_CODE.findall(_GENERATED.sub("", text))).splitlines()
    return [_COMMENT.sub("", line).rstrip() for line in found if line.strip()]


def complaints(english: str, chinese: str) -> list[str]:
    """The sections that are out of date."""
    wanted = sections(english)
    found = {mark["name"]: mark["digest"] for mark in _MARK.finditer(chinese)}
    said = [f"no section {name}" for name in wanted if name not in found]
    said += [f"section {name} is not in {ENGLISH}" for name in found if name not in wanted]
    said += [
        f"section {name} was written for another text of {ENGLISH}"
        for name, section in wanted.items()
        if name in found and found[name] != digest(section)
    ]
    said += [
        f"has the line `{there.strip()}`, expected `{here.strip()}`"
        for here, there in zip(code(english), code(chinese), strict=False)
        if here != there
    ]
    there = sections_of_translation(chinese)
    for name, section in wanted.items():
        if name in there and (other := named(section) ^ named(there[name])):
            said.append(f"section {name} names {', '.join(sorted(other))} in one language alone")
    if len(code(english)) != len(code(chinese)):
        said.append(f"has {len(code(chinese))} lines of code, expected {len(code(english))}")
    return said


def stamped(english: str, chinese: str) -> str:
    """The translation with the digests of the English sections as they are."""
    wanted = sections(english)

    def mark(match: re.Match) -> str:
        name = match["name"]
        now = f" {digest(wanted[name])}" if name in wanted else ""
        return f"<!-- translation: {name}{now} -->\n"

    return _MARK.sub(mark, chinese)


def main(arguments: list[str]) -> int:
    english, page = (ROOT / ENGLISH).read_text("utf-8"), ROOT / CHINESE
    if "--stamp" in arguments:
        page.write_text(stamped(english, page.read_text("utf-8")), "utf-8")
    said = complaints(english, page.read_text("utf-8"))
    for each in said[:10]:
        print(f"check_translation: {CHINESE}: {each}", file=sys.stderr)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
