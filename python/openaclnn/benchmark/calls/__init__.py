# SPDX-License-Identifier: Apache-2.0
"""Calls that training makes, as functions of a device: a module a topic, each with CALLS."""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Device:
    """Where a call's tensors are, and of which type; the same values on every device."""

    torch: Any
    name: str
    dtype: Any
    n: int = 2048  # of the square that most calls take

    @property
    def longest(self) -> int:
        """The most rows of attention: 8,192, and few where the square is small."""
        return 4 * self.n

    def normal(self, *shape: int, seed: int = 0, grad: bool = False):
        values = np.random.default_rng(seed).standard_normal(shape or (self.n, self.n), np.float32)
        found = self.torch.from_numpy(values).to(self.dtype).to(self.name)
        return found.requires_grad_() if grad else found

    def positive(self, *shape: int, seed: int = 0):
        return self.normal(*shape, seed=seed).abs() + 0.5

    def integers(self, most: int, *shape: int, seed: int = 0):
        values = np.random.default_rng(seed).integers(0, most, shape)
        return self.torch.from_numpy(values).to(self.name)

    def empty(self, *shape: int):
        return self.torch.empty(shape or (self.n, self.n), dtype=self.dtype, device=self.name)

    def back(self, output, *inputs) -> Callable:
        """The backward pass alone."""
        upstream = self.torch.ones_like(output) * 0.5
        gradient = self.torch.autograd.grad
        return lambda: gradient(output, inputs, upstream, retain_graph=True)


@dataclass(frozen=True)
class Call:
    """`make` prepares on a device, and returns what is timed."""

    name: str
    make: Callable[[Device], Callable]
    dtypes: tuple[str, ...] = field(default=("float32",))


def find() -> list[Call]:
    """All calls, the topics by name."""
    found: list[Call] = []
    for each in pkgutil.iter_modules(__path__):
        found += importlib.import_module(f"{__name__}.{each.name}").CALLS
    return found
