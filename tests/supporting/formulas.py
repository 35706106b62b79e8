# SPDX-License-Identifier: Apache-2.0
"""Functions of single elements that records name and NumPy lacks, written from their formulas."""

import math
from statistics import NormalDist

import numpy as np
import pairs

from bounded import Bounded


def _erfinv(x: float) -> float:
    """Newton's steps from a rational start; near 1 on the complement, which keeps its digits."""
    if not abs(x) < 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    y = NormalDist().inv_cdf((1 + x) / 2) / math.sqrt(2) if abs(x) < 0.99 else _tail(x)
    for _ in range(4):
        off = math.erf(y) - x if abs(y) < 0.5 else math.copysign(1, y) * (
            (1 - abs(x)) - math.erfc(abs(y))
        )
        slope = 2 / math.sqrt(math.pi) * math.exp(-y * y)
        y -= off / slope if slope else 0
    return y


def _tail(x: float) -> float:
    """From erfc(y) ~ exp(-y^2) / (y sqrt(pi))."""
    y = math.sqrt(-math.log((1 - abs(x)) * math.sqrt(math.pi)))
    for _ in range(20):
        y = math.sqrt(-math.log((1 - abs(x)) * math.sqrt(math.pi) * y))
    return math.copysign(y, x)


erf = np.frompyfunc(math.erf, 1, 1)
erfc = np.frompyfunc(math.erfc, 1, 1)
erfinv = np.frompyfunc(_erfinv, 1, 1)


def power(a, b):
    """Integers wrap; a negative exponent leaves 1, -1 or 0."""
    if pairs.is_complex(a) or pairs.is_complex(b):
        return np.power(a, b)
    if isinstance(a, Bounded) or isinstance(b, Bounded):
        return np.float_power(a, b)  # power takes roots its own way
    a, b = np.broadcast_arrays(a, b)
    result = [pow(int(x), int(y), 2**64) if y >= 0 else _inverse(int(x), int(y))
              for x, y in zip(a.flat, b.flat, strict=True)]  # fmt: skip
    return np.array([each % 2**64 for each in result], np.uint64).view(np.int64).reshape(a.shape)


def _inverse(a: int, b: int) -> int:
    return a ** (b % 2) if abs(a) == 1 else 0


def left_shift(a, b):
    """Bits pushed out are lost, whatever the distance."""
    return np.where((b < 0) | (b > 63), 0, a.astype(np.int64) << np.clip(b, 0, 63))


def right_shift(a, b):
    far = (b < 0) | (b > 63)
    return a.astype(np.int64) >> np.where(far, 63, b)


def divide(a, b, mode: int):
    """Exactly (0), toward zero (1) or down (2)."""
    if mode == 2:
        return np.floor_divide(a, b)
    if pairs.is_complex(a) or pairs.is_complex(b):
        return a / b
    if isinstance(a, Bounded) or isinstance(b, Bounded):
        return np.trunc(a / b) if mode == 1 else a / b
    rest = np.fmod(a, b)  # 0 where b is
    return np.where(np.asarray(b) == 0, 0, np.floor_divide(a - rest, b))


def xlogy(a, b):
    return np.where(np.isnan(b), b, np.where(a == 0, 0, a * np.log(b)))


def lerp(a, b, weight):
    """From the nearer end."""
    return np.where(np.abs(weight) < 0.5, a + weight * (b - a), b - (b - a) * (1 - weight))


def clamp(x, low, high):
    """Either bound may be left out."""
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def is_close(a, b, rtol, atol, equal_nan: bool):
    """Infinities are close to themselves alone."""
    if not isinstance(a, Bounded):
        difference = np.abs(a - b)
        return (a == b) | (difference <= atol + rtol * np.abs(b))
    difference = np.abs(a - b)
    near = np.isfinite(difference) & (difference <= atol + rtol * np.abs(b))
    both = np.isnan(a) & np.isnan(b)
    return (a == b) | near | (both if equal_nan else both & False)


def rounded(x, function):
    """Integers are whole already."""
    return x if getattr(x, "dtype", None) in (np.int64, np.uint64) else function(x)


