# SPDX-License-Identifier: Apache-2.0
"""The embedding and its gradient: formulas, indices, padding, scaling, refusals."""

import ml_dtypes
import numpy as np
import pytest
from conftest import refused, save
from worked import BY_NAME, refuses_array

import openaclnn
from openaclnn.files import npy

OPERATOR = "embedding_dense_backward"
GRAD = ("call", OPERATOR)
CHECK = ("check", OPERATOR)
BENCH = ("bench", OPERATOR)
EXAMPLE = np.array([[0, 0, 0], [1, 2, 3], [4, 5, 6], [0, 0, 0]])


def expected_gradient(grad, indices, rows):
    out = np.zeros((rows, grad.shape[-1]))
    np.add.at(out, indices.reshape(-1), grad.reshape(-1, grad.shape[-1]).astype(np.float64))
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(), (7,), (5, 3), (2, 3, 4)], ids=str)
def test_embedding_dense_backward(dtype, shape):
    rng = np.random.default_rng(7)
    grad = rng.integers(-4, 5, (*shape, 6)).astype(dtype)
    indices = rng.integers(0, 9, shape)
    out = openaclnn.embedding_dense_backward(grad, indices, 9)
    assert out.dtype == np.dtype(dtype)
    assert np.array_equal(out.astype(np.float64), expected_gradient(grad, np.asarray(indices), 9))


def test_output_dtype_padding_and_scale():
    grad = np.array([[1.0], [2.0], [5.0]], np.float32)
    indices = np.array([0, 1, 1], np.int32)
    call = openaclnn.embedding_dense_backward
    out = call(grad, indices, 2, out_dtype=ml_dtypes.bfloat16)
    assert out.dtype == ml_dtypes.bfloat16 and out.astype(float).tolist() == [[1], [7]]
    assert call(grad, indices, 2, padding_idx=1).tolist() == [[1], [0]]
    assert call(grad, indices, 2, scale_grad_by_freq=True).tolist() == [[1], [3.5]]


def test_strided_arrays():
    grad = np.arange(24, dtype=np.float32).reshape(4, 6)[::2, ::-1]
    indices = np.arange(8)[::4]
    out = openaclnn.embedding_dense_backward(grad, indices, 5)
    assert np.array_equal(out, expected_gradient(grad, indices, 5))


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.int8, np.int64, np.bool_])
def test_embedding(dtype):
    weight = np.random.default_rng(8).integers(0, 100, (11, 5)).astype(dtype)
    indices = np.array([[3, 0], [10, 3]])
    out = openaclnn.embedding(weight, indices)
    assert out.dtype == weight.dtype and np.array_equal(out, weight[indices])


def test_the_gradient_is_the_adjoint():
    rng = np.random.default_rng(9)
    weight = rng.integers(-8, 9, (13, 4)).astype(np.float32)
    indices = rng.integers(0, 13, 50)
    grad = rng.integers(-8, 9, (50, 4)).astype(np.float32)
    forward = (openaclnn.embedding(weight, indices) * grad).sum()
    assert forward == (weight * openaclnn.embedding_dense_backward(grad, indices, 13)).sum()


def test_errors():
    grad = np.ones((2, 3), np.float32)
    with pytest.raises(openaclnn.AclError, match=r"indices .*9") as caught:
        openaclnn.embedding_dense_backward(grad, np.array([0, 9]), 4)
    assert caught.value.code == 507035
    with pytest.raises(ValueError, match="grad shape"):
        openaclnn.embedding_dense_backward(grad, np.array([0]), 4)
    with pytest.raises(openaclnn.AclError, match="grad dtype") as caught:
        openaclnn.embedding_dense_backward(grad.astype(np.int32), np.array([0, 1]), 4)
    assert caught.value.code == 161002
    # The process goes on.
    assert openaclnn.embedding_dense_backward(grad, np.array([0, 1]), 2).sum() == 6


