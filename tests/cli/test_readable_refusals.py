# SPDX-License-Identifier: Apache-2.0
"""Whatever a user gives, what is said of it is a line that a terminal shows as it is."""

import json

import numpy as np
import pytest
from conftest import refused, save
from test_safetensors import entry, file_of

from openaclnn.errors import Error, quoted

LONG = "x" * 2**17
STEERS = "\x1b[31ma\x9b\r\u202eb"
WORST = 1500  # characters of a line: of what was given 80, of what was expected all


@pytest.mark.parametrize("given", [LONG, STEERS, "a b " * 2**15], ids=["long", "steers", "words"])
@pytest.mark.parametrize("command", [
    "{}", "trace {}", "explain {}", "list {}", "list --product {}", "call {}", "run -- {}",
    "trace summary {}", "trace merge a.npy -o {}", "replay {}", "list --{}", "bench --compare {} {}",
    "check embedding_dense_backward --shape {}", "check embedding_dense_backward --num-weights {}",
    "bench --all --threads {}", "call {}", "call aclnnAbs {}", "call aclnnAbs --self {}",
    "call aclnnAbs --self [{}", "call aclnnAbs --self random:{} --out o.npy",
    "call aclnnAbs --self a.npy --out o.npy:{}", "call aclnnAbs --self a.npy --out {}/o.npy",
    "call aclnnCast --self a.npy --dtype {} --out o.npy", "call aclnnInplaceNeg --selfRef [1]{}",
    "call aclnnAbs --self x.safetensors:{} --out o.npy",
])  # fmt: skip
def test_arguments(here, tmp_path, command, given):
    save(tmp_path / "a.npy", np.zeros(2, np.float32))
    (tmp_path / "x.safetensors").write_bytes(file_of({"a": entry()}, bytes(8)))
    run = here(*(each.format(given) for each in command.split()))
    refused(run, 4 if "[Errno 36]" in run.stderr else 2)
    assert len(run.stderr) < WORST + 2 * len(str(tmp_path)) and run.stderr[:-1].isprintable()


@pytest.mark.parametrize("header", [
    {"a": entry(LONG)},
    {LONG: entry("F8"), "a": entry()},
    {STEERS: entry(), "b": entry()},
    {f"t{k}": entry() for k in range(20_000)},
    {"a": LONG},
    {"a": entry(shape=[1] * 2**17)},
    {"a": entry(shape=[2**62] * 2**17)},
], ids=range(7))  # fmt: skip
def test_safetensors(here, tmp_path, header):
    (tmp_path / "x.safetensors").write_bytes(file_of(header, bytes(8)))
    run = here("call", "aclnnAbs", "--self", "x.safetensors:no", "--out", "o.npy")
    refused(run, 2, "x.safetensors: ")
    assert len(run.stderr) < WORST and run.stderr[:-1].isprintable()


def test_names_of_a_trace(here, tmp_path):
    event = {"ph": "X", "cat": STEERS, "name": STEERS + LONG, "ts": 1, "dur": 1}
    (tmp_path / "t.json").write_text(json.dumps([event]))
    run = here("trace", "summary", "t.json")
    assert run.code == 0 and all(map(str.isprintable, run.stdout.splitlines())), run
    assert r"\x1b[31ma\x9b\r" in run.stdout and len(run.stdout) < 2000


def test_quoted():
    assert quoted("short, \u4e2d\u6587") == "short, \u4e2d\u6587"
    assert quoted("a\nb\x1b\udcff") == r"a\nb\x1b\udcff"
    assert quoted(LONG) == "x" * 77 + "..." and len(quoted("\0" * 80)) == 80
    assert str(Error("of a path\n")) == r"of a path\n"
