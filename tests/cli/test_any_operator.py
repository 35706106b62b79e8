# SPDX-License-Identifier: Apache-2.0
"""`openaclnn call`: operators by their C names, with operands from files."""

import os

import numpy as np
import pytest
from conftest import refused, save

from openaclnn.native import declared, libraries
from openaclnn.files import safetensors, tensor_files
from openaclnn.errors import quoted

RANDOM = np.random.default_rng(0)
A, B = RANDOM.standard_normal((2, 3), np.float32), RANDOM.standard_normal(3, np.float32)


@pytest.fixture(autouse=True)
def operands(tmp_path):
    save(tmp_path / "a.npy", A)
    save(tmp_path / "b.npy", B)


def result(tmp_path, name="out.npy"):
    return np.load(tmp_path / name)


def test_broadcast_and_scalar(here, tmp_path):
    run = here("call", "aclnnAdd", "--self", "a.npy", "--other", "b.npy", "--alpha", "0.5",
               "--out", "out.npy")  # fmt: skip
    assert (run.code, run.stdout) == (0, "out.npy: out float32 (2, 3)\n"), run
    assert np.array_equal(result(tmp_path), A + np.float32(0.5) * B)


def test_shape_dtype_and_lists(here, tmp_path):
    run = here("call", "aclnnArgMax", "--self=a.npy", "--dim=1", "--keepDim=false",
               "--out=out.npy:2:int64", "--json")  # fmt: skip
    outputs = {"out": {"shape": [2], "dtype": "int64", "first": A.argmax(1).tolist()}}
    assert run.json == {"operator": "aclnnArgMax", "outputs": outputs, "files": {"out": "out.npy"}}
    assert result(tmp_path).dtype == np.int64 and np.array_equal(result(tmp_path), A.argmax(1))
    run = here("call", "aclnnFlip", "--self", "a.npy", "--dims", "0,1", "--out", "out.npy")
    assert run.code == 0 and np.array_equal(result(tmp_path), A[::-1, ::-1])


