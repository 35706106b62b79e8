# SPDX-License-Identifier: Apache-2.0
"""Every operator through the tool: results, checks, timing, and refusals of bad input."""

import ml_dtypes
import numpy as np
import pytest
from conftest import refused, save
from worked import BY_NAME, WORKED

from openaclnn import accuracy, libraries
from openaclnn.errors import InputError
from openaclnn.operators import (
    OPERATORS,
    nsa_windows,
    scaled_masked_softmax,
    scaled_masked_softmax_backward,
)
from openaclnn.operators.conv_geometry import Geometry

EVERY = pytest.mark.parametrize("worked", WORKED, ids=lambda each: each.operator)
FLOATS = ("float32", "bfloat16", "float16")

# Options of random arrays: an odd shape for each operator, and its dtypes.
RANDOM = {
    "grouped_bias_add_grad": (["--shape", "131,17", "--groups", "5"], FLOATS),
    "grouped_bias_add_grad_v2": (
        ["--shape", "131,17", "--groups", "5", "--group-idx-type", "sizes"],
        FLOATS,
    ),
    "nsa_compress": (["--shape", "174,5,16", "--act-seq-len", "0,62,174"], FLOATS[1:]),
    "nsa_compress_grad": (["--shape", "174,5,16", "--act-seq-len", "0,62,174"], FLOATS[1:]),
    "scaled_masked_softmax": (["--shape", "2,3,5,70", "--scale", "-1.5"], FLOATS),
    "scaled_masked_softmax_backward": (["--shape", "2,3,5,70", "--scale", "0.3"], FLOATS),
    "conv_tbc": (["--shape", "11,3,7", "--kernel", "4,9", "--pad", "2"], FLOATS),
    "conv_tbc_backward": (["--shape", "11,3,7", "--kernel", "4,9", "--pad", "2"], FLOATS),
}


def test_every_operator_has_an_example():
    assert sorted(BY_NAME) == sorted(each.name for each in OPERATORS)


@EVERY
def test_worked_example(here, tmp_path, worked):
    run = here(worked.verb, worked.operator, *worked.arguments(tmp_path), *worked.writes)
    assert (run.code, run.stderr) == (0, ""), run
    for name, (option, expected) in worked.outputs.items():
        out = np.load(tmp_path / f"{option}.npy")
        assert np.array_equal(out, expected)
        assert f"{option}.npy: {name} {out.dtype} {expected.shape}" in run.stdout


@EVERY
def test_check_of_files(here, tmp_path, worked):
    arguments = worked.arguments(tmp_path)
    run = here("check", worked.operator, *arguments, "--json")
    assert run.code == 0 and run.json["ok"], run
    assert [each["output"] for each in run.json["results"]] == list(worked.outputs)
    # The results of a run are files that pass; the one that is changed is found.
    assert here(worked.verb, worked.operator, *arguments, *worked.writes).code == 0
    assert here("check", worked.operator, *arguments, *worked.writes).code == 0
    for name, (option, expected) in worked.outputs.items():
        path = tmp_path / f"{option}.npy"
        kept = path.read_bytes()
        out = np.load(path)
        out.reshape(-1)[-1] += 1
        save(path, out)
        run = here("check", worked.operator, *arguments, *worked.writes, "--json")
        (wrong,) = [each for each in run.json["results"] if each["outside"]]
        last = [extent - 1 for extent in expected.shape]
        assert run.code == 1 and wrong["output"] == name
        assert wrong["outside"] == 1 and wrong["worst"][0]["coordinates"] == last
        path.write_bytes(kept)


@pytest.mark.parametrize(
    "operator, dtype",
    [(name, dtype) for name, (_, dtypes) in RANDOM.items() for dtype in dtypes],
)
def test_check_of_random_arrays(here, operator, dtype):
    options, _ = RANDOM[operator]
    seen = []
    for seed in ("0", "1"):
        more = ["--dtype", dtype, "--seed", seed]
        run = here("check", operator, *options, *more, "--json")
        assert run.code == 0 and run.json["ok"], run
        assert {each["dtype"] for each in run.json["results"]} == {dtype}
        assert all(0 <= each["bound_ratio"] <= 1 for each in run.json["results"])
        seen.append(run.json["results"][0]["worst"])
    assert seen[0] != seen[1]


