# SPDX-License-Identifier: Apache-2.0
"""MindSpore, unmodified, on the device that our libraries are."""

import os

os.environ.setdefault("GLOG_v", "4")  # what a test expects is refused, too

import mindspore
import numpy as np
import pytest

mindspore.set_device("Ascend", 0)
mindspore.set_context(mode=mindspore.PYNATIVE_MODE)


@pytest.fixture
def draw():
    """Tensors of normal numbers, and the same as float64 arrays."""
    generator = np.random.default_rng(0)

    def make(*shape, dtype=mindspore.float32):
        tensor = mindspore.Tensor(generator.standard_normal(shape).astype(np.float32), dtype)
        return tensor, as_array(tensor)

    return make


def as_array(tensor):
    if tensor.dtype in (mindspore.float16, mindspore.bfloat16):
        tensor = tensor.astype(mindspore.float32)
    return tensor.asnumpy().astype(np.float64)


@pytest.fixture
def near():
    """Whether a tensor is an array within the rounding of its type, or of so many bits."""

    def check(tensor, wanted, bits=None):
        bits = bits or {mindspore.float16: 10, mindspore.bfloat16: 7}.get(tensor.dtype, 20)
        np.testing.assert_allclose(as_array(tensor), wanted, rtol=2.0**-bits, atol=2.0 ** (1 - bits))

    return check
