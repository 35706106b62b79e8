# SPDX-License-Identifier: Apache-2.0
"""Copies in another order, indexing, sorting, random numbers."""

from . import Call, Device


def _transposed(d: Device):
    x = d.normal()
    return lambda: x.t().contiguous()


def _permuted(d: Device):
    x = d.normal(32, 64, 16, 128)
    return lambda: x.permute(0, 2, 1, 3).contiguous()


def _joined(d: Device):
    parts = [d.normal(d.n // 4, d.n, seed=seed) for seed in range(4)]
    return lambda: d.torch.cat(parts, 1)


def _padded(d: Device):
    x = d.normal()
    return lambda: d.torch.nn.functional.pad(x, (3, 5, 2, 4))


def _lower(d: Device):
    x = d.normal()
    return lambda: x.tril()


def _index_select(d: Device):
    x, index = d.normal(), d.integers(d.n, d.n)
    return lambda: x.index_select(0, index)


def _index_add(d: Device):
    x, index, into = d.normal(), d.integers(d.n, d.n), d.normal(seed=1)
    return lambda: into.index_add_(0, index, x)


def _gather(d: Device):
    x, index = d.normal(), d.integers(d.n, d.n, d.n)
    return lambda: x.gather(1, index)


def _scatter_add(d: Device):
    x, index, into = d.normal(), d.integers(d.n, d.n, d.n), d.normal(seed=1)
    return lambda: into.scatter_add_(1, index, x)


def _index_put(d: Device):
    x, index, into = d.normal(), d.integers(d.n, d.n), d.normal(seed=1)
    return lambda: into.index_put_((index,), x)


def _embedding_backward(d: Device):
    weight, index = d.normal(30000, 256, grad=True), d.integers(30000, 4096)
    return d.back(d.torch.nn.functional.embedding(index, weight), weight)


def _sort(d: Device):
    x = d.normal()
    return lambda: x.sort(1)


def _topk(d: Device):
    x = d.normal()
    return lambda: x.topk(min(50, d.n), 1)


def _randn(d: Device):
    x = d.empty()
    return lambda: x.normal_()


def _uniform(d: Device):
    x = d.empty()
    return lambda: x.uniform_()


def _dropout(d: Device):
    x = d.normal()
    return lambda: d.torch.nn.functional.dropout(x, 0.1, True)


CALLS = (
    Call("transposed copy", _transposed, ("float32", "float16")),
    Call("permuted copy", _permuted),
    Call("cat", _joined),
    Call("pad", _padded),
    Call("tril", _lower),
    Call("index_select", _index_select),
    Call("index_add_", _index_add),
    Call("gather", _gather),
    Call("scatter_add_", _scatter_add),
    Call("index_put_", _index_put),
    Call("gradient of a table", _embedding_backward),
    Call("sort", _sort),
    Call("topk", _topk),
    Call("normal_", _randn),
    Call("uniform_", _uniform),
    Call("dropout", _dropout),
)