@pytest.mark.parametrize("operator", BY_NAME)
def test_text_is_an_input(here, book, operator):
    options = ["--pad", "1"] if operator.startswith("conv") else []
    run = here("check", operator, "--text", book, "--width", "32", *options, "--json")
    assert run.code == 0 and run.json["ok"], run
    ends = run.json["attributes"].get("actSeqLenOptionalOptional")
    assert ends in (None, [360, 372, 396, 408, 600])


@pytest.mark.parametrize("operator", RANDOM)
def test_bench(here, operator):
    options, _ = RANDOM[operator]
    run = here("bench", operator, *options, "--json")
    assert run.code == 0, run
    timing = run.json["timing"]
    assert timing["seconds"] > 0 and timing["calls"] >= 5 and timing["roof_seconds"] > 0
    assert (timing["operations"] > 0) == operator.startswith(("nsa", "conv"))
    table = here("bench", operator, *options)
    assert table.code == 0 and "GB/s" in table.stdout


def test_operations_are_those_of_taps_that_meet_an_input(here):
    # 3 taps on 4 times, pad 1: the ends meet two of three. Two operations to a product.
    options = ["--shape", "4,2,5", "--kernel", "3,7", "--pad", "1", "--json"]
    forward = here("bench", "conv_tbc", *options).json["timing"]["operations"]
    assert forward == 2 * (2 + 3 + 3 + 2) * 2 * 5 * 7
    assert here("bench", "conv_tbc_backward", *options).json["timing"]["operations"] == 2 * forward


