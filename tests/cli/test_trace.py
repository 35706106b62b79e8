# SPDX-License-Identifier: Apache-2.0
"""The summary of a trace: its figures, a real trace, and files that are none."""

import json
import sys
import textwrap

import pytest
from conftest import refused

from openaclnn.tool.traces import trace_plot
from openaclnn.tool.traces.trace import Event, Row, Summary

EVENTS = [
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "main"}},
    {"ph": "X", "cat": "call", "name": "aclrtMemcpy", "pid": 1, "tid": 1, "ts": 100.5, "dur": 2.0,
     "args": {"kind": "host to device", "bytes": 4000}},
    {"ph": "X", "cat": "call", "name": "aclrtMemcpy", "pid": 1, "tid": 1, "ts": 110, "dur": 4,
     "args": {"code": 107000}},
    {"ph": "X", "cat": "call", "name": "aclInit", "pid": 1, "tid": 1, "ts": 0.5, "dur": 18,
     "args": {}},
    {"ph": "X", "cat": "task", "name": "aclnnEmbedding", "pid": 1, "tid": 9, "ts": 200, "dur": 50,
     "args": {"bytes_read": 60000, "bytes_written": 40000, "operands": {"out": "FLOAT (1)"}}},
    {"ph": "X", "cat": "task", "name": "record event", "pid": 1, "tid": 9, "ts": 990.5, "dur": 10},
]  # fmt: skip


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(EVENTS))
    return path


def test_figures(tool, trace):
    run = tool("trace", "summary", trace, "--json")
    assert (run.code, run.stderr) == (0, "")
    assert run.json["seconds"] == pytest.approx(1e-3)
    rows = run.json["rows"]
    assert [(row["kind"], row["name"], row["calls"]) for row in rows] == [
        ("task", "aclnnEmbedding", 1),
        ("task", "record event", 1),
        ("call", "aclInit", 1),
        ("call", "aclrtMemcpy", 2),
    ]
    copies = rows[3]
    expected = {"total": 6e-6, "mean": 3e-6, "min": 2e-6, "max": 4e-6, "share": 0.25}
    assert {key: copies[key] for key in expected} == pytest.approx(expected)
    assert copies["gigabytes_per_second"] == pytest.approx(2)  # of those that say their bytes
    assert rows[0]["gigabytes_per_second"] == pytest.approx(2)
    assert rows[0]["share"] == pytest.approx(50 / 60)
    assert rows[1]["gigabytes_per_second"] is None


def test_waiting_is_not_work(tool, trace):
    """A stream that waits for an event takes nothing from the tasks' shares, and has rows of its own."""
    wait = {"ph": "X", "cat": "wait", "name": "wait for event", "pid": 1, "tid": 9, "ts": 300, "dur": 540}
    trace.write_text(json.dumps([wait, *EVENTS, wait | {"ts": 900, "dur": 60}]))
    rows = tool("trace", "summary", trace, "--json").json["rows"]
    assert [(row["kind"], row["name"]) for row in rows] == [
        ("task", "aclnnEmbedding"), ("task", "record event"), ("wait", "wait for event"),
        ("call", "aclInit"), ("call", "aclrtMemcpy"),
    ]  # fmt: skip
    assert [row["share"] for row in rows[:3]] == pytest.approx([50 / 60, 10 / 60, 1])
    assert (rows[2]["calls"], rows[2]["total"]) == (2, pytest.approx(600e-6))
    printed = tool("trace", "summary", trace).stdout
    assert "of all waits of streams" in " ".join(printed.split())


def test_waits_of_a_real_trace(new_tool, tmp_path):
    """A second stream waits while the first one computes."""
    program = """
        from openaclnn.native import runtime
        import ctypes
        started = runtime.start()
        first, second = runtime.Stream(started), runtime.Stream(started)
        event = ctypes.c_void_p()
        started.kit.call("aclrtCreateEvent", ctypes.byref(event))
        started.kit.call("aclrtRecordEvent", event, first.handle)
        started.kit.call("aclrtStreamWaitEvent", second.handle, event)
        second.synchronize()
    """
    run = new_tool("run", "--", sys.executable, "-c", textwrap.dedent(program), OPENACLNN_TRACE="t.json")
    assert run.code == 0, run
    rows = new_tool("trace", "summary", "t.json", "--json").json["rows"]
    kinds = {row["name"]: row["kind"] for row in rows}
    assert (kinds["record event"], kinds["wait for event"]) == ("task", "wait")


