# SPDX-License-Identifier: Apache-2.0
"""Files of safetensors: what is written is read back, and what is wrong with one is said."""

import json
import struct

import ml_dtypes
import numpy as np
import pytest

from openaclnn import dtypes
from openaclnn.files import safetensors, tensor_files
from openaclnn.errors import InputError


def file_of(header, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype="F32", shape=(2,), offsets=(0, 8)) -> dict:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def test_every_type_goes_there_and_back(tmp_path):
    path = tmp_path / "all.safetensors"
    tensors = {
        each.numpy.name: np.arange(6).reshape(2, 3).astype(each.numpy)
        for each in dtypes.all_types()
        if each.acl_name != "COMPLEX128"  # which the format has not
    }
    tensors["none"], tensors["scalar"] = np.zeros((0, 3), np.float32), np.array(2.5)
    safetensors.save(path, tensors)
    found = safetensors.entries(path)
    assert set(found) == set(tensors)
    for name, array in tensors.items():
        got = safetensors.load(path, name, found[name])
        assert got.dtype == array.dtype and got.shape == array.shape
        assert got.tobytes() == array.tobytes(), name
    assert found["bfloat16"].dtype == ml_dtypes.bfloat16


def test_a_type_that_the_format_has_not(tmp_path):
    with pytest.raises(InputError, match="a dtype is complex128, expected one of float64, "):
        safetensors.save(tmp_path / "one.safetensors", {"a": np.ones(2, np.complex128)})


def test_the_bytes_are_those_of_the_format(tmp_path):
    """The length of the header, the header to a multiple of 8 bytes, the values, little-endian."""
    path = tmp_path / "one.safetensors"
    safetensors.save(path, {"a": np.float32([1, 2])})
    written = path.read_bytes()
    (length,) = struct.unpack("<Q", written[:8])
    assert length % 8 == 0
    assert json.loads(written[8 : 8 + length]) == {"a": entry()}
    assert written[8 + length :] == np.float32([1, 2]).astype("<f4").tobytes()


def test_others_files_are_read(tmp_path):
    """With metadata, in another order than that of the names, and bfloat16."""
    path = tmp_path / "x.safetensors"
    header = {
        "__metadata__": {"format": "pt"},
        "b": entry("BF16", (1,), (8, 10)),
        "a": entry(),
    }
    path.write_bytes(file_of(header, np.float32([1, 2]).tobytes() + b"\x80\x3f"))
    assert list(safetensors.entries(path)) == ["a", "b"]
    assert tensor_files.load(f"{path}:a", "x").tolist() == [1, 2]
    assert tensor_files.load(f"{path}:b", "x").astype(float).tolist() == [1]
    assert [each.size for each in tensor_files.load_all(str(path), "x")] == [2, 1]


@pytest.mark.parametrize(
    "contents, words",
    [
        (b"", "not a .safetensors file, expected a header in front"),
        (b"\xff" * 8, "expected a header in front"),
        (struct.pack("<Q", 10) + b"{}", "expected a header in front"),
        (file_of(b"[1]"), "expected a header in JSON"),
        (file_of(b"{"), "expected a header in JSON"),
        (file_of(b"[" * 100_000), "expected a header in JSON"),
        (file_of({"a": 1}), "a is 1, expected dtype, shape and data_offsets"),
        (file_of({"a": entry("F8_E4M3")}, b"x" * 8), "a dtype is F8_E4M3, expected one of F64"),
        (file_of({"a": entry(shape=(-1,))}, b"x" * 8), r"a shape is \[-1\], expected lengths"),
        (file_of({"a": entry(shape=(True,))}, b"x" * 8), r"a shape is \[True\], expected lengths"),
        (file_of({"a": entry()}, b"x" * 7), r"data_offsets is \[0, 8\], expected 8 bytes of the 7"),
        (file_of({"a": entry(offsets=(0, 4))}, b"x" * 8), r"\[0, 4\], expected 8 bytes"),
        (file_of({"a": entry(offsets=(-8, 0))}, b"x" * 8), r"\[-8, 0\], expected 8 bytes"),
        (file_of({"a": entry(shape=(2**62, 2**62))}, b"x" * 8), r"a data_offsets is \[0, 8\]"),
    ],
)
def test_refusals(tmp_path, contents, words):
    path = tmp_path / "x.safetensors"
    path.write_bytes(contents)
    with pytest.raises(InputError, match=words):
        safetensors.entries(path)


def test_which_tensor(tmp_path):
    path = tmp_path / "x.safetensors"
    safetensors.save(path, {"weight": np.zeros(2), "bias": np.zeros(1)})
    with pytest.raises(InputError, match="has 2 tensors for x, expected .*:NAME, of weight, bias"):
        tensor_files.load(str(path), "x")
    with pytest.raises(InputError, match="has no tensor wight for x.*did you mean weight"):
        tensor_files.load(f"{path}:wight", "x")
    with pytest.raises(InputError, match="No such file or directory, expected a .safetensors"):
        tensor_files.load(str(tmp_path / "none.safetensors"), "x")


def test_a_file_is_whole_or_as_it_was(tmp_path):
    path = tmp_path / "x.safetensors"
    safetensors.save(path, {"a": np.zeros(1)})
    before = path.read_bytes()
    with pytest.raises(InputError):
        safetensors.save(path, {"a": np.array(["text"])})
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
