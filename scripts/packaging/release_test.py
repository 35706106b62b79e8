# SPDX-License-Identifier: Apache-2.0
"""The release's notes, its date, and what is printed to publish it."""

import datetime
import re
import subprocess

import pytest
import release
from release import Wrong

LOG = """# Changelog

## 0.3.0 - not released yet

The third
release.

### Added

- One line of [the page](docs/page.md#part) and
  of [a site](https://example.org/a).
  - Within it.
- Another.

### Fixed

- A third.

## 0.2.0 - 2026-12-24

### Removed

- All.
"""


def test_the_notes_are_one_section_with_a_paragraph_a_line():
    assert release.notes(LOG, "0.3.0").splitlines() == [
        "The third release.",
        "",
        "### Added",
        "",
        "- One line of the page and of [a site](https://example.org/a).",
        "  - Within it.",
        "- Another.",
        "",
        "### Fixed",
        "",
        "- A third.",
    ]
    assert release.notes(LOG, "0.2.0") == "### Removed\n\n- All.\n"


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("0.3.0 - not", "0.3.1 - not", "says nothing of 0.3.0"),
        ("0.2.0 - 2026-12-24", "0.2.0, 24 December 2026", "'## 0.2.0, 24 December 2026', expected"),
        ("### Fixed", "### Added", "0.3.0: the parts are ['Added', 'Added'], expected"),
        ("### Fixed", "### Mended", "0.3.0: the parts are ['Added', 'Mended'], expected"),
        (LOG[LOG.index("The third") : LOG.index("## 0.2.0")], "", "says nothing of 0.3.0"),
    ],
)
def test_a_section_that_is_none_is_named(old, new, words):
    with pytest.raises(Wrong, match=re.escape(words)):
        release.notes(LOG.replace(old, new), "0.3.0")


def test_the_date_goes_to_both_files_once():
    day = datetime.date(2027, 1, 2)
    log, citation = release.dated(LOG, "title: a\nversion: 0.3.0\nlicense: b\n", "0.3.0", day)
    assert log == LOG.replace("not released yet", "2027-01-02")
    assert citation == "title: a\nversion: 0.3.0\ndate-released: 2027-01-02\nlicense: b\n"
    with pytest.raises(Wrong, match="0.3.0 is dated already: 2027-01-02"):
        release.dated(log, citation, "0.3.0", day)


def test_what_is_printed_to_publish():
    files = ["dist/a.whl", "dist/b.tar.gz", "dist/notes.md"]
    tag, push, twine, github = release.commands("0.3.0", "2027-01-02", files, [])
    assert tag == "git tag -a v0.3.0 -m 'openaclnn 0.3.0'" and push == "git push origin v0.3.0"
    assert twine.endswith("twine upload dist/a.whl dist/b.tar.gz")
    assert github.endswith(" --notes-file dist/notes.md dist/a.whl dist/b.tar.gz")
    undated = release.commands("0.3.0", release.UNDATED, files, ["x"])
    assert undated[0].startswith(".venv/bin/python scripts/packaging/release.py --date ")
    changed = release.commands("0.3.0", "2027-01-02", files, ["x"])
    assert "not committed: x" in changed[0]
    for each in (undated, changed):
        assert each[-1] == "make release" and not re.search("upload|push|gh ", "".join(each))


def test_each_command_is_shell():
    for day in (release.UNDATED, "2027-01-02"):
        text = "\n".join(release.commands("0.3.0", day, ["dist/a b.whl", "dist/notes.md"], []))
        assert subprocess.run(["bash", "-n", "-c", text], capture_output=True).stderr == b""


def test_the_changelog_has_the_form_and_this_version_first():
    found = release.sections((release.ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert next(iter(found)) == release.VERSION
    assert all(re.search(f"^### ({'|'.join(release.KINDS)})$", text, re.M) for _, text in found.values())
    assert all(day != release.UNDATED for day, _ in [*found.values()][1:])


def test_no_page_points_to_what_is_not_published():
    """A package index and a page of releases have nothing until somebody has run what is printed.

    An extra such as openaclnn[report] is for who has the package: pip takes that one.
    """
    pages = subprocess.run(
        ["git", "ls-files", "*.md", "docs/site/*.po"],
        cwd=release.ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    sign = re.compile(
        r"(pip|uv|pipx)3? (tool )?install [^\n#`]*(?<![\w./-])openaclnn(?![-\w./*\[])"
        r"|pypi\.org/project/openaclnn|/openaclnn/releases/"
    )
    assert sign.search("pip install pytest openaclnn") and sign.search("pip install openaclnn==0.2.0")
    assert not sign.search("pip install dist/openaclnn-*.whl") and "README.md" in pages
    found = [
        f"{name}: {each[0]}"
        for name in pages
        for each in sign.finditer((release.ROOT / name).read_text("utf-8"))
    ]
    assert found == []


def test_left_out_parts_are_told_and_failures_end_the_release(capfd):
    release.left_out.clear()
    release.run("echo", "a test: LEFT OUT, there is no b")
    assert release.left_out == ["a test: LEFT OUT, there is no b"]
    release.left_out.clear()
    with pytest.raises(Wrong, match="false ended with 1"):
        release.run("false")
    assert "$ echo" in capfd.readouterr().out