@pytest.mark.parametrize(
    ("columns", "left_out"),
    [("110", ""), ("100", "min"), ("90", "min, max"), ("80", "min, max, mean"),
     ("76", "min, max, mean, GB/s")],
)
def test_names_and_figures_are_whole_in_narrow_windows(tool, tmp_path, columns, left_out):
    name = "aclnnWeightQuantBatchMatmulV2GetWorkspaceSize"
    path = tmp_path / "t.json"
    path.write_text(json.dumps([EVENTS[1] | {"name": name, "dur": 1.25}, *EVENTS[1:]]))
    printed = tool("trace", "summary", path, COLUMNS=columns).stdout
    assert max(map(len, printed.splitlines())) <= int(columns)
    assert {name, "aclrtMemcpy", "aclnnEmbedding", "1.25", "83.3%"} <= set(printed.split())
    head, words = printed.splitlines()[0].split(), " ".join(printed.split())
    names = "kind name calls total mean min max share GB/s".split()
    assert head == [each for each in names if each not in left_out.split(", ")]
    assert ("want of room" in words) == bool(left_out)
    assert not left_out or f" for want of room: {left_out}; --json" in words


def test_table(tool, trace):
    run = tool("trace", "summary", trace)
    assert (run.code, run.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in run.stdout.splitlines()]
    assert "task aclnnEmbedding 1 50 us 50 us 50 us 50 us 83.3% 2" in lines
    assert "aclrtMemcpy 2 6 us 3 us 2 us 4 us 25.0% 2" in lines
    assert "1 ms in all." in run.stdout


def test_plot(tool, trace, tmp_path):
    """Each name is in the picture, with its time; the table is printed all the same."""
    run = tool("trace", "summary", trace, "--plot", "t.svg")
    assert (run.code, run.stderr) == (0, "") and "aclnnEmbedding" in run.stdout
    picture = (tmp_path / "t.svg").read_text()
    for words in ("aclnnEmbedding (task)", "aclrtMemcpy (call)", "50 us, 1 x", "6 us, 2 x", "1 ms in all"):
        assert words in picture, words
    again = tool("trace", "summary", trace, "--plot", "again.svg", "--json")
    assert again.json["rows"] and (tmp_path / "again.svg").read_text() == picture
    assert tool("trace", "summary", trace, "--plot", "t.png").code == 0
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")


def test_plots_that_cannot_be(tool, trace, tmp_path):
    refused(tool("trace", "summary", trace, "--plot", "t.gif"), 2, "--plot is t.gif, expected a file")
    refused(tool("trace", "summary", trace, "--plot", "no/t.svg"), 2, "no/t.svg: no folder no")
    trace.write_text("[]")
    assert tool("trace", "summary", trace, "--plot", "t.svg").code == 0
    trace.write_text("{")
    refused(tool("trace", "summary", trace, "--plot", "u.svg"), 2, "t.json is not a trace")
    assert not (tmp_path / "u.svg").exists()


def test_pieces_of_a_plot():
    """What is nearer than a thousandth of the whole is one piece; none is too narrow to be seen."""
    events = [Event("task", "t", start, 0.001, 0) for start in (2.0, 2.0015, 3.0)]
    near, far = trace_plot.pieces(events, 1.0, 4.0)
    assert near == pytest.approx((1.0, 0.004)) and far == pytest.approx((2.0, 0.004))
    rows = [Row("task", str(k), 1, 1, 1, 1, 1, 0.1, None) for k in range(30)]
    rows += [Row("call", "c", 1, 1, 1, 1, 1, 1, None)]
    assert [row.name for row in trace_plot.shown(Summary(1, rows))] == [*map(str, range(20)), "c"]


