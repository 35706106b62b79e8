# SPDX-License-Identifier: Apache-2.0
"""The compression of windows of tokens and its gradient: windows, formulas, refusals."""

import ml_dtypes
import numpy as np
import pytest
from conftest import doubles, refused, within
from worked import RANDOM, operations, refuses_array

import openaclnn
from openaclnn.errors import InputError
from openaclnn.operators import nsa_windows

HALF = np.float16


def windows(ends, block, stride):
    return [
        start
        for begin, end in zip([0, *ends], ends, strict=False)
        for start in range(begin, end - block + 1, stride)
    ]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("ends", [None, [20, 100], [0, 70, 70, 100]], ids=str)
def test_nsa_compress_and_its_gradient(dtype, ends):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((100, 3, 16)).astype(dtype)
    w = rng.standard_normal((48, 3)).astype(dtype)
    starts = windows(ends or [100], 48, 16)
    wide_x, wide_w = doubles(x, w)
    expected = [np.einsum("rn,rnd->nd", wide_w, wide_x[s : s + 48]) for s in starts]
    y = openaclnn.nsa_compress(x, w, ends, 48, 16)
    assert y.dtype == np.dtype(dtype) and within(y, np.stack(expected))

    g = rng.standard_normal(y.shape).astype(dtype)
    (wide_g,) = doubles(g)
    dx, dw = np.zeros(x.shape), np.zeros(w.shape)
    for window, start in enumerate(starts):
        dx[start : start + 48] += wide_w[..., np.newaxis] * wide_g[window]
        dw += np.einsum("rnd,nd->rn", wide_x[start : start + 48], wide_g[window])
    got = openaclnn.nsa_compress_grad(g, x, w, ends, 48, 16)
    assert within(got[0], dx) and within(got[1], dw)


def test_windows_by_hand():
    def starts(ends, tokens=100):
        return nsa_windows.starts(ends, tokens, 32, 16).tolist()

    assert starts(None) == starts([]) == starts([100]) == [0, 16, 32, 48, 64]
    assert starts([0, 31, 63, 63, 100]) == [31, 63]
    assert starts([40, 100]) == [0, 40, 56]
    for ends in ([40], [40, 30, 100], [101], [-1, 100]):
        with pytest.raises(InputError, match="actSeqLenOptional"):
            starts(ends)


@pytest.mark.parametrize(
    "operator, name",
    [("nsa_compress", "actSeqLenOptional"), ("nsa_compress_grad", "actSeqLenOptionalOptional")],
)
def test_paragraphs_of_a_text_are_segments(here, book, operator, name):
    run = here("check", operator, "--text", book, "--width", "32", "--json")
    assert run.json["attributes"][name] == [360, 372, 396, 408, 600]


@pytest.mark.parametrize(
    "operator, name, array, parts",
    [
        ("nsa_compress_grad", "input", np.ones((272, 64), HALF), ["input shape is (272, 64)"]),
        ("nsa_compress_grad", "input", np.ones((271, 64, 128), HALF), ["272", "271"]),
        (
            "nsa_compress_grad",
            "weight",
            np.ones((32, 63), HALF),
            ["weight shape is (32, 63)", "64"],
        ),
        (
            "nsa_compress_grad",
            "weight",
            np.ones((16, 64), HALF),
            ["weight shape is (16, 64)", "32"],
        ),
        (
            "nsa_compress_grad",
            "output-grad",
            np.ones((14, 64, 128), HALF),
            ["outputGrad shape", "15"],
        ),
        ("nsa_compress_grad", "weight", np.ones((32, 64), np.float32), ["weight dtype is float32"]),
        (
            "nsa_compress_grad",
            "weight",
            np.ones((32, 64), ml_dtypes.bfloat16),
            ["weight dtype is bfloat16, expected float16, that of outputGrad"],
        ),
        ("nsa_compress", "weight", np.ones(32, HALF), ["weight shape is (32,)"]),
    ],
    ids=lambda value: getattr(value, "shape", None),
)
def test_wrong_arrays(here, tmp_path, operator, name, array, parts):
    refuses_array(here, tmp_path, operator, name, array, parts)


@pytest.mark.parametrize(
    "operator, options, parts",
    [
        (
            "nsa_compress",
            ["--shape", "64,2,16", "--dtype", "float32"],
            ["--dtype is float32", "float16"],
        ),
        ("nsa_compress", ["--shape", "64,2,16", "--act-seq-len", "9,x"], ["--act-seq-len is 9,x"]),
        ("nsa_compress", ["--shape", "64,2,16", "--act-seq-len", "40,30,64"], ["30", "40 to 64"]),
        ("nsa_compress", ["--shape", "64,2,16", "--act-seq-len", "40"], ["ends at 40", "64"]),
        ("nsa_compress", ["--shape", "64,2,16", "--compress-stride", "0"], ["--compress-stride"]),
        (
            "nsa_compress",
            ["--shape", "64,2,16", "--compress-block-size", "-5"],
            ["--compress-block"],
        ),
        (
            "nsa_compress",
            ["--shape", "64,2,16", "--compress-block-size", "129"],
            ["--compress-block-size is 129", "128"],
        ),
        (
            "nsa_compress_grad",
            ["--shape", "64,2,16", "--compress-stride", "24"],
            ["--compress-stride is 24, expected a multiple of 16"],
        ),
        (
            "nsa_compress",
            ["--shape", "20,2,16"],
            ["output shape is (0, 2, 16)", "expected elements"],
        ),
        ("nsa_compress", ["--text", "b", "--act-seq-len", "40"], ["--act-seq-len is 40"]),
        ("nsa_compress", ["--input", "x.npy"], ["--weight is missing"]),
        (
            "nsa_compress_grad",
            ["--shape", "64,2,16", "--text", "b"],
            ["--output-grad FILE", "--shape"],
        ),
    ],
    ids=str,
)
def test_wrong_options(here, operator, options, parts):
    refused(here("check", operator, *options), 2, *parts)


def test_other_refusals(here):
    refused(here("check", "nsa_compress_grad", "--derivatives", "--shape", "1,2"), 2, "--shape is 1,2")
    refused(here("check", "nsa_compress_grad", "--derivatives", "--shape", "64,2,15"), 3, "15")
    with pytest.raises(ValueError, match="input shape"):
        openaclnn.nsa_compress(np.ones((9, 2), HALF), np.ones((4, 2), HALF))


@pytest.mark.parametrize(
    "operator, product",
    [
        ("nsa_compress", "Ascend910_9391"),
        ("nsa_compress_grad", "Ascend950PR_9579"),
    ],
)
def test_what_a_product_lacks_is_exit_code_3(tool, operator, product):
    refused(tool("check", operator, *RANDOM[operator], "--soc", product), 3, product)


def test_demo_on_the_910(runs_on_910):
    assert runs_on_910("aclnnNsaCompress") == []
    assert runs_on_910("aclnnNsaCompressGrad") == []


def test_products_that_are_counted(here):
    # 2 windows of 32 tokens in the first segment, 6 in the second. Two operations to a product.
    products = (2 + 6) * 32 * 5 * 16
    assert operations(here, "nsa_compress") == 2 * products
    assert operations(here, "nsa_compress_grad") == 4 * products
