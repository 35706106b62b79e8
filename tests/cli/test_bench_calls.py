# SPDX-License-Identifier: Apache-2.0
"""The calls of frameworks that the benchmark times; tests/clients/pytorch runs them."""

import sys
from types import SimpleNamespace

from openaclnn.benchmark import calls, supporting


def test_the_calls_of_frameworks():
    found = calls.find()
    assert len(found) >= 60 and len({each.name for each in found}) == len(found)
    assert any("backward" in each.name for each in found)
    assert any("bfloat16" in each.dtypes for each in found)


def test_without_torch_npu_the_calls_are_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_npu", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    said = []
    supporting.measure_all(SimpleNamespace(threads=1), lambda *words: said.append(words))
    ((kind, about),) = said
    assert kind == "about" and [each.peer for each in about["missing"]] == ["torch-npu"]
