# SPDX-License-Identifier: Apache-2.0
"""Indexing, ordering and padding as records name them, in NumPy."""

import numpy as np
import pairs

from bounded import DOUBLE, Bounded
from judge import stored
from networks import norm


def axes(dims: list[int] | None):
    """None at all means all."""
    return tuple(dims) if dims else None


def extremes_along(x, dim: int, keep: bool):
    """The least and the largest; NaN if one is."""
    axis = dim if x.ndim else None
    return np.min(x, axis=axis, keepdims=keep), np.max(x, axis=axis, keepdims=keep)


def terms(x, out):
    """What a sum or a product is of: where it goes to BOOL, whether each is other than 0."""
    return x != 0 if out.dtype == np.dtype(bool) else x


def _plain(x):
    return x.value if isinstance(x, Bounded) else np.asarray(x)


def concatenate(tensors, dim: int):
    """Members of shape (0,) are passed over."""
    kept = [each for each in tensors if each.shape != (0,)]
    return np.concatenate(kept or tensors, dim if kept else 0)


def repeat(x, repeats, dim: int):
    return np.repeat(np.atleast_1d(x), repeats, dim if x.ndim else 0)


def repeat_backward(gradient, repeats, axis: int):
    """The sums over what each slice was repeated to."""
    repeats = np.broadcast_to(repeats, repeats.shape if repeats.size > 1 else (1,))
    ends = np.cumsum(repeats)
    parts = np.split(np.arange(gradient.shape[axis]), ends[:-1])
    sums = [np.sum(np.take(gradient, part, axis), axis=axis) for part in parts]
    return np.stack(sums, axis)


def nonzero(x):
    """A row for each dimension."""
    if x.ndim == 0:
        return np.zeros((0, int(x != 0)), np.int64)
    return np.array(np.nonzero(x), np.int64).reshape(x.ndim, -1)


def masked_select(x, mask):
    x, mask = np.broadcast_arrays(x, mask)
    return x[mask != 0]


def masked_scatter(x, mask, source):
    result = x.copy()
    mask = np.broadcast_to(mask, x.shape) != 0
    result[mask] = source.reshape(-1)[: np.count_nonzero(mask)]
    return result


def search_sorted(rows, x, right: bool, sorter):
    """Where each element would stand in the row beside it."""
    rows, x = _plain(rows), _plain(x)
    rows = rows if sorter is None else np.take_along_axis(rows, sorter, -1)
    side = "right" if right else "left"
    if rows.ndim == 1:
        return np.searchsorted(rows, x, side)
    flat = zip(rows.reshape(-1, rows.shape[-1]), x.reshape(-1, x.shape[-1]), strict=True)
    return np.array([np.searchsorted(*pair, side) for pair in flat], np.int64).reshape(x.shape)


def unique(x, with_inverse: bool, with_counts: bool):
    """Each NaN is one of its own."""
    flat = x.reshape(-1)
    _, order = sort(flat, 0, False)
    ordered = flat[order]
    new = np.ones(flat.size, bool)
    new[1:] = ~(ordered[1:] == ordered[:-1])
    inverse = np.empty(flat.size, np.int64)
    inverse[order] = np.cumsum(new) - 1
    counts = np.bincount(inverse, minlength=int(new.sum()))
    return (
        ordered[new],
        inverse.reshape(x.shape) if with_inverse else None,
        counts if with_counts else None,
    )


def unique_slices(x, dim: int, in_order: bool, with_inverse: bool, with_counts: bool):
    """Neighbours that are alike once; those in order, where each NaN is the largest."""
    flat = dim == 1000 or x.ndim == 0
    array, dim = (x.reshape(-1), 0) if flat else (x, dim)
    rows = np.moveaxis(array, dim, 0)
    rows = [rows[i].reshape(-1) for i in range(rows.shape[0])]
    places = list(range(len(rows)))
    if in_order:
        places.sort(key=lambda i: [(each != each, 0 if each != each else each) for each in rows[i]])
    firsts, inverse, counts = [], np.zeros(len(rows), np.int64), []
    for before, i in zip([None, *places], places, strict=False):
        if before is None or not np.array_equal(rows[before], rows[i]):
            firsts.append(i)
            counts.append(0)
        counts[-1] += 1
        inverse[i] = len(firsts) - 1
    return (
        np.take(array, np.array(firsts, np.int64), dim),
        inverse.reshape(x.shape if flat else -1) if with_inverse else None,
        np.array(counts, np.int64) if with_counts else None,
    )


# Places that an index names.


def chosen(indices):
    """An index without elements stands for a whole dimension."""
    return tuple(slice(None) if each.size == 0 else each for each in indices)


