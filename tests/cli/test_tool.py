# SPDX-License-Identifier: Apache-2.0
"""The command-line tool as its users run it: results, refusals, exit codes."""

import itertools
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pytest
import typer.main
from conftest import refused, save

from openaclnn import __version__
from openaclnn.tool import cli
from openaclnn.native.call import Call
from openaclnn.operators import FORWARDS, OPERATORS

OPERATOR = "embedding_dense_backward"  # to test the tool with; any would do
GRAD = ("call", OPERATOR)
CHECK = ("check", OPERATOR)
EXAMPLE = np.array([[0, 0, 0], [1, 2, 3], [4, 5, 6], [0, 0, 0]])


def test_worked_example(tool, files, tmp_path):
    run = tool(*GRAD, *files, "--out", "out.npy")
    assert (run.code, run.stderr) == (0, "")
    assert "out.npy: out float32 (4, 3)" in run.stdout
    out = np.load(tmp_path / "out.npy")
    assert out.dtype == np.float32 and np.array_equal(out, EXAMPLE)


def test_check_prints_a_table(tool, files):
    run = tool(*CHECK, *files)
    assert run.code == 0 and "within the bound" in run.stdout and "99.9 %" in run.stdout


def test_the_worst_elements_fit_80_columns(here, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = here("check", OPERATOR, "--shape", "400,90,70").stdout.splitlines()
    (head,) = [place for place, line in enumerate(lines) if line.split()[:1] == ["worst"]]
    assert max(map(len, lines)) <= 80
    for row in [line.split() for line in lines[head + 2 :] if line.strip()]:
        assert len(row) == 7 and all(float(each) for each in row[2:]), "numbers are whole"


def test_check_of_a_file_finds_the_element_that_is_off(tool, book, tmp_path):
    inputs = ["--text", book, "--width", "8"]
    assert tool(*GRAD, *inputs, "--out", "out.npy").code == 0
    assert tool(*CHECK, *inputs, "--out", "out.npy").code == 0
    out = np.load(tmp_path / "out.npy")
    out[3, 5] += 0.5
    save(tmp_path / "out.npy", out)
    run = tool(*CHECK, *inputs, "--out", "out.npy", "--json")
    assert run.code == 1 and not run.json["ok"]
    (result,) = run.json["results"]
    assert result["outside"] == 1 and result["worst"][0]["coordinates"] == [3, 5]
    save(tmp_path / "out.npy", np.full_like(out, np.nan))
    (result,) = tool(*CHECK, *inputs, "--out", "out.npy", "--json").json["results"]
    assert result["worst"][0]["got"] == "nan" and result["bound_ratio"] == "inf"
    assert "OUTSIDE the bound" in tool(*CHECK, *inputs, "--out", "out.npy").stdout


@pytest.mark.parametrize("verb", ["check", "bench", "check --derivatives"])
def test_json_says_where_it_was_measured(here, monkeypatch, verb):
    monkeypatch.setenv("OPENACLNN_NUM_THREADS", "3")
    monkeypatch.setenv("OPENACLNN_SIMD", "baseline")
    verb, *more = verb.split()
    said = here(verb, "nsa_compress_grad", *more, "--shape", "64,2,16", "--json").json["environment"]
    assert said.pop("processor")
    expected = {"version": __version__, "product": "Ascend910B1", "simd": "baseline", "threads": 3}
    assert said == expected


def test_check_of_a_file_of_another_shape(tool, files, tmp_path):
    save(tmp_path / "out.npy", EXAMPLE[:2].astype(np.float32))
    refused(tool(*CHECK, *files, "--out", "out.npy"), 2, "out shape is (2, 3), expected (4, 3)")
    save(tmp_path / "out.npy", EXAMPLE.astype(np.float16))
    refused(tool(*CHECK, *files, "--out", "out.npy"), 2, "out dtype is float16, expected float32")


# The rows of the demonstration: operator, and the dtypes in which it runs.
DEMO = {each.function.api: list(each.demo.dtypes) for each in OPERATORS}


def test_demo(here, book):
    run = here("demo", "--text", book, "--width", "16", "--json")
    assert run.code == 0, run
    assert (run.json["words"], run.json["paragraphs"]) == (600, 5)
    rows = run.json["runs"]
    dtypes = {operator: [] for operator in DEMO}
    for row in rows:
        dtypes[row["operator"]].append(next(iter(row["inputs"].values())))
    assert {name: [each["dtype"] for each in found] for name, found in dtypes.items()} == DEMO
    assert all(row["ok"] and row["timing"]["seconds"] > 0 for row in rows)
    assert all(row["timing"]["roof"] == rows[0]["timing"]["roof"] for row in rows)
    assert all(0 < row["timing"]["minimum"] <= row["timing"]["seconds"] for row in rows)
    assert all(row["timing"]["spread"] >= 0 for row in rows)
    table = here("demo", "--text", book, "--width", "16")
    assert table.code == 0 and "GFLOP/s" in table.stdout
    assert table.stdout.splitlines()[-1] == f"{len(rows)} of {len(rows)} within the bound"


def test_demo_is_one_screen(here, book, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = here("demo", "--text", book, "--width", "16").stdout.splitlines()
    assert len(lines) < 40 and max(map(len, lines)) <= 80
    for operator in OPERATORS:
        (first, *_), dtypes = [line for line in lines if line.split()[0] == operator.name], DEMO
        assert first.split()[1] == dtypes[operator.function.api][0], "names and numbers are whole"


def test_demo_fails_when_a_result_is_wrong(here, book, monkeypatch):
    outputs = Call.outputs

    def wrong(call):
        return {name: array + array.dtype.type(1) for name, array in outputs(call).items()}

    monkeypatch.setattr(Call, "outputs", wrong)
    run = here("demo", "--text", book, "--width", "16")
    rows, (*_, verdict) = sum(map(len, DEMO.values())), run.stdout.splitlines()
    assert run.code == 1 and verdict == f"0 of {rows} within the bound"
    assert run.stdout.partition("OUTSIDE the bound: ")[2].count(",") == rows - 1


def test_demo_takes_the_text_of_the_toolkit(here):
    run = here("demo", "--width", "16", "--json")
    assert run.code == 0 and 20000 < run.json["words"] < 30000 and run.json["paragraphs"] > 500


def test_demo_leaves_out_what_the_product_lacks(tool, book, demo_on_910):
    assert demo_on_910.code == 0, demo_on_910
    done, left_out = (demo_on_910.json[each] for each in ("runs", "not_supported"))
    assert done and left_out and len(done) + len(left_out) == sum(map(len, DEMO.values()))
    assert all("Ascend910A" in each["message"] for each in left_out)
    refused(tool("demo", "--text", book, "--width", "16", "--soc", "Ascend310P3"), 3, "Ascend310P3")


def test_demo_refuses_a_width_that_is_no_multiple_of_16(here, book):
    refused(here("demo", "--text", book, "--width", 24), 2, "--width is 24", "multiple of 16")
    refused(here("demo", "--text", book, "--width", 8), 2, "--width", "16")


@pytest.mark.parametrize("words", [1, 31, 32])
def test_demo_of_a_short_text(here, tmp_path, words):
    text = tmp_path / "short.txt"
    text.write_text("word " * words + "\n\nand two")
    run = here("demo", "--text", text, "--width", "16")
    if words == 32:
        assert run.code == 0, run
    else:
        refused(run, 2, f"longest paragraph has {max(words, 2)} words, expected 32 or more")


def test_unknown_names_in_the_environment(tool, files):
    refused(tool(*GRAD, *files, "--out", "o.npy", "--soc", "Ascend1"), 2, "Ascend1", "Ascend910B1")
    run = tool(*GRAD, *files, "--out", "o.npy", OPENACLNN_NUM_THREADS="many")
    refused(run, 2, "OPENACLNN_NUM_THREADS", "many", "expected")
    run = tool(*GRAD, *files, "--out", "o.npy", OPENACLNN_SOC="Ascend2")
    refused(run, 2, "Ascend2", "Ascend910B1")


def test_no_output_file_after_bad_input(tool, files, tmp_path):
    good = (tmp_path / "g.npy").read_bytes()
    for content, part in [
        (b"1,2,3\n", "not a .npy file"),
        (good[:-1], "truncated"),
        (good[:20], "not a .npy file"),
        (b"", "not a .npy file"),
    ]:
        (tmp_path / "g.npy").write_bytes(content)
        refused(tool(*GRAD, *files, "--out", "o.npy"), 2, "g.npy", part, "expected")
    (tmp_path / "g.npy").unlink()
    refused(tool(*GRAD, *files, "--out", "o.npy"), 2, "g.npy: No such file", "expected")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["i.npy"]


@pytest.mark.parametrize(
    "arguments, parts",
    [
        (["chek"], ["no command chek", "did you mean check?"]),
        (["add"], ["no command add", "expected one of", "`openaclnn call Add` calls that"]),
        (["check", "mul"], ["check has no reference for Mul; `openaclnn list Mul` shows its types"]),
        (["check", "conv"], ["did you mean conv_tbc or conv_tbc_backward?"]),
        *((["check", each.name, "--derivatives"], [each.name]) for each in FORWARDS),
        ([*GRAD], ["--indices"]),
        ([*CHECK, "--text", "none.txt"], ["none.txt: No such file"]),
        ([*CHECK, "--text", "none.txt", "--dtype", "int8"], ["--dtype is int8", "bfloat16"]),
        ([*CHECK, "--frobnicate"], ["--frobnicate"]),
        ([*CHECK, "--width", "wide"], ["--width is wide, expected a valid integer"]),
        ([*CHECK, "--width", "0"], ["--width is 0, expected greater than or equal to 1"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_usage_errors(tool, files, arguments, parts):
    refused(tool(*arguments), 2, *parts)


def test_unwritable_result(tool, files):
    refused(tool(*GRAD, *files, "--out", "none/o.npy"), 2, "none/o.npy", "folder")
    refused(tool(*GRAD, *files, "--out", "."), 2, "cannot be written")


@pytest.mark.parametrize(
    "error, code",
    [
        (MemoryError(), 4),
        (OSError(28, "No space left on device"), 4),
        (KeyboardInterrupt(), 130),
    ],
    ids=repr,
)
def test_other_failures_have_no_traceback(monkeypatch, capfd, error, code):
    def fail(**_):
        raise error

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == code and capfd.readouterr().err.count("\n") <= 1


def test_missing_toolkit(tool, files):
    refused(tool(*GRAD, *files, "--out", "o.npy", OPENACLNN_HOME="/nowhere"), 4, "/nowhere")


@pytest.mark.parametrize("verb", ["call", "check", "bench"])
def test_every_help_has_an_example(here, verb):
    for command in ([], [verb], *([verb, each.name] for each in OPERATORS)):
        run = here(*command, "--help")
        assert run.code == 0, run
        assert f"Example: openaclnn {command[0] if command else ''}" in run.stdout


def test_help_needs_no_toolkit(tool):
    run = tool(*GRAD, "--help", OPENACLNN_HOME="/nowhere")
    assert run.code == 0 and f"Example: openaclnn call {OPERATOR} --grad g.npy" in run.stdout


def test_version(tool):
    build_file = (Path(__file__).parents[2] / "CMakeLists.txt").read_text()
    run = tool("--version")
    assert run.code == 0 and f"project(openaclnn VERSION {run.stdout.strip()} " in build_file


def test_version_needs_none_of_the_modules():
    code = (
        "import sys; sys.argv = ['openaclnn', '--version']\n"
        "from openaclnn.__main__ import main; main()\n"
        "print(*{'numpy', 'rich', 'typer', 'openaclnn.tool.cli'}.intersection(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{__version__}\n\n"


def test_starting_a_program_needs_no_numpy():
    code = "import sys; from openaclnn.tool import cli; print(*{'numpy', 'rich.table'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_every_command_is_made_when_it_is_asked_for():
    commands = typer.main.get_command(cli.app).commands
    assert list(commands) == list(cli._MODULES) and None not in commands.values()
    assert commands["trace"].name == "trace" and commands.get("trade") is None


def test_the_release_has_notes_of_one_date():
    root = Path(__file__).parents[2]
    version, dated = re.search(r"^## (\S+) - (.*)$", (root / "CHANGELOG.md").read_text(), re.M).groups()
    cited = dict(re.findall(r"^(version|date-released): (.*)$", (root / "CITATION.cff").read_text(), re.M))
    assert version == cited["version"] == __version__
    assert dated == cited.get("date-released", "not released yet")
    assert dated == "not released yet" or date.fromisoformat(dated)


def test_help_without_a_command(here):
    for arguments in ([], ["-h"]):
        assert here(*arguments).stdout == here("--help").stdout
    assert here("check").stdout == here("check", "--help").stdout == here("check", "-h").stdout
    assert here(*GRAD, "-h").stdout == here(*GRAD, "--help").stdout
    assert here("check").code == here().code == 0


@pytest.mark.parametrize("command", ["call", "run", "demo"])
def test_help_fills_its_lines(here, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    said = here(command, "--help").stdout.partition("╭─")[0].splitlines()
    for line, following in itertools.pairwise(each.strip() for each in said):
        first = following.partition(" ")[0]
        assert not line or not following or len(line) + len(first) + 1 > 78, line


@pytest.mark.parametrize("command", ["list", "call", "demo"])
def test_help_of_the_other_commands(tool, command):
    assert f"Example: openaclnn {command}" in tool(command, "--help").stdout


def test_result_replaces_a_file_whole(tool, files, tmp_path):
    (tmp_path / "o.npy").write_bytes(b"old")
    save(tmp_path / "i.npy", np.array([1, 9]))
    assert tool(*GRAD, *files, "--out", "o.npy").code == 2
    assert (tmp_path / "o.npy").read_bytes() == b"old"
