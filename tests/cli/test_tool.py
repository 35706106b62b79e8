# SPDX-License-Identifier: Apache-2.0
"""The command-line tool as its users run it: results, refusals, exit codes."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from conftest import refused, save

from openaclnn import cli, npy
from openaclnn.call import Call
from openaclnn.operators import FORWARDS, GRADIENTS, OPERATORS

OPERATOR = "embedding_dense_backward"
GRAD = ("grad", OPERATOR)
CHECK = ("check", OPERATOR)
BENCH = ("bench", OPERATOR)
EXAMPLE = np.array([[0, 0, 0], [1, 2, 3], [4, 5, 6], [0, 0, 0]])


def test_worked_example(tool, files, tmp_path):
    run = tool(*GRAD, *files, "--out", "out.npy")
    assert (run.code, run.stderr) == (0, "")
    assert "out.npy: out float32 (4, 3)" in run.stdout
    out = np.load(tmp_path / "out.npy")
    assert out.dtype == np.float32 and np.array_equal(out, EXAMPLE)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_dtype_option_converts_the_gradient(tool, files, tmp_path, dtype):
    assert tool(*GRAD, *files, "--dtype", dtype, "--out", "out.npy").code == 0
    out = npy.load(tmp_path / "out.npy", "out", [dtype])
    assert np.array_equal(out.astype(np.float32), EXAMPLE)


def test_float64_files_need_a_dtype(tool, files, tmp_path):
    save(tmp_path / "g.npy", np.ones((2, 3)))
    refused(tool(*GRAD, *files, "--out", "o.npy"), 2, "grad dtype is float64, expected float")
    assert tool(*GRAD, *files, "--dtype", "float32", "--out", "o.npy").code == 0


@pytest.mark.parametrize("dtype", [np.int32, np.int8, np.uint8, np.float16, np.float64, np.bool_])
def test_index_dtypes(tool, files, tmp_path, dtype):
    save(tmp_path / "i.npy", np.array([1, 0], dtype))
    run = tool(*CHECK, *files, "--json")
    assert run.code == 0 and run.json["inputs"]["indices"]["dtype"] == np.dtype(dtype).name
    assert tool(*GRAD, *files, "--out", "o.npy").code == 0
    assert np.load(tmp_path / "o.npy")[:, 0].tolist() == [0, 1, 0, 0]  # row 0 is the padding


def test_scale_grad_by_freq(tool, tmp_path):
    save(tmp_path / "g.npy", np.array([[1.0], [2.0], [6.0]], np.float32))
    save(tmp_path / "i.npy", np.array([2, 0, 2]))
    files = ["--grad", "g.npy", "--indices", "i.npy", "--num-weights", "3"]
    assert tool(*GRAD, *files, "--scale-grad-by-freq", "--out", "o.npy").code == 0
    assert np.load(tmp_path / "o.npy").tolist() == [[2.0], [0.0], [3.5]]
    assert tool(*CHECK, *files, "--scale-grad-by-freq").code == 0


def test_text_makes_indices(tool, book, tmp_path):
    run = tool(*GRAD, "--text", book, "--width", "8", "--out", "o.npy", "--json")
    assert run.code == 0
    assert run.json["inputs"]["indices"] == {"shape": [600], "dtype": "int64"}
    assert np.load(tmp_path / "o.npy").shape == (6, 8)
    again = tool(*GRAD, "--text", book, "--width", "8", "--seed", "1", "--out", "o1.npy")
    assert again.code == 0
    assert not np.array_equal(np.load(tmp_path / "o.npy"), np.load(tmp_path / "o1.npy"))
    assert tool(*GRAD, "--text", book, "--vocab", "3", "--out", "o.npy").code == 0
    assert np.load(tmp_path / "o.npy").shape == (3, 256)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("more", [[], ["--scale-grad-by-freq"], ["--padding-idx", "0"]], ids=str)
def test_check_on_text(tool, book, dtype, more):
    run = tool(*CHECK, "--text", book, "--dtype", dtype, *more, "--json")
    assert run.code == 0, run
    (result,) = run.json["results"]
    assert run.json["inputs"]["grad"]["dtype"] == result["dtype"] == dtype
    assert run.json["ok"] and result["outside"] == 0 and result["not_judged"] == 0
    assert 0 <= result["bound_ratio"] <= 1
    assert list(result["ulp_percentiles"]) == ["50", "90", "99", "99.9", "max"]
    assert result["mean_error"] <= result["max_error"]
    assert len(result["worst"]) == 5 and all(len(e["coordinates"]) == 2 for e in result["worst"])


def test_check_prints_a_table(tool, files):
    run = tool(*CHECK, *files)
    assert run.code == 0 and "within the bound" in run.stdout and "99.9 %" in run.stdout


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


def test_check_of_a_file_of_another_shape(tool, files, tmp_path):
    save(tmp_path / "out.npy", EXAMPLE[:2].astype(np.float32))
    refused(tool(*CHECK, *files, "--out", "out.npy"), 2, "out shape is (2, 3), expected (4, 3)")
    save(tmp_path / "out.npy", EXAMPLE.astype(np.float16))
    refused(tool(*CHECK, *files, "--out", "out.npy"), 2, "out dtype is float16, expected float32")


def test_not_a_number_is_checked_too(tool, files, tmp_path):
    save(tmp_path / "g.npy", np.array([[np.nan, np.inf, 1], [1, -np.inf, 1]], np.float32))
    run = tool(*CHECK, *files, "--json")
    assert run.code == 0 and run.json["results"][0]["max_error"] == 0


def test_bench(tool, book):
    run = tool(*BENCH, "--text", book, "--json")
    assert run.code == 0, run
    timing = run.json["timing"]
    assert timing["bytes"] == 600 * (256 * 4 + 8) + 6 * 256 * 4
    assert timing["calls"] >= 5 and timing["seconds"] > 0
    assert timing["gigabytes_per_second"] == pytest.approx(
        timing["bytes"] / timing["seconds"] / 1e9
    )
    assert timing["roof_share"] == pytest.approx(timing["roof_seconds"] / timing["seconds"])
    assert timing["roof_limit"] == "memory" and timing["operations"] == 0
    assert all(timing["roof"][kind] > 0 for kind in ("read", "write", "multiply_add"))
    table = tool(*BENCH, "--text", book)
    assert table.code == 0 and "GB/s" in table.stdout


# The rows of the demonstration: operator, and the dtypes in which it runs.
DEMO = {
    "EmbeddingDenseBackward": ["float32", "bfloat16", "float16", "float32"],
    "GroupedBiasAddGrad": ["float32", "bfloat16", "float16"],
    "GroupedBiasAddGradV2": ["float32"],
    "NsaCompressGrad": ["float16", "bfloat16"],
    "ScaledMaskedSoftmaxBackward": ["float32", "bfloat16", "float16"],
    "ConvTbcBackward": ["float32", "bfloat16", "float16"],
    "Embedding": ["float32"],
    "NsaCompress": ["float16"],
    "ScaledMaskedSoftmax": ["float32"],
    "ConvTbc": ["float32"],
}


def test_demo(here, book):
    run = here("demo", "--text", book, "--width", "16", "--json")
    assert run.code == 0, run
    assert (run.json["words"], run.json["paragraphs"]) == (600, 5)
    rows = run.json["runs"]
    dtypes = {operator: [] for operator in DEMO}
    for row in rows:
        dtypes[row["operator"].removeprefix("aclnn")].append(next(iter(row["inputs"].values())))
    assert {name: [each["dtype"] for each in found] for name, found in dtypes.items()} == DEMO
    assert all(row["ok"] and row["timing"]["seconds"] > 0 for row in rows)
    assert all(row["timing"]["roof"] == rows[0]["timing"]["roof"] for row in rows)
    table = here("demo", "--text", book, "--width", "16")
    assert table.code == 0 and table.stdout.count("within") == len(rows)
    assert "GFLOP/s" in table.stdout


def test_demo_fails_when_a_result_is_wrong(here, book, monkeypatch):
    outputs = Call.outputs

    def wrong(call):
        return {name: array + array.dtype.type(1) for name, array in outputs(call).items()}

    monkeypatch.setattr(Call, "outputs", wrong)
    run = here("demo", "--text", book, "--width", "16")
    assert run.code == 1 and run.stdout.count("OUTSIDE") == sum(map(len, DEMO.values()))


@pytest.mark.skipif(not cli._SOURCE_TREE_TEXT.is_file(), reason="installed without a source tree")
def test_demo_takes_the_text_of_the_source_tree(here):
    run = here("demo", "--width", "16", "--json")
    assert run.code == 0 and 20000 < run.json["words"] < 30000 and run.json["paragraphs"] > 500


def test_demo_leaves_out_what_the_product_lacks(tool, book):
    run = tool("demo", "--text", book, "--width", "16", "--soc", "Ascend910A", "--json")
    assert run.code == 0, run
    done = {
        (row["operator"], next(iter(row["inputs"].values()))["dtype"]) for row in run.json["runs"]
    }
    assert done == {
        ("aclnnEmbeddingDenseBackward", "float32"),
        ("aclnnEmbeddingDenseBackward", "float16"),
        ("aclnnConvTbcBackward", "float16"),
        ("aclnnEmbedding", "float32"),
    }
    assert len(run.json["not_supported"]) == sum(map(len, DEMO.values())) - 5
    assert all("Ascend910A" in each["message"] for each in run.json["not_supported"])
    refused(tool("demo", "--text", book, "--width", "16", "--soc", "Ascend310P3"), 3, "Ascend310P3")


def test_demo_refuses_a_width_that_is_no_multiple_of_16(here, book):
    refused(here("demo", "--text", book, "--width", 24), 2, "--width is 24", "multiple of 16")
    refused(here("demo", "--text", book, "--width", 8), 2, "--width", "16")


def everything_json(tool):
    return tool("list", "--json").json


def test_list(tool):
    everything = tool("list")
    assert everything.code == 0
    for word in ("aclnnEmbeddingDenseBackward", "grad", "bfloat16", "A2", "Ascend910B1"):
        assert word in everything.stdout
    for operator in OPERATORS:
        assert operator.function.api in everything.stdout.split()
        only = tool("list", "--operator", operator.name, "--json")
        assert [each["api"] for each in only.json["operators"]] == [operator.function.api]
    run = tool("list", "--operator", OPERATOR, "--product", "Ascend910A", "--json")
    assert run.json["products"] == {"Ascend910A": "910"}
    (operator,) = run.json["operators"]
    dtypes = {each["name"]: each["dtypes"] for each in operator["operands"]}
    assert "bfloat16" not in dtypes["grad"]["910"] and "bfloat16" in dtypes["grad"]["A2"]
    types = {api: op for op in everything_json(tool)["supporting"] for api in [op["api"]]}
    assert len(types) > 400 and not {each.function.api for each in OPERATORS} & types.keys()
    (tensors,) = types["aclnnLayerNorm"]["operands"]
    assert tensors["dtypes"]["910"] == ["float32", "float16", "float64"]
    assert "bfloat16" in tensors["dtypes"]["A2"] and "int32" not in tensors["dtypes"]["A2"]
    words = everything.stdout.replace(",", " ").split()
    assert types.keys() <= set(words) and f"{len(types)} supporting" in everything.stdout
    only = tool("list", "--operator", "aclnnCumsum")
    assert "aclnnCumsum" in only.stdout and "aclnnAdd" not in only.stdout
    refused(tool("list", "--product", "Ascend1"), 2, "Ascend1", "expected one of", "Ascend910B1")
    refused(tool("list", "--operator", "mul"), 2, "mul", "aclnnEmbeddingDenseBackward")


def test_what_a_product_lacks_is_exit_code_3(tool, files):
    for product in ("Ascend310P3", "Ascend310B1"):
        run = tool(*GRAD, *files, "--out", "o.npy", "--soc", product)
        refused(run, 3, "aclnnEmbeddingDenseBackward", product)
    run = tool(*CHECK, *files, "--dtype", "bfloat16", "--soc", "Ascend910A")
    refused(run, 3, "grad dtype is", "Ascend910A")
    assert tool(*CHECK, *files, "--dtype", "float16", "--soc", "Ascend910A").code == 0
    assert tool(*CHECK, *files, "--dtype", "bfloat16", "--soc", "Ascend910_9391").code == 0


def test_the_910_limit_is_exit_code_3(tool, book):
    wide = ["--text", book, "--width", "9100", "--scale-grad-by-freq"]
    refused(tool(*CHECK, *wide, "--soc", "Ascend910A"), 3, "Ascend910A")
    assert tool(*CHECK, *wide, "--soc", "Ascend910B1").code == 0


def test_unknown_names_in_the_environment(tool, files):
    refused(tool(*GRAD, *files, "--out", "o.npy", "--soc", "Ascend1"), 2, "Ascend1", "Ascend910B1")
    run = tool(*GRAD, *files, "--out", "o.npy", OPENACLNN_NUM_THREADS="many")
    refused(run, 2, "OPENACLNN_NUM_THREADS", "many", "expected")
    run = tool(*GRAD, *files, "--out", "o.npy", OPENACLNN_SOC="Ascend2")
    refused(run, 2, "Ascend2", "Ascend910B1")


@pytest.mark.parametrize("index", [4, -1, 2**40])
def test_index_out_of_range(tool, files, tmp_path, index):
    save(tmp_path / "i.npy", np.array([1, index]))
    refused(tool(*GRAD, *files, "--out", "o.npy"), 2, "indices", "1", str(index))
    assert not (tmp_path / "o.npy").exists()


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
    "name, array, parts",
    [
        ("g.npy", np.ones((3, 3), np.float32), ["grad shape is (3, 3)", "expected 2 rows"]),
        ("g.npy", np.float32(1), ["grad shape is ()"]),
        ("g.npy", np.ones((2, 3), np.int32), ["grad dtype is int32"]),
        ("i.npy", np.ones(2, np.uint32), ["indices dtype is uint32", "expected", "int64"]),
        ("i.npy", np.ones(2, ml_dtypes.bfloat16), ["indices dtype is bfloat16"]),
        ("i.npy", np.array(["a", "b"]), ["indices dtype is <U1"]),
    ],
)
def test_wrong_arrays(tool, files, tmp_path, name, array, parts):
    save(tmp_path / name, np.asarray(array))
    refused(tool(*GRAD, *files, "--out", "o.npy"), 2, *parts)
    assert not (tmp_path / "o.npy").exists()


@pytest.mark.parametrize(
    "arguments, parts",
    [
        ([], ["Missing command"]),
        (["grad"], ["Missing command"]),
        (["grad", "mul"], ["mul"]),
        (["grad", "embedding"], ["embedding"]),
        (["forward", OPERATOR], [OPERATOR]),
        (["gradcheck", "embedding"], ["embedding"]),
        ([*GRAD], ["--out"]),
        ([*CHECK], ["--indices FILE or --text FILE"]),
        ([*CHECK, "--indices", "i.npy"], ["--num-weights"]),
        ([*CHECK, "--indices", "i.npy", "--text", "b"], ["--indices FILE or --text FILE"]),
        ([*CHECK, "--indices", "i.npy", "--num-weights", "4"], ["--grad FILE"]),
        ([*CHECK, "--indices", "i.npy", "--num-weights", "4", "--vocab", "9"], ["--vocab"]),
        ([*CHECK, "--indices", "i.npy", "--num-weights", "-4"], ["--num-weights"]),
        ([*CHECK, "--indices", "i.npy", "--num-weights", "x"], ["--num-weights", "integer"]),
        ([*CHECK, "--text", "none.txt"], ["none.txt: No such file"]),
        ([*CHECK, "--text", "none.txt", "--dtype", "int8"], ["--dtype is int8", "bfloat16"]),
        ([*CHECK, "--frobnicate"], ["--frobnicate"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_usage_errors(tool, files, arguments, parts):
    refused(tool(*arguments), 2, *parts)


def test_unwritable_result(tool, files):
    refused(tool(*GRAD, *files, "--out", "none/o.npy"), 2, "none/o.npy", "folder")
    refused(tool(*GRAD, *files, "--out", "."), 2, "cannot be written")


def test_more_memory_than_there_is(tool, files):
    files[files.index("--num-weights") + 1] = str(10**15)
    refused(tool(*GRAD, *files, "--out", "o.npy"), 4)


@pytest.mark.parametrize(
    "error, code",
    [
        (MemoryError(), 4),
        (OSError(28, "No space left on device"), 4),
        (BrokenPipeError(), 4),
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


@pytest.mark.parametrize("verb", ["grad", "forward", "check", "gradcheck", "bench"])
def test_every_help_has_an_example(here, verb):
    operators = {"grad": GRADIENTS, "gradcheck": GRADIENTS, "forward": FORWARDS}
    for command in ([], [verb], *([verb, each.name] for each in operators.get(verb, OPERATORS))):
        run = here(*command, "--help")
        assert run.code == 0, run
        assert f"Example: openaclnn {command[0] if command else ''}" in run.stdout


def test_help_needs_no_toolkit(tool):
    run = tool(*GRAD, "--help", OPENACLNN_HOME="/nowhere")
    assert run.code == 0 and f"Example: openaclnn grad {OPERATOR} --grad g.npy" in run.stdout


def test_version(tool):
    build_file = (Path(__file__).parents[2] / "CMakeLists.txt").read_text()
    run = tool("--version")
    assert run.code == 0 and f"project(openaclnn VERSION {run.stdout.strip()} " in build_file


@pytest.mark.parametrize("command", ["list", "demo"])
def test_help_of_the_other_commands(tool, command):
    assert f"Example: openaclnn {command}" in tool(command, "--help").stdout


def test_empty_inputs(tool, tmp_path):
    save(tmp_path / "g.npy", np.empty((0, 3), np.float32))
    save(tmp_path / "i.npy", np.empty(0, np.int64))
    files = ["--grad", "g.npy", "--indices", "i.npy", "--num-weights"]
    assert tool(*GRAD, *files, "2", "--out", "o.npy").code == 0
    assert np.array_equal(np.load(tmp_path / "o.npy"), np.zeros((2, 3)))
    assert tool(*CHECK, *files, "2").code == 0
    assert tool(*CHECK, *files, "0").code == 0


def test_result_replaces_a_file_whole(tool, files, tmp_path):
    (tmp_path / "o.npy").write_bytes(b"old")
    save(tmp_path / "i.npy", np.array([1, 9]))
    assert tool(*GRAD, *files, "--out", "o.npy").code == 2
    assert (tmp_path / "o.npy").read_bytes() == b"old"
