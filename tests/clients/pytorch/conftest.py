# SPDX-License-Identifier: Apache-2.0
"""Skips nothing silently: the tests of this folder need the torch-npu wheel and our libraries."""

import os

import pytest
import torch
import torch_npu  # noqa: F401  (makes the device known)


@pytest.fixture(scope="session")
def product():
    return os.environ["OPENACLNN_SOC"]


@pytest.fixture(autouse=True)
def as_it_comes():
    """The same numbers for every test, and the wheel's own choice about HF32 after it."""
    torch.manual_seed(0)
    chosen = torch.npu.conv.allow_hf32
    yield
    if torch.npu.conv.allow_hf32 is not chosen:
        torch.npu.conv.allow_hf32 = chosen