def test_a_fifo_stays_one(here, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    run = here("call", "aclnnAbs", "--self", "a.npy", "--out", "fifo")
    refused(run, 2, "fifo: cannot be replaced, expected a regular file for the result")
    assert (tmp_path / "fifo").is_fifo()


def test_the_operator_says_what_an_output_is(here, tmp_path):
    """Where neither the command nor the inputs do."""
    run = here("call", "aclnnArgMax", "--self=a.npy", "--dim=1", "--keepDim=false", "--out=out.npy")
    assert run.code == 0 and np.array_equal(result(tmp_path), A.argmax(1)), run
    run = here("call", "aclnnLtTensor", "--self=a.npy", "--other=b.npy", "--out=out.npy")
    assert run.code == 0 and np.array_equal(result(tmp_path), A < B), run
    run = here("call", "aclnnReduceSum", "--self=a.npy", "--dims=1", "--keepDims=false",
               "--dtype=float64", "--out=out.npy")  # fmt: skip
    assert run.code == 0 and result(tmp_path).dtype == np.float64, run
    refused(here("call", "aclnnAbs", "--self=a.npy", "--out=o.npy:3"), 2, "out shape is (3)")


def test_lists_of_tensors(here, tmp_path):
    run = here("call", "aclnnForeachAddListV2", "--x1", "a.npy", "--x1", "b.npy", "--x2", "a.npy",
               "--x2", "b.npy", "--alpha", "2.0", "--out", "p.npy", "--out", "q.npy")  # fmt: skip
    assert (run.code, run.stdout) == (0, "p.npy: out.0 float32 (2, 3)\nq.npy: out.1 float32 (3,)\n"), run
    assert np.array_equal(result(tmp_path, "p.npy"), A + 2 * A)
    assert np.array_equal(result(tmp_path, "q.npy"), B + 2 * B)
    run = here("call", "aclnnForeachMulScalarList", "--x=a.npy", "--x=b.npy", "--scalars", "2.5,3.0",
               "--out=p.npy:2,3:float16", "--out=q.npy")  # fmt: skip
    assert run.code == 0 and result(tmp_path, "p.npy").dtype == np.float16, run
    assert np.array_equal(result(tmp_path, "q.npy"), B * 3)
    run = here("call", "aclnnCat", "--tensors=a.npy", "--tensors=a.npy", "--dim=0", "--out=out.npy")
    assert run.code == 0 and np.array_equal(result(tmp_path), np.concatenate([A, A])), run


def test_lists_in_place(here, tmp_path):
    save(tmp_path / "found.npy", np.zeros(1, np.float32))
    save(tmp_path / "half.npy", np.float32([0.5]))
    run = here("call", "aclnnForeachNonFiniteCheckAndUnscale", "--scaledGrads=a.npy:p.npy",
               "--scaledGrads=b.npy:q.npy", "--foundInf=found.npy:f.npy", "--inScale=half.npy")  # fmt: skip
    assert run.code == 0, run
    assert np.array_equal(result(tmp_path, "p.npy"), A / 2)
    assert np.array_equal(result(tmp_path, "q.npy"), B / 2)
    assert np.array_equal(result(tmp_path, "b.npy"), B)


def test_safetensors(here, tmp_path):
    safetensors.save(tmp_path / "w.safetensors", {"a": A, "b": B})
    run = here("call", "aclnnAdd", "--self", "w.safetensors:a", "--other", "w.safetensors:b",
               "--alpha", "1", "--out", "sum.safetensors")  # fmt: skip
    assert (run.code, run.stdout) == (0, "sum.safetensors: out float32 (2, 3)\n"), run
    assert np.array_equal(tensor_files.load(str(tmp_path / "sum.safetensors"), "out"), A + B)
    run = here("call", "aclnnForeachAbs", "--x", "w.safetensors", "--out", "abs.safetensors")
    assert run.code == 0, run
    made = tensor_files.load_all(str(tmp_path / "abs.safetensors"), "out")
    assert all(map(np.array_equal, made, (np.abs(A), np.abs(B))))
    run = here("call", "aclnnInplaceNeg", "--selfRef", "w.safetensors:a:n.npy")
    assert run.code == 0 and np.array_equal(result(tmp_path, "n.npy"), -A), run
    run = here("call", "aclnnAminmax", "--self=a.npy", "--dim=1", "--keepDim=true",
               "--min=both.safetensors", "--max=both.safetensors")  # fmt: skip
    assert run.code == 0, run
    assert np.array_equal(
        tensor_files.load(str(tmp_path / "both.safetensors:max"), "max"), A.max(1, keepdims=True)
    )


def test_random_operands(here, tmp_path):
    """The same ones each time, of the types and shapes that are asked for."""
    add = ("call", "aclnnAdd", "--alpha=1", "--shape=4,5:bfloat16", "--out")
    assert here(*add, "one.safetensors").code == 0 and here(*add, "two.safetensors").code == 0
    one, two = (tensor_files.load(str(tmp_path / f"{n}.safetensors"), n) for n in ("one", "two"))
    assert one.shape == (4, 5) and one.dtype == "bfloat16" and one.tobytes() == two.tobytes()
    assert one.astype(float).std() > 0.5
    run = here("call", "aclnnMatmul", "--self=random:2,7", "--mat2=random:7,3", "--cubeMathType=0",
               "--out=out.npy")  # fmt: skip
    assert run.code == 0 and result(tmp_path).shape == (2, 3), run
    run = here("call", "aclnnIndexSelect", "--self=a.npy", "--dim=1", "--index=random:0:int64",
               "--out=out.npy")  # fmt: skip
    assert run.code == 0 and result(tmp_path).shape == (2, 0), run
    run = here("call", "aclnnRsqrt", "--shape=3", "--self=a.npy", "--out=out.npy")
    assert run.code == 0 and result(tmp_path).shape == (2, 3), run


def test_numbers_in_place_of_files(here, tmp_path):
    run = here("call", "aclnnMul", "--self", "[[1, 2.5], [-3, 4]]", "--other", "0.5", "--out=out.npy")
    assert run.code == 0 and result(tmp_path).dtype == np.float32, run
    assert np.array_equal(result(tmp_path), [[0.5, 1.25], [-1.5, 2]])
    run = here("call", "aclnnGather", "--self", "[1.0009766]:float16", "--dim=0", "--index", "[0, 0]",
               "--out=out.npy")  # fmt: skip
    assert run.code == 0 and result(tmp_path).dtype == np.float16, run
    assert np.array_equal(result(tmp_path), np.float16([1.0009766] * 2))
    run = here("call", "aclnnSWhere", "--condition=[true, false]",
               "--self=[NaN, 1.0]", "--other=[1.0, -Infinity]", "--out=out.npy")  # fmt: skip
    assert run.code == 0 and np.array_equal(result(tmp_path), [np.nan, -np.inf], equal_nan=True)
    run = here("call", "aclnnForeachAbs", "--x=[-1.0]", "--x=[]:float16", "--out=out.safetensors")
    assert run.code == 0 and (tmp_path / "out.safetensors").exists(), run


def test_numbers_that_are_worked_on(here, tmp_path):
    run = here("call", "aclnnInplaceNeg", "--selfRef=[1, 2]:float16:out.npy")
    assert run.code == 0 and result(tmp_path).dtype == np.float16, run
    assert np.array_equal(result(tmp_path), [-1, -2])
    assert here("call", "aclnnInplaceNeg", "--selfRef=3:out.npy").code == 0
    assert result(tmp_path).shape == () and result(tmp_path).dtype == np.int64


@pytest.mark.parametrize(
    "numbers", ["[1", "[[1, 2], [3]]", '["a"]', "[1.5]:int32", "[300]:uint8", "[1e39]", "[2]:bool",
                "[NaN]:int8", "[1]:bogus", "[1]:float32:x", "[70000]:float16", "1.2.3", "[null]",
                "[" * 9999 + "]" * 9999, "[9" + "9" * 30 + "]"], ids=lambda each: each[:20],
)  # fmt: skip
def test_numbers_that_are_none(here, tmp_path, numbers):
    run = here("call", "aclnnAbs", "--self", numbers, "--out", "o.npy")
    refused(run, 2, f"--self is {quoted(numbers)}, expected NUMBERS[:DTYPE], such as [[1, 2], [3, 4]]:float32")
    assert not (tmp_path / "o.npy").exists()


@pytest.mark.parametrize("rank", [9, 33, 40, 64])
def test_more_dimensions_than_operators_take(here, tmp_path, rank):
    """NumPy has up to 64, and broadcasts 32."""
    array = A.reshape((1,) * (rank - 2) + A.shape)
    save(tmp_path / "deep.npy", array)
    safetensors.save(tmp_path / "deep.safetensors", {"a": array})
    for operand in ("deep.npy", "deep.safetensors:a", "random:" + "1," * (rank - 1) + "1"):
        run = here("call", "aclnnAbs", "--self", operand, "--out", "o.npy")
        refused(run, 2, f"self rank is {rank}, expected 0 to 8")


@pytest.mark.parametrize("option", ["--self=random:", "--shape="])
def test_more_dimensions_than_numpy_has(here, option):
    run = here("call", "aclnnAbs", option + "1," * 69 + "1:float16", "--out", "o.npy")
    refused(run, 2, "--self is random:1,1,1", "expected the shape of an array")


def test_a_text_that_is_no_utf8(here, tmp_path):
    run = here("call", "aclnnGeluBackwardV2", "--gradOutput=a.npy", "--self=a.npy",
               "--approximate=\udcff", "--gradInput=o.npy")  # fmt: skip
    refused(run, 2, r"approximate value is '\xff', expected none or tanh")


def test_two_outputs(here, tmp_path):
    run = here("call", "aclnnAminmax", "--self", "a.npy", "--dim", "1", "--keepDim", "true",
               "--min", "least.npy:2,1", "--max", "most.npy:2,1")  # fmt: skip
    assert run.code == 0, run
    assert np.array_equal(result(tmp_path, "least.npy")[:, 0], A.min(1))
    assert np.array_equal(result(tmp_path, "most.npy")[:, 0], A.max(1))


def test_in_place(here, tmp_path):
    add = ("call", "aclnnInplaceAdd", "--other", "b.npy", "--alpha", "1", "--selfRef")
    assert here(*add, "a.npy:out.npy").code == 0 and np.array_equal(result(tmp_path), A + B)
    assert np.array_equal(result(tmp_path, "a.npy"), A)
    assert here(*add, "a.npy").code == 0 and np.array_equal(result(tmp_path, "a.npy"), A + B)


def test_a_scalar_in_place_stays_one(here, tmp_path):
    save(tmp_path / "scalar.npy", np.array(2, np.float32))
    run = here("call", "aclnnInplaceAdds", "--selfRef", "scalar.npy", "--other=1", "--alpha=1")
    assert run.code == 0 and result(tmp_path, "scalar.npy").shape == ()
    assert result(tmp_path, "scalar.npy") == 3


def test_what_was_found_is_what_is_written(here, tmp_path):
    save(tmp_path / "mask.npy", np.array([[True, False, True], [False, False, True]]))
    run = here("call", "aclnnMaskedSelect", "--self", "a.npy", "--mask", "mask.npy",
               "--out", "out.npy:6")  # fmt: skip
    assert run.code == 0 and np.array_equal(result(tmp_path), A[[0, 0, 1], [0, 2, 2]])
    run = here("call", "aclnnNonzero", "--self", "mask.npy", "--out", "out.npy:6,2:int64")
    assert run.code == 0 and np.array_equal(result(tmp_path), [[0, 0], [0, 2], [1, 2]])


def test_outputs_that_are_declared_const(here, tmp_path):
    """silu(a) * b of the halves of x; x / rms(x); ones with probability 1."""
    save(tmp_path / "x.npy", A[:, :2])
    run = here("call", "aclnnSwiGlu", "--x", "x.npy", "--dim", "1", "--out", "out.npy:2,1")
    assert (run.code, run.stdout) == (0, "out.npy: out float32 (2, 1)\n"), run
    a, b = A[:, :1].astype(np.float64), A[:, 1:2]
    assert np.allclose(result(tmp_path), a / (1 + np.exp(-a)) * b, rtol=1e-6)
    save(tmp_path / "one.npy", np.ones(3, np.float32))
    run = here("call", "aclnnRmsNorm", "--x", "a.npy", "--gamma", "one.npy", "--epsilon", "0",
               "--yOut", "y.npy", "--rstdOut", "r.npy:2,1")  # fmt: skip
    rms = np.sqrt((A.astype(np.float64) ** 2).mean(1, keepdims=True))
    assert run.code == 0 and np.allclose(result(tmp_path, "y.npy"), A / rms, rtol=1e-6), run
    assert np.allclose(result(tmp_path, "r.npy"), 1 / rms, rtol=1e-6)
    run = here("call", "aclnnInplaceBernoulli", "--selfRef", "a.npy:out.npy", "--prob", "1.0",
               "--seed", "0", "--offset", "0")  # fmt: skip
    assert run.code == 0 and np.array_equal(result(tmp_path), np.ones((2, 3))), run


def test_every_operator_has_an_output():
    for api, each in declared.operators(libraries.find() / "include").items():
        assert each.outputs, api


def test_running_statistics_are_read_and_written(here, tmp_path):
    mean, variance = np.float32([1, 2, 3]), np.float32([4, 5, 6])
    save(tmp_path / "mean.npy", mean)
    save(tmp_path / "variance.npy", variance)
    norm = ("call", "aclnnBatchNorm", "--input", "a.npy", "--momentum", "0.25", "--eps", "0",
            "--output", "out.npy", "--runningVar", "variance.npy", "--runningMean")  # fmt: skip
    run = here(*norm, "mean.npy", "--training", "false")
    expected = (A - mean) / np.sqrt(variance.astype(np.float64))
    assert run.code == 0 and np.allclose(result(tmp_path), expected, rtol=1e-6), run
    assert np.array_equal(result(tmp_path, "mean.npy"), mean)
    run = here(*norm, "mean.npy:after.npy", "--training", "true",
               "--saveMean", "m.npy:3", "--saveInvstd", "i.npy:3")  # fmt: skip
    assert run.code == 0, run
    assert np.allclose(result(tmp_path, "after.npy"), 0.75 * mean + 0.25 * A.mean(0), rtol=1e-6)
    assert np.array_equal(result(tmp_path, "mean.npy"), mean)
    expected = 0.75 * variance + 0.25 * A.var(0, ddof=1)
    assert np.allclose(result(tmp_path, "variance.npy"), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "arguments, parts",
    [
        (["ad"], ["operator ad is not known", "did you mean aclnnAdd"]),
        (["aclnnAdd", "--self", "a.npy"], ["--other is missing", "--self --other --alpha --out"]),
        (
            ["aclnnLayerNormBackward", "--gradOut", "a.npy"],
            ["aclnnLayerNormBackward has no output, expected one of --gradInputOut"],
        ),
        (["aclnnAdd", "--beta", "1"], ["aclnnAdd has no parameter beta", "--alpha"]),
        (["aclnnAdd", "a.npy"], ["a.npy is left over, expected --PARAMETER VALUE"]),
        (["aclnnAbs", "--self", "a.npy", "--self=b.npy"], ["--self is given twice"]),
        (["aclnnInplaceAdd", "--selfRef", "o.npy"], ["o.npy: No such file"]),
        (["aclnnAbs", "--self", "random:-1", "--out", "o.npy"], ["--self is random:-1, expected"]),
        (["aclnnAbs", "--shape", "2:x", "--out", "o.npy"], ["--shape is 2:x, expected SHAPE:DTYPE"]),
        (["aclnnAbs", "--shape=2", "--shape=3", "--out=o.npy"], ["--shape is given twice"]),
        (["aclnnAbs", "--self", "w.safetensors", "--out", "o.npy"], ["w.safetensors: No such file"]),
        (
            ["aclnnInplaceNeg", "--selfRef", "w.safetensors:a"],
            ["--selfRef is w.safetensors:a, expected w.safetensors:NAME:RESULT"],
        ),
        (
            ["aclnnForeachAbs", "--x=a.npy", "--x=b.npy", "--out=o.npy"],
            ["aclnnForeachAbs: out size is 1, expected that of x, 2"],
        ),
        (
            ["aclnnForeachAbs", "--x=a.npy", "--x=b.npy", "--out=o.npy", "--out=./o.npy"],
            ["--out.1 is o.npy as --out.0 is, expected a file for each"],
        ),
        (["aclnnFlip", "--self", "a.npy", "--dims", "x", "--out", "o.npy"], ["--dims is x"]),
        (["aclnnFlip", "--self", "a.npy", "--dims", "0", "--out", "o.npy:b"], ["--out is o.npy:b"]),
        (["aclnnFlip", "--self", "a.npy", "--dims", "5", "--out", "o.npy"], ["aclnnFlip", "dims"]),
        (["aclnnFlip", "--self", "none.npy", "--dims", "0", "--out", "o.npy"], ["No such file"]),
    ],
    ids=str,
)
def test_refusals(here, tmp_path, arguments, parts):
    refused(here("call", *arguments), 2, *parts)
    assert not (tmp_path / "o.npy").exists()


ABS = ["aclnnAbs", "--self", "a.npy", "--out"]
ADD = ["aclnnAdd", "--self", "a.npy", "--other", "b.npy", "--out", "o.npy", "--alpha"]
FLIP = ["aclnnFlip", "--self", "a.npy", "--out", "o.npy", "--dims"]
ARG = ["aclnnArgMax", "--self", "a.npy", "--keepDim", "true", "--out", "o.npy:1:int64", "--dim"]


@pytest.mark.parametrize(
    "arguments, part",
    [
        ([*FLIP, "18446744073709551617,0"], "--dims is 18446744073709551617,0, expected a value"),
        ([*ARG, "9223372036854775808"], "--dim is 9223372036854775808, expected a value of int64"),
        ([*ARG, "-9223372036854775809"], "--dim is -9223372036854775809"),
        ([*ADD, "99999999999999999999"], "--alpha is 99999999999999999999, expected a value"),
        ([*ADD, "1e39"], "--alpha is 1e39, expected a value of aclScalar*"),
        (["aclnnCast", *ABS[1:], "o.npy", "--dtype", "bogus"], "--dtype is bogus"),
        ([*ABS, "o.npy:-3,4"], "--out is o.npy:-3,4, expected FILE:SHAPE:DTYPE"),
        ([*ABS, "o.npy:99999999999999999999"], "--out is o.npy:9999"),
        ([*ABS, "o.npy:2,3:float32:x"], "--out is o.npy:2,3:float32:x, expected FILE:SHAPE:DTYPE"),
        (
            ["aclnnInplaceNeg", "--selfRef", "a.npy:o.npy:b"],
            "--selfRef is a.npy:o.npy:b, expected FILE[:RESULT]",
        ),
        (
            ["aclnnAminmax", "--self", "a.npy", "--dim", "1", "--keepDim", "true",
             "--min", "o.npy:2,1", "--max", "./o.npy:2,1"],
            "--max is o.npy as --min is, expected a file for each",
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)  # fmt: skip
def test_values_out_of_range(here, tmp_path, arguments, part):
    refused(here("call", *arguments), 2, part)
    assert not (tmp_path / "o.npy").exists()


def test_the_limits_of_the_c_types(here, tmp_path):
    assert here("call", *ADD, "-inf").code == 0
    assert np.array_equal(result(tmp_path, "o.npy"), A - np.inf * B)
    refused(here("call", *ARG, "9223372036854775807"), 2, "dim value is 9223372036854775807")
