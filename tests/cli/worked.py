# SPDX-License-Identifier: Apache-2.0
"""A worked example of each operator: its files, its options, and what must come out."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from conftest import save


@dataclass(frozen=True)
class Worked:
    """One example; names are those of the tool's options, outputs by those of the C function."""

    verb: str
    operator: str
    arrays: dict[str, np.ndarray]
    options: list[str]
    outputs: dict[str, tuple[str, np.ndarray]]  # option and values

    def arguments(self, folder: Path) -> list[str]:
        """The options of the inputs, whose files are in `folder`."""
        for name, array in self.arrays.items():
            save(folder / f"{name}.npy", array)
        named = [part for name in self.arrays for part in (f"--{name}", f"{name}.npy")]
        return [*named, *self.options]

    @property
    def writes(self) -> list[str]:
        """The options of the outputs."""
        return [part for option, _ in self.outputs.values() for part in (option, f"{option}.npy")]


def _ones(*shape: int, dtype=np.float32) -> np.ndarray:
    return np.ones(shape, dtype)


def _half_ones(*shape: int) -> np.ndarray:
    return _ones(*shape, dtype=np.float16)


_BIAS_ROWS = np.repeat(np.array([5.0, 10, 15, 10])[:, np.newaxis], 10, axis=1)
_COVERED = np.full((272, 64, 128), 2.0)
for _begin in (0, 112, 128, 256):
    _COVERED[_begin : _begin + 16] = 1
_SIXTEEN = np.arange(1, 17, dtype=np.float32).reshape(2, 2, 2, 2)
_MASK = np.tile([[True, True], [False, False]], (2, 2, 1, 1))
_SOFTMAX_GRADIENT = np.array(
    [0, 0, -66, -84, 0, 0, -742, -840, 0, 0, -2794, -3036, 0, 0, -6990, -7440.0]
)
_WINDOWS = ["--act-seq-len", "0,128,272"]

WORKED = (
    Worked(
        "grad",
        "embedding_dense_backward",
        {"grad": np.arange(1, 7, dtype=np.float32).reshape(2, 3), "indices": np.array([1, 2])},
        ["--num-weights", "4", "--padding-idx", "0"],
        {"out": ("--out", np.array([[0, 0, 0], [1, 2, 3], [4, 5, 6], [0, 0, 0]]))},
    ),
    Worked(
        "grad",
        "grouped_bias_add_grad",
        {"grad-y": _ones(40, 10), "group-idx": np.array([5, 15, 30, 40], np.int32)},
        [],
        {"out": ("--out", _BIAS_ROWS)},
    ),
    Worked(
        "grad",
        "grouped_bias_add_grad_v2",
        {"grad-y": _ones(40, 10), "group-idx": np.array([5, 10, 15, 10])},
        ["--group-idx-type", "sizes"],
        {"out": ("--out", _BIAS_ROWS)},
    ),
    Worked(
        "grad",
        "nsa_compress_grad",
        {
            "output-grad": _half_ones(15, 64, 128),
            "input": _half_ones(272, 64, 128),
            "weight": _half_ones(32, 64),
        },
        _WINDOWS,
        {
            "inputGradOut": ("--input-grad-out", _COVERED),
            "weightGradOut": ("--weight-grad-out", np.full((32, 64), 1920.0)),
        },
    ),
    Worked(
        "grad",
        "scaled_masked_softmax_backward",
        {"grad-output": _SIXTEEN, "y": _SIXTEEN, "mask": _MASK},
        [],
        {"out": ("--out", _SOFTMAX_GRADIENT.reshape(2, 2, 2, 2))},
    ),
    Worked(
        "grad",
        "conv_tbc_backward",
        {
            "self": _ones(5, 1, 2),
            "input": _ones(5, 1, 2),
            "weight": _ones(1, 2, 2),
            "bias": _ones(2),
        },
        [],
        {
            "gradInput": ("--grad-input", np.full((5, 1, 2), 2.0)),
            "gradWeight": ("--grad-weight", np.full((1, 2, 2), 5.0)),
            "gradBias": ("--grad-bias", np.full(2, 5.0)),
        },
    ),
    Worked(
        "forward",
        "embedding",
        {"weight": np.arange(6.0, dtype=np.float32).reshape(3, 2), "indices": np.array([2, 0])},
        [],
        {"out": ("--out", np.array([[4, 5], [0, 1]]))},
    ),
    Worked(
        "forward",
        "nsa_compress",
        {"input": _half_ones(272, 4, 16), "weight": _half_ones(32, 4)},
        _WINDOWS,
        {"output": ("--output", np.full((15, 4, 16), 32.0))},
    ),
    Worked(
        "forward",
        "scaled_masked_softmax",
        {"x": np.zeros((1, 2, 2, 2), np.float32), "mask": np.array([[[[0, 0], [0, 1]]]], bool)},
        ["--scale", "0.5"],
        {"y": ("--y", np.tile([[0.5, 0.5], [1, 0]], (1, 2, 1, 1)))},
    ),
    Worked(
        "forward",
        "conv_tbc",
        {"self": _ones(5, 1, 2), "weight": _ones(3, 2, 2), "bias": _ones(2)},
        ["--pad", "1"],
        {"out": ("--out", np.repeat([5.0, 7, 7, 7, 5], 2).reshape(5, 1, 2))},
    ),
)
BY_NAME = {each.operator: each for each in WORKED}