def nan_to_num(x, nan, posinf, neginf):
    if getattr(x, "dtype", None) == np.int64:
        return x
    found = np.where(x == np.inf, posinf, np.where(x == -np.inf, neginf, x))
    return np.where(np.isnan(x), nan, found)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def log1pexp(x):
    """log(1 + exp(x)), which does not overflow."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def gelu(x):
    return x * 0.5 * (1 + erf(x / np.sqrt(2)))


def _tanh_of(x):
    return np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x * x * x))


def gelu_tanh(x):
    return x * 0.5 * (1 + _tanh_of(x))


def gelu_slope(x):
    return 0.5 * (1 + erf(x / np.sqrt(2))) + x * (np.exp(-x * x / 2) / np.sqrt(2 * np.pi))


def gelu_tanh_slope(x):
    tanh = _tanh_of(x)
    inner = np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x * x)
    return 0.5 * (1 + tanh + x * (1 - tanh * tanh) * inner)


def fast_gelu_slope(x):
    rise = sigmoid(1.702 * x)
    return rise + 1.702 * x * rise * (1 - rise)


def logit(x, eps):
    """A negative eps does not bound x."""
    x = np.where(eps < 0, x, np.minimum(np.maximum(x, eps), 1 - eps))
    return np.log(x / (1 - x))


def logit_backward(x, gradient, eps):
    slope = gradient / (x * (1 - x))
    free = np.where((x < 0) | (x > 1), np.nan, slope)
    return np.where(eps < 0, free, np.where((x < eps) | (x > 1 - eps), 0, slope))


def mish_slope(x):
    tanh = np.tanh(log1pexp(x))
    return tanh + x * sigmoid(x) * (1 - tanh * tanh)


def elu_backward(gradient, x, alpha, scale, input_scale, is_result: bool):
    """Of the input, or from the result."""
    below = x + alpha * scale if is_result else alpha * scale * np.exp(x * input_scale)
    return np.where(x > 0, gradient * scale, gradient * input_scale * below)


def angle(x):
    if pairs.is_complex(x):
        return np.arctan2(x.imag, x.real)
    return np.where(np.isnan(x), x, np.where(x < 0, np.pi, 0.0))


def complex_of(real, imag):
    """Of two parts, whose bits stay."""
    real, imag = np.broadcast_arrays(real, imag)
    made = np.empty(real.shape, np.complex64)
    made.real, made.imag = real, imag
    return made


def polar(length, turn):
    """Rounded once."""
    length, turn = length.astype(np.float64), turn.astype(np.float64)
    parts = length * np.cos(turn), length * np.sin(turn)
    return complex_of(*(each.astype(np.float32) for each in parts))


def by_channel(weight, x):
    """One for all, or one for each of the channels."""
    flat = weight.reshape(-1)
    return flat[0] if flat.size == 1 else flat.reshape(-1, *(1,) * (x.ndim - 2))


def prelu_backward(gradient, x, weight):
    by_input = np.where(x > 0, gradient, gradient * by_channel(weight, x))
    terms = np.broadcast_to(np.where(x > 0, 0.0, gradient * x), x.shape)
    axes = tuple(i for i in range(x.ndim) if weight.size == 1 or i != 1)
    return by_input, np.sum(terms, axis=axes).reshape(weight.shape)


def cross(a, b, dim: int):
    """Products of vectors of three elements."""
    a, b = ([np.take(each, [i], dim) for i in range(3)] for each in (a, b))
    pairs = ((1, 2), (2, 0), (0, 1))
    return np.concatenate([a[i] * b[j] - a[j] * b[i] for i, j in pairs], axis=dim)


# Losses of one element.


def or_one(weight):
    """What is left out weighs 1."""
    return 1.0 if weight is None else weight


def smooth_l1(x, beta):
    distance = np.abs(x)
    return np.where(distance < beta, distance * distance / (2 * beta), distance - beta / 2)


def smooth_l1_slope(x, beta):
    return np.where(np.abs(x) < beta, x / beta, np.sign(x))


def l1_slope(x, target):
    """0 between numbers that are not apart, NaN included."""
    return np.where(x > target, 1, np.where(x < target, -1, 0))


def kl_div(x, target, log_target: bool):
    if log_target:
        return np.exp(target) * (target - x)
    return target * (np.where(target > 0, np.log(target), np.nan) - x)


def kl_div_slope(gradient, x, target, log_target: bool):
    target = np.broadcast_to(target, np.broadcast_shapes(x.shape, target.shape))
    if log_target:
        return -np.exp(target) * gradient
    return np.where(target > 0, -target * gradient, target * 0)


def kl_div_target_slope(gradient, x, target, log_target: bool):
    if log_target:
        return np.exp(target) * (target - x + 1) * gradient
    return np.where(target > 0, (np.log(target) + 1 - x) * gradient, target * 0)


def cross_entropy(x, target):
    """Logarithms end at -100."""
    log, log_rest = np.maximum(np.log(x), -100), np.maximum(np.log1p(-x), -100)
    return -(target * log + (1 - target) * log_rest)


def logits_cross_entropy(x, target, positive):
    return (1 - target) * x + ((positive - 1) * target + 1) * log1pexp(-x)


def logits_slope(x, target, positive):
    return (positive * target + 1 - target) * sigmoid(x) - positive * target


def reduced(losses, reduction: int):
    """As they are (0), their mean (1) or their sum (2)."""
    if reduction == 1 and not isinstance(losses, Bounded):  # a mean of the exact sum
        return np.sum(losses) / np.float64(losses.size)
    return losses if reduction == 0 else np.mean(losses) if reduction == 1 else np.sum(losses)


def averaged(slopes, reduction: int):
    """The gradient of what `reduced` makes."""
    return slopes / np.float64(slopes.size) if reduction == 1 else slopes


def round_off(x, mode):
    """By a mode of ForeachRoundOffNumber: every result is exact."""
    value = x.value
    below, whole = np.floor(value), np.trunc(value)
    results = {
        1: np.rint(value), 2: below, 3: np.ceil(value), 5: whole, 7: value - whole,
        4: whole + np.where(np.abs(value - whole) >= 0.5, np.sign(value), 0),
        6: np.where(below == value, value, below + (np.fmod(below, 2) == 0)),
    }  # fmt: skip
    mode = int(getattr(mode, "value", mode))
    return Bounded(results[mode], x.format)


# Boxes.


def iou(boxes, truths, mode: str, eps):
    eps = float(np.float32(eps))
    (a, b), (x0, x1) = (boxes[:, None], truths[None]), (0, 2)
    sides = [(np.minimum(a[..., x1 + i], b[..., x1 + i]) - np.maximum(a[..., x0 + i], b[..., x0 + i])) + eps
             for i in range(2)]  # fmt: skip
    common = np.maximum(sides[0], 0) * np.maximum(sides[1], 0)

    def area(box):
        return (box[..., 2] - box[..., 0] + eps) * (box[..., 3] - box[..., 1] + eps)

    return common / (area(b) + 0 * common if mode == "iof" else area(a) + area(b) - common)


def ciou(boxes, truths, centred: bool):
    eps, edges = 1e-9, []
    for box in (boxes, truths):
        x, y, right, bottom = (box[i] for i in range(4))
        if centred:
            x, y, right, bottom = x - right / 2, y - bottom / 2, x + right / 2, y + bottom / 2
        edges.append((x, y, right, bottom))
    (ax, ay, ar, ab), (bx, by, br, bb) = edges
    common = np.maximum(np.minimum(ar, br) - np.maximum(ax, bx), 0) * np.maximum(
        np.minimum(ab, bb) - np.maximum(ay, by), 0)
    aw, ah, bw, bh = ar - ax, ab - ay + eps, br - bx, bb - by + eps
    overlap = common / (aw * ah + bw * bh - common + eps)
    wide, high = np.maximum(ar, br) - np.minimum(ax, bx), np.maximum(ab, bb) - np.minimum(ay, by)
    distance = (np.square(bx + br - ax - ar) + np.square(by + bb - ay - ab)) / 4
    angle = np.arctan(bw / bh) - np.arctan(aw / ah)
    shape = 4 / np.pi**2 * np.square(angle)
    result = overlap - distance / (wide * wide + high * high + eps) - shape * (shape / ((1 + eps) - overlap + shape))
    return result.reshape(1, -1), angle.reshape(1, -1)
