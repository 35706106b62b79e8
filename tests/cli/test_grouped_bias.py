# SPDX-License-Identifier: Apache-2.0
"""The gradient of a bias that is added to groups of rows, both versions."""

import ml_dtypes
import numpy as np
import pytest
from conftest import refused
from worked import RANDOM, operations, refuses_array, takes_nothing

import openaclnn


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_grouped_bias_add_grad(dtype):
    rows = np.random.default_rng(1).integers(-4, 5, (20, 7)).astype(dtype)
    ends = np.array([0, 6, 6, 20], np.int32)
    expected = np.stack(
        [
            rows[begin:end].astype(float).sum(axis=0)
            for begin, end in zip([0, *ends], ends, strict=False)
        ]
    )
    call = openaclnn.grouped_bias_add_grad
    assert call(rows, ends).dtype == np.dtype(dtype)
    assert np.array_equal(call(rows, ends).astype(float), expected)
    assert np.array_equal(call(rows, ends, "ends").astype(float), expected)
    sizes = np.array([0, 6, 0, 14])
    assert np.array_equal(call(rows, sizes, "sizes").astype(float), expected)
    cube = rows.reshape(4, 5, 7)
    assert np.array_equal(call(cube).astype(float), cube.astype(float).sum(axis=1))


@pytest.mark.parametrize(
    "operator, name, array, parts",
    [
        ("grouped_bias_add_grad", "grad-y", np.ones(40, np.float32), ["gradY shape is (40,)", "2"]),
        ("grouped_bias_add_grad", "grad-y", np.ones((40, 10)), ["gradY dtype is float64"]),
        (
            "grouped_bias_add_grad",
            "group-idx",
            np.array([[40]]),
            ["groupIdxOptional shape is (1, 1)"],
        ),
        ("grouped_bias_add_grad", "group-idx", np.ones(4), ["groupIdxOptional dtype is float64"]),
        (
            "grouped_bias_add_grad",
            "group-idx",
            np.array([5, 3, 40]),
            ["groupIdxOptional", "1", "3"],
        ),
        ("grouped_bias_add_grad", "group-idx", np.array([5, 39]), ["groupIdxOptional", "39", "40"]),
        ("grouped_bias_add_grad", "group-idx", np.array([-1, 40]), ["groupIdxOptional", "-1"]),
        ("grouped_bias_add_grad_v2", "group-idx", np.array([41, -1]), ["groupIdxOptional", "-1"]),
    ],
    ids=lambda value: getattr(value, "shape", None),
)
def test_wrong_arrays(here, tmp_path, operator, name, array, parts):
    refuses_array(here, tmp_path, operator, name, array, parts)


@pytest.mark.parametrize(
    "operator, options, parts",
    [
        ("grouped_bias_add_grad", [], ["--grad-y FILE", "--text", "--shape"]),
        ("grouped_bias_add_grad", ["--shape", "3"], ["--shape is 3, expected R,H"]),
        ("grouped_bias_add_grad", ["--shape", "3,-1"], ["--shape is 3,-1"]),
        ("grouped_bias_add_grad", ["--shape", "3,4", "--groups", "0"], ["--groups"]),
        ("grouped_bias_add_grad", ["--text", "b", "--groups", "2"], ["--groups is for --shape"]),
        ("grouped_bias_add_grad", ["--text", "none.txt"], ["none.txt: No such file"]),
        ("grouped_bias_add_grad", ["--shape", "3,4", "--width", "2"], ["--width is for --text"]),
        ("grouped_bias_add_grad_v2", ["--shape", "3,4", "--group-idx-type", "x"], ["x", "ends"]),
    ],
    ids=str,
)
def test_wrong_options(here, operator, options, parts):
    refused(here("check", operator, *options), 2, *parts)


def test_shapes_that_give_no_result():
    with pytest.raises(ValueError, match="gradY shape"):
        openaclnn.grouped_bias_add_grad(np.ones(3, np.float32))
    with pytest.raises(ValueError, match="starts"):
        openaclnn.grouped_bias_add_grad(np.ones((2, 3)), [1, 2], "starts")


def test_a_refusal_has_the_operator_s_words():
    with pytest.raises(openaclnn.AclError, match="groupIdxOptional value 1") as caught:
        openaclnn.grouped_bias_add_grad(np.ones((4, 2), np.float32), np.array([3, 2, 4]))
    assert caught.value.code == 507035


@pytest.mark.parametrize("operator, product", [("grouped_bias_add_grad", "Ascend310P3")])
def test_what_a_product_lacks_is_exit_code_3(tool, operator, product):
    refused(tool("check", operator, *RANDOM[operator], "--soc", product), 3, product)


def test_demo_on_the_910(runs_on_910):
    assert runs_on_910("aclnnGroupedBiasAddGrad") == []
    assert runs_on_910("aclnnGroupedBiasAddGradV2") == []


@pytest.mark.parametrize("shape", ["0,4", "4,0"])
def test_empty_arrays(here, shape):
    takes_nothing(here, "grouped_bias_add_grad", "--shape", shape)


def test_no_products_are_counted(here):
    for operator in ("grouped_bias_add_grad", "grouped_bias_add_grad_v2"):
        assert operations(here, operator) == 0
