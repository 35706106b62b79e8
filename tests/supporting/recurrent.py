# SPDX-License-Identifier: Apache-2.0
"""Recurrences over sequences and their gradients, in NumPy: a cell, and the loops around it.

What is computed in float has bounds by size: the sums of a step, times what later steps make of them.
"""

import numpy as np

from bounded import FLOAT, Bounded

ROOM = 2.0**-17  # of a float's sums, steps and layers: test shapes are small


def _plain(value):
    return None if value is None else np.asarray(getattr(value, "value", value), np.float64)


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _lstm_step(by_input, by_state, states):
    i, f, j, o = np.split(by_input + by_state, 4, -1)
    i, f, j, o = _sigmoid(i), _sigmoid(f), np.tanh(j), _sigmoid(o)
    c = f * states[1] + i * j
    return (o * np.tanh(c), c), (i, j, f, o, o * np.tanh(c), c, np.tanh(c))


def _lstm_back(saved, before, by):
    i, j, f, o, _, _, tanh = saved
    dh, dc = by[0], by[1] + by[0] * o * (1 - tanh**2)
    gates = np.concatenate((dc * j * i * (1 - i), dc * before[1] * f * (1 - f), dc * i * (1 - j**2),
                            dh * tanh * o * (1 - o)), -1)  # fmt: skip
    return gates, gates, (0 * dh, dc * f)


def _gru_step(by_input, by_state, states):
    (r, z, n), (hr, hz, hn) = (np.split(each, 3, -1) for each in (by_input, by_state))
    r, z = _sigmoid(r + hr), _sigmoid(z + hz)
    n = np.tanh(n + r * hn)
    h = (1 - z) * n + z * states[0]
    return (h,), (r, z, n, hn, h)


def _gru_back(saved, before, by):
    r, z, n, hn, _ = saved
    dn = by[0] * (1 - z) * (1 - n**2)
    dr, dz = dn * hn * r * (1 - r), by[0] * (before[0] - n) * z * (1 - z)
    by_input, by_state = (np.concatenate((dr, dz, each), -1) for each in (dn, dn * r))
    return by_input, by_state, (by[0] * z,)


_LSTM = (_lstm_step, _lstm_back, (4, 5))  # and where the states are among what is saved
_GRU = (_gru_step, _gru_back, (4,))


def _time_major(x, sizes, batch_first: bool):
    if sizes is not None:
        return x.reshape(len(sizes), -1, x.shape[-1])
    return np.swapaxes(x, 0, 1) if batch_first else x


def _counts(x, sizes):
    return np.full(x.shape[0], x.shape[1]) if sizes is None else np.asarray(sizes)


def _weights(params, part: int, biases: bool):
    each = 4 if biases else 2
    own = [_plain(p) for p in params[part * each : part * each + each]]
    return own if biases else [*own, 0.0, 0.0]


def _order(steps: int, direction: int):
    return range(steps) if direction == 0 else range(steps)[::-1]


def _forward(cell, x, params, first, sizes, biases, layers: int, both: bool, batch_first: bool):
    """The result, the states behind the last step, what is saved of each layer and direction."""
    x = _time_major(_plain(x), sizes, batch_first)
    counts, directions = _counts(x, sizes), 1 + both
    last, saved = [[] for _ in first], []
    for layer in range(layers):
        results = []
        for d in range(directions):
            part = layer * directions + d
            w, u, b, c = _weights(params, part, biases)
            states = [_plain(each)[part] for each in first]
            steps = [None] * len(x)
            result = np.zeros((*x.shape[:2], u.shape[1]))
            for t in _order(len(x), d):
                new, kept = cell[0](x[t] @ w.T + b, states[0] @ u.T + c, states)
                on = (np.arange(x.shape[1]) < counts[t])[:, None]
                states = [np.where(on, a, old) for a, old in zip(new, states, strict=True)]
                kept = [np.where(on, each, 0) for each in kept]
                for place, state in zip(cell[2], states, strict=True):
                    kept[place] = state
                steps[t], result[t] = kept, np.where(on, states[0], 0)
            results.append(result)
            saved.append([np.stack(each) for each in zip(*steps, strict=True)])
            for each, state in zip(last, states, strict=True):
                each.append(state)
        x = np.concatenate(results, -1)
    x = np.swapaxes(x, 0, 1) if batch_first and sizes is None else x
    return x, [np.stack(each) for each in last], [list(each) for each in zip(*saved, strict=True)]


