# SPDX-License-Identifier: Apache-2.0
"""Optimisers of mindspore.nn: steps against NumPy, then networks that learn with each of them."""

import mindspore
import numpy as np
import pytest
from mindspore import Parameter, Tensor, nn

RATE = 0.1


def momentum(weights, grads):
    speed = np.zeros_like(weights)
    for grad in grads:
        speed = 0.9 * speed + grad
        weights = weights - RATE * speed
    return weights


def nesterov(weights, grads):
    speed = np.zeros_like(weights)
    for grad in grads:
        speed = 0.9 * speed + grad
        weights = weights - RATE * (grad + 0.9 * speed)
    return weights


def sgd(weights, grads):
    """With momentum, dampening of all but the first step, and decay."""
    speed = np.zeros_like(weights)
    for step, grad in enumerate(grads):
        grad = grad + 0.01 * weights
        speed = 0.9 * speed + (0.75 * grad if step else grad)
        weights = weights - RATE * speed
    return weights


def rms(weights, grads):
    squares, speed = np.ones_like(weights), np.zeros_like(weights)
    for grad in grads:
        squares = 0.9 * squares + 0.1 * grad**2
        speed = 0.5 * speed + RATE * grad / np.sqrt(squares + 1e-5)
        weights = weights - speed
    return weights


def adagrad(weights, grads):
    squares = np.full_like(weights, 0.1)
    for grad in grads:
        squares = squares + grad**2
        weights = weights - RATE * grad / np.sqrt(squares)
    return weights


def adam(weights, grads, decay=0.0):
    mean, squares = np.zeros_like(weights), np.zeros_like(weights)
    for step, grad in enumerate(grads, 1):
        mean, squares = 0.9 * mean + 0.1 * grad, 0.999 * squares + 0.001 * grad**2
        rate = RATE * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        weights = weights - rate * mean / (np.sqrt(squares) + 1e-5)
    return weights


def adam_with_decay(weights, grads):
    mean, squares = np.zeros_like(weights), np.zeros_like(weights)
    for grad in grads:
        mean, squares = 0.9 * mean + 0.1 * grad, 0.999 * squares + 0.001 * grad**2
        weights = weights - RATE * (mean / (np.sqrt(squares) + 1e-5) + 0.01 * weights)
    return weights


def adamax(weights, grads):
    mean, most = np.zeros_like(weights), np.zeros_like(weights)
    for step, grad in enumerate(grads, 1):
        mean, most = 0.9 * mean + 0.1 * grad, np.maximum(0.99 * most, np.abs(grad))
        weights = weights - RATE / (1 - 0.9**step) * mean / (most + 1e-5)
    return weights


def lamb(weights, grads):
    mean, squares = np.zeros_like(weights), np.zeros_like(weights)
    for step, grad in enumerate(grads, 1):
        mean, squares = 0.9 * mean + 0.1 * grad, 0.999 * squares + 0.001 * grad**2
        by = mean / (1 - 0.9**step) / (np.sqrt(squares / (1 - 0.999**step)) + 1e-5) + 0.01 * weights
        weights = weights - RATE * np.linalg.norm(weights) / np.linalg.norm(by) * by
    return weights


