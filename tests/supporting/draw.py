# SPDX-License-Identifier: Apache-2.0
"""Random arguments, the same ones for the same operator and number of a case."""

import math
import zlib
from dataclasses import dataclass, field

import numpy as np
import pairs

from bounded import DOUBLE, FLOAT, Bounded
from judge import nearest, stored, whole
from records import REALS, Record

from openaclnn.dtypes import FLOAT_FORMATS
from openaclnn.operators.operator import View

TURNS = 3  # of all types: plain, with edges, and with every edge against every other
STYLES = ("edges", "empty", "rank 0", "long", "same view", "plain")


@dataclass
class Case:
    """The arguments of a call by name, and how its expression sees them."""

    arguments: dict[str, object]
    domain: str  # float, double (bounded), complex, integer, unsigned, wide (float64 or int64), stored
    outputs: dict[str, object] = field(default_factory=dict)  # dtypes; those left out are drawn
    stored: tuple[str, ...] = ()  # what the expression sees as it is whatever the domain
    room: dict[str, tuple[int, ...]] = field(default_factory=dict)  # told, or left alone
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)  # that the call leaves open
    conversion: bool = False  # any type may hold the result
    elementwise: bool = False  # one element of the output from one of each input
    rounds: bool = False  # a result becomes of the type that the operands meet in first
    each: bool = False  # the expression is of members of lists
    narrow: str = ""  # the output that is computed in float where it has 16 bits
    size: float = 0  # of complex numbers that are summed, in all
    rounded_to: list = field(default_factory=list)  # that type, of each member; or None
    taken: list[str] = field(default_factory=list)  # inputs that outputs are the same views as


