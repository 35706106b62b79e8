# SPDX-License-Identifier: Apache-2.0
"""Arguments of what takes parts of tensors: slices, other orders, windows, convolutions."""

from cases import Case, Draw, _dim
from more_cases import _full, _index, _moved


def slice_of(d: Draw) -> Case:
    shape = d.shape(1)
    ends = {"start": d.whole(-7, 7), "end": d.one((d.whole(-7, 7), 2**63 - 1)),
            "step": d.whole(1, 3)}  # fmt: skip
    return _moved(d, {"self": d.array(shape), "dim": _dim(d, len(shape)), **ends})


def permute(d: Draw) -> Case:
    array = d.array(d.shape())
    order = [int(axis) for axis in d.random.permutation(array.ndim)]
    return _moved(d, {"self": array, "dims": [a - array.ndim if d.flag() else a for a in order]})
