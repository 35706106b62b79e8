# SPDX-License-Identifier: Apache-2.0
"""Traces of ranks in one file, and who waited for whom."""

import json

import pytest
from conftest import refused


def task(name: str, start: float, seconds: float, **arguments) -> dict:
    return {"ph": "X", "cat": "task", "name": name, "pid": 77, "tid": 9, "ts": start * 1e6,
            "dur": seconds * 1e6, "args": arguments}  # fmt: skip


def collective(number: int, start: float, seconds: float, ranks=3, rank=0) -> dict:
    said = {"communicator": "world", "rank": rank, "ranks": ranks, "number": number}
    return task("HcclAllReduce", start, seconds, **said)


def named(name: str) -> dict:
    return {"ph": "M", "name": "process_name", "pid": 77, "tid": 0, "args": {"name": name}}


STREAM = {"ph": "M", "name": "thread_name", "pid": 77, "tid": 9, "args": {"name": "stream 1"}}


@pytest.fixture
def files(tmp_path):
    """Three ranks that meet twice; once two of them only, once without an end."""
    traces = [
        [named("python"), STREAM, collective(0, 10, 3), collective(1, 20, 1), task("add", 30, 1)],
        [named("python"), collective(0, 12, 1), collective(1, 20.5, 0.5),
         collective(5, 40, 1, ranks=2), collective(7, 50, 1)],
        [collective(0, 11, 2), collective(1, 20.25, 0.75), collective(5, 40.5, 1, ranks=2)],
    ]  # fmt: skip
    for rank, events in enumerate(traces):
        for event in events:
            if "rank" in event["args"]:
                event["args"]["rank"] = rank
        (tmp_path / f"t-{rank}.json").write_text(json.dumps(events))
    return [f"t-{rank}.json" for rank in range(3)]


def test_a_row_for_each_rank(tool, files, tmp_path):
    run = tool("trace", "merge", *files, "-o", "all.json")
    assert (run.code, run.stderr) == (0, ""), run
    events = json.loads((tmp_path / "all.json").read_text())
    rows = [each for each in events if each["ph"] == "M"]
    names = {each["pid"]: each["args"]["name"] for each in rows if each["name"] == "process_name"}
    assert names == {0: "rank 0 (python)", 1: "rank 1 (python)", 2: "rank 2"}
    order = [each["args"]["sort_index"] for each in rows if each["name"] == "process_sort_index"]
    assert order == [0, 1, 2]
    assert {**STREAM, "pid": 0} in rows
    assert {**collective(0, 12, 1, rank=1), "pid": 1} in events
    assert len([each for each in events if each["ph"] == "X"]) == 10
    again = tool("trace", "summary", "all.json", "--json").json["rows"]
    assert {row["name"]: row["calls"] for row in again} == {"HcclAllReduce": 9, "add": 1}


def test_who_waited_for_whom(tool, files):
    run = tool("trace", "merge", *files, "-o", "all.json", "--json")
    assert run.json["collectives"] == 3 and run.json["notes"] == []
    waits = {(each["rank"], each["waited_for"]): each for each in run.json["waits"]}
    assert {pair: each["collectives"] for pair, each in waits.items()} == {
        (0, 1): 2, (2, 1): 2, (1, 2): 1
    }  # fmt: skip
    assert waits[0, 1]["seconds"] == pytest.approx(2 + 0.5)
    assert waits[2, 1]["seconds"] == pytest.approx(1 + 0.25)
    assert waits[1, 2]["seconds"] == pytest.approx(0.5)
    assert run.json["waits"][0]["rank"] == 0  # the longest first
    table = tool("trace", "merge", *files, "-o", "all.json").stdout
    lines = [" ".join(line.split()) for line in table.splitlines()]
    assert "0 1 2 2.5 s 1.25 s" in lines, table
    assert "3 collectives that all of their ranks have" in table


def test_traces_in_another_order(tool, files):
    run = tool("trace", "merge", files[1], files[0], files[2], "-o", "all.json", "--json")
    assert run.json["notes"] == [
        "rank 0 calls itself rank 1: t-1.json",
        "rank 1 calls itself rank 0: t-0.json",
    ]


