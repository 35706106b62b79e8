# SPDX-License-Identifier: Apache-2.0
"""The error that a sum may have: at most 64 terms in sequence, then pairwise, in FP32."""

import math

import torch


def bound(terms, count):
    """From the sum of the terms' magnitudes and how many there are at most."""
    factor = (8 + min(count, 64) + math.log2(max(count, 1))) * 2**-24
    return factor * terms + 2**-126


def assert_within(got, reference, limit):
    """FP32 within the bound; 16-bit types between the roundings of the bound's ends."""
    got = got.detach().cpu()
    if got.dtype == torch.float32:
        error = (got.double() - reference).abs()
        assert bool((error <= limit).all()), f"error {error.max():g}, bound {limit.max():g}"
        return
    low, high = (reference - limit).to(got.dtype), (reference + limit).to(got.dtype)
    assert bool(((low <= got) & (got <= high)).all())
