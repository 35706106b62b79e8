# SPDX-License-Identifier: Apache-2.0
"""ConvTbc over ranks that have parts of the time, with halos.

    y[t, b, o]  = bias[o] + sum over k, c of x[t + k - pad, b, c] * w[k, c, o]
    dx[s, b, c] = sum over k, o of dy[s + pad - k, b, o] * w[k, c, o]
    dw[k, c, o] = sum over t, b of x[t + k - pad, b, c] * dy[t, b, o]
    db[o]       = sum over t, b of dy[t, b, o]

y and dx are sums on one rank, given the times that their taps reach. dw of tap k is a product of
matrices, rows (t, b) of x, shifted, and of dy: its tree begins with the first t whose x the tap
meets. A rank sums the chunks of 64 rows that begin on it, as nodes of that tree: one operator call
each, with the rows as times, one tap and FP32 results. The nodes are gathered and the trees
finished on every rank.

BFLOAT16 products have another order, which chunks of FP32 do not give. Then x is exchanged for a
part of the channels in, with all times, and dy gathered: no sum of dw is cut.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from . import arrays, tree
from .group import Group, Interval, fetch, gather, reshard
from .split import Split


@dataclass(frozen=True)
class Times:
    """How x and y are split, and how taps go from one to the other."""

    into: Split  # T, of x and dx
    out: Split  # T + 2 pad + 1 - L, of y and dy
    taps: int
    pad: int = 0

    @classmethod
    def even(cls, length: int, taps: int, pad: int, ranks: int) -> "Times":
        """Both in nearly equal parts."""
        out = length + 2 * pad + 1 - taps
        return cls(Split.even(length, ranks), Split.even(out, ranks), taps, pad)

    def for_outputs(self, rank: int) -> Interval:
        """The times of x from which a call makes a rank's y; its first output is at the first."""
        part, length = self.out.part(rank), self.into.extent
        if part.start == part.stop:
            return 0, 0
        begin = min(max(part.start - self.pad, 0), length)
        return begin, min(max(part.stop - 1 + self.taps - self.pad, begin), length)

    def for_inputs(self, rank: int) -> Interval:
        """The times of dx that a call makes, a rank's among them, with all dy that those need."""
        part = self.into.part(rank)
        if part.start == part.stop:
            return 0, 0
        reach = max(self.taps - 1 - self.pad, 0)
        return max(part.start - reach, 0), min(part.stop + reach, self.into.extent)

    def outputs_of(self, inputs: Interval) -> Interval:
        """The times of dy that belong to those of x in one call."""
        begin, end = inputs
        return (begin, end + 2 * self.pad + 1 - self.taps) if end > begin else (0, 0)

    def met(self, tap: int) -> Interval:
        """The times out at which a tap meets an input, not the padding."""
        begin = max(self.pad - tap, 0)
        return begin, max(min(self.out.extent, self.into.extent + self.pad - tap), begin)


def forward(group: Group, x, weight, bias, times: Times, cube_math_type: int = 0):
    """x (T_r, B, C_in), weight and bias whole -> y (T_out_r, B, C_out)."""
    times.into.check("self dimension 0", group.size, group.rank, x.shape[0])
    wanted = [times.for_outputs(rank) for rank in range(group.size)]
    came = fetch(group, x, times.into, wanted)
    part, kind = times.out.part(group.rank), arrays.of(x)
    if part.start == part.stop:
        return kind.zeros((0, x.shape[1], weight.shape[2]), x.dtype)
    first = wanted[group.rank][0]
    local = kind.run("conv_tbc", came, weight, bias, times.pad, cube_math_type)
    return local[part.start - first : part.stop - first]


def backward(group: Group, grad, x, weight, times: Times, cube_math_type: int = 0):
    """grad (T_out_r, B, C_out), x (T_r, B, C_in), weight whole

    -> dx (T_r, B, C_in), and whole on every rank dw (L, C_in, C_out), db (C_out).
    """
    times.into.check("input dimension 0", group.size, group.rank, x.shape[0])
    times.out.check("self dimension 0", group.size, group.rank, grad.shape[0])
    dx = _input_grad(group, grad, x, weight, times, cube_math_type)
    in_order = _weight_grad_by_channels if x.dtype == arrays.of(x).bfloat16 else _weight_grad
    return dx, *in_order(group, grad, x, times, cube_math_type)


def _input_grad(group: Group, grad, x, weight, times: Times, cube_math_type: int):
    inputs = [times.for_inputs(rank) for rank in range(group.size)]
    came = fetch(group, grad, times.out, [times.outputs_of(each) for each in inputs])
    part, kind = times.into.part(group.rank), arrays.of(x)
    if part.start == part.stop:
        return x
    begin, end = inputs[group.rank]
    unread = kind.zeros((end - begin, *x.shape[1:]), x.dtype)  # dx does not depend on x
    bias = kind.zeros((weight.shape[2],), x.dtype)
    attributes = (times.pad, cube_math_type)
    dx, _, _ = kind.run("conv_tbc_backward", came, unread, weight, bias, *attributes)
    return dx[part.start - begin : part.stop - begin]


