#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a layer of Native Sparse Attention (arXiv:2502.11089) to continue a text that repeats itself.

    python3 examples/train_nsa.py [--steps 100]

A row attends to compressed keys, and to the blocks of keys that the weights of those select. Both
results are added, each times a gate. All attention and its gradients are aclnn operators on FLOAT16
arrays; projections, gates and Adam are NumPy. Needs openaclnn and NumPy.
"""

import argparse

import numpy as np

from openaclnn import ops

BLOCK, STRIDE = 32, 16  # tokens of a compressed key, and from one to the next
SELECTED, COUNT = 64, 2  # tokens of a selected block, and blocks that a row sees
LETTERS, PERIOD, LENGTH, TEXTS = 16, 24, 128, 8
HEADS, WIDTH = 4, 16


class Layer:
    """Parameters by name in float32; forward keeps what backward needs."""

    def __init__(self, features: int, random: np.random.Generator):
        def normal(*shape):
            return (random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)

        mean = np.full((BLOCK, 1), 1 / BLOCK, np.float32)
        self.parameters = {
            "query": 2 * normal(features, HEADS * WIDTH), "key": 2 * normal(features, WIDTH),
            "value": normal(features, WIDTH), "gates": normal(features, 2),
            "compress_key": mean.copy(), "compress_value": mean.copy(),
            "out": normal(HEADS * WIDTH, LETTERS),
        }  # fmt: skip

    def forward(self, x):
        """Logits of texts of LENGTH rows, one behind the other."""
        p, rows = self.parameters, len(x)
        self.x = x
        keys, blocks = (LENGTH - BLOCK) // STRIDE + 1, -(-LENGTH // SELECTED)
        texts = range(1, rows // LENGTH + 1)
        self.ends = [[i * each for i in texts] for each in (LENGTH, keys, blocks)]
        self.q = (x @ p["query"]).reshape(rows, HEADS, WIDTH).astype(np.float16)
        self.k, self.v = ((x @ p[each])[:, None].astype(np.float16) for each in ("key", "value"))
        self.compressed = [
            ops.nsa_compress(of, p[weight].astype(np.float16), self.ends[0], "TND", BLOCK, STRIDE, 0)
            for of, weight in ((self.k, "compress_key"), (self.v, "compress_value"))
        ]
        at = np.arange(LENGTH)[:, None]
        # A compressed key is seen from its last token on; a row always selects its own block.
        self.mask = (np.arange(keys) * STRIDE + BLOCK - 1 > at).astype(np.uint8)
        own = (np.arange(blocks) == at // SELECTED).astype(np.uint8)
        *self.coarse, self.blocks = ops.nsa_compress_attention(
            self.q, *self.compressed, self.mask, own, *self.ends, WIDTH**-0.5, HEADS, "TND", 1,
            BLOCK, STRIDE, SELECTED, COUNT,
        )  # fmt: skip
        self.fine = ops.nsa_selected_attention(
            self.q, self.k, self.v, self.blocks, None, self.ends[0], self.ends[0], WIDTH**-0.5,
            HEADS, "TND", 2, SELECTED, COUNT,
        )  # fmt: skip
        self.gates = 1 / (1 + np.exp(-(x @ p["gates"])))
        self.results = [each[-1].astype(np.float32).reshape(rows, -1) for each in (self.coarse, self.fine)]
        self.mixed = sum(self.gates[:, i, None] * each for i, each in enumerate(self.results))
        return self.mixed @ p["out"]

    def backward(self, slopes):
        """Gradients of the parameters, given those of the logits."""
        p, x, rows = self.parameters, self.x, len(self.x)
        found = {"out": self.mixed.T @ slopes}
        mixed = slopes @ p["out"].T
        gates = np.stack([np.sum(mixed * each, axis=1) for each in self.results], axis=1)
        found["gates"] = x.T @ (gates * self.gates * (1 - self.gates))
        coarse, fine = (
            (self.gates[:, i, None] * mixed).reshape(self.q.shape).astype(np.float16) for i in range(2)
        )
        top, total, result = self.coarse
        rows_end, keys_end, _ = self.ends
        of_q, of_key, of_value, *_ = ops.flash_attention_unpadding_score_grad(
            self.q, *self.compressed, coarse, None, None, None, self.mask, top, total, None, result,
            None, rows_end, keys_end, WIDTH**-0.5, 1.0, 2**31 - 1, 2**31 - 1, HEADS, "TND", 0, 1,
        )  # fmt: skip
        top, total, result = self.fine
        q, k, v = ops.nsa_selected_attention_grad(
            self.q, self.k, self.v, result, fine, top, total, self.blocks, rows_end, rows_end, None,
            WIDTH**-0.5, SELECTED, COUNT, HEADS, "TND", 2,
        )  # fmt: skip
        q = q.astype(np.float32) + of_q.astype(np.float32)
        found["query"] = x.T @ q.reshape(rows, -1)
        for name, whole, of_compressed, of in (("key", k, of_key, self.k), ("value", v, of_value, self.v)):
            weight = p[f"compress_{name}"].astype(np.float16)
            inputs, weights = ops.nsa_compress_grad(
                of_compressed, of, weight, rows_end, BLOCK, STRIDE, 0, "TND"
            )
            found[f"compress_{name}"] = weights.astype(np.float32)
            found[name] = x.T @ (whole.astype(np.float32) + inputs.astype(np.float32))[:, 0]
        return found


def features(text):
    """One-hot letters of the last three places."""
    before = [np.concatenate((np.zeros(i, int), text[: len(text) - i])) for i in range(3)]
    return np.concatenate([np.eye(LETTERS, dtype=np.float32)[each] for each in before], axis=1)


def train(steps: int, seed: int = 0):
    """The mean loss of the letters that have been there before, at each step."""
    random = np.random.default_rng(seed)
    layer = Layer(3 * LETTERS, random)
    moments = {name: [np.zeros_like(each)] * 2 for name, each in layer.parameters.items()}
    for step in range(1, steps + 1):
        texts = [np.tile(random.integers(0, LETTERS, PERIOD), LENGTH)[: LENGTH + 1] for _ in range(TEXTS)]
        logits = layer.forward(np.concatenate([features(each[:-1]) for each in texts]))
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        odds /= odds.sum(axis=1, keepdims=True)
        rows, wanted = np.arange(len(odds)), np.concatenate([each[1:] for each in texts])
        known = rows % LENGTH >= PERIOD
        loss = -np.log(odds[rows, wanted])[known].mean()
        odds[rows, wanted] -= 1
        slopes = np.where(known[:, None], odds, 0) / known.sum()
        for name, slope in layer.backward(slopes).items():
            first, second = moments[name]
            first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
            moments[name] = [first, second]
            scaled = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
            layer.parameters[name] -= 0.03 * scaled
        yield float(loss)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100)
    losses = list(train(parser.parse_args().steps))
    for step in range(0, len(losses), 25):
        print(f"step {step + 1:4}: loss {losses[step]:.3f}")
    print(f"last step: loss {losses[-1]:.3f}; that of guessing is {np.log(LETTERS):.3f}")


if __name__ == "__main__":
    main()