def test_what_other_tracers_write(tool, trace):
    trace.write_text(json.dumps({"traceEvents": EVENTS, "displayTimeUnit": "ns"}))
    assert len(tool("trace", "summary", trace, "--json").json["rows"]) == 4
    trace.write_text("[]")
    assert tool("trace", "summary", trace, "--json").json == {"seconds": 0, "rows": []}


def test_trace_of_the_tool_itself(tool, files):
    run = tool(
        "call", "embedding_dense_backward", *files, "--out", "o.npy", OPENACLNN_TRACE="t.json"
    )
    assert run.code == 0, run
    rows = tool("trace", "summary", "t.json", "--json").json["rows"]
    by_name = {(row["kind"], row["name"]): row for row in rows}
    assert by_name["task", "aclnnEmbeddingDenseBackward"]["calls"] == 1
    assert by_name["task", "aclnnEmbeddingDenseBackward"]["gigabytes_per_second"] > 0
    assert by_name["call", "aclnnEmbeddingDenseBackwardGetWorkspaceSize"]["calls"] == 1
    assert by_name["call", "aclInit"]["calls"] == 1
    for kind in ("task", "call"):
        assert sum(row["share"] for row in rows if row["kind"] == kind) == pytest.approx(1)
    for row in rows:
        assert 0 <= row["min"] <= row["mean"] <= row["max"] <= row["total"]


def test_bytes_are_of_what_is_read_and_written(new_tool, tmp_path):
    """An output that is updated is read too; what arguments leave unused is neither."""
    calls = """
        from openaclnn import ops
        ops.inplace_add([1.0, 2.0], [3.0, 4.0], 1)
        ops.addmm([[1.0]], [[2.0]], [[3.0]], 0.0, 1.0, cubeMathType=0)
    """
    run = new_tool("run", "--", sys.executable, "-c", textwrap.dedent(calls), OPENACLNN_TRACE="t.json")
    assert run.code == 0, run
    events = json.loads((tmp_path / "t.json").read_text())
    told = {each["name"]: each["args"] for each in events if each.get("cat") == "task"}
    moved = {name: (told[name]["bytes_read"], told[name]["bytes_written"]) for name in told}
    assert moved["aclnnInplaceAdd"] == (32, 16) and moved["aclnnAddmm"] == (16, 8)


def test_a_missing_file(tool, tmp_path):
    refused(tool("trace", "summary", "no.json"), 2, "no.json: No such file", "expected a trace")
    refused(tool("trace", "summary", tmp_path), 2, "Is a directory")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        json.dumps(EVENTS).encode()[:-20],
        b"[" * 100_000,
        b"3",
        b"{}",
        b"[1]",
        b'[{"name": "no ph"}]',
        b'[{"ph": "X", "name": "no times"}]',
        b'[{"ph": "X", "name": "n", "ts": "1", "dur": 1}]',
        b'[{"ph": "X", "name": "n", "ts": 1, "dur": -1}]',
        b'[{"ph": "X", "name": "n", "ts": NaN, "dur": 1}]',
        b'[{"ph": "X", "name": "n", "ts": 1, "dur": 1' + b"0" * 400 + b"}]",
        b'[{"ph": "X", "name": "n", "ts": 1, "dur": 1, "args": 3}]',
        b'[{"ph": "X", "name": "n", "ts": 1, "dur": 1, "args": {"bytes": true}}]',
        b'[{"ph": "X", "name": "n", "ts": 1, "dur": 1, "args": {"bytes": 1' + b"0" * 300 + b"}}]",
        b'[{"ph": "X", "name": "\\ud800", "ts": 1, "dur": 1}]',
    ],
    ids=range(17),
)
def test_a_damaged_file(tool, tmp_path, content):
    (tmp_path / "t.json").write_bytes(content)
    refused(tool("trace", "summary", "t.json"), 2, "t.json is not a trace")


def test_help_has_an_example(tool):
    for arguments in (("trace",), ("trace", "summary")):
        run = tool(*arguments, "--help")
        assert run.code == 0 and "openaclnn trace summary t.json" in " ".join(run.stdout.split())
