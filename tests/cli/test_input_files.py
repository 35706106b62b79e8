# SPDX-License-Identifier: Apache-2.0
"""A pipe or a device in place of a file is refused at once: nobody may write it, or it never ends."""

import os
import resource
import signal

import numpy as np
import pytest
from conftest import refused, save

from openaclnn.files import input_files
from openaclnn.errors import InputError

READERS = [
    "call aclnnAbs --self {} --out o.npy",
    "call aclnnAbs --self {}.safetensors:a --out o.npy",
    "call embedding_dense_backward --grad a.npy --indices {} --num-weights 4 --out o.npy",
    "check embedding_dense_backward --text {}",
    "trace summary {}",
    "trace merge t.json {} -o m.json",
    "bench --compare {} t.json",
]


@pytest.fixture(autouse=True)
def some_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    for name in ("pipe", "device"):
        (tmp_path / f"{name}.safetensors").symlink_to(name)
    save(tmp_path / "a.npy", np.ones((2, 3), np.float32))
    (tmp_path / "t.json").write_text("[]")


@pytest.fixture
def limited(here):
    """The tool with 4 GiB more than this process has, for 20 seconds: a device has no end."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**32, limits[1]))
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it still waits"))
    signal.alarm(20)
    yield here
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
    resource.setrlimit(resource.RLIMIT_AS, limits)


def test_the_limit_of_addresses_is_named(limited):
    ended = limited("check", "embedding", "--shape", "90000000,90000000,90000000")
    refused(ended, 4, "out of memory", "KiB of addresses (ulimit -v)", "`ulimit -v unlimited`")


@pytest.mark.parametrize("file", ["pipe", "device"])
@pytest.mark.parametrize("command", READERS)
def test_readers(limited, tmp_path, command, file):
    run = limited(*command.format(file).split())
    refused(run, 2, f"openaclnn: {file}", f": a {file}, expected ", " in a regular file")
    assert not (tmp_path / "o.npy").exists() and not (tmp_path / "m.json").exists()


def test_a_trace_is_merged_into_a_file(limited, tmp_path):
    run = limited("trace", "merge", "t.json", "-o", "pipe")
    refused(run, 2, "pipe: cannot be replaced, expected a regular file for the result")
    assert (tmp_path / "pipe").is_fifo()


def test_what_cannot_be_read_is_refused():
    """Of a file that can be opened too."""
    with pytest.raises(InputError, match="/proc/self/mem: Input/output error, expected a text"):
        input_files.read("/proc/self/mem", "a text")