def _placed(x, add_at, value, reduce: int):
    """`x` with values set (0), added (1) or multiplied (2) at places; sums in 64 bits."""
    if reduce == 0:
        result = x.copy()
        add_at(result, value, lambda a, place, b: a.__setitem__(place, b))
        return result
    if x.dtype.kind in "iub":
        result = x.astype(np.int64)
        add_at(result, np.asarray(value).astype(np.int64), _AT[reduce].at)
        return result
    if pairs.is_complex(x):
        result = pairs.pairs(x)
        add_at(result, pairs.pairs(value), _AT[reduce].at)
        return result
    value = np.asarray(value).astype(np.float64)
    result, size, count = x.astype(np.float64), np.abs(x.astype(np.float64)), np.ones(x.shape)
    with np.errstate(all="ignore"):
        add_at(result, value, _AT[reduce].at)
        add_at(size, np.abs(value), _AT[reduce].at)
    add_at(count, np.ones(np.shape(value)), np.add.at)
    return Bounded(result, DOUBLE, np.nan_to_num((count + 1) * DOUBLE.unit * size, nan=0, posinf=0))


_AT = {1: np.add, 2: np.multiply}


def _along(x, dim: int, index):
    """The places of a scatter along a dimension."""
    places = list(np.indices(index.shape, sparse=True))
    places[dim] = index
    return tuple(places)


def gather(x, dim: int, index):
    if x.ndim == 0:
        return np.broadcast_to(x, index.shape)
    return x[_along(x, dim, index)]


def take_slice(x, dim: int, start: int, end: int, step: int):
    place = [slice(None)] * x.ndim
    place[dim] = slice(start, end, step)
    return x[tuple(place)]


def gather_v2(x, dim: int, index):
    return np.take(x, index, dim)


def index_select(x, dim: int, index):
    taken = np.take(np.atleast_1d(x), np.atleast_1d(index), dim)
    return taken if x.ndim else taken.reshape(())


def scatter(x, dim: int, index, source, reduce: int):
    if index.size == 0:
        return x.copy()
    if x.ndim == 0:
        source = np.asarray(source).reshape(-1)[:1]
        return _placed(x.reshape(1), lambda a, b, at: at(a, ([0],), b), source, reduce).reshape(())
    if np.ndim(source):
        source = source[tuple(slice(n) for n in index.shape)]
    place = _along(x, dim, index)
    return _placed(x, lambda a, b, at: at(a, place, b), source, reduce)


def scatter_reduce(x, dim: int, index, source, reduce: int, includes_self: bool):
    """Values written (0), or their sum (1), product (2), largest (3), smallest (4) or mean (5)."""
    if reduce == 0 or index.size == 0:
        return scatter(x, dim, index, source, 0)
    whole = x.dtype.kind in "iub"
    wide = np.int64 if whole else np.float64
    result, error = np.atleast_1d(x.astype(wide)), np.zeros(np.atleast_1d(x).shape)
    at = _along(result, dim if x.ndim else 0, np.atleast_1d(index))
    source = np.atleast_1d(source)[tuple(slice(n) for n in np.atleast_1d(index).shape)].astype(wide)
    met = {}
    for place, value in zip(zip(*(np.broadcast_to(each, source.shape).reshape(-1) for each in at),
                                strict=True), source.reshape(-1), strict=True):  # fmt: skip
        met.setdefault(place, [result[place]] if includes_self else []).append(value)
    with np.errstate(all="ignore"):
        for place, values in met.items():
            values = np.array(values, wide)
            result[place] = _IN_ONE[reduce](values)
            size = np.prod(np.abs(values)) if reduce == 2 else np.sum(np.abs(values))
            error[place] = 0 if reduce in (3, 4) else np.nan_to_num(size, posinf=0) * DOUBLE.unit
    result, error = result.reshape(x.shape), error.reshape(x.shape) * (index.size + 2)
    return result if whole else Bounded(result, DOUBLE, error)


_IN_ONE = {
    1: np.sum, 2: np.prod, 3: np.max, 4: np.min,
    5: lambda values: np.sum(values) // len(values) if values.dtype == np.int64 else np.mean(values),
}  # fmt: skip


def coordinates(indices):
    """Rows of coordinates as NumPy indexes by them."""
    return tuple(np.moveaxis(indices, -1, 0))


def scatter_nd(x, indices, updates, reduce: int):
    place = coordinates(indices)
    return _placed(x, lambda a, b, at: at(a, place, b), updates, reduce)