def by(identifier: str, event: dict) -> dict:
    return {**event, "args": {**event["args"], "identifier": identifier}}


def test_communicators_of_one_name(tool, tmp_path):
    """Two programs of two devices each; then one that all of them made."""
    for rank, own in enumerate(("aa", "bb")):
        events = [by(own, collective(0, 10 + rank, 1, ranks=2, rank=each)) for each in (0, 1)]
        events.append(by("cc", collective(0, 20 + 2 * rank, 1, ranks=2, rank=rank)))
        events.append(by("dd", collective(0, 30 + 3 * rank, 1, ranks=2, rank=rank)))
        (tmp_path / f"{rank}.json").write_text(json.dumps(events))
    run = tool("trace", "merge", "0.json", "1.json", "-o", "all.json", "--json")
    assert (run.code, run.json["collectives"], run.json["notes"]) == (0, 2, []), run
    wait = {"rank": 0, "waited_for": 1, "collectives": 2, "seconds": pytest.approx(2 + 3)}
    assert run.json["waits"] == [wait]


def test_traces_without_collectives(tool, tmp_path):
    for rank in (0, 1):
        (tmp_path / f"{rank}.json").write_text(json.dumps([task("add", 1, 1)]))
    run = tool("trace", "merge", "0.json", "1.json", "-o", "all.json", "--json")
    assert (run.code, run.json["waits"], run.json["notes"]) == (0, [], [])


@pytest.mark.parametrize("said", [
    [1],
    {"communicator": "c", "number": [1], "ranks": 2},
    {"communicator": "c", "identifier": [1], "number": 1, "ranks": 2},
])
def test_arguments_of_another_kind_are_no_collective(tool, tmp_path, said):
    for rank in (0, 1):
        (tmp_path / f"{rank}.json").write_text(json.dumps([task("HcclX", 1, 1) | {"args": said}]))
    run = tool("trace", "merge", "0.json", "1.json", "-o", "all.json", "--json")
    assert (run.code, run.json["collectives"]) == (0, 0), run


def test_clocks_of_two_machines(tool, tmp_path):
    (tmp_path / "0.json").write_text(json.dumps([task("add", 100, 1)]))
    (tmp_path / "1.json").write_text(json.dumps([task("add", 900, 1)]))
    (tmp_path / "2.json").write_text("[]")
    run = tool("trace", "merge", "0.json", "1.json", "2.json", "-o", "all.json")
    text = " ".join(run.stdout.split())
    assert "rank 1 has no time in common with rank 0" in text, run
    assert "rank 2 has no events: 2.json" in text


def test_traces_of_real_ranks(tool, tmp_path):
    """Of one machine: they have a clock in common."""
    program = (
        "import ctypes, time; acl = ctypes.CDLL('libascendcl.so');"
        "acl.aclInit(None); time.sleep(0.5); acl.aclFinalize()"
    )
    command = ("run", "--ranks", "2", "--", "python3", "-S", "-c", program)
    assert tool(*command, OPENACLNN_TRACE="t-%r.json").code == 0
    run = tool("trace", "merge", "t-0.json", "t-1.json", "-o", "all.json", "--json")
    assert run.code == 0 and run.json["ranks"] == 2 and run.json["events"] > 4, run
    assert run.json["notes"] == []


def test_refusals(tool, files, tmp_path):
    (tmp_path / "broken.json").write_text("[1]")
    refused(tool("trace", "merge", files[0], "broken.json", "-o", "x.json"), 2, "is not a trace")
    refused(tool("trace", "merge", "none.json", "-o", "x.json"), 2, "none.json")
    before = (tmp_path / files[1]).read_text()
    run = tool("trace", "merge", *files, "-o", f"./{files[1]}")
    refused(run, 2, f"output is {files[1]}, one of the traces, expected another file")
    assert (tmp_path / files[1]).read_text() == before
    run = tool("trace", "merge", files[0], "-o", "no/such/x.json")
    refused(run, 2, "no/such/x.json: no folder no/such, expected one for the result")
    refused(tool("trace", "merge", files[0]), 2, "--output")
