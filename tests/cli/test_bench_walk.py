# SPDX-License-Identifier: Apache-2.0
"""`openaclnn bench --walk`: a row for each record, beside NumPy here. No time is judged."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import refused, run_tool

from openaclnn.benchmark import document, list_tables, row
from openaclnn.benchmark.walk import counterparts, rows, source
from openaclnn.errors import InputError

QUICK = ("bench", "--walk", "--quick", "--threads", "1")
PYTHON = {"OPENACLNN_BENCH_PYTHON": sys.executable}  # that of the tests: it has no peers
ASKED = ("exp", "aclnnDropoutGenMask", "foreach_add_list_v2")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The document of a quick walk, and what was printed."""
    folder = tmp_path_factory.mktemp("walk")
    operators = [word for each in ASKED for word in ("--operator", each)]
    run = run_tool(folder, *QUICK, *operators, "--figures", "w.json", "--markdown", "w.md", **PYTHON)
    assert run.code == 0, run
    return document.read(folder / "w.json"), (folder / "w.md").read_text(), run.stdout


def test_a_row_for_each_record(found):
    written, text, _ = found
    by_name = {each["operator"]: each for each in written["walk"]}
    assert not written["refused"] and not written["rows"] and not written["roofs"]
    assert list(by_name) == ["aclnnExp", "aclnnForeachAddListV2", "aclnnDropoutGenMask"]
    peers = {name: each["peer"] for name, each in by_name.items()}
    assert peers["aclnnExp"] == "numpy" and peers["aclnnDropoutGenMask"] in ("numpy", "roof")
    exp = by_name["aclnnExp"]
    assert exp["shapes"] == "1024x2048 -> 1024x2048" and exp["by"] == "np.exp(self)"
    assert exp["read_bytes"] == exp["write_bytes"] == 4 * 1024 * 2048
    for each in by_name.values():
        assert each["times"][row.OURS]["median"] > 0 and each["state"] == "cold" and each["roof_share"] > 0
        assert each["ratio"]["low"] <= each["ratio"]["value"] <= each["ratio"]["high"]
        assert f"| {each['operator']}" in text
    assert [each["operator"] for each in written["means"]] == ["all records, 1 threads"]


def test_the_slowest_are_printed(found):
    _, text, printed = found
    assert printed.startswith("w.md: the tables\n")
    for title in ("## The slowest 20 records beside PyTorch", "## Records without PyTorch beside them"):
        assert title in printed and title in text
    assert "## All records" in text and "## All records" not in printed


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--walk", "--operator", "exq"), "no record 'exq'"),
        (("--walk", "--all"), "expected an operator, --all, --walk, --drawn, or --compare"),
        (("--walk", "--dtype", "int8"), "--dtype is int8, expected one of float32"),
        (("--walk", "--plots", "p"), "--plots is of --all"),
    ],
)
def test_refusals(here, arguments, part):
    refused(here("bench", *arguments), 2, part)


def test_a_walk_needs_the_records(monkeypatch, tmp_path):
    monkeypatch.setattr(source, "_ROOT", tmp_path)
    with pytest.raises(InputError, match="needs the records, expected the tool of a clone"):
        source.checked([])


def test_what_works_in_place_is_walked_once():
    names = {each.name for each in source.records()}
    assert {"Exp", "InplaceCopy", "InplaceFillScalar"} <= names and "InplaceExp" not in names
    assert set(counterparts.COUNTERPARTS) <= names


def record_of(topic: str, value: np.ndarray):
    return SimpleNamespace(record=SimpleNamespace(topic=topic), has_room=False), [value]


def test_only_what_computes_the_same_is_a_peer():
    walked, expected = record_of("elementwise", np.arange(1.0, 9.0))
    assert rows._tried(lambda: np.arange(1.0, 9.0), walked, expected) > 0
    assert rows._tried(lambda: (None, np.arange(1.0, 9.0)), walked, [np.zeros(1), *expected]) > 0
    for other in (np.arange(9.0, 1.0, -1.0), np.zeros(3), None, np.arange(1.0, 9.0)[:0]):
        assert rows._tried(lambda other=other: other, walked, expected) is None
    assert rows._tried(lambda: 1 / 0, walked, expected) is None
    walked.has_room = True
    assert rows._tried(lambda: np.arange(1.0, 4.0), walked, expected) > 0
    walked, expected = record_of("random", np.zeros(8))
    assert rows._tried(lambda: np.ones(8), walked, expected) > 0


def test_a_peer_that_takes_long_is_none(monkeypatch):
    monkeypatch.setattr(rows, "_MOST_SECONDS", 0.05)
    walked, expected = record_of("elementwise", np.ones(1))

    def slow():
        sum(range(10**8))
        return np.ones(1)

    assert rows._tried(slow, walked, expected) is None


def walked_row(name: str, peer: str, ratio: float, share: float) -> dict:
    spread = {"median": 1e-3, "low": 1e-3, "high": 1e-3, "calls": 5}
    times = {row.OURS: spread} | ({peer: spread} if peer != "roof" else {})
    return {
        "operator": name, "shapes": "4 -> 4", "dtype": "float32", "threads": 2, "state": "cold", "peer": peer,
        "by": "", "times": times, "ratio": dict.fromkeys(("value", "low", "high"), ratio),
        "roof_share": share, "counts": True,
    }  # fmt: skip


def test_tables_name_the_slowest_first():
    walked = [walked_row(f"aclnn{k:02}", "torch", 2 - k / 20, 0.5) for k in range(30)]
    walked += [walked_row("aclnnAlone", "roof", 0.05, 0.05), walked_row("aclnnNear", "numpy", 3.0, 0.2)]
    _, slowest, _, alone, _, everything = list_tables.of_walk(walked)
    names = [line.split("|")[1].strip() for line in slowest.splitlines()[2:]]
    assert names == [f"aclnn{k:02}" for k in range(29, 9, -1)]
    assert [line.split("|")[1].strip() for line in alone.splitlines()[2:]] == ["aclnnAlone"]
    assert len(everything.splitlines()) == 2 + len(walked)
    assert list_tables.of_walk([]) == []
