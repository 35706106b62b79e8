# SPDX-License-Identifier: Apache-2.0
"""What a run of the benchmark leaves: its form, its tables, its plots, and two runs compared."""

import copy
import html
import json
import re
from pathlib import Path

import pytest

from openaclnn.benchmark import cases, compare, document, drawing, row, tables
from openaclnn.errors import InputError

NAMES = sorted({each.operator for each in cases.benches()})
SPREAD = {"median": 2e-3, "low": 1.9e-3, "high": 2.2e-3, "calls": 9}
RATIO = {"value": 1.5, "low": 1.2, "high": 1.8}
COUNTS = {"counts": True, "why_not": "", "busy": 0.0, "attempts": 1}


def row_of(number: int, **changed) -> dict:
    return {
        "operator": NAMES[number % 2],
        "case": f"shape {number}",
        "kind": "sweep" if number < 2 else "stated",
        "dtype": "float32",
        "threads": 2,
        "state": "cold",
        "read_bytes": 1000 + number,
        "write_bytes": 10,
        "workspace_bytes": 64,
        "roof_seconds": 1e-3,
        "roof_limit": "memory",
        "roof_share": 0.5,
        "roof_read": {**SPREAD, "median": 9.0},
        "times": {each: SPREAD for each in (row.OURS, row.SECOND_PHASE, "torch a|b")},
        "fastest_peer": "torch a|b",
        "ratio": RATIO,
        **COUNTS,
        **changed,
    }


@pytest.fixture
def written() -> dict:
    """A document of four rows and a call, as a run makes it."""
    roofs = {name: 1.0 for name in tables._ROOFS}
    call = {"call": "add", "dtype": "float32", "threads": 2, "state": "cold", "ratio": RATIO}
    rows = [row_of(number) for number in range(4)]
    supporting = [{**call, "times": {"npu": SPREAD, "cpu": SPREAD}, **COUNTS}]
    return {
        "format": document.FORMAT,
        "version": document.VERSION,
        "machine": document.machine(),
        "versions": document.versions(),
        "commit": document.commit(),
        "started": "2026-01-01T00:00:00+00:00",
        "quiet": {"quick": False, "load": [0, 0, 0], "busy": 0.0, "load_after": [0, 0, 0]},
        "roofs": [{"threads": 2, "multiply_add": 5.0, "dot_product_bfloat16": None, **roofs}],
        "rows": rows,
        "supporting": supporting,
        "walk": [],
        "drawn": [],
        "means": document.means(rows, cases.benches()) + document.call_means("supporting", supporting),
        "missing": [{"peer": "jax", "why": "not here"}],
        "refused": [{"call": "sort", "dtype": "float16", "why": "no such type"}],
        "failed": [{"what": "operators", "threads": 1, "code": -9}],
    }


def test_a_document_is_written_and_read(written, tmp_path):
    document.write(written, tmp_path / "a.json")
    assert document.read(tmp_path / "a.json") == document.plain(written)
    written["rows"][0]["roof_share"] = float("inf")  # which JSON does not have
    document.write(written, tmp_path / "a.json")
    assert document.read(tmp_path / "a.json")["rows"][0]["roof_share"] is None


def test_the_tables_say_what_was_measured_and_what_was_not(written):
    written["rows"][2] = row_of(2, counts=False, why_not="others were busy")
    written["rows"][3] = row_of(3, fastest_peer=None, ratio=None)
    text = tables.markdown(written)
    for part in (
        "4 of 5 rows count",
        "Missing: jax (not here).",
        "Refused: sort of float16 (no such type).",
        "FAILED: operators on 1 threads ended with -9.",
        f"## {NAMES[0]}",
        "| shape 2 (!) | float32 | 2 | cold | 2 ms | 2 ms | 50%, memory, 9 GB/s | torch a\\|b |",
        "| shape 3 | float32 | 2 | cold | 2 ms | 2 ms | 50%, memory, 9 GB/s | none |",
        "| add | float32 | 2 | cold | 2 ms | 2 ms | 1.50 | 1.20 to 1.80 |",
        "| supporting calls, 2 threads | cold | 1 | 1.5 | 1 |",
    ):
        assert part in text


def test_the_tables_name_what_is_below_a_target(written):
    large = {"read_bytes": 32 << 20}
    behind = {"value": 0.97, "low": 0.9, "high": 1.1}
    written["rows"] = [
        row_of(0, **large, roof_share=0.84),
        row_of(1, **large, roof_share=0.85),
        row_of(2, **large, roof_limit="FMA"),
        row_of(3, ratio=behind),
        row_of(4, ratio=behind, state="warm"),
        row_of(5, ratio=behind, counts=False),
        row_of(6, ratio=None, fastest_peer=None, roof_share=None, **large),
    ]
    call = written["supporting"][0]
    slow = {**call, "call": "slow", "ratio": {**RATIO, "value": 0.49}}
    written["supporting"] = [call, slow, {**slow, "call": "warm slow", "state": "warm"}]
    text = tables.markdown(written)
    below = text.split("## Rows below a target\n\n")[1].split("\n\n")[0].splitlines()[2:]
    roof = "memory, 9 GB/s |"
    assert below == [
        f"| {NAMES[0]} | shape 0 | float32 | 2 | torch a\\|b | 1.50 | 84%, {roof}",
        f"| {NAMES[1]} | shape 3 | float32 | 2 | torch a\\|b | 0.97 | 50%, {roof}",
    ]
    slow_calls = text.split("## Calls less than half as fast\n\n")[1].split("\n\n")[0]
    assert [line.split(" | ")[0] for line in slow_calls.splitlines()[2:]] == ["| slow"]


