# SPDX-License-Identifier: Apache-2.0
"""Small training loops: the losses and weights of the same loop in NumPy."""

import mindspore
import numpy as np
import pytest
from mindspore import Tensor, mint, nn

STEPS = 5


def gradients(x, y, w1, b1, w2, b2):
    """The loss of two layers with a ReLU between, the mean of squares, and its gradients."""
    hidden = x @ w1.T + b1
    active = np.maximum(hidden, 0)
    error = active @ w2.T + b2 - y
    grad = 2 * error / error.size
    back = (grad @ w2) * (hidden > 0)
    return (error**2).mean(), [back.T @ x, back.sum(0), grad.T @ active, grad.sum(0)]


def train(layers, loss, optimizer, x, y):
    step = mindspore.value_and_grad(lambda a, b: loss(layers(a), b), None, layers.trainable_params())
    losses = []
    for _ in range(STEPS):
        value, grads = step(x, y)
        optimizer(grads)
        losses.append(float(value.asnumpy()))
    return losses


@pytest.mark.parametrize("momentum", (0.0, 0.9))
def test_layers_of_nn(draw, near, momentum):
    (x, a), (y, b) = draw(16, 4), draw(16, 2)
    layers = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 2))
    weights = [each.asnumpy().astype(np.float64) for each in layers.trainable_params()]
    rate = 0.1
    if momentum:
        optimizer = nn.Momentum(layers.trainable_params(), rate, momentum)
    else:
        optimizer = nn.SGD(layers.trainable_params(), rate)
    losses = train(layers, nn.MSELoss(), optimizer, x, y)
    wanted, speeds = [], [np.zeros_like(each) for each in weights]
    for _ in range(STEPS):
        value, grads = gradients(a, b, *weights)
        wanted.append(value)
        speeds = [momentum * speed + grad for speed, grad in zip(speeds, grads, strict=True)]
        weights = [each - rate * speed for each, speed in zip(weights, speeds, strict=True)]
    np.testing.assert_allclose(losses, wanted, rtol=1e-5)
    assert losses[-1] < losses[0]
    for each, last in zip(layers.trainable_params(), weights, strict=True):
        near(each, last)


def test_layers_of_mint(draw, near):
    (x, a), (y, b) = draw(16, 4), draw(16, 2)
    layers = nn.SequentialCell(mint.nn.Linear(4, 8), mint.nn.ReLU(), mint.nn.Linear(8, 2))
    weights = [each.asnumpy().astype(np.float64) for each in layers.trainable_params()]
    rate, decay, betas, eps = 0.05, 0.01, (0.9, 0.999), 1e-8
    optimizer = mint.optim.AdamW(layers.trainable_params(), lr=rate, weight_decay=decay)
    losses = train(layers, mint.nn.functional.mse_loss, optimizer, x, y)
    wanted = []
    first, second = ([np.zeros_like(each) for each in weights] for _ in range(2))
    for step in range(1, STEPS + 1):
        value, grads = gradients(a, b, *weights)
        wanted.append(value)
        for i, grad in enumerate(grads):
            first[i] = betas[0] * first[i] + (1 - betas[0]) * grad
            second[i] = betas[1] * second[i] + (1 - betas[1]) * grad**2
            mean, square = first[i] / (1 - betas[0] ** step), second[i] / (1 - betas[1] ** step)
            weights[i] = weights[i] * (1 - rate * decay) - rate * mean / (np.sqrt(square) + eps)
    np.testing.assert_allclose(losses, wanted, rtol=1e-4)
    assert losses[-1] < losses[0]


def test_a_convolutional_network_learns_what_it_is_shown(draw):
    (x, _), labels = draw(8, 1, 8, 8), Tensor([0, 1] * 4, mindspore.int64)
    layers = nn.SequentialCell(
        mint.nn.Conv2d(1, 4, 3), mint.nn.ReLU(), mint.nn.MaxPool2d(2), mint.nn.Flatten(),
        mint.nn.Linear(36, 2),
    )  # fmt: skip
    optimizer = mint.optim.AdamW(layers.trainable_params(), lr=0.05)
    losses = []
    step = mindspore.value_and_grad(
        lambda: mint.nn.functional.cross_entropy(layers(x), labels), None, layers.trainable_params()
    )
    for _ in range(20):
        value, grads = step()
        optimizer(grads)
        losses.append(float(value.asnumpy()))
    assert losses[-1] < 0.1 * losses[0]