class Draw:
    """What a case is made of."""

    def __init__(self, record: Record, number: int, attempt: int = 0):
        self.record = record
        self.samples = dict(record.samples)
        seed = (zlib.crc32(record.name.encode()), number, *([attempt] if attempt else []))
        self.random = np.random.default_rng(seed)
        types = record.first_types
        self.first = types[number % len(types)]
        turn, late = number // len(types), number - TURNS * len(types)
        turns = ("plain", "edges", "every edge")
        self.style = turns[turn] if late < 0 else STYLES[late % len(STYLES)]

    # `walk` says what mid_size.py draws instead, for the bench that walks all records.

    def whole(self, low: int, high: int, walk: int | None = None) -> int:
        """Both ends included."""
        return int(self.random.integers(low, high + 1))

    def flag(self, walk: bool = False) -> bool:
        return bool(self.random.integers(2))

    def one(self, choices, walk=None):
        return choices[self.whole(0, len(choices) - 1)]

    def shape(self, least: int = 0, most: int = 3, high: int = 5, walk=None) -> tuple[int, ...]:
        """As the style says, where the ranks allow it."""
        if self.style == "rank 0" and least == 0:
            return ()
        if self.style == "long" and most > 0:
            return (1,) * (max(least, 1) - 1) + (self.whole(257, 700),)
        rank = self.whole(max(least, int(self.style == "empty")), most)
        shape = [self.whole(1, high) for _ in range(rank)]
        if self.style == "empty" and rank:
            shape[self.whole(0, rank - 1)] = 0
        return tuple(shape)

    def within(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that can be broadcast to another."""
        if self.flag():
            return shape
        return tuple(1 if self.whole(0, 3) == 0 else n for n in shape[self.whole(0, len(shape)):])

    def type(self, types=None) -> np.dtype:
        """Often that of the first tensor."""
        types = types or self.record.types
        return self.first if self.flag() and self.first in types else self.one(types)

    def type_of(self, name: str, types=None) -> np.dtype:
        """The same of those that a tensor may have."""
        types, own = types or self.record.types, self.record.types_of(name)
        return self.type(tuple(each for each in types if each in own) or types)

    def real(self) -> np.dtype:
        return self.type(REALS)

    def array(self, shape, dtype=None, sample: str = "any") -> np.ndarray:
        dtype, shape = np.dtype(dtype or self.first), tuple(shape)
        if dtype not in pairs.PARTS:
            return SAMPLES[sample](self, shape, dtype)
        array = np.empty(shape, dtype)
        array.real, array.imag = (
            SAMPLES[sample](self, shape, pairs.PARTS[dtype]) for _ in range(2)
        )
        return array

    def scalar(self, sample: str = "any", types=None) -> np.generic:
        """Of any type that holds it."""
        usual = tuple(map(np.dtype, _SCALARS))
        if pairs.COMPLEX[0] in self.record.types and self.whole(0, 2) == 0:
            usual = pairs.COMPLEX
        dtype = self.one(types or usual)
        style, self.style = self.style, "plain"
        value = self.array((), dtype, sample)[()]
        self.style = style
        return value

    def sample(self, name: str) -> str:
        return self.samples.get(name, "any")

    def view(self, array: np.ndarray, overlaps: bool = True) -> View:
        """The array somewhere in memory: gaps, an offset, dimensions in another order."""
        shape, kind = array.shape, self.whole(0, 3)
        order = list(self.random.permutation(len(shape))) if kind > 1 else list(range(len(shape)))
        gaps = [self.whole(1, 3) if kind > 0 else 1 for _ in shape]
        offset = self.whole(0, 5) if kind > 0 else 0
        strides, step = [0] * len(shape), 1
        for axis in reversed(order):
            strides[axis] = step * gaps[axis]
            step = strides[axis] * max(shape[axis], 1)
        if overlaps and kind == 3:  # equal elements that are one
            for axis, n in enumerate(shape):
                if n > 1 and array.size and (array == array.take([0], axis)).all():
                    strides[axis] = 0
        last = sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) if array.size else 0
        storage = self.junk(offset + last + 1 + self.whole(0, 3), array.dtype)
        size = array.itemsize
        inside = np.ndarray(shape, array.dtype, storage, offset * size, [s * size for s in strides])
        inside[...] = array
        return View(storage, inside)

    def junk(self, count: int, dtype) -> np.ndarray:
        contents = self.random.integers(0, 256, (count, np.dtype(dtype).itemsize), np.uint8)
        return contents.view(dtype).reshape(count) if dtype != bool else np.ones(count, bool)


_SCALARS = ("float64", "float32", "int64", "int32", "bool", "float16")


def limits(dtype: np.dtype) -> tuple[float, float]:
    """The ends of a type's range."""
    if dtype == bool:
        return 0, 1
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    largest = FLOAT_FORMATS[dtype].largest if dtype in FLOAT_FORMATS else np.finfo(dtype).max
    return -float(largest), float(largest)


def edges(dtype: np.dtype) -> list:
    low, high = limits(dtype)
    if dtype == bool:
        return [False, True]
    if dtype.kind in "iu":
        odd = [2**53 + 1, 2**53] if dtype.itemsize == 8 else []  # alike in DOUBLE
        if dtype.itemsize > 1:  # alike in FLOAT16, in BFLOAT16
            odd += [2049, 2048, 257, 256]
        return [low, low + 1, high, high - 1, 0, 1, 2, 7, *odd]
    smallest = {"float16": 2.0**-24, "float64": 2.0**-1074}.get(dtype.name, 2.0**-133)
    odd = 2.0 ** np.finfo(np.float64 if dtype == np.float64 else np.float32).nmant + 1
    return [0.0, -0.0, np.inf, -np.inf, np.nan, low, high, smallest, -smallest, 1.0, -1.0, 0.5,
            -2.5, odd, -odd]  # fmt: skip


def every_edge(dtype: np.dtype) -> np.ndarray:
    if dtype in pairs.PARTS:
        parts = every_edge(pairs.PARTS[dtype])
        parts = parts[[0, 1, 2, 3, 4, 6, 7, 9, 12]]  # one of each kind
        array = np.empty((parts.size, parts.size), dtype)
        array.real, array.imag = parts[:, None], parts
        return array.reshape(-1)
    if dtype.kind in "iu":  # not by a float, which has not all of 64 bits
        return np.array(edges(dtype), dtype)
    with np.errstate(over="ignore"):
        return np.array(edges(dtype)).astype(dtype)


def _real(draw, shape, dtype, values) -> np.ndarray:
    low, high = limits(dtype)
    if dtype.kind in "iub":
        values = np.clip(np.rint(values), low, high)
    return np.asarray(values).astype(dtype).reshape(shape)


def _any(draw, shape, dtype):
    """Numbers around 0; at the edges those of the type."""
    spread = 3.0 if dtype.kind not in "iu" else 9.0
    array = _real(draw, shape, dtype, draw.random.normal(0, spread, shape))
    if "edge" in draw.style and dtype == np.int64 and draw.flag():
        near = 2**60 + draw.random.integers(-3, 4, shape, np.int64)  # alike in DOUBLE
        return np.asarray(near)
    if "edge" in draw.style and array.size:
        given = every_edge(dtype)
        kind = draw.random.random(shape)
        array = np.where(kind < 0.5, given[draw.random.integers(0, len(given), shape)], array)
        array = np.where(kind > 0.8, _far(draw, shape, dtype), array)
    return array.astype(dtype)


def _far(draw, shape, dtype):
    """Of any magnitude."""
    low, high = limits(dtype)
    if dtype.kind in "iub":
        wide = np.uint64 if dtype == np.uint64 else np.int64
        return draw.random.integers(low, high, shape, wide, endpoint=True).astype(dtype)
    size = np.exp2(draw.random.uniform(-1, 1, shape) * np.log2(high))
    return (size * draw.random.choice([1, -1], shape)).astype(dtype)


def _tame(draw, shape, dtype):
    """Without edges."""
    return _real(draw, shape, dtype, draw.random.normal(0, 2.0, shape))


def _positive(draw, shape, dtype):
    return _real(draw, shape, dtype, draw.random.uniform(0.51, 3.0, shape))


def _unit(draw, shape, dtype):
    """Mostly in [-1, 1]."""
    return np.where(
        draw.random.random(shape) < 0.9,
        _real(draw, shape, dtype, draw.random.uniform(-1, 1, shape)),
        _any(draw, shape, dtype),
    ).astype(dtype)


def _probability(draw, shape, dtype):
    values = draw.random.uniform(0, 1, shape)
    if "edge" in draw.style:
        values = np.where(draw.random.random(shape) < 0.3, np.rint(values), values)
    return _real(draw, shape, dtype, values)


def _mask(draw, shape, dtype):
    return _real(draw, shape, dtype, draw.random.integers(0, 2, shape))


def _shift(draw, shape, dtype):
    low = -1 if dtype.kind == "i" else 0
    return _real(draw, shape, dtype, draw.random.integers(low, 70, shape))


def _small(draw, shape, dtype):
    return _real(draw, shape, dtype, draw.random.integers(-3, 4, shape))


def _order(draw, shape, dtype):
    return _real(draw, shape, dtype, draw.random.choice([0, 1, 2, 3, 1.5], shape))


SAMPLES = {
    "any": _any, "tame": _tame, "positive": _positive, "unit": _unit,
    "probability": _probability, "mask": _mask, "shift": _shift, "small": _small, "order": _order,
}  # fmt: skip


def seen(value, domain: str):
    """A tensor or scalar as the expression sees it."""
    if domain == "stored" or not isinstance(value, np.ndarray | np.generic):
        return value
    integral = value.dtype.kind in "iub"
    if domain == "complex":
        if isinstance(value, np.ndarray):
            return pairs.pairs(value)
        return np.complex128(value) if pairs.is_complex(value) else np.float64(value)
    if domain == "unsigned" and value.dtype == np.uint64:
        return value
    if domain in ("integer", "unsigned"):
        if not integral:
            return whole(value.astype(np.float64))
        return value.astype(np.int64)
    if domain == "wide" and value.dtype != np.uint64:
        return value.astype(np.int64 if integral else np.float64)
    if domain == "wide":
        return value
    format = FLOAT if domain == "float" else DOUBLE
    return Bounded(format.exact(value), format)


ALONE = tuple(map(np.dtype, ("uint16", "uint32", "uint64")))  # these meet no other type


def beside(first: np.dtype, types) -> tuple[np.dtype, ...]:
    """The types that meet the first; those that meet no other are converted to all nevertheless."""
    return (first,) if first in ALONE else tuple(each for each in types if each not in ALONE)


def met(a: np.dtype | None, b: np.dtype | None) -> np.dtype | None:
    """The type that tensors of both are converted to; none where the pages have none."""
    if a == b or a is None or b is None:
        return a if a == b else None
    if {a.name, b.name} & {"uint16", "uint32"}:
        return None
    if (a in REALS) != (b in REALS):
        return a if a in REALS else b
    if a in REALS:
        return np.dtype(np.float64 if np.float64 in (a, b) else np.float32)
    return np.promote_types(a, b)


def converted(value: np.generic, dtype: np.dtype | None) -> np.generic:
    """A scalar as an element of the type holds it."""
    if dtype is None:
        return value
    if dtype.kind == "c":  # a real one has an imaginary part of 0
        return value.astype(dtype if value.dtype.kind == "c" else dtype.type(0).real.dtype)
    return stored(np.float64(value) if dtype in REALS else value, dtype)[()]


def converted_tensor(value, dtype: np.dtype | None):
    """A tensor as the type has it in which it meets others, where that is one of floats."""
    whole_numbers = isinstance(value, np.ndarray) and value.dtype.kind in "iu"
    part = pairs.PARTS.get(dtype, dtype)
    if not whole_numbers or part not in FLOAT_FORMATS or value.dtype == np.uint64:
        return value
    return nearest(value, part)


def met_by_scalars(tensors, scalars, domain: str, out=None) -> np.dtype | None:
    """The type that scalars of elementwise operators are converted to."""
    if domain == "complex":
        wide = np.float64 in (tensors or [out]) or np.complex128 in (tensors or [out])
        return np.dtype(np.complex128 if wide else np.complex64)
    kind = met_by_all(tensors, scalars, out)
    floats = domain == "float" and tensors and kind is not None and kind not in REALS
    return np.dtype(np.float32) if floats else kind


def met_by_all(tensors, scalars, out=None) -> np.dtype | None:
    """The type that tensors and scalars meet in, as the pages deduce it."""
    if not tensors:
        return out
    kind = tensors[0]
    for each in tensors:
        kind = met(kind, each)
    if kind is None or kind in REALS:
        return kind
    for each in scalars:
        if each not in REALS and kind == bool:
            kind = each
    return kind


def are_truths(record: Record, arguments: dict) -> bool:
    """Whether tensors and scalars are all BOOL, whatever the factors are."""
    others = [value for name, value in arguments.items() if name not in record.factors]
    return all(each.dtype == bool for each in others if isinstance(each, np.ndarray | np.generic))


def domain_of(arrays, numbers, out=None) -> str:
    """What elementwise operators compute in."""
    dtypes = [each.dtype for each in arrays] or [out]
    if any(map(pairs.is_complex, [*arrays, *numbers])):
        return "complex"
    if np.uint64 in dtypes and not _has_reals(numbers):
        return "unsigned"
    if np.float64 in dtypes or np.complex128 in dtypes:
        return "double"
    if any(each in REALS or each == np.complex64 for each in dtypes):
        return "float"
    return "float" if _has_reals(numbers) else "integer"


def _has_reals(numbers) -> bool:
    return any(isinstance(each, float) or np.asarray(each).dtype in REALS for each in numbers)


def size_of(shape) -> int:
    return math.prod(shape)