def scatter_update(x, indices, updates, axis: int):
    """Rows from a place on that each batch has of its own."""
    result = x.copy()
    for batch, first in enumerate(indices):
        place = [slice(None)] * (x.ndim - 1)
        place[axis % x.ndim - 1] = slice(first, first + updates.shape[axis])
        result[batch][tuple(place)] = updates[batch]
    return result


def _slices(x, dim: int, index):
    index = np.asarray(index, np.int64).reshape(-1)
    return (slice(None),) * (dim % max(x.ndim, 1)) + (index,)


def index_copy(x, dim: int, index, source):
    """Slices replaced, or filled with a number."""
    flat = np.atleast_1d(x).copy()
    place = _slices(x, dim, index)
    flat[place] = source if np.ndim(source) == 0 else source.reshape(flat[place].shape)
    return flat.reshape(x.shape)


def index_add(x, dim: int, index, source, alpha):
    flat, place = np.atleast_1d(x), _slices(x, dim, index)
    integral = x.dtype.kind in "iub"
    alpha = np.int64(alpha) if integral else np.float64(alpha)
    terms = source.astype(np.int64 if integral else np.float64) * alpha
    result = _placed(flat, lambda a, b, at: at(a, place, b), terms.reshape(flat[place].shape), 1)
    return result.reshape(x.shape)


def put(x, index, source, accumulate: bool):
    def at(flat, values, write):
        write(flat, (index.reshape(-1),), values)

    return _placed(x.reshape(-1), at, source.reshape(-1), int(accumulate)).reshape(x.shape)


def index_put(x, place, values, accumulate: bool):
    if all(isinstance(each, slice) for each in place):
        return x.copy()
    return _placed(x, lambda a, b, at: at(a, place, b), values, int(accumulate))


def renorm(x, order, dim: int, most, near: float):
    """Slices of no larger norm."""
    size = norm(x, order, tuple(i for i in range(x.ndim) if i != dim % x.ndim), True)
    return np.where(size > most, x * (most / (size + near)), x)


def pdist(x, order: float):
    """Of each pair of rows."""
    first, second = np.triu_indices(x.shape[0], 1)
    return norm(x[first] - x[second], order, -1, False)


def cdist_backward(gradient, x1, x2, order: float, distance, dtype):
    """Of each pair of rows by the first one."""
    apart = x1.value[..., :, None, :] - x2.value[..., None, :, :]
    size, sign = np.abs(apart), np.sign(apart)
    distance, order = distance.value[..., None], float(getattr(order, "value", order))
    if np.isinf(order):
        slope = sign * (stored(size, dtype).astype(np.float64) == distance)
    elif order == 1:
        slope = sign
    else:
        away = (distance != 0) & (size != 0) & (order != 0)
        slope = np.where(away, sign * np.power(size / distance, order - 1), 0.0)
    terms = slope * gradient.value[..., None]
    # Batches that x1 is broadcast to are summed.
    value, size = terms.sum(-2), np.abs(terms).sum(-2)
    lead = value.ndim - x1.ndim
    over = tuple(range(lead)) + tuple(
        lead + i for i, n in enumerate(x1.shape[:-2]) if n == 1 and value.shape[lead + i] != 1
    )
    value, size = (each.sum(over).reshape(x1.shape) for each in (value, size))
    return Bounded(value, x1.format, size * 2.0**-44)


def embedding_renorm(rows, indices, most: float, order: float):
    named = np.isin(np.arange(rows.shape[0]), indices)[:, None]
    return np.where(named, renorm(rows, order, 0, most, 1e-7), rows)


def channel_shuffle(x, groups: int):
    parts = x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
    return np.swapaxes(parts, 1, 2).reshape(x.shape)


# Padding: for each dimension, where each element comes from.


def pad_widths(padding, rank: int):
    """Pairs, which begin with the last dimension, as pairs that begin with the first."""
    pairs = list(zip(padding[::2], padding[1::2], strict=True))[::-1]
    return [(0, 0)] * (rank - len(pairs)) + pairs


def padded(x, widths, value):
    """Constant elements around; negative widths cut off."""
    pairs = zip(widths, x.shape, strict=True)
    cut = tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in pairs)
    fill = np.asarray(value).astype(x.dtype)
    grown = [(max(a, 0), max(b, 0)) for a, b in widths]
    return np.pad(x[cut], grown, constant_values=fill) if x.ndim else x.copy()


def reflected(places, length: int):
    return np.where(places < 0, -places, np.where(places < length, places, 2 * length - 2 - places))


def replicated(places, length: int):
    return np.clip(places, 0, length - 1)


def _sources(shape, padding, rule):
    widths = pad_widths(padding, len(shape))
    return [rule(np.arange(-a, n + b), n) for (a, b), n in zip(widths, shape, strict=True)]


