# SPDX-License-Identifier: Apache-2.0
"""Reductions, softmax, normalisations, products and steps of training, in NumPy."""

import math

import numpy as np
import pairs

from bounded import DOUBLE, FLOAT, Bounded
from chance import kept_bits
from formulas import gelu, gelu_slope, gelu_tanh, gelu_tanh_slope, sigmoid

from openaclnn.dtypes import BFLOAT16, FLOAT_FORMATS

HF32 = type(FLOAT_FORMATS[np.dtype(np.float32)])(12, -126, 127)  # 11 bits and the implicit one


def variance(x, dims, correction: int, keep: bool):
    mean = np.mean(x, axis=dims, keepdims=True)
    total = np.sum(np.square(x - mean), axis=dims, keepdims=keep)
    terms = x.size // max(total.size, 1) if x.size else 0
    return total / np.float64(max(terms - correction, 0))


def logsumexp(x, dims, keep: bool):
    """Beside the largest, if that is finite."""
    if x.size == 0:
        return np.log(np.sum(np.exp(x), axis=dims, keepdims=keep))
    top = np.max(x.value, axis=dims, keepdims=True)
    top = np.where(np.isinf(top), 0, top)
    total = np.log(np.sum(np.exp(x - top), axis=dims, keepdims=keep))
    return total + (top if keep else top.reshape(total.shape))


def norm(x, order, dims, keep: bool):
    """(sum |x|^p)^(1/p); an extreme for infinite p, how many are not 0 for 0."""
    size, p = np.abs(x), float(getattr(order, "value", order))
    if np.isinf(p):
        if x.size == 0:
            return np.sum(size, axis=dims, keepdims=keep)
        return (np.max if p > 0 else np.min)(size, axis=dims, keepdims=keep)
    if p == 0:
        return np.sum(np.where(size != 0, 1.0, 0.0), axis=dims, keepdims=keep)
    total = np.sum(size if p == 1 else np.power(size, p), axis=dims, keepdims=keep)
    return total if p == 1 else np.power(total, 1 / p)


def trace(x):
    places = np.arange(min(x.shape))
    return np.sum(x[places, places])


def histogram(x, bins: int, low, high):
    """Of the values' own range if none is given; NaN is in no bin."""
    x = x.reshape(-1).astype(np.float64)
    if low == high:
        low, high = (x.min(), x.max()) if x.size else (0.0, 1.0)
        low, high = (low - 1, high + 1) if low == high else (low, high)
    x = x[(low <= x) & (x <= high)]
    at = ((x - low) / (np.float64(high) - low) * bins).astype(np.int64)
    return np.bincount(np.minimum(at, bins - 1), minlength=bins)


def bincount(x, weights, length: int):
    """How often each number occurs, or the sum of the weights beside it."""
    counts = np.bincount(x, minlength=length)
    if weights is None:
        return counts
    sums = np.bincount(x, weights.value, length)
    sizes = np.bincount(x, np.abs(weights.value), length)
    return Bounded(sums, DOUBLE, (counts + 1) * DOUBLE.unit * sizes)


def embedding_bag(table, indices, offsets, mode: int, factors, has_last: bool, padding: int):
    """Rows of a table in bags: their sum (0), mean (1) or maximum (2)."""
    ends = offsets[1:] if has_last else np.append(offsets[1:], indices.size)
    begins, bag_of = offsets[: ends.size], np.zeros(indices.size, np.int64)
    out, error = np.zeros((2, ends.size, table.shape[1]))
    sizes, places = np.zeros(ends.size, np.int64), np.zeros(out.shape, np.int64)
    for bag, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        bag_of[begin:end] = bag
        at = np.arange(begin, end)[indices[begin:end] != padding]
        rows = table[indices[at]] * (1.0 if factors is None else factors[at, None])
        sizes[bag] = at.size
        if at.size and mode == 2:
            best = np.argmax(rows, axis=0)
            out[bag], places[bag] = np.max(rows, axis=0), indices[at][best]
        elif at.size:
            out[bag] = rows.sum(0) / (at.size if mode == 1 else 1)
            error[bag] = (at.size + 2) * DOUBLE.unit * np.abs(rows).sum(0)
    return Bounded(out, DOUBLE, error), bag_of, sizes, places


def softmax(x, dim: int):
    powers = np.exp(x - np.max(x.value, axis=dim, keepdims=True)) if x.size else x
    return powers / np.sum(powers, axis=dim, keepdims=True)


