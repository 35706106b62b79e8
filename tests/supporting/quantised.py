# SPDX-License-Identifier: Apache-2.0
"""Numbers made whole by scales, and whole numbers made floats, in NumPy, in float64."""

import numpy as np

from bounded import Bounded
from formulas import sigmoid
from networks import rms_norm

_WAYS = {
    "round": np.rint, "rint": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
    "away": lambda x: np.trunc(x) + np.where(np.abs(x - np.trunc(x)) >= 0.5, np.sign(x), 0.0),
}  # fmt: skip
_HIGH = {"int8": 127, "uint8": 255, "int32": 7}  # an INT32 holds eight INT4


def _ends(y, plain: bool = False) -> tuple[int, int]:
    if plain and y.dtype == np.int32:
        return -(2**31), 2**31 - 1
    high = _HIGH[np.dtype(y.dtype).name]
    return (0 if np.dtype(y.dtype) == np.uint8 else -high - 1), high


def _whole(values, y, way: str = "rint", plain: bool = False):
    """The nearest numbers of y's type; NaN is 0."""
    low, high = _ends(y, plain)
    values = np.where(np.isnan(values), 0, values)
    numbers = _WAYS[way](np.clip(values, low, high)).astype(np.int64)
    return numbers.astype(y.dtype) if plain or y.dtype != np.int32 else packed(numbers)


