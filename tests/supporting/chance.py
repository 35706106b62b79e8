# SPDX-License-Identifier: Apache-2.0
"""Random numbers and what is made from them, and tensors that are made from numbers.

Philox 4x32-10 (Salmon et al., 2011) is keyed by the seed, counted by offset and place.
"""

import math

import numpy as np
import pairs

from bounded import DOUBLE, Bounded

_WORD = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def philox(count: int, seed: int, offset: int) -> list[np.ndarray]:
    """Four words for each of `count` places."""
    seed, offset = int(seed) % 2**64, int(offset) % 2**64
    index = np.arange(count, dtype=np.uint64)
    words = [index & _WORD, index >> _HALF]
    words += [np.full(count, each, np.uint64) for each in (offset % 2**32, offset >> 32)]
    low, high = seed % 2**32, seed >> 32
    for _ in range(10):
        x, y = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        words = [
            (y >> _HALF) ^ words[1] ^ np.uint64(low),
            y & _WORD,
            (x >> _HALF) ^ words[3] ^ np.uint64(high),
            x & _WORD,
        ]
        low, high = (low + 0x9E3779B9) % 2**32, (high + 0xBB67AE85) % 2**32
    return words


def philox_long(shape, seed: int, offset: int) -> np.ndarray:
    words = philox(math.prod(shape), seed, offset)
    return (words[1] << _HALF | words[0]).reshape(shape)


def _open(words, pair: int) -> np.ndarray:
    """In (0, 1]."""
    bits = words[2 * pair + 1] << _HALF | words[2 * pair]
    return ((bits >> np.uint64(11)).astype(np.float64) + 1) * 2.0**-53


def philox_normal(shape, seed: int, offset: int) -> Bounded:
    """Of mean 0 and deviation 1, two for each place: a cosine and a sine."""
    count = math.prod(shape)
    words = philox((count + 1) // 2, seed, offset)
    radius, angle = np.sqrt(-2 * np.log(_open(words, 0))), 2 * np.pi * _open(words, 1)
    value = (radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)).reshape(-1)
    return Bounded(value[:count].reshape(shape), DOUBLE, np.full(shape, 32 * 2.0**-52))


_STEPS = {"float64": 2.0**53, "float32": 2.0**24, "float16": 2.0**11, "bfloat16": 2.0**8}


def philox_unit(out: np.ndarray, seed: int, offset: int) -> Bounded:
    """In [0, 1), in steps that the type of `out` has."""
    steps = _STEPS[out.dtype.name]
    unit = 1 - _open(philox(out.size, seed, offset), 0)
    return Bounded((np.floor(unit * steps) / steps).reshape(out.shape), DOUBLE)


def _ends(dtype, low, high) -> tuple[float, float]:
    """The first and the last number of a type of reals in [low, high)."""
    first, last = (np.asarray(each).astype(np.float64).astype(dtype) for each in (low, high))
    if float(first) < low:
        first = np.nextafter(first, np.asarray(np.inf, dtype))
    if float(last) >= high:
        last = np.nextafter(last, np.asarray(-np.inf, dtype))
    return float(first), float(last)


def philox_uniform(out: np.ndarray, low, high, seed: int, offset: int) -> Bounded:
    """In [low, high), as the type of `out` has it; low where it has no number there."""
    first, last = _ends(out.dtype, low, high)
    first, last = (first, last) if first <= last else (low, low)
    drawn = low + (high - low) * philox_unit(out, seed, offset)
    return np.minimum(np.maximum(drawn, first), last)


def philox_integers(out: np.ndarray, low: int, high: int, seed: int, offset: int) -> np.ndarray:
    """Among the first and the last of [low, high) that the type of `out` has."""
    dtype = pairs.PARTS.get(out.dtype, out.dtype)  # of complex numbers the real parts
    whole = dtype.kind in "iub"
    ends = (low, high - 1) if whole else _ends(dtype, low, high)
    first, last = math.ceil(ends[0]), math.floor(ends[1])
    drawn = philox_long(out.shape, seed, offset) % np.uint64(last - first + 1)
    return (drawn + np.uint64(first % 2**64)).view(np.int64)


def philox_all_integers(out: np.ndarray, seed: int, offset: int) -> np.ndarray:
    """From 0 to the greatest of the type of `out`, or the last up to which it has all."""
    dtype = pairs.PARTS.get(out.dtype, out.dtype)
    last = int(_STEPS[dtype.name]) if dtype.name in _STEPS else 1
    last = int(np.iinfo(dtype).max) if dtype.kind in "iu" else last
    drawn = philox_long(out.shape, seed, offset)
    return (drawn % np.uint64(last + 1)).view(np.int64)