def mirror(x, padding, rule):
    for axis, source in enumerate(_sources(x.shape, padding, rule)):
        x = np.take(x, source, axis)
    return x


def mirror_backward(gradient, x, padding, rule):
    """Each element's gradient is the sum over those that come from it."""
    sources = _sources(x.shape, padding, rule)
    if pairs.is_complex(gradient):
        total = np.zeros(x.shape, np.complex128)
        np.add.at(total, np.ix_(*sources), np.asarray(gradient))
        return total.view(pairs.Pairs)
    total, size = np.zeros(x.shape), np.zeros(x.shape)
    np.add.at(total, np.ix_(*sources), gradient.value)
    np.add.at(size, np.ix_(*sources), np.abs(gradient.value))
    return Bounded(total, gradient.format, 64 * gradient.format.unit * np.nan_to_num(size))


# In order: NaN is the largest, equal elements stay in their order.


def sort(x, dim: int, descending: bool):
    """The values in order, and where each was."""
    values = np.atleast_1d(_plain(x))
    dim = dim if np.ndim(_plain(x)) else 0
    if descending:
        turned = np.flip(values, dim)
        order = np.flip(np.argsort(turned, dim, kind="stable"), dim)
        order = values.shape[dim] - 1 - order
    else:
        order = np.argsort(values, dim, kind="stable")
    ordered = np.take_along_axis(values, order, dim)
    shape = np.shape(_plain(x))
    return ordered.reshape(shape), order.reshape(shape)


def first(pair, count: int, dim: int):
    return tuple(np.take(each, range(count), dim) if each.ndim else each for each in pair)


def kth(pair, k: int, dim: int, keep: bool):
    def one(x):
        if x.ndim == 0:
            return x
        x = np.take(x, k, dim)
        return np.expand_dims(x, dim) if keep else x

    return tuple(one(each) for each in pair)


def median_along(x, dim: int, keep: bool, without_nan: bool = False):
    """The lower median; a NaN stands for its row, the first one, unless they are left out."""
    values = np.atleast_1d(x)
    at = dim if x.ndim else 0
    ordered, order = sort(values, at, False)
    count = np.sum(~np.isnan(values) if without_nan else np.ones(values.shape, bool), axis=at)
    middle = np.expand_dims(np.maximum(count - 1, 0) // 2, at)
    value, place = (np.squeeze(np.take_along_axis(each, middle, at), at) for each in (ordered, order))
    if values.dtype.kind not in "iub" and not without_nan:
        nan = np.isnan(values)
        value = np.where(nan.any(at), np.asarray(np.nan, values.dtype), value)
        place = np.where(nan.any(at), nan.argmax(at), place)
    if x.ndim == 0:
        return value.reshape(()), place.reshape(())
    return (np.expand_dims(value, at), np.expand_dims(place, at)) if keep else (value, place)


def median(x, without_nan: bool = False):
    x = _plain(x)
    x = x[~np.isnan(x)] if without_nan and x.dtype.kind == "f" else x
    if x.size == 0 or (x.dtype.kind == "f" and np.isnan(x).any()):
        return np.float64(np.nan) if x.dtype.kind == "f" else np.int64(0)
    return np.sort(x.reshape(-1))[(x.size - 1) // 2]


def extreme_at(x, dim: int, keep: bool, place):
    """An extreme, and where the first of it is; NaN is every extreme."""
    values = np.atleast_1d(x)
    at = place(values, axis=dim if x.ndim else 0, keepdims=True)
    value = np.take_along_axis(values, at, dim if x.ndim else 0)
    if x.ndim == 0:
        return value.reshape(()), at.reshape(())
    return (value, at) if keep else (np.squeeze(value, dim), np.squeeze(at, dim))


def running_extreme(x, dim: int, better):
    """The extreme so far, and where the last of its equals is."""
    if x.size == 0:
        return x, np.zeros(x.shape, np.int64)
    values = np.moveaxis(np.atleast_1d(x), dim if x.ndim else 0, -1)
    places = np.zeros(values.shape, np.int64)
    for row, place in zip(values.reshape(-1, values.shape[-1]),
                          places.reshape(-1, values.shape[-1]), strict=True):  # fmt: skip
        best = 0
        for i, value in enumerate(row):
            top = row[best]
            if value != value or (top == top and better(value, top)):
                best = i
            place[i] = best
    found = np.take_along_axis(values, places, -1)
    at = dim if x.ndim else 0
    return tuple(np.moveaxis(each, -1, at).reshape(x.shape) for each in (found, places))
