# SPDX-License-Identifier: Apache-2.0
"""The scaled, masked softmax and its gradient: formulas, bounds, refusals."""

import ml_dtypes
import numpy as np
import pytest
from conftest import doubles, refused, within
from worked import RANDOM, operations, refuses_array, takes_nothing

import openaclnn
from openaclnn import accuracy
from openaclnn.native import libraries
from openaclnn.operators import scaled_masked_softmax, scaled_masked_softmax_backward

HALF = np.float16


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("mask_shape", [(2, 3), (2, 1), (1, 3), (1, 1)], ids=str)
def test_scaled_masked_softmax_and_its_gradient(dtype, mask_shape):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((2, 3, 4, 21)).astype(dtype)
    mask = rng.random((*mask_shape, 4, 21)) < 0.3
    z = np.where(mask, -10000, 0.7 * x.astype(float))
    expected = np.exp(z - z.max(axis=-1, keepdims=True))
    expected /= expected.sum(axis=-1, keepdims=True)
    y = openaclnn.scaled_masked_softmax(x, mask, 0.7)
    assert y.dtype == np.dtype(dtype) and within(y, expected)

    g = rng.standard_normal(y.shape).astype(dtype)
    wide_y, wide_g = doubles(y, g)
    product = wide_g * wide_y
    t = product - wide_y * product.sum(axis=-1, keepdims=True)
    got = openaclnn.scaled_masked_softmax_backward(g, y, mask, 0.7)
    assert within(got, np.where(mask, 0, 0.7 * t))


@pytest.mark.parametrize(
    "operator, name, array, parts",
    [
        ("scaled_masked_softmax", "x", np.ones((2, 2), np.float32), ["x rank is 2", "(2, 2)"]),
        (
            "scaled_masked_softmax",
            "mask",
            np.ones((2, 1, 2, 2), bool),
            ["mask shape is (2, 1, 2, 2)"],
        ),
        ("scaled_masked_softmax", "mask", np.ones((1, 1, 2, 2), np.uint8), ["mask dtype is uint8"]),
        ("scaled_masked_softmax_backward", "y", np.ones((2, 2, 2, 3), np.float32), ["y shape is"]),
        (
            "scaled_masked_softmax_backward",
            "y",
            np.ones((2, 2, 2, 2), HALF),
            ["y dtype is float16"],
        ),
    ],
    ids=lambda value: getattr(value, "shape", None),
)
def test_wrong_arrays(here, tmp_path, operator, name, array, parts):
    refuses_array(here, tmp_path, operator, name, array, parts)


@pytest.mark.parametrize(
    "operator, options, parts",
    [
        ("scaled_masked_softmax", ["--shape", "2,2,2"], ["--shape is 2,2,2, expected B,N,S1,S2"]),
        ("scaled_masked_softmax", ["--shape", "1,1,2,2", "--scale", "x"], ["--scale is x"]),
        ("scaled_masked_softmax", ["--shape", "1,1,1,4097"], ["x", "4097", "4096"]),
        ("scaled_masked_softmax_backward", ["--y", "y.npy"], ["--grad-output is missing"]),
    ],
    ids=str,
)
def test_wrong_options(here, operator, options, parts):
    refused(here("check", operator, *options), 2, *parts)


def test_a_refusal_has_the_operator_s_words():
    mask, x = np.zeros((3, 1, 2, 2), bool), np.zeros((1, 1, 2, 2), np.float32)
    with pytest.raises(openaclnn.AclError, match="mask shape") as caught:
        openaclnn.scaled_masked_softmax(x, mask)
    assert caught.value.code == 161002


@pytest.mark.parametrize("operator, product", [("scaled_masked_softmax_backward", "Ascend910A")])
def test_what_a_product_lacks_is_exit_code_3(tool, operator, product):
    refused(tool("check", operator, *RANDOM[operator], "--soc", product), 3, product)


def test_demo_on_the_910(runs_on_910):
    assert runs_on_910("aclnnScaledMaskedSoftmax") == []
    assert runs_on_910("aclnnScaledMaskedSoftmaxBackward") == []


@pytest.mark.parametrize("shape", ["0,1,4,3", "2,1,4,0"])
def test_empty_arrays(here, shape):
    takes_nothing(here, "scaled_masked_softmax_backward", "--shape", shape)


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


def test_no_products_are_counted(here):
    for operator in ("scaled_masked_softmax", "scaled_masked_softmax_backward"):
        assert operations(here, operator) == 0
