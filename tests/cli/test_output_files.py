# SPDX-License-Identifier: Apache-2.0
"""Files of results: refused before the work, replaced whole, and streams written as they are."""

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import refused, tool_command

from openaclnn.errors import Error, ExitCode, InputError
from openaclnn.files.output_files import check_writable, replace, write_text


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

    with pytest.raises(Error) as caught:
        replace(path, fail)
    assert str(caught.value) == f"cannot write {path}: No space left on device"
    assert caught.value.exit_code == ExitCode.RUNTIME
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_old_file_alone_stays_when_the_process_is_ended(tmp_path, number):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    script = (
        "import os, sys; from pathlib import Path; from openaclnn.files.output_files import replace\n"
        f"replace(Path({os.fspath(path)!r}), lambda _: os.kill(os.getpid(), {int(number)}))\n"
        "print('not ended')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (-number, "", "")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_signals_that_are_ignored_or_handled_stay_so(tmp_path):
    came = []
    for number, answer in (
        (signal.SIGTERM, lambda number, _: came.append(number)),
        (signal.SIGHUP, signal.SIG_IGN),
    ):
        before = signal.signal(number, answer)
        try:
            replace(tmp_path / "a.txt", lambda _, number=number: os.kill(os.getpid(), number))
            assert signal.getsignal(number) == answer
        finally:
            signal.signal(number, before)
    assert came == [signal.SIGTERM] and list(tmp_path.iterdir()) == [tmp_path / "a.txt"]


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    (tmp_path / "link").symlink_to("/dev/full")
    with pytest.raises(Error, match="^cannot write .*/link: No space left on device$"):
        write_text(tmp_path / "link", "text")


def test_names_as_long_as_the_file_system_has_them(tmp_path):
    path = tmp_path / ("n" * 255)
    check_writable(path)
    write_text(path, "text")
    assert path.read_text() == "text" and list(tmp_path.iterdir()) == [path]
    for name in ("n" * 256, "n" * 256 + "/out.npy", "n/" * 2100 + "out.npy"):
        for streams in (False, True):
            with pytest.raises(InputError, match="(File name too long|no folder .*), expected"):
                check_writable(tmp_path / name, streams)


def test_files_of_others_stay(tmp_path, monkeypatch):
    monkeypatch.setattr("secrets.token_hex", lambda _: "taken")
    path, other = tmp_path / "a.txt", tmp_path / ".openaclnn-taken"
    for foreign in (other, tmp_path / f".{path.name}.{os.getpid()}"):
        foreign.write_text("another's")
    with pytest.raises(Error, match="cannot write .*/a.txt: File exists"):
        write_text(path, "text")
    other.unlink()
    write_text(path, "text")
    assert path.read_text() == "text" and foreign.read_text() == "another's"


def test_permissions(tmp_path):
    """Of a new file those that the umask leaves; a file that is there keeps its own."""
    path = tmp_path / "a.txt"
    before = os.umask(0o027)
    try:
        write_text(path, "new")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        for mode in (0o600, 0o666, 0o755):
            path.chmod(mode)
            write_text(path, "again")
            assert stat.S_IMODE(path.stat().st_mode) == mode
    finally:
        os.umask(before)


def test_text_goes_into_pipes(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    check_writable(tmp_path / "link", streams=True)
    writer = threading.Thread(target=write_text, args=(tmp_path / "link", "für alle\n"))
    writer.start()
    assert (tmp_path / "fifo").read_text("utf-8") == "für alle\n"
    writer.join()
    assert (tmp_path / "fifo").is_fifo()


def test_what_is_open_is_written_where_it_stands(tmp_path):
    """Whatever name leads there; what was written before and comes later stays."""
    (tmp_path / "link").symlink_to("/dev/stdout")
    for number, name in enumerate(("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link")):
        path, said = tmp_path / name, tmp_path / f"said{number}"
        script = (
            "import os, sys; from pathlib import Path; from openaclnn.files.output_files import *\n"
            f"path = Path({str(path)!r}); os.write(1, b'before, ')\n"
            "check_writable(path, streams=True); write_text(path, 'text, '); os.write(1, b'after')"
        )
        with open(said, "w") as file:
            subprocess.run(tool_command()[:-2] + ["-c", script], stdout=file, check=True)
        assert said.read_text() == "before, text, after", name


def test_streams_of_descriptors(tmp_path):
    reading, writing = os.pipe()
    for name in (f"/dev/fd/{writing}", f"/proc/self/fd/{writing}", f"/proc/{os.getpid()}/fd/{writing}"):
        path = Path(name)
        check_writable(path, streams=True)
        with pytest.raises(InputError, match=f"{name}: cannot be replaced, expected a regular file"):
            check_writable(path)
        write_text(path, "text")
        assert os.read(reading, 100) == b"text"
    os.close(writing)
    os.close(reading)
    for streams in (False, True):
        with pytest.raises(InputError, match=f"{name}: cannot be"):
            check_writable(path, streams)


def test_memory_has_files_too():
    path = Path(f"/dev/shm/openaclnn-test-{os.getpid()}")
    check_writable(path)
    try:
        write_text(path, "text")
        assert path.is_file() and path.read_text() == "text"
    finally:
        path.unlink()


def test_a_page_and_the_summary_in_one_pipe(tool, files):
    run = tool("check", "embedding_dense_backward", *files, "--report", "/dev/stdout")
    page, _, summary = run.stdout.partition("</html>\n")
    assert (run.code, run.stderr) == (0, "") and page.startswith("<!doctype html>")
    assert "within the bound" in summary


@pytest.mark.parametrize("name", ["two\nlines", os.fsdecode(b"\xff"), "\x1b[2K"], ids=ascii)
def test_names_are_told_in_one_line(tool, files, tmp_path, name):
    said = ascii(name)[1:-1]
    operator = ("embedding_dense_backward", *files)
    assert tool("call", *operator, "--out", name).stdout == f"{said}: out float32 (4, 3)\n"
    add = tool("call", "aclnnAbs", "--self", name, "--out", f"{name}.npy")
    assert (add.code, add.stdout) == (0, f"{said}.npy: out float32 (4, 3)\n")
    drawn = tool("check", *operator, "--out", name, "--report", f"{name}.html")
    assert (drawn.code, drawn.stderr) == (0, "")
    page = (tmp_path / f"{name}.html").read_text("utf-8")
    assert page.endswith("</html>\n") and ".html&#x27;</code>" in page
    (tmp_path / name).write_text("[]")
    merged = tool("trace", "merge", name, "-o", "all.json").stdout.splitlines()
    assert merged[1] == f"note: rank 0 has no events: {said}"
    merged = tool("trace", "merge", name, "-o", f"{name}.json").stdout
    assert merged.startswith(f"{said}.json: 1 ranks")


@pytest.mark.parametrize("option", ["--figures", "--markdown"])
def test_a_benchmark_is_refused_before_it_runs(here, tmp_path, option):
    (tmp_path / "folder").mkdir()
    for path in ("nowhere/out", "folder"):
        run = here("bench", "--all", "--quick", option, tmp_path / path)
        refused(run, 2, f"{path}: ")
