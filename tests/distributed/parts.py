# SPDX-License-Identifier: Apache-2.0
"""What the tests of splits share: arrays, ranks, and comparing bits."""

import numpy as np

from openaclnn import dtypes
from openaclnn.distributed import threads
from openaclnn.distributed.split import Split

RANKS = range(1, 9)
FLOATS = ("float32", "float16", "bfloat16")
HALVES = ("float16", "bfloat16")


def normal(seed: int, shape, dtype: str = "float32") -> np.ndarray:
    random = np.random.default_rng(seed)
    return random.standard_normal(shape).astype(dtypes.parse(dtype))


def uneven(extent: int, ranks: int, seed: int = 0) -> Split:
    """Parts of any sizes, some perhaps empty."""
    cuts = np.random.default_rng(seed + ranks).integers(0, extent + 1, ranks - 1)
    return Split((0, *map(int, np.sort(cuts)), extent))


def splits(extent: int, ranks: int) -> list[Split]:
    """What a sum must not depend on."""
    return [Split.even(extent, ranks), uneven(extent, ranks)]


def joined(ranks: int, work, axis: int = 0) -> np.ndarray:
    """What the ranks return, put together."""
    return np.concatenate(threads.run(ranks, work), axis)


def same_bits(got: np.ndarray, wanted: np.ndarray) -> bool:
    same_kind = (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    return same_kind and got.tobytes() == wanted.tobytes()
