# SPDX-License-Identifier: Apache-2.0
"""Checks that the Chinese catalogues of the site are of its pages as they are now.

check_catalogues.py TEMPLATES [--update]: TEMPLATES is what sphinx-build -b gettext wrote; needs
Babel, which Sphinx brings. Every text with words of a page that has a catalogue must be translated,
no entry may be fuzzy (of a text that has changed since) or of a text that is gone. --update brings
the catalogues up to date with what is to be translated; then translate it.
check_catalogues.py --pages: the files of the pages that have catalogues, with commas between.
"""

import re
import sys
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCALE = ROOT / "docs/site/locale/zh_CN/LC_MESSAGES"
_ALWAYS = (
    "ARCHITECTURE",
    "CONFORMANCE",
    "CONTRIBUTING",
    "SECURITY",
    "build/docs/pages/cli",
    "build/docs/pages/gradients",
    "build/docs/pages/runtime_acl",
    "build/docs/pages/runtime_acl_base",
    "build/docs/pages/runtime_acl_mdl",
    "build/docs/pages/runtime_acl_meta",
    "build/docs/pages/runtime_acl_op",
    "build/docs/pages/runtime_acl_op_compiler",
    "build/docs/pages/runtime_acl_prof",
    "build/docs/pages/runtime_acl_rt",
    "build/docs/pages/runtime_aclnn_base",
    "build/docs/pages/runtime_hccl",
    "build/docs/pages/runtime_hccl_types",
    "build/docs/pages/runtime_version",
    "docs/capture",
    "docs/checks",
    "docs/clients",
    "docs/compare",
    "docs/distributed",
    "docs/distributed-gradients",
    "docs/environment",
    "docs/errors",
    "docs/faq",
    "docs/index",
    "docs/npu-smi",
    "docs/performance",
    "docs/pyacl",
    "docs/pytest",
    "docs/reliability",
    "docs/results",
    "docs/tutorials/ci",
    "docs/tutorials/error_561103",
    "docs/tutorials/wrong_gradient",
    "docs/usage",
    "src/opapi/supporting/README",
)
# An operator's page where it has a catalogue: a new operator needs none.
_ROOMS = (path.relative_to(LOCALE).with_suffix("") for path in LOCALE.glob("src/opapi/*/*/README.po"))
PAGES = (*_ALWAYS, *sorted(each.as_posix() for each in _ROOMS))

_NO_WORDS = re.compile(  # code, where links lead, tags, units
    r"`[^`]*`|\]\([^)]*\)|<[^>]*>|\b(?:us|ms|[KMG]i)\b"
)
# Headings of the page of the command line; those that end in an operator's name.
_COMMAND = re.compile(r"openaclnn(?: \w+)+")
_OF_AN_OPERATOR = re.compile(r"openaclnn (?:check|bench) \w+")
_FORMULA = re.compile(r"\\(?:frac|left|mathrm|sum|text)\b")  # formula.py has its words


def has_words(text: str) -> bool:
    """Whether there is something to translate: a number or a name alone is the same in Chinese."""
    if _COMMAND.fullmatch(text):
        return False
    prose = _NO_WORDS.sub("", text)
    return re.search("[A-Za-z]{2}", prose) is not None and _FORMULA.search(prose) is None


def without_new_operators(texts: list[str], entries: dict):
    """The texts, in the order of the page, but for commands of operators whose help, which follows
    the heading, has no entry: a new operator needs none."""
    is_new = False
    for before, text in pairwise(["", *texts]):
        if _COMMAND.fullmatch(before):
            is_new = _OF_AN_OPERATOR.fullmatch(before) is not None and text not in entries
        if not is_new:
            yield text


def complaints(texts: list[str], entries: dict[str, tuple[str, bool]]) -> list[str]:
    """The complaints about the entries, text: (translation, is it fuzzy), of a page of these
    texts."""
    said = [
        f"no entry for `{text}`"
        for text in without_new_operators(texts, entries)
        if text not in entries and has_words(text)
    ]
    for text, (translation, is_fuzzy) in entries.items():
        if text not in texts:
            said.append(f"`{text}` is no longer in the page")
        elif is_fuzzy:
            said.append(f"`{text}` was translated from another text")
        elif not translation:
            said.append(f"`{text}` is not translated")
        elif any(text.count(mark) != translation.count(mark) for mark in ("`", "](")):
            said.append(f"`{text}` has other code or links than its translation")
    return said


def read(path: Path):
    from babel.messages.pofile import read_po

    with path.open("rb") as file:
        return read_po(file, locale="zh_CN")


def update(path: Path, template) -> None:
    """Merges the texts of the page; what has changed a little stays, as fuzzy."""
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import write_po

    catalog = read(path) if path.is_file() else Catalog(locale="zh_CN", fuzzy=False)
    catalog.update(template)
    for each in [each.id for each in catalog if each.id and (each.fuzzy or not each.string)]:
        if not has_words(each):
            catalog.delete(each)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalog, width=100, no_location=True, omit_header=True, ignore_obsolete=True)


def main(arguments: list[str]) -> int:
    if arguments == ["--pages"]:
        print(",".join(f"{page}.md" for page in PAGES))
        return 0
    templates = Path(arguments[0])
    said = []
    for page in PAGES:
        template, path = read(templates / f"{page}.pot"), LOCALE / f"{page}.po"
        if "--update" in arguments:
            update(path, template)
        entries = read(path) if path.is_file() else ()
        found = {each.id: (each.string, each.fuzzy) for each in entries if each.id}
        texts = [each.id for each in template if each.id]
        said += [f"{path.relative_to(ROOT)}: {each}" for each in complaints(texts, found)]
    for each in said[:20]:
        print(f"check_catalogues: {each}", file=sys.stderr)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
