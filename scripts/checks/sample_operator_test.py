# SPDX-License-Identifier: Apache-2.0
"""Small trees and templates: the sample operators' script counts what git sees."""

import pytest
import sample_operator
from sample_operator import CHANGELOG, TOPICS, Change, Wrong


@pytest.fixture
def folder(tmp_path):
    """A copy of a tree that has what the samples edit."""
    source = tmp_path / "source"
    for path, text in {
        CHANGELOG: "# Changelog\n",
        **{sample_operator.records_of(kind): '[[operator]]\nname = "Abs"\n' for kind in TOPICS},
        "Makefile": "all:\n",
        ".gitignore": "/build/\n",
        "build/a.o": "object",
    }.items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text(text)
    sample_operator.git(source, "init", "-q")
    sample_operator.copy_tree(source, tmp_path / "copy")
    return tmp_path / "copy"


def test_a_room_is_one_edit(folder):
    sample_operator.add_room(folder)
    found = sample_operator.change(folder)
    assert found.edited == [CHANGELOG]
    assert "src/opapi/sample_scale/forward/op.cc" in found.new
    assert all(path.startswith(sample_operator.ROOM_PLACES) for path in found.new)


@pytest.mark.parametrize("kind", TOPICS)
def test_a_record_is_the_one_edit(folder, kind):
    sample_operator.add_record(kind, folder)
    found = sample_operator.change(folder)
    assert found.edited == [sample_operator.records_of(kind)]
    assert found.new and all(path.startswith(TOPICS[kind]) for path in found.new)
    text = (folder / found.edited[0]).read_text()
    assert text.count("[[operator]]") == 2 and text.count("SPDX") == 0


def test_all_are_added_one_after_the_other(folder, capsys):
    sample_operator.add_samples(folder)
    assert sample_operator.change(folder) == Change([], [])
    assert "1 edited: ['CHANGELOG.md']" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (Change([], [CHANGELOG, "Makefile"]), "'Makefile'] are edited, expected CHANGELOG.md"),
        (Change([], []), "[] are edited, expected CHANGELOG.md"),
        (Change(["src/CMakeLists.txt"], [CHANGELOG]), "where none belong: src/CMakeLists.txt"),
    ],
)
def test_other_edits_are_wrong(found, says):
    with pytest.raises(Wrong, match=says.replace("[", r"\[").replace("]", r"\]")):
        sample_operator.expect_edits("room", found, sample_operator.ROOM_PLACES, CHANGELOG)


def test_the_copy_follows_the_tree(folder, tmp_path):
    source = tmp_path / "source"
    (folder / "build").mkdir()
    (folder / "build/kept.o").write_text("object")
    sample_operator.add_samples(folder)
    before = (folder / "Makefile").stat().st_mtime_ns
    (source / "new.txt").write_text("new\n")
    sample_operator.copy_tree(source, folder)
    assert (folder / "new.txt").exists() and (folder / "build/kept.o").exists()
    assert not (folder / "build/a.o").exists()
    assert not (folder / "src/opapi/sample_scale/forward/op.cc").exists()
    assert (folder / CHANGELOG).read_text() == "# Changelog\n"
    assert (folder / "Makefile").stat().st_mtime_ns == before  # nothing to compile again
    assert sample_operator.change(folder) == Change([], [])