@pytest.mark.parametrize("cube_math_type", ["0", "1", "2", "3"])
@pytest.mark.parametrize("operator", ["conv_tbc", "conv_tbc_backward"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_cube_math_type(here, operator, cube_math_type, dtype):
    options, _ = RANDOM[operator]
    more = ["--dtype", dtype, "--cube-math-type", cube_math_type, "--json"]
    run = here("check", operator, *options, *more)
    assert run.code == 0 and run.json["attributes"]["cubeMathType"] == int(cube_math_type), run


def test_cube_math_type_of_the_910(tool):
    options, _ = RANDOM["conv_tbc"]
    check = ("check", "conv_tbc", *options, "--soc", "Ascend910A")
    assert tool(*check, "--cube-math-type", "1").code == 0
    assert tool(*check, "--dtype", "float16").code == 0
    refused(tool(*check), 2, "cubeMathType")


@pytest.mark.parametrize(
    "operator, product",
    [
        ("nsa_compress", "Ascend910_9391"),
        ("nsa_compress_grad", "Ascend950PR_9579"),
        ("scaled_masked_softmax_backward", "Ascend910A"),
        ("grouped_bias_add_grad", "Ascend310P3"),
        ("conv_tbc_backward", "Ascend310B1"),
    ],
)
def test_what_a_product_lacks_is_exit_code_3(tool, operator, product):
    options, _ = RANDOM[operator]
    refused(tool("check", operator, *options, "--soc", product), 3, product)


HALF = np.float16
WRONG_ARRAYS = [
    ("grouped_bias_add_grad", "grad-y", np.ones(40, np.float32), ["gradY shape is (40,)", "2"]),
    ("grouped_bias_add_grad", "grad-y", np.ones((40, 10)), ["gradY dtype is float64"]),
    ("grouped_bias_add_grad", "group-idx", np.array([[40]]), ["groupIdxOptional shape is (1, 1)"]),
    ("grouped_bias_add_grad", "group-idx", np.ones(4), ["groupIdxOptional dtype is float64"]),
    ("grouped_bias_add_grad", "group-idx", np.array([5, 3, 40]), ["groupIdxOptional", "1", "3"]),
    ("grouped_bias_add_grad", "group-idx", np.array([5, 39]), ["groupIdxOptional", "39", "40"]),
    ("grouped_bias_add_grad", "group-idx", np.array([-1, 40]), ["groupIdxOptional", "-1"]),
    ("grouped_bias_add_grad_v2", "group-idx", np.array([41, -1]), ["groupIdxOptional", "-1"]),
    ("nsa_compress_grad", "input", np.ones((272, 64), HALF), ["input shape is (272, 64)"]),
    ("nsa_compress_grad", "input", np.ones((271, 64, 128), HALF), ["272", "271"]),
    ("nsa_compress_grad", "weight", np.ones((32, 63), HALF), ["weight shape is (32, 63)", "64"]),
    ("nsa_compress_grad", "weight", np.ones((16, 64), HALF), ["weight shape is (16, 64)", "32"]),
    ("nsa_compress_grad", "output-grad", np.ones((14, 64, 128), HALF), ["outputGrad shape", "15"]),
    ("nsa_compress_grad", "weight", np.ones((32, 64), np.float32), ["weight dtype is float32"]),
    (
        "nsa_compress_grad",
        "weight",
        np.ones((32, 64), ml_dtypes.bfloat16),
        ["weight dtype is bfloat16, expected float16, that of outputGrad"],
    ),
    ("nsa_compress", "weight", np.ones(32, HALF), ["weight shape is (32,)"]),
    ("scaled_masked_softmax", "x", np.ones((2, 2), np.float32), ["x rank is 2", "(2, 2)"]),
    ("scaled_masked_softmax", "mask", np.ones((2, 1, 2, 2), bool), ["mask shape is (2, 1, 2, 2)"]),
    ("scaled_masked_softmax", "mask", np.ones((1, 1, 2, 2), np.uint8), ["mask dtype is uint8"]),
    ("scaled_masked_softmax_backward", "y", np.ones((2, 2, 2, 3), np.float32), ["y shape is"]),
    ("scaled_masked_softmax_backward", "y", np.ones((2, 2, 2, 2), HALF), ["y dtype is float16"]),
    ("conv_tbc", "self", np.ones((5, 2), np.float32), ["self shape is (5, 2)"]),
    ("conv_tbc", "weight", np.ones((9, 2, 2), np.float32), ["pad is 1", "9 taps on 5"]),
    ("conv_tbc", "weight", np.ones((3, 3, 2), np.float32), ["weight shape is (3, 3, 2)"]),
    ("conv_tbc", "bias", np.ones(3, np.float32), ["bias shape is (3,)", "(2,)"]),
    ("conv_tbc_backward", "self", np.ones((4, 1, 2), np.float32), ["self shape is (4, 1, 2)"]),
    ("conv_tbc_backward", "bias", np.ones((2, 1), np.float32), ["bias rank is 2", "(2, 1)"]),
    ("conv_tbc_backward", "bias", np.ones(2, np.int32), ["bias dtype is int32"]),
    ("embedding", "weight", np.ones(3, np.float32), ["weight shape is (3,)"]),
    ("embedding", "indices", np.array([0, 3]), ["indices", "3"]),
    ("embedding", "indices", np.array([np.nan, 0]), ["indices"]),
]


@pytest.mark.parametrize(
    "operator, name, array, parts", WRONG_ARRAYS, ids=lambda value: getattr(value, "shape", None)
)
def test_wrong_arrays(here, tmp_path, operator, name, array, parts):
    worked = BY_NAME[operator]
    arguments = worked.arguments(tmp_path)
    save(tmp_path / f"{name}.npy", array)
    before = sorted(tmp_path.iterdir())
    refused(here(worked.verb, operator, *arguments, *worked.writes), 2, *parts)
    refused(here("check", operator, *arguments), 2, *parts)
    if worked.verb == "grad":
        refused(here("gradcheck", operator, *arguments), 2, *parts)
    assert sorted(tmp_path.iterdir()) == before
    # A check of files runs no operator, and refuses the same.
    for option, expected in worked.outputs.values():
        save(tmp_path / f"{option}.npy", expected.astype(next(iter(worked.arrays.values())).dtype))
    refused(here("check", operator, *arguments, *worked.writes), 2)


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY\x01\x00", b"1,2\n"], ids=len)
@pytest.mark.parametrize(
    "operator, name", [(each.operator, name) for each in WORKED for name in each.arrays]
)
def test_broken_files(here, tmp_path, operator, name, content):
    worked = BY_NAME[operator]
    arguments = worked.arguments(tmp_path)
    path = tmp_path / f"{name}.npy"
    path.write_bytes(content)
    before = sorted(tmp_path.iterdir())
    run = here(worked.verb, operator, *arguments, *worked.writes)
    refused(run, 2, f"{name}.npy", "not a .npy file", "expected")
    path.unlink()
    refused(here("check", operator, *arguments), 2, f"{name}.npy: No such file", "expected")
    assert sorted(tmp_path.iterdir()) == [each for each in before if each != path]


WRONG_OPTIONS = [
    ("grouped_bias_add_grad", [], ["--grad-y FILE", "--text", "--shape"]),
    ("grouped_bias_add_grad", ["--shape", "3"], ["--shape is 3, expected R,H"]),
    ("grouped_bias_add_grad", ["--shape", "3,-1"], ["--shape is 3,-1"]),
    ("grouped_bias_add_grad", ["--shape", "3,4", "--groups", "0"], ["--groups"]),
    ("grouped_bias_add_grad", ["--text", "b", "--groups", "2"], ["--groups is for --shape"]),
    ("grouped_bias_add_grad", ["--text", "none.txt"], ["none.txt: No such file"]),
    ("grouped_bias_add_grad", ["--shape", "3,4", "--width", "2"], ["--width is for --text"]),
    ("grouped_bias_add_grad_v2", ["--shape", "3,4", "--group-idx-type", "x"], ["x", "ends"]),
    (
        "nsa_compress",
        ["--shape", "64,2,16", "--dtype", "float32"],
        ["--dtype is float32", "float16"],
    ),
    ("nsa_compress", ["--shape", "64,2,16", "--act-seq-len", "9,x"], ["--act-seq-len is 9,x"]),
    ("nsa_compress", ["--shape", "64,2,16", "--act-seq-len", "40,30,64"], ["30", "40 to 64"]),
    ("nsa_compress", ["--shape", "64,2,16", "--act-seq-len", "40"], ["ends at 40", "64"]),
    ("nsa_compress", ["--shape", "64,2,16", "--compress-stride", "0"], ["--compress-stride"]),
    ("nsa_compress", ["--shape", "64,2,16", "--compress-block-size", "-5"], ["--compress-block"]),
    ("nsa_compress", ["--shape", "20,2,16"], ["output shape is (0, 2, 16)", "expected elements"]),
    ("nsa_compress", ["--text", "b", "--act-seq-len", "40"], ["--act-seq-len is 40"]),
    ("nsa_compress", ["--input", "x.npy"], ["--weight is missing"]),
    ("nsa_compress_grad", ["--shape", "64,2,16", "--text", "b"], ["--output-grad FILE", "--shape"]),
    ("scaled_masked_softmax", ["--shape", "2,2,2"], ["--shape is 2,2,2, expected B,N,S1,S2"]),
    ("scaled_masked_softmax", ["--shape", "1,1,2,2", "--scale", "x"], ["--scale"]),
    ("scaled_masked_softmax", ["--shape", "1,1,1,4097"], ["x", "4097", "4096"]),
    ("scaled_masked_softmax_backward", ["--y", "y.npy"], ["--grad-output is missing"]),
    ("conv_tbc", ["--shape", "4,2,3", "--kernel", "3"], ["--kernel is 3, expected L,C_OUT"]),
    ("conv_tbc", ["--text", "b", "--kernel", "3,3"], ["--kernel is for --shape"]),
    ("conv_tbc", ["--shape", "4,2,3", "--pad", "-1"], ["--pad"]),
    ("conv_tbc", ["--shape", "4,2,3", "--pad", "256"], ["pad", "256", "255"]),
    ("conv_tbc", ["--shape", "4,2,3", "--pad", str(2**63 - 1)], ["--pad"]),
    ("conv_tbc", ["--shape", f"4,2,{2**40}"], ["--shape is 4,2,", "expected T,B,C_IN"]),
    ("conv_tbc", ["--shape", "4,2,3", "--cube-math-type", "4"], ["--cube-math-type"]),
    ("conv_tbc_backward", ["--shape", "1,2,3", "--kernel", "4,3"], ["pad is 0", "4 taps"]),
    ("embedding", [], ["--weight FILE", "--text"]),
    ("embedding", ["--weight", "w.npy", "--indices", "i.npy", "--vocab", "3"], ["--vocab"]),
]


@pytest.mark.parametrize("operator, options, parts", WRONG_OPTIONS, ids=str)
def test_wrong_options(here, operator, options, parts):
    refused(here("check", operator, *options), 2, *parts)


@pytest.mark.parametrize("operator", ["scaled_masked_softmax_backward", "conv_tbc"])
def test_more_memory_than_there_is(here, operator):
    shape = ",".join(["2000000000"] * len(RANDOM[operator][0][1].split(",")))
    refused(here("check", operator, "--shape", shape), 4, "out of memory")


@pytest.mark.parametrize(
    "operator, shape",
    [
        ("grouped_bias_add_grad", "0,4"),
        ("grouped_bias_add_grad", "4,0"),
        ("scaled_masked_softmax_backward", "0,1,4,3"),
        ("scaled_masked_softmax_backward", "2,1,4,0"),
        ("conv_tbc_backward", "0,2,3"),
    ],
)
def test_empty_arrays(here, operator, shape):
    pad = ["--pad", "3"] if operator.startswith("conv") else []
    for verb in ("check", "gradcheck", "bench"):
        run = here(verb, operator, "--shape", shape, *pad)
        assert run.code == 0, run


def test_scale_is_a_float32(here):
    assert scaled_masked_softmax.narrowed(0.1) == float(np.float32(0.1)) != 0.1
    for operator in ("scaled_masked_softmax", "scaled_masked_softmax_backward"):
        run = here("check", operator, "--shape", "1,2,3,4", "--scale", "1e300", "--json")
        assert run.code == 0 and run.json["results"][0]["worst"] == [], run  # NaN where it is NaN


def test_bound_of_the_softmax():
    """b of the operator's page: each argument of an exponential is rounded twice."""
    x = np.array([[3.0, -40.0, 2.5, 7.0]]).reshape(1, 1, 1, 4).astype(np.float32)
    mask = np.array([False, False, True, False]).reshape(1, 1, 1, 4)
    problem = scaled_masked_softmax.problem(x, mask, 0.5)
    (found,) = scaled_masked_softmax.reference(libraries.load(), problem).values()
    z = np.where(mask, -10000, 0.5 * x.astype(float))
    y = np.exp(z - 3.5) / np.exp(z - 3.5).sum()
    d = np.where(mask, 0, abs(z)) + abs(z - 3.5)
    d = np.where(y == 0, 0, d)  # nothing to round
    roundings = 8 + 4 + 2 + d + (y * d).sum()
    assert np.allclose(found.value, y, rtol=1e-14)
    expected = np.where(y == 0, 0, roundings * 2.0**-24 * y) + 2.0**-126
    assert np.allclose(accuracy.bound(found), expected, rtol=1e-12)


def test_bound_of_the_softmax_gradient():
    g = np.array([1.0, -2.0, 3.0]).reshape(1, 1, 1, 3).astype(np.float32)
    mask = np.array([False, True, False]).reshape(1, 1, 1, 3)
    problem = scaled_masked_softmax_backward.problem(g, 2 * g, mask, -0.5)
    (found,) = scaled_masked_softmax_backward.reference(libraries.load(), problem).values()
    # |scale| * (|g*y| + |y| * sum |g*y|), g*y = 2, 8, 18.
    assert found.magnitude.reshape(-1).tolist() == [0.5 * (2 + 2 * 28), 0, 0.5 * (18 + 6 * 28)]
    assert found.value.reshape(-1).tolist() == [-0.5 * (2 - 2 * 28), 0, -0.5 * (18 - 6 * 28)]


def test_windows_by_hand():
    def starts(ends, tokens=100):
        return nsa_windows.starts(ends, tokens, 32, 16).tolist()

    assert starts(None) == starts([]) == starts([100]) == [0, 16, 32, 48, 64]
    assert starts([0, 31, 63, 63, 100]) == [31, 63]
    assert starts([40, 100]) == [0, 40, 56]
    for ends in ([40], [40, 30, 100], [101], [-1, 100]):
        with pytest.raises(InputError, match="actSeqLenOptional"):
            starts(ends)


@pytest.mark.parametrize("pad", range(5))
@pytest.mark.parametrize("taps", range(5))
@pytest.mark.parametrize("times", range(5))
def test_taps_that_meet_an_input(times, taps, pad):
    if times + 2 * pad + 1 < taps:
        return
    geometry = Geometry(times, 1, 1, 1, taps, pad)
    out = range(geometry.out_length)
    meets = [[0 <= t + k - pad < times for k in range(taps)] for t in out]
    assert geometry.meetings_by_output.tolist() == [sum(row) for row in meets]
    assert geometry.meetings_by_tap.tolist() == [sum(row[k] for row in meets) for k in range(taps)]
    by_input = [sum(s + pad - k in out for k in range(taps)) for s in range(times)]
    assert geometry.meetings_by_input.tolist() == by_input


def test_outputs_of_one_run_are_all_needed(here, tmp_path):
    worked = BY_NAME["conv_tbc_backward"]
    arguments = worked.arguments(tmp_path)
    refused(here("grad", "conv_tbc_backward", *arguments, "--grad-input", "x.npy"), 2, "--grad")
    assert not (tmp_path / "x.npy").exists()
