# SPDX-License-Identifier: Apache-2.0
"""Arguments of what takes parts of tensors: slices, other orders, windows, convolutions."""

from cases import Case, Draw, _dim
from more_cases import _full, _index, _moved


def gather_v2(d: Draw) -> Case:
    shape = _full(d, 1)
    dim = _dim(d, len(shape))
    index = _index(d, shape[dim], tuple(d.whole(0 if i else 1, 3) for i in range(d.whole(0, 3))))
    return _moved(d, {"self": d.array(shape), "dim": dim, "index": index})


def slice_of(d: Draw) -> Case:
    shape = d.shape(1)
    ends = {"start": d.whole(-7, 7), "end": d.one((d.whole(-7, 7), 2**63 - 1)),
            "step": d.whole(1, 3)}  # fmt: skip
    return _moved(d, {"self": d.array(shape), "dim": _dim(d, len(shape)), **ends})


def permute(d: Draw) -> Case:
    array = d.array(d.shape())
    order = [int(axis) for axis in d.random.permutation(array.ndim)]
    return _moved(d, {"self": array, "dims": [a - array.ndim if d.flag() else a for a in order]})
