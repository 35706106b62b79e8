# SPDX-License-Identifier: Apache-2.0
"""Windows over planes, written from their formulas: convolution, pooling, columns."""

import math

import numpy as np

from bounded import DOUBLE, FLOAT, Bounded
from networks import _asked, _operand


def _axis(values, i: int) -> int:
    return values[i] if len(values) > 1 else values[0]


def out_length(n: int, taps: int, stride: int, pad: int, dilation: int, up: bool = False) -> int:
    """Windows that fit; with `up` a last one that begins in the input or before it."""
    room = n + 2 * pad - dilation * (taps - 1) - 1 + (stride - 1 if up else 0)
    count = max(room // stride + 1, 0)
    return count - 1 if up and (count - 1) * stride >= n + pad else count


def windows(x, taps, strides, pads, dilations, up: bool, outside):
    """(…, places …, taps …) of the last dimensions; `outside` is what the padding holds."""
    axes = len(taps)
    setting = [tuple(_axis(each, i) for each in (taps, strides, pads, dilations))
               for i in range(axes)]  # fmt: skip
    spatial = x.shape[x.ndim - axes :]
    outs = [out_length(n, *each, up) for n, each in zip(spatial, setting, strict=True)]
    # Enough behind for a last window that ends behind the padding.
    wide = [(pad, pad + stride + dilation * tap) for tap, stride, pad, dilation in setting]
    padded = np.pad(x, [(0, 0)] * (x.ndim - axes) + wide, constant_values=outside)
    for axis, (out, (tap, stride, _, dilation)) in enumerate(zip(outs, setting, strict=True)):
        at = np.arange(out)[:, None] * stride + np.arange(tap)[None, :] * dilation
        # The taps go to the end, so that the other dimensions keep their places.
        where = x.ndim - axes + axis
        padded = np.moveaxis(np.take(padded, at, where), where + 1, -1)
    return padded


def im2col(x, taps, dilation, padding, stride):
    seen = windows(x, taps, stride, padding, dilation, False, 0)
    channels = x.ndim - 3
    moved = np.moveaxis(seen, (-2, -1), (channels + 1, channels + 2))
    lead = moved.shape[:channels]
    rows = int(np.prod(moved.shape[channels : channels + 3]))
    return moved.reshape((*lead, rows, moved.shape[-2] * moved.shape[-1]))


def im2col_backward(gradient, size, taps, dilation, padding, stride):
    """Each element's places in the columns."""
    seen = windows(np.arange(math.prod(size)).reshape(size), taps, stride, padding, dilation,
                   False, -1)  # fmt: skip
    at = np.moveaxis(seen, (2, 3), (0, 1)).reshape(math.prod(seen.shape[2:]), -1)
    *lead, rows, columns = gradient.shape
    planes = math.prod(lead) * rows // at.shape[0]
    given = gradient.value.reshape(planes, *at.shape)
    where = np.broadcast_to(at, given.shape)
    value, error = np.zeros((planes, math.prod(size) + 1)), np.zeros((planes, math.prod(size) + 1))
    plane = np.broadcast_to(np.arange(planes)[:, None, None], given.shape)
    np.add.at(value, (plane, where), given)
    np.add.at(error, (plane, where), np.abs(given) * 2.0**-52 * at.shape[0])
    shape = (*lead, rows // at.shape[0], *size)  # padding is the last one
    return Bounded(value[:, :-1].reshape(shape), DOUBLE, error[:, :-1].reshape(shape))


def avg_pool(x, taps, strides, pads, up: bool, count_pad: bool, divisor: int):
    """In float64, of which x has the values."""
    strides = strides or taps
    value = x.value
    inside = np.ones(value.shape[-2:])
    seen = windows(value, taps, strides, pads, [1, 1], up, 0.0)
    error = np.abs(seen).sum((-1, -2)) * 2.0**-52 * seen.shape[-1] * seen.shape[-2]
    total = Bounded(seen.sum((-1, -2)), x.format, error)
    if divisor:
        return total / np.float64(divisor)
    if count_pad:
        inside = np.pad(inside, [(p, p) for p in (_axis(pads, 0), _axis(pads, 1))],
                        constant_values=1)  # fmt: skip
        counts = windows(inside, taps, strides, [0, 0], [1, 1], up, 0.0)
        counts = counts[: total.shape[-2], : total.shape[-1]]
    else:
        counts = windows(inside, taps, strides, pads, [1, 1], up, 0.0)
    return total / counts.sum((-1, -2))


def max_pool(x, taps, strides, pads, dilations, up: bool):
    return windows(x, taps, strides or taps, pads[:1], dilations, up, -np.inf).max((-1, -2))


def max_pool_with(x, taps, strides, pads, up: bool, masks: bool):
    """The largest elements and where each window has its first one."""
    strides = strides or taps
    seen = windows(x, taps, strides, pads, [1], up, -np.inf)
    inside = windows(np.ones(x.shape, bool), taps, strides, pads, [1], up, False)
    numbers = np.broadcast_to(np.arange(math.prod(x.shape[-2:])).reshape(x.shape[-2:]), x.shape)
    numbers = windows(numbers, taps, strides, pads, [1], up, -1)
    shape = (*seen.shape[:-2], math.prod(seen.shape[-2:]))
    seen, inside, numbers = (each.reshape(shape) for each in (seen, inside, numbers))
    tap = np.argmax(seen, -1)
    taken = np.take_along_axis(inside, tap[..., None], -1)[..., 0]
    tap = np.where(taken, tap, np.argmax(inside, -1))[..., None]  # all are -inf
    largest = np.take_along_axis(seen, tap, -1)[..., 0]
    if not masks:
        return largest, np.take_along_axis(numbers, tap, -1)[..., 0].astype(np.int32)
    places = math.prod(tap.shape[-3:-1])
    bits = tap.reshape(*tap.shape[:-3], 1, places) == np.arange(seen.shape[-1])[:, None]
    width = 32 * (-(-places // 16) + 1)
    packed = np.packbits(bits, -1, "little")
    mask = np.zeros((*bits.shape[:-1], width), np.uint8)
    mask[..., : packed.shape[-1]] = packed
    return largest, mask.view(np.int8)


def max_pool3d(x, taps, strides, pads, dilations, up: bool):
    """The largest elements and the number of each window's first one."""
    setting = [[_axis(each, i) for i in range(3)] for each in (taps, strides or taps, pads, dilations)]
    inside = windows(np.ones(x.shape, bool), *setting, up, False)
    numbers = np.broadcast_to(np.arange(math.prod(x.shape[-3:])).reshape(x.shape[-3:]), x.shape)
    numbers = windows(numbers, *setting, up, -1)
    seen = windows(x, *setting, up, -np.inf)
    shape = (*seen.shape[:-3], math.prod(seen.shape[-3:]))
    seen, inside, numbers = (each.reshape(shape) for each in (seen, inside, numbers))
    # Of -inf the first that is no padding.
    found = np.max(seen, -1, keepdims=True)
    same = inside & ((seen == found) | (np.isnan(seen) & np.isnan(found)))
    tap = np.argmax(same, -1)[..., None]
    return found[..., 0], np.take_along_axis(numbers, tap, -1)[..., 0]


def max_pool_with_backward(gradient, x, indices, taps, strides, pads, up: bool):
    """Each window gives its gradient to the element that is told."""
    strides = strides or taps
    count = math.prod(x.shape[-2:])
    numbers = np.broadcast_to(np.arange(count).reshape(x.shape[-2:]), x.shape)
    numbers = windows(numbers, taps, strides, pads, [1], up, -1)
    if indices.dtype == np.int8:
        places = math.prod(numbers.shape[-4:-2])
        bits = np.unpackbits(indices.view(np.uint8), -1, bitorder="little")[..., :places]
        told = np.moveaxis(bits, -1, -2).reshape(numbers.shape) != 0
    else:
        told = numbers == indices[..., None, None]
    given = np.where(told, gradient.value[..., None, None], 0.0)
    planes = math.prod(x.shape[:-2])
    value, size = np.zeros((planes, count + 1)), np.zeros((planes, count + 1))
    at = numbers.reshape(planes, math.prod(numbers.shape[x.ndim - 2 :]))
    rows = np.broadcast_to(np.arange(planes)[:, None], at.shape)
    np.add.at(value, (rows, at), given.reshape(at.shape))
    np.add.at(size, (rows, at), np.abs(given).reshape(at.shape))
    value, size = (each[:, :-1].reshape(x.shape) for each in (value, size))
    return Bounded(value, DOUBLE, size * 2.0**-52 * numbers.shape[-1] * numbers.shape[-2])


def _spread(x, stride: int, axis: int):
    """Zeros between neighbours."""
    shape = list(x.shape)
    shape[axis] = max((shape[axis] - 1) * stride + 1, 0)
    out = np.zeros(shape, x.dtype)
    place = [slice(None)] * x.ndim
    place[axis] = slice(None, None, stride)
    out[tuple(place)] = x
    return out


def _around(x, axis: int, before: int, after: int):
    """Zeros before and behind; negative: cut off."""
    pads = [(0, 0)] * x.ndim
    pads[axis] = (max(before, 0), max(after, 0))
    x = np.pad(x, pads)
    place = [slice(None)] * x.ndim
    place[axis] = slice(max(-before, 0), x.shape[axis] - max(-after, 0))
    return x[tuple(place)]


def convolution(x, weight, bias, stride, padding, dilation, transposed: bool, more, groups: int,
                math_type: int):  # fmt: skip
    """A transposed one is plain, with stride 1, of the spread input and weights turned round."""
    axes = x.ndim - 2
    x, weight = _operand(x, math_type), _operand(weight, math_type)
    strides = [_axis(stride, i) for i in range(axes)]
    pads = [_axis(padding, i) for i in range(axes)]
    dilations = [_axis(dilation, i) for i in range(axes)]
    taps = weight.shape[2:]
    if transposed:
        own = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
        weight = np.flip(np.swapaxes(own, 1, 2), range(3, 3 + axes))
        weight = weight.reshape(-1, *weight.shape[2:])
        for i in range(axes):
            around = dilations[i] * (taps[i] - 1) - pads[i]
            x = _spread(x, strides[i], i + 2)
            x = _around(x, i + 2, around, around + (_axis(more, i) if more else 0))
        strides, pads = [1] * axes, [0] * axes
    seen = windows(x, taps, strides, pads, dilations, False, 0.0)
    n, channels, places = x.shape[0], x.shape[1] // groups, seen.shape[2 : 2 + axes]
    results = []
    for group in range(groups):
        part = seen[:, group * channels : (group + 1) * channels]
        part = np.moveaxis(part, 1, 1 + axes).reshape(
            n, int(np.prod(places)), channels * int(np.prod(taps))
        )
        outer = weight.shape[0] // groups
        matrix = weight[group * outer : (group + 1) * outer].reshape(outer, -1)
        results.append((Bounded(part, FLOAT), Bounded(matrix.T, FLOAT)))
    products = [np.matmul(*each) for each in results]
    value = np.concatenate([each.value for each in products], -1)
    error = np.concatenate([each.error for each in products], -1)
    total = Bounded(value, FLOAT, error)
    if bias is not None:
        total = total + Bounded(bias.astype(np.float64), FLOAT)
    shape = (n, *places, weight.shape[0])
    back = (0, 1 + axes, *range(1, 1 + axes))
    value, error = (np.transpose(each.reshape(shape), back) for each in (total.value, total.error))
    return Bounded(value, FLOAT, error)


def _by_input(gradient, shape, weight, stride, padding, dilation, transposed: bool, groups: int,
              math_type: int):  # fmt: skip
    """A convolution the other way, of the input's lengths."""
    lengths, more = shape[2:], []
    for i, n in enumerate(lengths):
        reach = _axis(dilation, i) * (weight.shape[i + 2] - 1) + 1
        least = (gradient.shape[i + 2] - 1) * _axis(stride, i) - 2 * _axis(padding, i) + reach
        more.append(n - least)
    found = convolution(gradient, weight, None, stride, padding, dilation, not transposed, more,
                        groups, math_type)  # fmt: skip
    return found[(slice(None), slice(None), *(slice(n) for n in lengths))]


def _by_weight(at_places, through, weight, stride, padding, dilation, groups: int, math_type: int):
    """What each tap sees of one tensor, times the element of the other at that place."""
    at_places, through = _operand(at_places, math_type), _operand(through, math_type)
    axes, places = weight.ndim - 2, at_places.shape[2:]
    seen = windows(through, weight.shape[2:], stride, padding, dilation, False, 0.0)
    seen = seen[(slice(None), slice(None), *(slice(n) for n in places))]
    outer, inner = at_places.shape[1] // groups, through.shape[1] // groups
    terms, products = at_places.shape[0] * int(np.prod(places)), []
    for group in range(groups):
        own = np.moveaxis(at_places[:, group * outer : (group + 1) * outer], 1, 0)
        part = np.moveaxis(seen[:, group * inner : (group + 1) * inner], 1, 1 + axes)
        columns = inner * int(np.prod(weight.shape[2:]))
        pair = own.reshape(outer, terms), part.reshape(terms, columns)
        products.append(np.matmul(*(Bounded(each, FLOAT) for each in pair)))
    return np.concatenate(products, 0).reshape(weight.shape)


def convolution_backward(gradient, x, weight, stride, padding, dilation, transposed: bool,
                         groups: int, mask, math_type: int):  # fmt: skip
    setting = stride, padding, dilation
    pair = (x, gradient) if transposed else (gradient, x)
    by_x = _by_input(gradient, x.shape, weight, *setting, transposed, groups, math_type)
    by_weight = _by_weight(*pair, weight, *setting, groups, math_type)
    over = (0, *range(2, gradient.ndim))
    by_bias = np.sum(Bounded(gradient.astype(np.float64), DOUBLE), axis=over)
    return _asked(mask, by_x, by_weight, by_bias)