def _backward(cell, x, params, first, by, saved, sizes, biases, layers: int, both: bool,
              batch_first: bool):  # fmt: skip
    x = _time_major(_plain(x), sizes, batch_first)
    counts, directions, width = _counts(x, sizes), 1 + both, _plain(params[1]).shape[1]
    saved = [[_plain(each) for each in one] for one in zip(*saved, strict=True)]
    above = np.zeros((*x.shape[:2], directions * width)) if by[0] is None else _time_major(
        _plain(by[0]), None, batch_first and sizes is None)
    on = np.arange(x.shape[1]) < counts[:, None]
    by_first = [np.zeros_like(_plain(each)) for each in first]
    by_params = [None] * len(params)
    each = 4 if biases else 2
    for layer in reversed(range(layers)):
        below = x if layer == 0 else np.concatenate(
            [np.where(on[..., None], saved[(layer - 1) * directions + d][cell[2][0]], 0)
             for d in range(directions)], -1)
        down = np.zeros(below.shape)
        for d in range(directions):
            part = layer * directions + d
            w, u, _, _ = _weights(params, part, biases)
            by_states = [0.0 * _plain(f)[part] if b is None else _plain(b)[part]
                         for f, b in zip(first, by[1:], strict=True)]
            gates = np.zeros((2, *x.shape[:2], len(w)))
            before_all = np.zeros((*x.shape[:2], width))
            order = list(_order(len(x), d))
            for k in reversed(range(len(order))):
                t, active = order[k], on[order[k]][:, None]
                before = [_plain(f)[part] if k == 0 else saved[part][place][order[k - 1]]
                          for f, place in zip(first, cell[2], strict=True)]
                own = [by_states[0] + above[t][:, d * width : (d + 1) * width], *by_states[1:]]
                by_input, by_state, new = cell[1]([s[t] for s in saved[part]], before, own)
                gates[0, t], gates[1, t] = np.where(active, by_input, 0), np.where(active, by_state, 0)
                before_all[t] = before[0]
                by_states = [np.where(active, a, b) for a, b in zip(new, by_states, strict=True)]
                by_states[0] = by_states[0] + gates[1, t] @ u
            for to, state in zip(by_first, by_states, strict=True):
                to[part] = state
            down += gates[0] @ w
            flat = gates.reshape(2, -1, len(w))
            own = [flat[0].T @ below.reshape(-1, below.shape[-1]), flat[1].T @ before_all.reshape(-1, width),
                   flat[0].sum(0), flat[1].sum(0)]
            by_params[part * each : part * each + each] = own[:each]
        above = down
    if sizes is not None:
        above = above.reshape(-1, above.shape[-1])
    elif batch_first:
        above = np.swapaxes(above, 0, 1)
    return above, by_first, by_params


def _near(value):
    """Within what a float's rounding moves it."""
    if isinstance(value, list):
        return [_near(each) for each in value]
    largest = np.max(np.abs(value), initial=1.0)
    return Bounded(value, FLOAT, np.full(value.shape, ROOM * largest))


def _all(result, last, saved, train: bool):
    lists = [_near(each) if train else None for each in saved]
    return (_near(result), *map(_near, last), *lists)


def lstm(x, params, first, sizes, biases, layers: int, train: bool, both: bool, batch_first: bool):
    return _all(*_forward(_LSTM, x, params, first, sizes, biases, layers, both, batch_first), train)


def gru(x, params, first, sizes, biases, layers: int, train: bool, both: bool, batch_first: bool):
    return _all(*_forward(_GRU, x, params, [first], sizes, biases, layers, both, batch_first), train)


def lstm_backward(x, first, params, by_result, by_h, by_c, i, j, f, o, h, c, tanh, *setting):
    by, saved = (by_result, by_h, by_c), (i, j, f, o, h, c, tanh)
    by_x, by_first, by_params = _backward(_LSTM, x, params, first, by, saved, *setting)
    return (_near(by_x), *map(_near, by_first), _near(by_params))


def gru_backward(x, params, first, by_result, by_h, r, z, n, hn, h, *setting):
    by, saved = (by_result, by_h), (r, z, n, hn, h)
    by_x, by_first, by_params = _backward(_GRU, x, params, [first], by, saved, *setting)
    return (_near(by_x), *map(_near, by_first), _near(by_params))
