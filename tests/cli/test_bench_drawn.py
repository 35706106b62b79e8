# SPDX-License-Identifier: Apache-2.0
"""The calls that models make, which `openaclnn bench --drawn` times; tests/clients/pytorch runs them."""

import json
import sys
from types import SimpleNamespace

from openaclnn.benchmark import drawn, list_tables
from openaclnn.benchmark.drawn import arguments, calls, models


def test_the_list_has_the_calls_of_ten_families():
    document = json.loads(calls.FILE.read_text("utf-8"))
    names = {each.name for each in models.FAMILIES}
    assert len(names) == 10 and list(document["families"]) == [each.name for each in models.FAMILIES]
    assert set().union(*(each["of"] for each in document["calls"])) == names
    for each in document["calls"]:
        assert sum(each["of"].values()) == each["count"] > 0
        assert arguments.elements(list(each["arguments"].values())) >= document["least_elements"]
    made = {each["call"] for each in document["calls"]}
    assert {"attention", "attention backward", "aten.convolution_backward.default", "aten.mm.default"} <= made
    assert not any("_for_cpu" in each for each in made)  # which no other device has


def test_each_call_has_a_name_of_its_own():
    found = calls.find()
    names = [each.call.name for each in found]
    assert len(set(names)) == len(names) > 300
    assert any(name.startswith("addmm.default 768, 512x768, 768x768") for name in names)


def test_elements_are_those_of_the_largest_tensor():
    tensor = {"shape": [3, 4], "dtype": "float32"}
    assert arguments.elements([tensor, 7, None, {"shape": [], "dtype": "int64"}]) == 12
    assert arguments.elements({"tensors": [[2, tensor], [1, {"shape": [5], "dtype": "float32"}]]}) == 29


def test_seven_models_are_timed_whole():
    assert len(models.WHOLE) == 7
    found = [each.name for each in drawn._whole()]
    assert found[:2] == ["GPT-2 124M 2x256, step", "GPT-2 124M 2x256, forward"] and len(found) == 14


def test_without_torch_npu_the_calls_are_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_npu", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    said = []
    drawn.measure_all(SimpleNamespace(threads=1), lambda *words: said.append(words))
    ((kind, about),) = said
    assert kind == "about" and [each.peer for each in about["missing"]] == ["torch-npu"]


def drawn_row(name: str, ratio: float, of: dict, counts: bool = True) -> dict:
    spread = {"median": 1e-3, "low": 1e-3, "high": 1e-3, "calls": 5}
    return {
        "call": name, "dtype": "float32", "threads": 2, "state": "cold", "count": 3, "of": of,
        "times": {"npu": spread, "cpu": spread}, "ratio": dict.fromkeys(("value", "low", "high"), ratio),
        "counts": counts,
    }  # fmt: skip


def test_tables_have_a_mean_of_each_family():
    found = [drawn_row("add", 4.0, {"a": 1, "b": 2}), drawn_row("mul", 0.25, {"a": 1}),
             drawn_row("sub", 0.1, {"a": 1}, counts=False), drawn_row("model, step", 1.0, {})]  # fmt: skip
    _, families, _, slow, _, everything = list_tables.of_drawn(found)
    assert families.splitlines()[2:] == ["| a | 2 | cold | 2 | 1 |", "| b | 2 | cold | 1 | 4 |"]
    assert [line.split("|")[1].strip() for line in slow.splitlines()[2:]] == ["mul"]
    assert len(everything.splitlines()) == 2 + len(found)
    assert list_tables.of_drawn([]) == []
