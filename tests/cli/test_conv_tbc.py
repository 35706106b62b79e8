# SPDX-License-Identifier: Apache-2.0
"""The convolution over time and its gradients: formulas, cubeMathType, padding, refusals."""

import ml_dtypes
import numpy as np
import pytest
from conftest import doubles, refused, within
from worked import RANDOM, refuses_array, takes_nothing

import openaclnn
from openaclnn.operators.conv_geometry import Geometry


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("pad", [0, 1, 3])
def test_conv_tbc_and_its_gradient(dtype, pad):
    rng = np.random.default_rng(4)
    x = rng.standard_normal((9, 2, 5)).astype(dtype)
    w = rng.standard_normal((3, 5, 4)).astype(dtype)
    b = rng.standard_normal(4).astype(dtype)
    wide_x, wide_w, wide_b = doubles(x, w, b)
    padded = np.pad(wide_x, ((pad, pad), (0, 0), (0, 0)))
    times = 9 + 2 * pad + 1 - 3
    expected = wide_b + sum(padded[k : k + times] @ wide_w[k] for k in range(3))
    y = openaclnn.conv_tbc(x, w, b, pad)
    assert y.dtype == np.dtype(dtype) and within(y, expected)

    g = rng.standard_normal(y.shape).astype(dtype)
    (wide_g,) = doubles(g)
    dx = np.zeros(padded.shape)
    for k in range(3):
        dx[k : k + times] += wide_g @ wide_w[k].T
    dw = [np.einsum("tbc,tbo->co", padded[k : k + times], wide_g) for k in range(3)]
    got = openaclnn.conv_tbc_backward(g, x, w, b, pad)
    assert within(got[0], dx[pad : pad + 9]) and within(got[1], np.stack(dw))
    assert within(got[2], wide_g.sum(axis=(0, 1)))


def test_conv_tbc_in_float16():
    one = np.ones((1, 1, 1), np.float32)
    call = openaclnn.conv_tbc
    assert call(one * 70000, one, np.zeros(1, np.float32)).item() == 70000
    assert call(one * 70000, one, np.zeros(1, np.float32), cube_math_type=2).item() == np.inf


@pytest.mark.parametrize("operator", ["conv_tbc", "conv_tbc_backward"])
def test_text_with_padding(here, book, operator):
    run = here("check", operator, "--text", book, "--width", "32", "--pad", "1", "--json")
    assert run.code == 0 and run.json["ok"], run


@pytest.mark.parametrize("cube_math_type", ["0", "1", "2", "3"])
@pytest.mark.parametrize("operator", ["conv_tbc", "conv_tbc_backward"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_cube_math_type(here, operator, cube_math_type, dtype):
    more = ["--dtype", dtype, "--cube-math-type", cube_math_type, "--json"]
    run = here("check", operator, *RANDOM[operator], *more)
    assert run.code == 0 and run.json["attributes"]["cubeMathType"] == int(cube_math_type), run


def test_cube_math_type_of_the_910(tool):
    check = ("check", "conv_tbc", *RANDOM["conv_tbc"], "--soc", "Ascend910A")
    assert tool(*check, "--cube-math-type", "1").code == 0
    assert tool(*check, "--dtype", "float16").code == 0
    refused(tool(*check), 2, "cubeMathType")


def test_rounded_operands_are_near_the_derivative(here):
    for cube_math_type in ("1", "2", "3"):
        command = ("check", "conv_tbc_backward", "--derivatives", *RANDOM["conv_tbc_backward"])
        assert here(*command, "--cube-math-type", cube_math_type).code == 0


@pytest.mark.parametrize(
    "operator, name, array, parts",
    [
        ("conv_tbc", "self", np.ones((5, 2), np.float32), ["self shape is (5, 2)"]),
        ("conv_tbc", "weight", np.ones((9, 2, 2), np.float32), ["pad is 1", "9 taps on 5"]),
        ("conv_tbc", "weight", np.ones((3, 3, 2), np.float32), ["weight shape is (3, 3, 2)"]),
        ("conv_tbc", "bias", np.ones(3, np.float32), ["bias shape is (3,)", "(2,)"]),
        ("conv_tbc_backward", "self", np.ones((4, 1, 2), np.float32), ["self shape is (4, 1, 2)"]),
        ("conv_tbc_backward", "bias", np.ones((2, 1), np.float32), ["bias rank is 2", "(2, 1)"]),
        ("conv_tbc_backward", "bias", np.ones(2, np.int32), ["bias dtype is int32"]),
    ],
    ids=lambda value: getattr(value, "shape", None),
)
def test_wrong_arrays(here, tmp_path, operator, name, array, parts):
    refuses_array(here, tmp_path, operator, name, array, parts)


@pytest.mark.parametrize(
    "operator, options, parts",
    [
        ("conv_tbc", ["--shape", "4,2,3", "--kernel", "3"], ["--kernel is 3, expected L,C_OUT"]),
        ("conv_tbc", ["--text", "b", "--kernel", "3,3"], ["--kernel is for --shape"]),
        ("conv_tbc", ["--shape", "4,2,3", "--pad", "-1"], ["--pad"]),
        ("conv_tbc", ["--shape", "4,2,3", "--pad", "256"], ["pad", "256", "255"]),
        ("conv_tbc", ["--shape", "4,2,3", "--pad", str(2**63 - 1)], ["--pad"]),
        ("conv_tbc", ["--shape", f"4,2,{2**40}"], ["--shape is 4,2,", "expected T,B,C_IN"]),
        ("conv_tbc", ["--shape", "4,2,3", "--cube-math-type", "4"], ["--cube-math-type"]),
        ("conv_tbc_backward", ["--shape", "1,2,3", "--kernel", "4,3"], ["pad is 0", "4 taps"]),
    ],
    ids=str,
)
def test_wrong_options(here, operator, options, parts):
    refused(here("check", operator, *options), 2, *parts)


def test_shapes_that_give_no_result():
    with pytest.raises(ValueError, match="pad is 0"):
        openaclnn.conv_tbc(np.ones((2, 1, 1)), np.ones((4, 1, 1)), np.ones(1))
    with pytest.raises(ValueError, match="weight shape"):
        openaclnn.conv_tbc(np.ones((2, 1, 1)), np.ones((1, 2, 1)), np.ones(1))


@pytest.mark.parametrize("operator, product", [("conv_tbc_backward", "Ascend310B1")])
def test_what_a_product_lacks_is_exit_code_3(tool, operator, product):
    refused(tool("check", operator, *RANDOM[operator], "--soc", product), 3, product)


# Its float32 asks for cubeMathType 1.
def test_demo_on_the_910(runs_on_910):
    assert runs_on_910("aclnnConvTbc") == []
    assert runs_on_910("aclnnConvTbcBackward") == ["float16"]


def test_empty_arrays(here):
    takes_nothing(here, "conv_tbc_backward", "--shape", "0,2,3", "--pad", "3")


def test_operations_are_those_of_taps_that_meet_an_input(here):
    # 3 taps on 4 times, pad 1: the ends meet two of three. Two operations to a product.
    options = ["--shape", "4,2,5", "--kernel", "3,7", "--pad", "1", "--json"]
    forward = here("bench", "conv_tbc", *options).json["timing"]["operations"]
    assert forward == 2 * (2 + 3 + 3 + 2) * 2 * 5 * 7
    assert here("bench", "conv_tbc_backward", *options).json["timing"]["operations"] == 2 * forward


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