def test_plots(written, tmp_path):
    try:
        python = drawing.find_python()
    except drawing.Error as error:
        assert "has no matplotlib" in str(error)
        return
    drawing.draw(written, tmp_path / "plots", python)
    names = {each.name for each in Path(tmp_path / "plots").iterdir()}
    times = {f"time_{each}.svg" for each in NAMES[:2]}
    assert names == {"roof_share.svg", "ratio.svg", "calls.svg"} | times


def test_plots_say_what_is_measured(written, tmp_path):
    """Bars by size, the largest on top; a colour for each peer, with its name; ours is red."""
    pytest.importorskip("matplotlib")
    written["rows"] += [
        row_of(2, case="slow", ratio={**RATIO, "value": 0.5}, fastest_peer="jax"),
        row_of(2, case="fast", ratio={**RATIO, "value": 9.0}),
        row_of(2, case="busy", counts=False, roof_share=None),
    ]
    written["rows"][-3]["times"]["jax"] = SPREAD
    drawing.draw(written, tmp_path, drawing.find_python())
    text = (tmp_path / "ratio.svg").read_text()
    words = [html.unescape(each) for each in re.findall(r"<text [^>]*>([^<]*)</text>", text)]
    cases_shown = [each.split()[1] for each in words if " float32 2" in each]
    assert cases_shown == ["slow", "shape", "shape", "busy", "fast"], "the last is on top"
    for part in ("ours", "jax", "torch a|b"):
        assert part in words
    assert any("time of the fastest peer / our time" in each for each in words)
    assert any("does not count" in each for each in words)
    red, *peers = (to_hex(each) for each in (drawing._OURS["ours"], *drawing._PEERS_COLOURS[:2]))
    assert red in text and all(each in text for each in peers)
    shares = (tmp_path / "roof_share.svg").read_text()
    assert "busy" not in shares and "least time possible / our time" in shares
    assert "least time possible" in (tmp_path / f"time_{NAMES[0]}.svg").read_text()


def to_hex(name: str) -> str:
    from matplotlib.colors import to_hex

    return to_hex(name)


def test_what_is_no_document_is_refused(written, tmp_path):
    path = tmp_path / "a.json"
    for text, part in (
        ("{", "is not what"),
        ("[]", "is not what"),
        ("[" * 100_000, "is not what"),
        (json.dumps({**written, "version": 99}), "version 99"),
        (json.dumps({**written, "rows": None}), "no rows"),
        (json.dumps({**written, "rows": [{"operator": "x"}]}), "rows[0] has no case"),
        (json.dumps({**written, "supporting": [{}]}), "supporting[0] has no call"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=part.replace("[", r"\[")):
            document.read(path)


def scaled(written: dict, factor: float, spread: float = 0.01) -> dict:
    """The same rows with our times multiplied, every one counting."""
    changed = copy.deepcopy(written) | {"supporting": []}
    for number, each in enumerate(changed["rows"]):
        middle = (number + 1) * 1e-3 * factor
        low, high = middle * (1 - spread), middle * (1 + spread)
        each["times"][row.OURS] = {"median": middle, "low": low, "high": high, "calls": 9}
        each["counts"] = True
    return changed


def test_a_comparison_shows_ratios_with_their_spread(written, capsys):
    before, after = scaled(written, 1.0), scaled(written, 0.5)
    result = compare.compare(before, after)
    assert len(result.changes) == len(before["rows"]) and result.mean == pytest.approx(2)
    assert all(each.moved and each.ratio.low < 2 < each.ratio.high for each in result.changes)
    compare.show(result)
    shown = capsys.readouterr().out
    assert "2.00" in shown and "1.96 to 2.04" in shown and "faster" in shown
    assert "geometric mean of the 4 that count: 2.00" in shown


def test_a_comparison_takes_only_what_both_have_and_what_counts(written):
    before, after = scaled(written, 1.0), scaled(written, 1.01, spread=0.2)
    after["rows"][0]["counts"] = False
    del after["rows"][1]
    result = compare.compare(before, after)
    assert (result.only_first, result.only_second) == (1, 0)
    assert not result.changes[0].counts and not any(each.moved for each in result.changes)
    assert result.mean == pytest.approx(1 / 1.01)
    assert compare.compare(before, {**after, "rows": []}).mean is None


def test_means_are_those_of_stated_rows_that_count():
    said = {"operator": NAMES[0], "state": "cold", "kind": "stated", "counts": True}
    rows = [
        {**said, "ratio": {"value": 2.0}},
        {**said, "ratio": {"value": 8.0}},
        {**said, "ratio": {"value": 100.0}, "counts": False},
        {**said, "ratio": {"value": 100.0}, "kind": "sweep"},
        {**said, "ratio": None},
    ]
    cold, warm = document.means(rows, cases.benches([NAMES[0]]))
    assert (cold["rows"], warm["rows"], warm["mean"]) == (2, 0, None)
    assert cold["mean"] == pytest.approx(4)
