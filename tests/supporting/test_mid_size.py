# SPDX-License-Identifier: Apache-2.0
"""Arguments as users have them: a few million elements, the same ones each time, and none refused."""

import mid_size
import numpy as np
import pytest
import records

from openaclnn.native import declared, libraries
from openaclnn.benchmark.walk import source
from openaclnn.native.call import Call

# One record of each function that draws arguments.
RECORDS = {each.cases: each for each in records.load()}
# Few numbers cost much there (of iou each pair of boxes, of diag a square), or nothing but numbers is read.
SMALL = {"qr", "svd", "multilabel_margin", "update_scale", "one_hot", "cdist", "pdist", "lstm_cell",
         "lstm_cell_backward", "square", "positive_definite", "search_sorted_scalar",
         "batch_norm_gather", "sync_batch_norm_gather", "max_sum_loss", "diag", "iou"}  # fmt: skip
MADE = {"arange", "eye", "linspace", "logspace", "randperm", "dropout_mask", "normal_of",
        "inclusive_range", "repeat_places", "affine_grid"}  # fmt: skip


def elements(value) -> int:
    if isinstance(value, list):
        return max(map(elements, value), default=0)
    return value.size if isinstance(value, np.ndarray) else 0


@pytest.mark.parametrize("cases", RECORDS)
def test_an_operator_takes_them(device, cases):
    record = RECORDS[cases]
    headers = declared.operators(libraries.load().home / "include")
    walked = source.draw(device[0], record, headers[record.api], "float32")
    with Call(device[0], record.function, walked.problem, device[1]) as call:
        call.check()
    most = max(map(elements, walked.arguments.values()), default=0)
    assert most <= 2**23
    assert most >= 2**18 or cases in SMALL | MADE
    assert walked.read_bytes + walked.write_bytes >= 2**16 or cases in SMALL


@pytest.mark.parametrize("cases", ["elementwise", "nll", "repeat_interleave"])
def test_they_are_the_same_each_time(cases):
    first, second = (mid_size.drawn(RECORDS[cases]).arguments for _ in range(2))
    for name, value in first.items():
        assert np.array_equal(value, second[name])


def test_a_type_is_taken_where_the_operator_has_it():
    half, named = np.dtype(np.float16), {each.name: each for each in records.load()}
    assert mid_size.drawn(named["Exp"], half).arguments["self"].dtype == half
    assert mid_size.drawn(named["BitwiseNot"], half).arguments["self"].dtype.kind in "iub"
