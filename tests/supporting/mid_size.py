# SPDX-License-Identifier: Apache-2.0
"""Arguments of one to four million elements, where the tests have a handful: for the bench that
walks all records, and whatever else wants calls as users make them."""

import numpy as np

import cases
from draw import Case, Draw
from records import REALS, Record

FLOAT = np.dtype(np.float32)
_SHAPES = {  # of so many dimensions
    0: (), 1: (2**21,), 2: (1024, 2048), 3: (16, 256, 512), 4: (8, 64, 64, 64), 5: (8, 32, 16, 16, 16),
}  # fmt: skip
_NORMAL = 1 << 20  # numbers, of which larger tensors are made


class MidSize(Draw):
    """Draws what each `walk` says; else FLOAT, the first choice, no flag."""

    def __init__(self, record: Record, first: np.dtype = FLOAT):
        super().__init__(record, 0)
        self.first = first if first in record.first_types else record.first_types[0]
        self.style = "plain"
        self._normal = self.random.standard_normal(_NORMAL, np.float32)

    def whole(self, low: int, high: int, walk: int | None = None) -> int:
        return super().whole(low, high) if walk is None else walk

    def flag(self, walk: bool = False) -> bool:
        return walk

    def one(self, choices, walk=None):
        return choices[0] if walk is None else walk

    def shape(self, least: int = 0, most: int = 3, high: int = 5, walk=None) -> tuple[int, ...]:
        return walk or _SHAPES[min(max(least, 2), most)]

    def within(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape

    def type(self, types=None) -> np.dtype:
        types = types or self.record.types
        return self.first if self.first in types else types[0]

    def type_of(self, name: str, types=None) -> np.dtype:
        types = types or self.record.types
        is_mask = self.sample(name) == "mask" and np.dtype(bool) in types
        return np.dtype(bool) if is_mask else super().type_of(name, types)

    def sample(self, name: str) -> str:
        is_chance = self.record.topic == "loss" and name == "target"
        return "probability" if is_chance else super().sample(name)

    def scalar(self, sample: str = "any", types=None) -> np.generic:
        return super().scalar(sample, types or (np.dtype(np.float64),))

    def array(self, shape, dtype=None, sample: str = "any") -> np.ndarray:
        dtype, shape = np.dtype(dtype or self.first), tuple(shape)
        if sample == "order":
            return np.full(shape, 2, dtype)
        if sample not in ("any", "tame") or dtype not in REALS:
            return super().array(shape, dtype, sample)
        turn = self.whole(0, _NORMAL - 1)  # no two tensors begin alike
        return np.resize(np.roll(self._normal, turn), shape).astype(dtype)


def _as_listed(record: Record, name: str, dtype: np.dtype) -> np.dtype:
    """A type that the tensor may have: that one, if it may."""
    return dtype if dtype in record.types_of(name) else record.types_of(name)[0]


def drawn(record: Record, first: np.dtype = FLOAT) -> Case:
    """A call whose tensors are of a type, where the operator has it for the first one."""
    case = cases.numbers(record.cases)(MidSize(record, first))
    for each in record.plain("float"):
        case.arguments[each.name] = float(np.float32(case.arguments[each.name]))
    for name in record.takes:
        if isinstance(array := case.arguments.get(name), np.ndarray):
            case.arguments[name] = array.astype(_as_listed(record, name, array.dtype))
        if name in case.outputs:
            case.outputs[name] = _as_listed(record, name, np.dtype(case.outputs[name]))
    return case
