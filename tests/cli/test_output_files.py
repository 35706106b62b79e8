# SPDX-License-Identifier: Apache-2.0
"""Files of results: refused before the work, replaced whole, and streams written as they are."""

import os
import threading

import pytest
from conftest import refused

from openaclnn.errors import InputError
from openaclnn.output_files import check_writable, replace, write_text


def test_check_writable(tmp_path):
    check_writable(tmp_path / "out.npy")
    for path in (tmp_path / "none" / "out.npy", tmp_path):
        for streams in (False, True):
            with pytest.raises(InputError):
                check_writable(path, streams)


def test_what_is_no_regular_file_stays(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("fifo", "link", "loop"):
        with pytest.raises(InputError, match=f"{name}: .* a regular file for the result"):
            check_writable(tmp_path / name)
    with pytest.raises(InputError, match="loop: .* a regular file for the result"):
        check_writable(tmp_path / "loop", streams=True)


def test_links_are_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    path, target = tmp_path / "a.txt", tmp_path / "folder" / "target.txt"
    path.symlink_to("folder/target.txt")
    for text in ("a new file", "one that is there"):
        check_writable(path)
        write_text(path, text)
        assert path.is_symlink() and target.read_text() == text
    path.unlink()
    path.symlink_to("none/target.txt")
    with pytest.raises(InputError, match="no folder"):
        check_writable(path)


def test_the_old_file_stays_when_writing_fails(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def fail(file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError):
        replace(path, fail)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_text_goes_into_pipes(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    check_writable(tmp_path / "link", streams=True)
    writer = threading.Thread(target=write_text, args=(tmp_path / "link", "für alle\n"))
    writer.start()
    assert (tmp_path / "fifo").read_text("utf-8") == "für alle\n"
    writer.join()
    assert (tmp_path / "fifo").is_fifo()


@pytest.mark.parametrize("option", ["--json", "--markdown"])
def test_a_benchmark_is_refused_before_it_runs(here, tmp_path, option):
    (tmp_path / "folder").mkdir()
    for path in ("nowhere/out", "folder"):
        run = here("bench", "--all", "--quick", option, tmp_path / path)
        refused(run, 2, f"{path}: ")