def packed(numbers):
    """Eight neighbours as the four-bit digits of an INT32."""
    digits = (numbers & 15).reshape((*numbers.shape[:-1], numbers.shape[-1] // 8, 8))
    words = (digits << (4 * np.arange(8))).sum(axis=-1)
    return words.astype(np.uint32).view(np.int32)


def unpacked(words):
    """Numbers of INT8, or eight of each INT32."""
    if words.dtype != np.int32:
        return words.astype(np.float64)
    digits = (words.astype(np.int64)[..., None] >> (4 * np.arange(8))) & 15
    return ((digits ^ 8) - 8).reshape((*words.shape[:-1], words.shape[-1] * 8)).astype(np.float64)


def _along(numbers, rank: int, axis: int, missing: float = 0.0):
    """Numbers along a dimension, or one, as a tensor of as many dimensions."""
    if numbers is None:
        return np.float64(missing)
    shape = [1] * rank
    shape[axis] = numbers.size
    return numbers.astype(np.float64).reshape(shape)


def ascend_quant(x, scale, offset, twice: bool, way: str, axis: int, y):
    scale = _along(scale, x.ndim, axis)
    values = x.astype(np.float64) * scale
    values = values * scale if twice else values
    return _whole(values + _along(offset, x.ndim, axis), y, way)


def ascend_anti_quant(x, scale, offset, twice: bool):
    values, scale = unpacked(x), scale.astype(np.float64)
    values = (values + (0 if offset is None else offset.astype(np.float64))) * scale
    return values * scale if twice else values


def quantize(x, scales, zero_points, axis: int, out):
    axis = axis if scales.size > 1 else 0
    values = x.astype(np.float64) / _along(scales, x.ndim, axis)
    return _whole(values + _along(zero_points, x.ndim, axis), out, plain=True)


def group_quant(x, scale, ends, offset, y):
    rows = np.searchsorted(ends.astype(np.int64), np.arange(x.shape[0]), side="right")
    values = x.astype(np.float64) * scale.astype(np.float64)[rows]
    return _whole(values + (0 if offset is None else offset.astype(np.float64).item()), y)


def dequant_bias(x, of_columns, of_rows, bias):
    values = x.astype(np.float64)
    added = np.float64(0) if bias is None else bias.astype(np.float64)
    whole = bias is not None and bias.dtype == np.int32
    values = (values + added if whole else values) * of_columns.astype(np.float64)
    values = values if of_rows is None else values * of_rows.astype(np.float64)[:, None]
    return values if whole else values + added


def dynamic_scale(values, y, symmetric: bool, over):
    """The scale and the offset that numbers give themselves, as FLOAT has them."""
    low, high = _ends(y)
    if values.size == 0:
        shape = np.max(np.abs(values), axis=over, initial=0).shape
        return np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    most = np.max(values, axis=over)
    if symmetric:
        scale = (np.max(np.abs(values), axis=over) / high).astype(np.float32)
        return scale, np.zeros_like(scale)
    scale = ((most - np.min(values, axis=over)) / (high - low)).astype(np.float32)
    return scale, (high - most / scale.astype(np.float64)).astype(np.float32)


def dynamic_quant(x, smooth, ends, symmetric: bool, mode: str, y):
    values = x.astype(np.float64)
    if ends is not None:
        rows = np.arange(values.size // x.shape[-1])
        groups = np.searchsorted(ends, rows, side="right")
        values = values * smooth.astype(np.float64)[groups].reshape(x.shape)
    elif smooth is not None:
        values = values * smooth.astype(np.float64)
    over = {"pertoken": -1, "perchannel": -2, "pertensor": None}[mode]
    scale, offset = dynamic_scale(values, y, symmetric, over)
    wide = [np.asarray(each, np.float64) for each in (scale, offset)]
    wide = [each if over is None else np.expand_dims(each, over) for each in wide]
    whole = _whole(values / wide[0] + wide[1], y)
    scale, offset = (each.reshape(1) if over is None else each for each in (scale, offset))
    return whole, scale, None if symmetric else offset


def dynamic_quant_v1(x, smooth, y):
    return dynamic_quant(x, smooth, None, True, "pertoken", y)[:2]


def dynamic_quant_v2(x, smooth, ends, offset, y):
    """Without an output for the offset the scale is symmetric."""
    return dynamic_quant(x, smooth, ends, offset.dtype is None, "pertoken", y)


def dynamic_block_quant(x, least: float, rows: int, columns: int):
    values = x.astype(np.float64)
    height, width = x.shape[-2:]
    down, across = -(-height // rows), -(-width // columns)
    whole, scales = np.zeros(x.shape, np.int8), np.zeros((*x.shape[:-2], down, across), np.float32)
    for i in range(down):
        for j in range(across):
            at = (..., slice(i * rows, (i + 1) * rows), slice(j * columns, (j + 1) * columns))
            size = np.max(np.abs(values[at]), axis=(-2, -1)) / 127
            scale = np.maximum(np.float32(least), size.astype(np.float32))
            scales[..., i, j] = scale
            whole[at] = _whole(values[at] / scale.astype(np.float64)[..., None, None], whole)
    return whole, scales


def fake_quant(x, scale, zero, axis: int, enabled: float, low: int, high: int):
    if enabled < 1:
        return x, np.ones(x.shape, bool)
    scale, zero = _along(scale, x.ndim, axis), _along(zero, x.ndim, axis)
    whole = np.rint(x.astype(np.float64) / scale) + zero
    return (np.clip(whole, low, high) - zero) * scale, (low <= whole) & (whole <= high)


def quant_scatter(data, indices, updates, scales, zeros, axis: int):
    axis, data = axis % data.ndim, data.copy()
    values = updates.astype(np.float64) / scales.astype(np.float64).reshape(-1)
    values = values if zeros is None else values + zeros.astype(np.float64).reshape(-1)
    for b, place in enumerate(indices):
        batch, first = place if indices.ndim == 2 else (b, place)
        at = (slice(None),) * (axis - 1) + (slice(first, first + updates.shape[axis]),)
        data[batch][at] = _whole(values[b], data)
    return data


def trans_quant_param(scale, offset, mode: int):
    bits = scale.view(np.uint32).astype(np.uint64)
    if mode == 1:
        odd = (bits >> np.uint64(13)) & np.uint64(1)
        bits = np.where(np.isfinite(scale), bits + np.uint64(0xFFF) + odd, bits)
    bits = (bits & np.uint64(0xFFFFE000)) | np.uint64(1 << 46)
    if offset is None:
        return bits
    whole = np.clip(np.rint(np.where(np.isnan(offset), 0, offset)), -256, 255).astype(np.int64)
    return bits | ((whole & 0x1FF).astype(np.uint64) << np.uint64(37))


def _matrix(x, turned: bool, terms: int | None = None):
    """A factor as numbers; INT32 hold eight along the last dimension, or along the terms."""
    if x.dtype != np.int32:
        x = x.astype(np.float64)
        return np.swapaxes(x, -1, -2) if turned else x
    x = np.swapaxes(x, -1, -2) if turned else x
    if terms is not None and x.shape[-2] * 8 == terms:
        return np.swapaxes(unpacked(np.swapaxes(x, -1, -2)), -1, -2)
    return unpacked(x)


def scales_of(columns):
    """Factors and offsets of columns: floats, or the bits that TransQuantParam makes."""
    if columns.dtype not in (np.uint64, np.int64):
        return columns.astype(np.float64), np.zeros(columns.shape)
    bits = columns.view(np.uint64)
    scale = bits.astype(np.uint32).view(np.float32).astype(np.float64)
    nine = ((bits >> np.uint64(37)) & np.uint64(0x1FF)).astype(np.int64)
    return scale, ((nine ^ 0x100) - 0x100).astype(np.float64)


def quant_matmul(x1, x2, rows, columns, offset, bias, turned_1: bool, turned_2: bool, out):
    a = _matrix(x1, turned_1)
    sums = np.matmul(a, _matrix(x2, turned_2, a.shape[-1]))
    whole = bias is not None and bias.dtype == np.int32
    sums = sums + bias.astype(np.float64) if whole else sums
    if out.dtype == np.int32:
        return sums.astype(np.int64)
    scale, own = scales_of(columns)
    values = sums * scale.reshape(-1)
    values = values if rows is None else values * rows.astype(np.float64).reshape((-1, 1))
    if offset is not None:
        own = np.where(own == 0, offset.astype(np.float64), own)
    values = values + own.reshape(-1)
    values = values if whole or bias is None else values + bias.astype(np.float64)
    return _whole(values, out) if out.dtype == np.int8 else values


# Results of normalisations and gates, which are bounded: an error may move a number across a half.


def snapped(values, low: int = -128, high: int = 127, way: str = "rint"):
    return _WAYS[way](np.minimum(np.maximum(values, float(low)), float(high)))


def _own_scale(values, high: int):
    """The scale of each row, in FLOAT, whose rounding an error may move too."""
    size = np.max(np.abs(values), axis=-1, keepdims=True)
    exact = size / float(high)
    value = exact.value.astype(np.float32).astype(np.float64)
    return Bounded(value, exact.format, exact.error + 2.0**-24 * np.abs(value) * (exact.error > 0))


def _static(y, scale, offset, divides: bool):
    z = y / scale if divides else y * scale
    return snapped(z if offset is None else z + offset)


def add_rms_norm_quant(x1, x2, gamma, beta, scale1, scale2, offset1, offset2, eps, divides: bool):
    total = x1 + x2
    plain, _ = rms_norm(total, gamma, eps)
    y = plain if beta is None else plain + beta
    first = _static(y, scale1, offset1, divides)
    second = None if scale2 is None else _static(y, scale2, offset2, divides)
    return first, second, total, plain


def add_rms_norm_quant_v1(x1, x2, gamma, scale1, scale2, offset1, offset2, eps, divides: bool):
    return add_rms_norm_quant(x1, x2, gamma, None, scale1, scale2, offset1, offset2, eps, divides)[:3]


def rms_norm_quant_v1(x, gamma, beta, scale, offset, eps):
    return rms_norm_quant(x, gamma, beta, scale, offset, eps, False)[0]


def rms_norm_quant(x, gamma, beta, scale, offset, eps, divides: bool,
                   wants_rstd: bool = False):  # fmt: skip
    y, rstd = rms_norm(x, gamma.reshape(-1), eps)
    y = y if beta is None else y + beta.reshape(-1)
    scale = scale.reshape(-1)
    y = _static(y, scale, None if offset is None else offset.reshape(-1), divides)
    return y, rstd if wants_rstd else None


def _dynamic(y, smooth):
    z = y if smooth is None else y * smooth
    scale = _own_scale(z, 127)
    return snapped(z / scale), scale.reshape(z.shape[:-1])


def add_rms_norm_dynamic_quant(x1, x2, gamma, beta, smooth1, smooth2, eps, mask):
    total = x1 + x2
    y, _ = rms_norm(total, gamma, eps)
    y = y if beta is None else y + beta
    wanted = mask or (True, smooth1 is not None and smooth2 is not None)
    first = _dynamic(y, smooth1) if wanted[0] else (None, None)
    second = _dynamic(y, smooth2) if wanted[1] else (None, None)
    return first[0], second[0], total, first[1], second[1]


def _by_rows(numbers, groups: int, rows, width: int):
    """Numbers of each row's group, one or one for each element."""
    each = numbers.shape[-1] == width and (numbers.ndim > 1 or numbers.size != groups)
    numbers = numbers.reshape(-1, width if each else 1)
    return numbers[rows if len(numbers) > 1 else np.zeros(len(rows), int)]


def _groups(index, lengths: bool, count: int):
    """How many groups there are, and that of each row."""
    if index is None:
        return 1, np.zeros(count, int)
    ends = np.cumsum(index) if lengths else index
    return len(index), np.searchsorted(ends, np.arange(count), side="right")


def _halves(x, left: bool):
    half = x.shape[-1] // 2
    return (x[..., :half], x[..., half:]) if left else (x[..., half:], x[..., :half])


def swiglu_quant(x, smooth, offsets, index, left: bool, mode: str, kind: int):
    a, b = _halves(x, left)
    z = a * sigmoid(a) * b
    z = z.reshape(-1, z.shape[-1])
    groups, rows = _groups(index, kind == 1, len(z))
    z = z if smooth is None else z * _by_rows(smooth, groups, rows, z.shape[-1])
    shape = (*x.shape[:-1], z.shape[-1])
    if mode == "static":
        z = z if offsets is None else z + _by_rows(offsets, groups, rows, z.shape[-1])
        return snapped(z).reshape(shape), None
    factor = 127.0 / np.max(np.abs(z), axis=-1, keepdims=True)
    value = factor.value.astype(np.float32).astype(np.float64)
    factor = Bounded(value, factor.format, factor.error + 2.0**-24 * np.abs(value))
    return snapped(z * factor).reshape(shape), factor.reshape(shape[:-1])


def dequant_swiglu_quant(x, columns, of_rows, bias, scale, offset, index, left: bool, mode: str,
                         kind: int = 0, limit=7.0, alpha=1.0, more=0.0, way: str = "rint"):  # fmt: skip
    shape = (*x.shape[:-1], x.shape[-1] // 2)
    whole = bias is not None and bias.dtype == np.int32
    x = x.reshape(-1, x.shape[-1])
    width, half = x.shape[-1], shape[-1]
    groups, rows = _groups(index, True, len(x))
    added = None if bias is None else _by_rows(bias.astype(np.float64), groups, rows, width)
    x = x + added if whole else x
    x = x if columns is None else x * _by_rows(columns, groups, rows, width)
    x = x if of_rows is None else x * of_rows.reshape(-1, 1)
    x = x + added if added is not None and not whole else x
    a, b = (x[..., ::2], x[..., 1::2]) if kind == 1 else _halves(x, left)
    if kind == 0:
        z = a * sigmoid(a) * b
    else:
        a, b = np.minimum(a, limit), np.minimum(np.maximum(b, -limit), limit)
        z = a * sigmoid(alpha * a) * (b + more)
    if mode == "static":
        z = z if scale is None else z / _by_rows(scale, groups, rows, half)
        z = z if offset is None else z + _by_rows(offset, groups, rows, half)
        return snapped(z, way=way).reshape(shape), None
    z = z if scale is None else z * _by_rows(scale, groups, rows, half)
    own = _own_scale(z, 127)
    return snapped(z / own, way=way).reshape(shape), own.reshape(shape[:-1])


def clipped_swiglu(x, index, dim: int, alpha, limit, bias, pairs: bool):
    dim = dim + x.ndim if dim < 0 else dim
    shape = (*x.shape[:dim], x.shape[dim] // 2, *x.shape[dim + 1 :])
    x = x.reshape(int(np.prod(x.shape[:dim])), -1)
    a, b = (x[:, ::2], x[:, 1::2]) if pairs else _halves(x, True)
    a, b = np.minimum(a, limit), np.minimum(np.maximum(b, -limit), limit)
    return (a * sigmoid(alpha * a) * (b + bias)).reshape(shape)