def log_softmax(x, dim: int):
    if x.size == 0:
        return x
    moved = x - np.max(x.value, axis=dim, keepdims=True)
    return moved - np.log(np.sum(np.exp(moved), axis=dim, keepdims=True))


def _halves(x, dim: int):
    half = x.shape[dim] // 2
    return np.take(x, range(half), dim), np.take(x, range(half, 2 * half), dim)


def glu(x, dim: int):
    a, b = _halves(x, dim)
    return a * sigmoid(b)


def swi_glu(x, dim: int):
    a, b = _halves(x, dim)
    return a * sigmoid(a) * b


def ge_glu(x, dim: int, approximate: int, left: bool):
    a, b = _halves(x, dim)
    a, b = (b, a) if left else (a, b)
    activated = gelu_tanh(b) if approximate == 1 else gelu(b)
    return a * activated, activated


def gelu_mul(x, approximate: str):
    return ge_glu(x, -1, int(approximate == "tanh"), True)[0]


def glu_backward(gradient, x, dim: int):
    a, b = _halves(x, dim)
    gate = sigmoid(b)
    return np.concatenate((gradient * gate, gradient * a * gate * (1 - gate)), axis=dim)


def swi_glu_backward(gradient, x, dim: int):
    a, b = _halves(x, dim)
    gate = sigmoid(a)
    return np.concatenate((gradient * b * gate * (1 + a * (1 - gate)), gradient * a * gate), axis=dim)


def ge_glu_backward(gradient, x, activated, dim: int, approximate: int, left: bool):
    """With Gelu as the forward stored it."""
    a, b = _halves(x, dim)
    a, b = (b, a) if left else (a, b)
    slope = gelu_tanh_slope(b) if approximate == 1 else gelu_slope(b)
    halves = gradient * activated, gradient * a * slope
    return np.concatenate(halves[::-1] if left else halves, axis=dim)


# Cells of recurrences.


def _quarters(gates):
    width = gates.shape[-1] // 4
    return [np.take(gates, range(k * width, (k + 1) * width), -1) for k in range(4)]


def lstm_cell(by_input, by_hidden, state, input_bias, hidden_bias):
    """The gates of input, forgetting, cell and output; what they make of the state."""
    if input_bias is not None:
        by_input, by_hidden = by_input + input_bias, by_hidden + hidden_bias
    i, f, g, o = _quarters(by_input + by_hidden)
    i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
    new = f * state + i * g
    return o * np.tanh(new), new, np.concatenate((i, f, g, o), -1)


def lstm_cell_backward(by_result, by_state, state, new, gates, has_bias: bool):
    i, f, g, o = _quarters(gates)
    tanh = np.tanh(new)
    by_result, by_state = (0.0 if each is None else each for each in (by_result, by_state))
    through = by_result * o * (1 - tanh * tanh) + by_state
    by_gates = np.concatenate((
        through * g * i * (1 - i), through * state * f * (1 - f), through * i * (1 - g * g),
        by_result * tanh * o * (1 - o) + 0.0 * o,
    ), -1)  # fmt: skip
    return by_gates, through * f, np.sum(by_gates if has_bias else 0.0 * gates, axis=0)


# Normalisations: (x - mean) * rstd over some axes, then weights of some axes.


def _shaped(weight, shape, missing):
    return missing if weight is None else weight.reshape(shape)


def _moments(x, over):
    mean = np.mean(x, axis=over, keepdims=True)
    return mean, np.mean(np.square(x - mean), axis=over, keepdims=True)


def _slopes(gradient, x, mean, rstd, weight, over, through=True):
    """The gradient of (x - mean) * rstd * weight by x, and the terms of that by weight."""
    normal = (x - mean) * rstd
    g = gradient * weight
    if through:
        a, b = np.mean(g, axis=over, keepdims=True), np.mean(g * normal, axis=over, keepdims=True)
        return rstd * (g - a - normal * b), gradient * normal
    return rstd * g, gradient * normal


def _asked(mask, *gradients):
    return tuple(each if asked else None for asked, each in zip(mask, gradients, strict=True))


def layer_norm(x, shape, weight, bias, eps):
    over = tuple(range(x.ndim - len(shape), x.ndim))
    mean, var = _moments(x, over)
    rstd = 1 / np.sqrt(var + eps)
    out = (x - mean) * rstd * _shaped(weight, shape, 1.0) + _shaped(bias, shape, 0.0)
    return out, mean, rstd