@dataclass(frozen=True)
class _Sum:
    """A sum over rows of dy: a tap's, or the bias's, which reads no x."""

    begin: int  # rows of dy
    terms: int
    shift: int | None  # rows from one of dy to its row of x
    shares: list[tree.Share]

    def rows(self, rank: int) -> Interval:
        share = self.shares[rank]
        return self.begin + share.begin, self.begin + share.end

    def rows_of(self, node: tree.Node) -> Interval:
        terms = tree.terms_of(node, self.terms)
        return self.begin + terms.start, self.begin + terms.stop


def _sums(times: Times, batch: int) -> list[_Sum]:
    """The sums of the taps, then of the bias."""
    out = times.out.scaled(batch)
    found = []
    for tap in range(times.taps):
        begin, end = (time * batch for time in times.met(tap))
        starts = [start - begin for start in out.starts]
        shift = (tap - times.pad) * batch
        found.append(_Sum(begin, end - begin, shift, tree.shares(end - begin, starts)))
    return [*found, _Sum(0, out.extent, None, tree.shares(out.extent, out.starts))]


def _weight_grad(group: Group, grad, x, times: Times, cube_math_type: int):
    kind, batch = arrays.of(x), x.shape[1]
    sums = _sums(times, batch)
    ranks = range(group.size)
    dy_wanted = [_hull(each.rows(rank) for each in sums) for rank in ranks]
    x_wanted = [
        _hull(_shifted(each.rows(rank), each.shift) for each in sums if each.shift is not None)
        for rank in ranks
    ]
    dy_rows = fetch(group, _rows(grad), times.out.scaled(batch), dy_wanted)
    x_rows = fetch(group, _rows(x), times.into.scaled(batch), x_wanted)
    work = _Work(
        kind.cast(dy_rows, kind.float32),
        kind.cast(x_rows, kind.float32),
        dy_wanted[group.rank][0],
        x_wanted[group.rank][0],
        cube_math_type,
    )
    taps = [_finished(group, work, each)[None] for each in sums[:-1]]
    shape = (0, x.shape[2], grad.shape[2])
    dw = kind.concatenate([kind.zeros(shape, kind.float32), *taps], 0)
    db = _finished(group, work, sums[-1])[0]
    return kind.cast(dw, x.dtype), kind.cast(db, x.dtype)


def _weight_grad_by_channels(group: Group, grad, x, times: Times, cube_math_type: int):
    kind, channels_out = arrays.of(x), grad.shape[2]
    channels = Split.even(x.shape[2], group.size)
    some_x = reshard(group, x, (times.into, 0), (channels, 2))
    whole = gather(group, grad, times.out, 0)
    weight = kind.zeros((times.taps, some_x.shape[2], channels_out), x.dtype)
    bias = kind.zeros((channels_out,), x.dtype)
    attributes = (times.pad, cube_math_type)
    _, dw, db = kind.run("conv_tbc_backward", whole, some_x, weight, bias, *attributes)
    return gather(group, dw, channels, 1), db


@dataclass(frozen=True)
class _Work:
    """A rank's rows in FP32, and which the first ones are."""

    dy: object
    x: object
    dy_begin: int
    x_begin: int
    cube_math_type: int

    def node(self, begin: int, end: int, shift: int | None):
        """(C_in, C_out), or of the bias (1, C_out), over rows [begin, end) of dy."""
        kind = arrays.of(self.dy)
        dy = self.dy[begin - self.dy_begin : end - self.dy_begin, None]
        if shift is None:
            x = kind.zeros((end - begin, 1, 1), kind.float32)
        else:
            first = begin + shift - self.x_begin
            x = self.x[first : first + end - begin, None]
        channels = dy.shape[2]
        weight = kind.zeros((1, x.shape[2], channels), kind.float32)
        bias = kind.zeros((channels,), kind.float32)
        run = kind.run
        _, dw, db = run("conv_tbc_backward", dy, x, weight, bias, 0, self.cube_math_type)
        return db[None] if shift is None else dw[0]


def _finished(group: Group, work: _Work, wanted: _Sum):
    """A whole sum, in FP32, on every rank."""
    kind = arrays.of(work.dy)
    channels = (1 if wanted.shift is None else work.x.shape[1], work.dy.shape[1])
    if wanted.terms == 0:
        return kind.zeros(channels, kind.float32)
    own = wanted.shares[group.rank].nodes
    values = [work.node(*wanted.rows_of(node), wanted.shift)[None] for node in own]
    stack = kind.concatenate([kind.zeros((0, *channels), kind.float32), *values], 0)
    shapes = [(len(share.nodes), *channels) for share in wanted.shares]
    partials = {}
    for share, told in zip(wanted.shares, group.all_gather(stack, shapes), strict=True):
        partials.update(zip(share.nodes, told, strict=True))
    return tree.join(partials, (0, tree.count(wanted.terms)))


def _rows(array):
    return array.reshape((array.shape[0] * array.shape[1], array.shape[2]))


def _shifted(rows: Interval, shift: int) -> Interval:
    return rows[0] + shift, rows[1] + shift


def _hull(intervals: Iterable[Interval]) -> Interval:
    """The least interval that has all of them; those without a place do not count."""
    found = [each for each in intervals if each[0] < each[1]]
    return (min(a for a, _ in found), max(b for _, b in found)) if found else (0, 0)
