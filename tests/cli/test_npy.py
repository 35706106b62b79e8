# SPDX-License-Identifier: Apache-2.0
"""Strict reading and atomic writing of .npy files."""

import os
import resource

import ml_dtypes
import numpy as np
import pytest
from conftest import save

from openaclnn.files import input_files, npy
from openaclnn.errors import Error, ExitCode, InputError

FLOATS = ["float32", "float16", "bfloat16"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.npy"


def refusal(path, allowed=FLOATS) -> str:
    with pytest.raises(InputError) as caught:
        npy.load(path, "grad", allowed)
    assert caught.value.exit_code == ExitCode.USAGE
    message = str(caught.value)
    assert message.startswith(f"{path}: ") and "expected" in message and "\n" not in message
    return message


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, ">f4"])
@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("order", "CF")
def test_round_trip(path, dtype, shape, order):
    array = np.asarray(np.random.default_rng(6).standard_normal(shape)).astype(dtype, order=order)
    npy.save(path, array)
    read = npy.load(path, "grad", FLOATS)
    assert read.dtype == array.dtype.newbyteorder("=") and np.array_equal(read, array)
    read[...] = 0  # an array of its own


def test_not_a_npy_file(path):
    path.write_bytes(b"PK\x03\x04 a zip file")
    assert "not a .npy file, expected one of float32, float16 or bfloat16" in refusal(path)


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\x76\x00{'descr'"])
def test_no_header(path, content):
    path.write_bytes(content)
    assert "not a .npy file" in refusal(path)


def test_missing_file_and_folder(path, tmp_path):
    assert "No such file" in refusal(path)
    assert "Is a directory" in refusal(tmp_path)


def test_every_truncation(path):
    save(path, np.ones((4, 5), np.float32))
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        refusal(path)
    assert "truncated, 79 bytes of data, expected 80 for float32 (4, 5)" in refusal(path)
    path.write_bytes(whole + b"x")
    assert "too long, 81 bytes of data, expected 80" in refusal(path)


@pytest.mark.parametrize("dtype", ["int64", "float64", "O", "V3", "U4", "M8[s]", "V2,V2"])
def test_wrong_dtype(path, dtype):
    with open(path, "wb") as file:
        np.lib.format.write_array(file, np.zeros(3, dtype), allow_pickle=True)
    assert "grad dtype is" in refusal(path)
    assert refusal(path, ["bool"]).endswith("expected bool")


def test_impossible_shape(path):
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 4)}"
    path.write_bytes(with_header(header))
    refusal(path)


def with_header(header: bytes, data: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


@pytest.mark.parametrize(
    ("shape", "count"),
    [("(-1, -4)", 4), ("(-1, 0)", 0), ("(True, 4)", 4), (f"(0, {2**70})", 0), (f"({'1, ' * 70})", 1)],
)
def test_shapes_of_the_right_size_that_no_array_has(path, shape, count):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}"
    path.write_bytes(with_header(header.encode(), bytes(4 * count)))
    assert "expected one of an array" in refusal(path)


def test_a_file_that_another_process_cuts(path, monkeypatch):
    """Between the look at its length and the reading of it."""
    save(path, np.ones(8, np.float32))
    size = input_files.size

    def cut(file):
        found = size(file)
        os.truncate(path, found - 3)
        return found

    monkeypatch.setattr(input_files, "size", cut)
    assert "truncated, 29 bytes of data, expected 32 for float32 (8,)" in refusal(path)


def test_a_header_that_claims_gigabytes(path):
    """In a file that has them, as holes."""
    path.write_bytes(b"\x93NUMPY\x02\x00" + (2**32 - 1).to_bytes(4, "little"))
    os.truncate(path, 2**33)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "not a .npy file" in refusal(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20  # KiB


@pytest.mark.parametrize("header", [b"{[]: 1}", b"(" * 300, b"-" * 9000 + b"1"])
def test_headers_that_pythons_parser_refuses(path, header):
    path.write_bytes(with_header(header))
    assert "not a .npy file" in refusal(path)


def test_save_leaves_the_old_file_when_it_fails(path, tmp_path, monkeypatch):
    path.write_bytes(b"old")

    def fail(file, array, **_):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", fail)
    with pytest.raises(Error, match="cannot write .*/a.npy: No space left on device"):
        npy.save(path, np.ones(3))
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]