def _turns(n: int, mode: int):
    """The numbers in the order that they come out, and the other of each pair with its sign."""
    half, even = n // 2, np.arange(0, n, 2)
    order = np.concatenate([even, even + 1]) if mode == 3 else np.arange(n)
    if mode in (0, 3):
        other = np.concatenate([order[half:], order[:half]])
        sign = np.repeat([-1.0, 1.0], half)
    elif mode == 1:
        other, sign = np.arange(n) ^ 1, np.tile([-1.0, 1.0], half)
    else:
        other = np.arange(n).reshape(2, 2, n // 4)[:, ::-1].reshape(-1)
        sign = np.tile(np.repeat([-1.0, 1.0], n // 4), 2)
    return order, other, sign


def rotary(x, cos, sin, mode: int):
    order, other, sign = _turns(x.shape[-1], mode)
    return x[..., order] * cos + x[..., other] * sign * sin


def _summed_to(terms, shape):
    """Over the dimensions along which a shape is broadcast."""
    lead = terms.ndim - len(shape)
    wide = tuple(lead + d for d, n in enumerate(shape) if n == 1 and terms.shape[lead + d] != 1)
    return np.sum(terms, axis=(*range(lead), *wide)).reshape(shape)


def rotary_backward(dy, cos, sin, x, mode: int):
    """By x each number comes from the two places that it goes to."""
    order, other, sign = _turns(dy.shape[-1], mode)
    by_x = (dy * cos)[..., np.argsort(order)] + (dy * sign * sin)[..., np.argsort(other)]
    if x is None:
        return by_x, None, None
    by_cos, by_sin = dy * x[..., order], dy * x[..., other] * sign
    return by_x, _summed_to(by_cos, cos.shape), _summed_to(by_sin, sin.shape)


def rms_norm(x, gamma, eps):
    over = tuple(range(x.ndim - gamma.ndim, x.ndim))
    rstd = 1 / np.sqrt(np.mean(x * x, axis=over, keepdims=True) + eps)
    return x * rstd * gamma, rstd


def rms_norm_backward(gradient, x, rstd, gamma):
    lead = x.ndim - gamma.ndim
    over, rest = tuple(range(lead, x.ndim)), tuple(range(lead))
    scale = rstd.reshape(x.shape[:lead] + (1,) * gamma.ndim)
    normal, g = x * scale, gradient * gamma
    mean = np.mean(g * normal, axis=over, keepdims=True)
    return (g - normal * mean) * scale, np.sum(gradient * normal, axis=rest)


def layer_norm_backward(gradient, x, shape, mean, rstd, weight, mask):
    lead = x.ndim - len(shape)
    of_group = x.shape[:lead] + (1,) * len(shape)
    moments = mean.reshape(of_group), rstd.reshape(of_group)
    over = tuple(range(lead, x.ndim))
    by_x, by_weight = _slopes(gradient, x, *moments, _shaped(weight, shape, 1.0), over)
    rest = tuple(range(lead))
    return _asked(mask, by_x, np.sum(by_weight, axis=rest), np.sum(gradient, axis=rest))


def _grouped(x, groups: int):
    return x.reshape((x.shape[0], groups, math.prod(x.shape[1:]) // groups))


def group_norm(x, weight, bias, groups: int, eps):
    mean, var = _moments(_grouped(x, groups), (2,))
    rstd = 1 / np.sqrt(var + eps)
    channels = (-1,) + (1,) * (x.ndim - 2)
    normal = ((_grouped(x, groups) - mean) * rstd).reshape(x.shape)
    out = normal * _shaped(weight, channels, 1.0) + _shaped(bias, channels, 0.0)
    return out, mean.reshape(mean.shape[:2]), rstd.reshape(rstd.shape[:2])


def group_norm_backward(gradient, x, mean, rstd, weight, groups: int, mask):
    n, c = x.shape[:2]
    wide = np.zeros((n, c, math.prod(x.shape[2:])))
    flat = _shaped(weight, (1, c, 1), 1.0) + wide
    parts = [_grouped(each, groups) for each in (gradient, x)]
    moments = mean.reshape((n, groups, 1)), rstd.reshape((n, groups, 1))
    by_x, by_weight = _slopes(*parts, *moments, _grouped(flat, groups), (2,))
    channels = by_weight.reshape(wide.shape), gradient.reshape(wide.shape)
    sums = (np.sum(each, axis=(0, 2)) for each in channels)
    return _asked(mask, by_x.reshape(x.shape), *sums)


def batch_norm(x, weight, bias, mean, var, training: bool, momentum, eps):
    over = (0, *range(2, x.ndim))
    channels = (1, -1) + (1,) * (x.ndim - 2)
    own = _moments(x, over) if training else (mean.reshape(channels), var.reshape(channels))
    rstd = 1 / np.sqrt(own[1] + eps)
    out = (x - own[0]) * rstd * _shaped(weight, channels, 1.0) + _shaped(bias, channels, 0.0)
    flat = [each.reshape((x.shape[1],)) for each in (*own, rstd)]
    if training:
        n = np.float64(x.size // max(x.shape[1], 1))
        mean = None if mean is None else mean + momentum * (flat[0] - mean)
        var = None if var is None else var + momentum * (flat[1] * n / (n - 1) - var)
    return mean, var, out, flat[0], flat[2]


def batch_norm_backward(
    gradient, x, weight, mean, var, save_mean, save_rstd, training: bool, eps, mask
):
    over = (0, *range(2, x.ndim))
    channels = (1, -1) + (1,) * (x.ndim - 2)
    own = save_mean if training else mean
    rstd = save_rstd if training else 1 / np.sqrt(var + eps)
    moments = own.reshape(channels), rstd.reshape(channels)
    weights = _shaped(weight, channels, 1.0)
    by_x, by_weight = _slopes(gradient, x, *moments, weights, over, training)
    return _asked(mask, by_x, np.sum(by_weight, axis=over), np.sum(gradient, axis=over))


# Products of matrices.


def _operand(x, math_type: int):
    """An operand as cubeMathType rounds it: `x` is stored, what is computed in has its format."""
    value = x.astype(np.float64)
    if math_type in (1, 3) and x.dtype == np.float32:
        value = HF32.round(value)
    if math_type == 2 and x.dtype in (np.float32, BFLOAT16):
        value = FLOAT_FORMATS[np.dtype(np.float16)].round(value)
    return value


def _product(a, b, math_type: int, wide: bool):
    if wide:
        return np.matmul(*(Bounded(each.astype(np.float64), DOUBLE) for each in (a, b)))
    return np.matmul(*(Bounded(_operand(each, math_type), FLOAT) for each in (a, b)))


def matmul(a, b, math_type: int, out):
    """In DOUBLE if a tensor of the call is."""
    return _product(a, b, math_type, np.float64 in (a.dtype, b.dtype, out.dtype))


def dot(a, b, out):
    if out.dtype.kind in "iu":
        return np.sum(a.astype(np.int64) * b.astype(np.int64))
    return matmul(a, b, 0, out)


def weight_quant(x, weight, scale, offset, bias, group: int):
    """Each group of rows of the weights has a scale, and an offset, for each column or for all."""
    terms = np.arange(weight.shape[0]) // group if group else np.zeros(weight.shape[0], int)

    def spread(factors):
        factors = np.atleast_2d(factors.astype(np.float64))
        return Bounded(np.broadcast_to(factors[terms % len(factors)], weight.shape), FLOAT)

    floats = Bounded(weight.astype(np.float64), FLOAT)
    floats = (floats if offset is None else floats + spread(offset)) * spread(scale)
    product = np.matmul(Bounded(x.astype(np.float64), FLOAT), floats)
    return product if bias is None else product + Bounded(bias.astype(np.float64), FLOAT)


def triangular_solve(b, a, upper: bool, transpose: bool, unit: bool):
    """Row by row of the unknown, from the end where one is known."""
    size = a.shape[-1]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    b, a = np.broadcast_to(b, (*batch, *b.shape[-2:])), np.broadcast_to(a, (*batch, size, size))
    triangle = np.triu(np.ones((size, size), bool))
    triangle = triangle if upper else triangle.T
    factors = np.where(triangle, a, 0.0)
    factors = np.swapaxes(factors, -1, -2) if transpose else factors
    order = range(size) if upper == transpose else range(size - 1, -1, -1)
    found = {}
    for i in order:
        value = b[..., i, :]
        if found:
            terms = [factors[..., i, k : k + 1] * row for k, row in found.items()]
            value = value - np.sum(np.stack(terms), axis=0)
        found[i] = value if unit else value / factors[..., i, i : i + 1]
    solved = np.stack([found[i] for i in range(size)], -2) if size else b
    return (pairs.pairs(solved), pairs.pairs(a)) if pairs.is_complex(solved) else (solved, a)


def addmm(x, a, b, beta, alpha, math_type: int, out):
    """Without a beta x takes no part, whatever is there."""
    wide = np.float64 in (x.dtype, a.dtype, b.dtype, out.dtype)
    product = _product(a, b, math_type, wide)
    scales = (Bounded(product.format.exact(each), product.format) for each in (alpha, beta))
    alpha, beta = scales
    added = beta * Bounded(x.astype(np.float64), product.format) if beta.value != 0 else 0.0
    return alpha * product + added


def addbmm(x, a, b, beta, alpha, math_type: int, out):
    """The terms of all batches are those of one product."""
    terms = a.shape[0] * a.shape[2]
    rows = a.transpose(1, 0, 2).reshape(a.shape[1], terms)
    return addmm(x, rows, b.reshape(terms, b.shape[2]), beta, alpha, math_type, out)


def add_lora(y, x, up, indices, down, layer: int, scale, offset: int, size: int):
    """Each row has matrices of its own, or none."""
    value, error = y.value.copy(), y.error * np.ones(y.shape)
    for row, i in enumerate(indices):
        if 0 <= i < up.shape[0]:
            middle = x[row] if down is None else np.sum(down[i, layer] * x[row], axis=1)
            more = np.sum(up[i, layer] * middle, axis=1) * scale
            sums = y[row, offset : offset + size] + more
            value[row, offset : offset + size] = sums.value
            error[row, offset : offset + size] = sums.error
    return Bounded(value, y.format, error)


# Losses by class.


def _scores(x):
    """(row, class), and the shape of a target."""
    if x.ndim == 4:
        return x.transpose(0, 2, 3, 1).reshape(-1, x.shape[1]), (x.shape[0], *x.shape[2:])
    return (x.reshape(1, -1), (1,)) if x.ndim == 1 else (x, x.shape[:1])


def nll_loss(x, target, weight, reduction: int, ignored: int):
    rows, shape = _scores(x)
    flat = target.reshape(-1)
    used = flat != ignored
    at = np.where(used, flat, 0)
    weights = Bounded(np.where(used, weight[at] if weight.size else 0, 0), DOUBLE)
    picked = rows[np.arange(flat.size), at] if rows.size else np.zeros(flat.size)
    losses = np.where(used, -weights * Bounded(picked, DOUBLE), 0)
    total = np.sum(weights)
    if reduction == 0:
        return losses.reshape(shape if x.ndim > 1 else ()), np.float64(0)
    return (np.sum(losses) / total if reduction == 1 else np.sum(losses)), total


def nll_loss_backward(gradient, x, target, weight, reduction: int, ignored: int, total):
    rows, shape = _scores(x)
    flat = target.reshape(-1)
    used = np.flatnonzero(flat != ignored)
    each = gradient.reshape(-1) if reduction == 0 and x.ndim > 1 else np.repeat(
        gradient.reshape(-1), flat.size
    )
    slopes = np.zeros(rows.shape)
    with np.errstate(all="ignore"):
        values = -weight[flat[used]] * each[used] / (total.reshape(()) if reduction == 1 else 1.0)
    slopes[used, flat[used]] = values
    if x.ndim == 4:
        slopes = slopes.reshape(*shape, x.shape[1]).transpose(0, 3, 1, 2)
    slopes = slopes.reshape(x.shape)
    return Bounded(slopes, DOUBLE, 4 * DOUBLE.unit * np.abs(np.nan_to_num(slopes)))


# Steps of training.


def unscale(gradients, found, scale):
    bad = any(not np.all(np.isfinite(each)) for each in gradients)
    return [each * scale.reshape(()) for each in gradients], (found * 0 + 1) if bad else found


def update_scale(scale, tracker, found, growth, backoff, interval: int):
    if np.any(found != 0):
        return scale * backoff, tracker * 0
    if np.all(tracker.value + 1 == interval):
        with np.errstate(over="ignore"):
            grown = scale * growth
            fits = np.all(np.isfinite(grown.value.astype(np.float32)))
        return (grown if fits else scale), tracker * 0
    return scale, tracker + 1


def adamw(x, m, v, top, gradient, step, rate, beta1, beta2, decay, eps, amsgrad, maximize):
    g, t = (-gradient if maximize else gradient), step.reshape(()) + 1
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * np.square(g)
    second = np.maximum(v, top) if amsgrad else v
    root = np.sqrt(second) / np.sqrt(1 - np.power(beta2, t)) + eps
    moved = x * (1 - rate * decay) - rate / (1 - np.power(beta1, t)) * m / root
    return moved, m, v, second if amsgrad else None


def dropout(x, mask, probability: float):
    scale = 1 / (1 - probability) if probability < 1 else 0.0
    return np.where(kept_bits(mask, x.shape) != 0, x, 0) * scale
