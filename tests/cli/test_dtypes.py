# SPDX-License-Identifier: Apache-2.0
"""Rounding and spacing of the floating-point formats."""

import numpy as np
import pytest

from openaclnn.dtypes import BFLOAT16, FLOAT_FORMATS, of, parse
from openaclnn.errors import InputError

FLOAT16 = np.dtype(np.float16)
FLOAT32 = np.dtype(np.float32)


@pytest.mark.parametrize("dtype", FLOAT_FORMATS, ids=str)
def test_every_value_of_the_format_rounds_to_itself(dtype):
    bits = np.arange(2**16, dtype=np.uint16)
    if dtype == FLOAT32:
        bits = np.random.default_rng(1).integers(0, 2**32, 10000, dtype=np.uint32)
    with np.errstate(invalid="ignore"):
        values = bits.view(dtype).astype(np.float64)
    values = values[np.isfinite(values)]
    assert np.array_equal(FLOAT_FORMATS[dtype].round(values), values)


@pytest.mark.parametrize("dtype", [FLOAT16, FLOAT32], ids=str)
def test_rounding_agrees_with_numpy(dtype):
    rng = np.random.default_rng(2)
    form = FLOAT_FORMATS[dtype]
    exponents = rng.integers(form.min_exponent - 15, form.max_exponent + 3, 200000)
    values = np.ldexp(rng.standard_normal(200000), exponents)
    with np.errstate(over="ignore", invalid="ignore"):
        ties = values.astype(dtype).astype(np.float64) + form.ulp(values) / 2
        for each in (values, ties[np.isfinite(ties)]):
            assert np.array_equal(form.round(each), each.astype(dtype).astype(np.float64))


def test_bfloat16_is_rounded_once():
    # 1 + 2^-8 is a tie between 1 and 1 + 2^-7; by way of float32 the 2^-40 would be lost.
    form = FLOAT_FORMATS[BFLOAT16]
    assert form.round(np.array(1 + 2.0**-8)) == 1
    assert form.round(np.array(1 + 2.0**-8 + 2.0**-40)) == 1 + 2.0**-7


@pytest.mark.parametrize(
    "dtype, value, expected",
    [
        (FLOAT16, 65519.9, 65504),
        (FLOAT16, 65520, np.inf),
        (FLOAT16, -65520, -np.inf),
        (FLOAT16, np.inf, np.inf),
        (FLOAT16, 2.0**-25, 0),
        (FLOAT16, 2.0**-25 * 1.0001, 2.0**-24),
        (BFLOAT16, 2.0**-134, 0),
        (BFLOAT16, 2.0**-134 * 1.0001, 2.0**-133),
    ],
)
def test_rounding_at_the_ends_of_the_range(dtype, value, expected):
    assert FLOAT_FORMATS[dtype].round(np.array(value)) == expected


@pytest.mark.parametrize(
    "dtype, value, expected",
    [
        (FLOAT32, 1.0, 2.0**-23),
        (FLOAT32, np.nextafter(1.0, 0), 2.0**-24),
        (FLOAT32, 0.0, 2.0**-149),
        (FLOAT16, 0.0, 2.0**-24),
        (FLOAT16, -1.5, 2.0**-10),
        (FLOAT16, 1e9, 2.0**5),
        (BFLOAT16, 3.0, 2.0**-6),
    ],
)
def test_ulp(dtype, value, expected):
    assert FLOAT_FORMATS[dtype].ulp(np.array(value)) == expected


def test_names():
    assert parse("bfloat16") == BFLOAT16
    assert of(BFLOAT16).acl_name == "BFLOAT16" and of(BFLOAT16).number == 27
    with pytest.raises(InputError):
        of(np.dtype("datetime64[s]"))
