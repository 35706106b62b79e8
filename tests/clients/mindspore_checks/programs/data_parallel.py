# SPDX-License-Identifier: Apache-2.0
"""A rank: collectives, then a layer trained on its part of the batch. Prints the weights."""

import mindspore
import numpy as np
from mindspore import Tensor, mint, ops
from mindspore.communication import get_group_size, get_rank, init

mindspore.set_device("Ascend")
init()
rank, size = get_rank(), get_group_size()

mine = Tensor(np.full(3, rank + 1, np.float32))
total, part = size * (size + 1) / 2, np.arange(1, size + 1)
assert np.array_equal(ops.AllReduce()(mine).asnumpy(), np.full(3, total))
assert np.array_equal(ops.AllGather()(mine).asnumpy(), np.repeat(part, 3))
assert np.array_equal(ops.ReduceScatter()(ops.AllGather()(mine)).asnumpy(), np.full(3, size * (rank + 1)))
assert np.array_equal(ops.Broadcast(1)((mine,))[0].asnumpy(), np.full(3, 2))

generator = np.random.default_rng(0)
x, y, w = (generator.standard_normal(shape).astype(np.float32) for shape in ((8, 4), (8, 2), (2, 4)))
rows = slice(rank * 8 // size, (rank + 1) * 8 // size)
layer = mint.nn.Linear(4, 2, bias=False)
layer.weight.set_data(Tensor(w))
step = mindspore.grad(
    lambda a, b: mint.nn.functional.mse_loss(layer(a), b), None, layer.trainable_params()
)
optimizer = mint.optim.SGD(layer.trainable_params(), lr=0.1)
for _ in range(3):
    (grad,) = step(Tensor(x[rows]), Tensor(y[rows]))
    optimizer((ops.AllReduce()(grad) / size,))
wanted = w.astype(np.float64)
for _ in range(3):
    wanted -= 0.1 * 2 * (x @ wanted.T - y).T @ x / y.size
np.testing.assert_allclose(layer.weight.asnumpy(), wanted, rtol=1e-5)
print(f"rank {rank} of {size}: {layer.weight.asnumpy().tobytes().hex()}", flush=True)