# The optimiser, and what it makes of weights and gradients.
OPTIMIZERS = {
    "Adagrad": (lambda p: nn.Adagrad(p, accum=0.1, learning_rate=RATE), adagrad),
    "Adam": (lambda p: nn.Adam(p, RATE, eps=1e-5), adam),
    "AdaMax": (lambda p: nn.AdaMax(p, RATE, beta2=0.99, eps=1e-5), adamax),
    "AdamWeightDecay": (
        lambda p: nn.AdamWeightDecay(p, RATE, eps=1e-5, weight_decay=0.01), adam_with_decay,
    ),
    "Lamb": (lambda p: nn.Lamb(p, RATE, eps=1e-5, weight_decay=0.01), lamb),
    "Momentum": (lambda p: nn.Momentum(p, RATE, 0.9), momentum),
    "Momentum, Nesterov": (lambda p: nn.Momentum(p, RATE, 0.9, use_nesterov=True), nesterov),
    "RMSProp": (lambda p: nn.RMSProp(p, RATE, momentum=0.5, epsilon=1e-5), rms),
    "SGD": (lambda p: nn.SGD(p, RATE, momentum=0.9, dampening=0.25, weight_decay=0.01), sgd),
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_are_those_of_the_formula(draw, name):
    make, formula = OPTIMIZERS[name]
    (_, weights), *grads = draw(3, 4), draw(3, 4), draw(3, 4), draw(3, 4)
    parameter = Parameter(Tensor(weights.astype(np.float32)), name="weight")
    optimizer = make([parameter])
    for grad, _ in grads:
        optimizer((grad,))
    wanted = formula(weights, [array for _, array in grads])
    np.testing.assert_allclose(parameter.asnumpy(), wanted, rtol=2e-4, atol=2e-5)


def perceptron():
    return nn.SequentialCell(nn.Flatten(), nn.Dense(64, 16), nn.ReLU(), nn.Dense(16, 2))


def convolutional():
    return nn.SequentialCell(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(4, 4, 3), nn.ReLU(), nn.AvgPool2d(2, 2), nn.Flatten(), nn.Dense(16, 2),
    ).set_train(True)  # fmt: skip


# MindSpore has GRU for widths that 16 divides.
@pytest.mark.parametrize("layer", (nn.LSTM, nn.GRU), ids=("LSTM", "GRU"))
def test_a_recurrent_network_learns_the_sign_of_the_first_step(draw, layer):
    mindspore.set_seed(1)
    x, a = draw(4, 8, 3)
    labels = Tensor((a[0, :, 0] > 0).astype(np.int32))
    recurrent, last = layer(3, 16), nn.Dense(16, 2)
    start = Tensor(np.zeros((1, 8, 16), np.float32))
    start = (start, start) if layer is nn.LSTM else start
    parameters = [*recurrent.trainable_params(), *last.trainable_params()]
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = mindspore.value_and_grad(
        lambda: loss(last(recurrent(x, start)[0][-1]), labels), None, parameters
    )
    optimizer, losses = nn.Adam(parameters, 0.05), []
    for _ in range(40):
        value, grads = step()
        optimizer(grads)
        losses.append(float(value.asnumpy()))
    assert losses[-1] < 0.1 * losses[0], losses


def test_an_lstm_is_its_formula(draw):
    (x, a), (h, b), (c, d) = draw(4, 2, 3), draw(1, 2, 5), draw(1, 2, 5)
    lstm = nn.LSTM(3, 5)
    got = lstm(x, (h, c))
    weights = {each.name: each.asnumpy().astype(np.float64) for each in lstm.trainable_params()}
    w_x, w_h, b_x, b_h = (
        next(value for name, value in weights.items() if part in name)
        for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    hidden, cell, wanted = b[0], d[0], []
    for each in a:
        i, f, g, o = np.split(each @ w_x.T + b_x + hidden @ w_h.T + b_h, 4, 1)
        i, f, o = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
        cell = f * cell + i * np.tanh(g)
        hidden = o * np.tanh(cell)
        wanted.append(hidden)
    # MindSpore computes it in float16.
    np.testing.assert_allclose(got[0].asnumpy(), wanted, atol=4e-3)
    np.testing.assert_allclose(got[1][1].asnumpy()[0], cell, atol=4e-3)


@pytest.mark.parametrize("network", (perceptron, convolutional))
@pytest.mark.parametrize("name", ("Adam", "Momentum", "SGD", "RMSProp", "Adagrad", "Lamb"))
def test_networks_learn_what_they_are_shown(draw, name, network):
    mindspore.set_seed(1)
    (x, _), labels = draw(8, 1, 8, 8), Tensor([0, 1] * 4, mindspore.int32)
    layers, loss = network(), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = {
        "Adam": lambda p: nn.Adam(p, 0.02),
        "Momentum": lambda p: nn.Momentum(p, 0.05, 0.9),
        "SGD": lambda p: nn.SGD(p, 0.5),
        "RMSProp": lambda p: nn.RMSProp(p, 0.2),
        "Adagrad": lambda p: nn.Adagrad(p, learning_rate=0.1),
        "Lamb": lambda p: nn.Lamb(p, 0.05),
    }[name](layers.trainable_params())
    step = mindspore.value_and_grad(lambda: loss(layers(x), labels), None, layers.trainable_params())
    losses = []
    for _ in range(30):
        value, grads = step()
        optimizer(grads)
        losses.append(float(value.asnumpy()))
    assert losses[-1] < 0.3 * losses[0], losses