def philox_exponential(out: np.ndarray, rate, seed: int, offset: int) -> Bounded:
    unit = _open(philox(out.size, seed, offset), 0).reshape(out.shape)
    return -np.log(Bounded(unit, DOUBLE)) / rate


def rrelu(x, noise, lower, upper, training: bool, seed: int, offset: int):
    """The slopes and the result."""
    if not training:
        return None, np.where(x <= 0, x * ((lower + upper) / 2), x)
    lower, upper = (float(getattr(each, "value", each)) for each in (lower, upper))
    slopes = philox_uniform(noise, lower, upper, seed, offset)
    return np.where(x <= 0, slopes, 1.0), np.where(x <= 0, x * slopes, x)


def philox_below(shape, seed: int, offset: int, probability) -> np.ndarray:
    """1 with the probability, else 0: the bits of a mask of dropout by the complement."""
    words = philox(math.prod(shape), seed, offset)
    value = getattr(probability, "value", probability)
    return (1 - _open(words, 0).reshape(shape) >= 1 - value).astype(np.int64)


def dropout_mask(count: int, probability: float, seed: int, offset: int) -> np.ndarray:
    """Bits in whole multiples of 128, each 0 with the probability."""
    bits = -(-int(count) // 128) * 128
    kept = 1 - _open(philox(bits, seed, offset), 0) >= probability
    return np.packbits(kept, bitorder="little")


def kept_bits(mask: np.ndarray, shape) -> np.ndarray:
    """The bits of a mask, one for each element."""
    return np.unpackbits(mask, bitorder="little")[: math.prod(shape)].reshape(shape)


def multinomial(weights, samples: int, replacement: bool, seed: int, offset: int) -> np.ndarray:
    """Each sample falls into the running sum of the weights."""
    rows = np.asarray(weights.value, np.float64).reshape(-1, weights.shape[-1])
    unit = 1 - _open(philox(rows.shape[0] * samples, seed, offset), 0)
    chosen = np.zeros((rows.shape[0], samples), np.int64)
    for row, own in enumerate(rows.copy()):
        for sample in range(samples):
            ends = np.cumsum(own)
            aim = unit[row * samples + sample] * ends[-1]
            found = np.flatnonzero((own > 0) & (aim < ends))
            category = found[0] if found.size else np.flatnonzero(own > 0)[-1]
            chosen[row, sample] = category
            if not replacement:
                own[category] = 0
    return chosen.reshape(*weights.shape[:-1], samples)


def _without_fraction(number, dtype):
    """As a type of integers takes it."""
    real = isinstance(number, Bounded)
    return np.trunc(number) if real and dtype.kind in "iub" else number


def linspace(start, end, steps: int, dtype):
    """From both ends, so that they are exact."""
    start, end = _without_fraction(start, dtype), _without_fraction(end, dtype)
    i = np.arange(steps)
    step = (end - start) / np.float64(steps - 1) if steps > 1 else start * 0
    first = start + step * i.astype(np.float64)
    last = end - step * (steps - 1 - i).astype(np.float64)
    numbers = np.where((i < steps // 2) | (steps == 1), first, last)
    return pairs.pairs(numbers) if pairs.is_complex(numbers) else numbers


def arange(start, end, step, dtype):
    """In integers unless a number is a float, and the type too."""
    values = [getattr(each, "value", each) for each in (start, end, step)]
    count = np.ceil((values[1] - values[0]) / values[2])
    start, step = _without_fraction(start, dtype), _without_fraction(step, dtype)
    return start + np.arange(max(int(count), 0)) * step


def inclusive_range(start, end, step, dtype):
    """As arange, up to the end and with it."""
    values = [getattr(each, "value", each) for each in (start, end, step)]
    count = np.floor((values[1] - values[0]) / values[2]) + 1
    start, step = _without_fraction(start, dtype), _without_fraction(step, dtype)
    return start + np.arange(max(int(count), 0)) * step


def one_hot(classes, count: int, on, off, axis: int):
    shape = [1] * (classes.ndim + 1)
    shape[axis] = count
    places = np.arange(count).reshape(shape)
    return np.where(np.expand_dims(classes, axis) == places, on.reshape(()), off.reshape(()))


def fill_diagonal(x, value, wrap: bool):
    result = x.copy()
    with np.errstate(all="ignore"):
        np.fill_diagonal(result, np.asarray(value).astype(x.dtype), wrap)
    return result
