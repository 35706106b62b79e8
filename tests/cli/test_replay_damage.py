# SPDX-License-Identifier: Apache-2.0
"""A captured call that is damaged or was edited is refused in one line, before it runs."""

import os
import shutil

import pytest
from conftest import refused
from test_replay import change

from openaclnn import replay


@pytest.fixture(autouse=True)
def _product(monkeypatch):
    """The tool sets it in its process, which is that of these tests."""
    monkeypatch.setenv("OPENACLNN_SOC", "Ascend910B1")


def damage(name):
    def cut(folder):
        file = next(folder.glob("memory*.before.bin"))
        file.write_bytes(file.read_bytes()[:-1])

    def flip(folder):
        file = next(folder.glob("memory*.before.bin"))
        contents = bytearray(file.read_bytes())
        contents[0] ^= 1
        file.write_bytes(contents)

    def lose(folder):
        next(folder.glob("memory*.before.bin")).unlink()

    def pipe(folder):
        lose(folder)
        os.mkfifo(folder / "memory0.before.bin")

    def device(folder):
        lose(folder)
        (folder / "memory0.before.bin").symlink_to("/dev/zero")

    def sparse(folder):
        os.truncate(next(folder.glob("memory*.before.bin")), 2**40)

    def no_json(folder):
        (folder / "call.json").write_text('{"format": 1,')

    def no_member(folder):
        change(folder, lambda document: document.pop("arguments"))

    def reach(folder):
        change(folder, lambda document: document["arguments"][0]["value"].update(offset=1))

    def no_memory(folder):
        change(folder, lambda document: document["arguments"][0]["value"].update(memory=9))

    def strides(folder):
        change(folder, lambda document: document["arguments"][0]["value"].update(strides=[1]))

    def number(folder):
        change(folder, lambda document: document["memory"][0].update(bytes="many"))

    def version(folder):
        change(folder, lambda document: document.update(format=2))

    def a_list(folder):
        (folder / "call.json").write_text("[]")

    return locals()[name]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("cut", "is damaged"),
        ("flip", "CRC-32"),
        ("lose", "No such file or directory, expected 24 bytes of memory"),
        ("pipe", "memory0.before.bin: a pipe, expected 24 bytes of memory in a regular file"),
        ("device", "memory0.before.bin: a device, expected 24 bytes of memory"),
        ("sparse", "is damaged: 1099511627776 bytes, expected 24"),
        ("no_json", "is damaged"),
        ("no_member", "is damaged"),
        ("reach", "grad reaches outside its memory"),
        ("no_memory", "memory 9 of"),
        ("strides", "is damaged"),
        ("number", "is damaged"),
        ("version", "format is 2, expected 1"),
        ("a_list", "format is None, expected 1"),
    ],
)
def test_damaged_captures(here, gradient, how, words):
    damage(how)(gradient)
    refused(here("replay", gradient), 2, words)


def replaced(place, value):
    """An edit of call.json: `place` is the way to what becomes `value`."""

    def edit(document):
        *path, last = place
        for each in path:
            document = document[each]
        document[last] = value

    return edit


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("format",), True),
        (("format",), 1.0),
        (("api",), "aclnn\ud800"),
        (("api",), "aclrtMalloc"),
        (("product",), "a\0b"),
        (("product",), "*/ #error"),
        (("made_by",), "*/ #error"),
        (("workspace_size",), float("inf")),
        (("phase_1", "code"), 2**80),
        (("phase_1", "message"), "\ud800"),
        (("memory", 0, "bytes"), 10**30),
        (("memory", 0, "before", "file"), '"..'),
        (("arguments", 0, "name"), "gradient"),
        (("arguments", 0, "name"), 'grad"); system("id'),
        (("arguments", 0, "kind"), "scalar_list"),
        (("arguments", 0, "kind"), {}),
        (("arguments", 0), {"name": "grad", "kind": 7, "value": None}),
        (("arguments", 0, "kind"), "string"),
        (("arguments", 0, "value", "shape"), [2.0, 3]),
        (("arguments", 0, "value", "dtype"), 9),
        (("arguments", 0, "value", "offset"), 2**63),
        (("arguments", 2, "value"), "4"),
        (("arguments", 2, "value"), -1),
        (("arguments", 2, "value"), True),
        (("arguments", 4, "value"), 1),
        (("arguments",), []),
    ],
)
def test_damaged_values(here, gradient, place, value):
    change(gradient, replaced(place, value))
    refused(here("replay", gradient), 2)


@pytest.mark.parametrize("more", [(), ("--c", "-")])
def test_arguments_are_those_of_the_declaration(here, gradient, more):
    change(gradient, lambda document: document["arguments"].insert(1, document["arguments"][0]))
    refused(here("replay", gradient, *more), 2, "(tensor grad, tensor grad, tensor indices",
            "expected (tensor grad, tensor indices, uint64 numWeights")  # fmt: skip


def test_empty_tensors_of_large_extents():
    tensor = replay.capture.Tensor(0, 4, 2, (0, 2**40, 2**40), (1, 1, 1), 0, (0,), None, 0)
    assert tensor.view(b"").size == 0


def test_errors_name_the_call_and_memory_is_loaded_call_by_call(here, gradient, tmp_path):
    """The second call's memory is missing: the first has its error before that is read."""
    calls = tmp_path / "calls"
    for name in ("a", "b"):
        shutil.copytree(gradient, calls / name)
    change(calls / "a", lambda document: document["memory"][0].update(bytes=2**50, before=None))
    next((calls / "b").glob("memory*.before.bin")).unlink()
    refused(here("replay", "calls"), 4, "calls/a: ", "aclrtMalloc")