def test_repeated_calls_give_memory_back():
    import resource

    grad = np.ones((1 << 18, 8), np.float32)
    indices = np.zeros(1 << 18, np.int64)
    openaclnn.embedding_dense_backward(grad, indices, 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(50):
        openaclnn.embedding_dense_backward(grad, indices, 1)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + (64 << 10)  # KiB


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


def test_padding_and_scaling_are_part_of_the_derivative(here, book):
    command = ("check", "embedding_dense_backward", "--derivatives", "--text", book, "--width", "4")
    assert here(*command, "--padding-idx", "1", "--scale-grad-by-freq").code == 0


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


def test_demo_on_the_910(runs_on_910):
    assert runs_on_910("aclnnEmbeddingDenseBackward") == ["float32", "float16", "float32"]
    assert runs_on_910("aclnnEmbedding") == ["float32"]


@pytest.mark.parametrize("index", [4, -1, 2**40])
def test_index_out_of_range(tool, files, tmp_path, index):
    save(tmp_path / "i.npy", np.array([1, index]))
    refused(tool(*GRAD, *files, "--out", "o.npy"), 2, "indices", "1", str(index))
    assert not (tmp_path / "o.npy").exists()


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
def test_wrong_arrays_of_the_gradient(tool, files, tmp_path, name, array, parts):
    save(tmp_path / name, np.asarray(array))
    refused(tool(*GRAD, *files, "--out", "o.npy"), 2, *parts)
    assert not (tmp_path / "o.npy").exists()


@pytest.mark.parametrize(
    "operator, name, array, parts",
    [
        ("embedding", "weight", np.ones(3, np.float32), ["weight shape is (3,)"]),
        ("embedding", "indices", np.array([0, 3]), ["indices", "3"]),
        ("embedding", "indices", np.array([np.nan, 0]), ["indices"]),
    ],
    ids=lambda value: getattr(value, "shape", None),
)
def test_wrong_arrays(here, tmp_path, operator, name, array, parts):
    refuses_array(here, tmp_path, operator, name, array, parts)


@pytest.mark.parametrize(
    "operator, options, parts",
    [
        ("embedding", [], ["--weight FILE", "--text"]),
        ("embedding", ["--weight", "w.npy", "--indices", "i.npy", "--vocab", "3"], ["--vocab"]),
        ("embedding", ["--weight", "w.npy", "--shape", "2,3,4"], ["--weight FILE", "--shape"]),
        ("embedding", ["--shape", "2,3"], ["--shape is 2,3, expected T,V,D"]),
        ("embedding", ["--shape", "2,0,3"], ["--shape is 2,0,3, expected a table with rows"]),
    ],
    ids=str,
)
def test_wrong_options(here, operator, options, parts):
    refused(here("check", operator, *options), 2, *parts)


@pytest.mark.parametrize(
    "arguments, parts",
    [
        ([*CHECK], ["--indices FILE, --text FILE or --shape T,V,D"]),
        ([*CHECK, "--indices", "i.npy"], ["--num-weights"]),
        ([*CHECK, "--indices", "i.npy", "--text", "b"], ["--indices FILE, --text FILE or"]),
        ([*CHECK, "--shape", "2,3,4", "--text", "b"], ["--text is given, expected it without --shape"]),
        ([*CHECK, "--shape", "2,3,4", "--num-weights", "4"], ["--num-weights is given, expected"]),
        ([*CHECK, "--shape", "2,0,4"], ["--shape is 2,0,4, expected a table with rows"]),
        ([*CHECK, "--indices", "i.npy", "--num-weights", "4"], ["--grad FILE"]),
        ([*CHECK, "--indices", "i.npy", "--num-weights", "4", "--vocab", "9"], ["--vocab"]),
        ([*CHECK, "--indices", "i.npy", "--num-weights", "-4"], ["--num-weights"]),
        ([*CHECK, "--indices", "i.npy", "--num-weights", "x"], ["--num-weights", "integer"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_wrong_options_of_the_gradient(tool, files, arguments, parts):
    refused(tool(*arguments), 2, *parts)


@pytest.mark.parametrize("name", ["embedding", OPERATOR])
def test_random_arrays_are_those_of_the_seed(name):
    read = BY_NAME[name].operator.read
    first, again, other = (read(shape="50,40,3", seed=seed).inputs for seed in (0, 0, 1))
    assert 30 < first["indices"].max() < 40 and first["indices"].shape == (50,)
    for each in first:
        assert np.array_equal(first[each], again[each]) and not np.array_equal(first[each], other[each])


def test_random_arrays_without_elements(here):
    for shape in ("0,0,3", "0,4,3", "5,4,0"):
        for operator in ("embedding", OPERATOR):
            run = here("check", operator, "--shape", shape)
            assert run.code == 0, run


def test_more_memory_than_there_is(tool, files):
    files[files.index("--num-weights") + 1] = str(10**15)
    refused(tool(*GRAD, *files, "--out", "o.npy"), 4)


def test_empty_inputs(tool, tmp_path):
    save(tmp_path / "g.npy", np.empty((0, 3), np.float32))
    save(tmp_path / "i.npy", np.empty(0, np.int64))
    files = ["--grad", "g.npy", "--indices", "i.npy", "--num-weights"]
    assert tool(*GRAD, *files, "2", "--out", "o.npy").code == 0
    assert np.array_equal(np.load(tmp_path / "o.npy"), np.zeros((2, 3)))
    assert tool(*CHECK, *files, "2").code == 0
    assert tool(*CHECK, *files, "0").code == 0
