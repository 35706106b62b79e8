# SPDX-License-Identifier: Apache-2.0
"""The layer of examples/train_nsa.py: its gradients against complex steps, and that it learns."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples"))
import train_nsa
from train_nsa import BLOCK, HEADS, LENGTH, SELECTED, STRIDE, WIDTH


def _softmax(scores):
    powers = np.exp(scores - scores.real.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _mixed(p, x, blocks):
    """The formulas of a text, of complex numbers, where rows see the blocks that are given."""
    q = (x @ p["query"]).reshape(-1, HEADS, WIDTH) * WIDTH**-0.5
    k, v = x @ p["key"], x @ p["value"]
    windows = np.arange(LENGTH - BLOCK + 1, step=STRIDE)[:, None] + np.arange(BLOCK)
    coarse = [np.sum(of[windows] * p[f"compress_{name}"], axis=1) for of, name in ((k, "key"), (v, "value"))]
    results = np.zeros((2, *q.shape), complex)
    for t in range(len(x)):
        seen = windows[:, -1] <= t
        keys = [i + j for i in blocks[t, 0] * SELECTED for j in range(SELECTED) if 0 <= i and i + j <= t]
        for i, (of_k, of_v) in enumerate(((coarse[0][seen], coarse[1][seen]), (k[keys], v[keys]))):
            if len(of_k):
                results[i, t] = _softmax(q[t] @ of_k.T) @ of_v
    gates = 1 / (1 + np.exp(-(x @ p["gates"])))
    return sum(gates[:, i, None] * each.reshape(len(x), -1) for i, each in enumerate(results))


def test_gradients_are_those_of_complex_steps(device):
    random = np.random.default_rng(3)
    layer = train_nsa.Layer(3 * train_nsa.LETTERS, random)
    texts = [train_nsa.features(random.integers(0, train_nsa.LETTERS, LENGTH)) for _ in range(2)]
    layer.forward(np.concatenate(texts))
    slopes = random.standard_normal((2 * LENGTH, train_nsa.LETTERS))
    found = layer.backward(slopes.astype(np.float32))
    for name, given in layer.parameters.items():
        direction = random.standard_normal(given.shape)
        step = 1e-20
        moved = {each: value.astype(complex) for each, value in layer.parameters.items()}
        moved[name] += 1j * step * direction
        mixed = [
            _mixed(moved, x, layer.blocks[i * LENGTH : (i + 1) * LENGTH].astype(int))
            for i, x in enumerate(texts)
        ]
        logits = np.concatenate(mixed) @ moved["out"]
        want = np.sum(slopes * logits).imag / step
        # Operands of FLOAT16: a sum of thousands of products of either sign.
        size = np.sqrt(np.sum(np.square(found[name], dtype=float)))
        assert np.sum(found[name] * direction) == pytest.approx(want, abs=1e-2 * size), name


def test_learns(device):
    losses = list(train_nsa.train(60))
    assert losses[0] > 2.5
    assert min(losses[-5:]) < 1.5
