# SPDX-License-Identifier: Apache-2.0
"""An axis that is split over ranks."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from ..errors import InputError


@dataclass(frozen=True)
class Split:
    """Part r, that of rank r, is [starts[r], starts[r + 1]); parts may be empty."""

    starts: tuple[int, ...]

    @classmethod
    def of(cls, sizes: Iterable[int]) -> "Split":
        """Parts of these sizes."""
        found = tuple(accumulate(map(int, sizes), initial=0))
        if any(a > b for a, b in zip(found, found[1:], strict=False)):
            raise InputError(f"split starts are {found}, expected sizes of 0 or more")
        return cls(found)

    @classmethod
    def even(cls, extent: int, ranks: int) -> "Split":
        """Sizes that differ by at most 1, the larger ones first."""
        return cls.of(extent // ranks + (rank < extent % ranks) for rank in range(ranks))

    @property
    def ranks(self) -> int:
        return len(self.starts) - 1

    @property
    def extent(self) -> int:
        return self.starts[-1]

    @property
    def sizes(self) -> list[int]:
        return [b - a for a, b in zip(self.starts, self.starts[1:], strict=False)]

    def part(self, rank: int) -> slice:
        return slice(self.starts[rank], self.starts[rank + 1])

    def owners(self, places: np.ndarray) -> np.ndarray:
        """The rank that has each place of the axis."""
        return np.searchsorted(self.starts[1:], places, side="right")

    def scaled(self, factor: int) -> "Split":
        """The split of an axis each place of which is `factor` places."""
        return Split(tuple(start * factor for start in self.starts))

    def check(self, what: str, ranks: int, rank: int, extent: int) -> None:
        """Refuses a split that is not of these ranks, or whose part is not the operand's extent."""
        if self.ranks != ranks:
            raise InputError(
                f"{what} split has {self.ranks} parts, expected one for each of {ranks} ranks"
            )
        if self.sizes[rank] != extent:
            wanted = f"expected {self.sizes[rank]} by its split"
            raise InputError(f"{what} of rank {rank} is {extent}, {wanted}")
