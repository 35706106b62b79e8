# SPDX-License-Identifier: Apache-2.0
"""The gated delta rule of linear attention, in NumPy."""

import numpy as np

from bounded import DOUBLE, Bounded

ROOM = 2.0**-36  # of the largest number of a state or a result


def _near(value):
    return Bounded(value, DOUBLE, np.full(value.shape, ROOM * np.max(np.abs(value), initial=1.0)))


def _value(x, missing, shape):
    return np.full(shape, missing) if x is None else x.value


def _step(state, q, k, v, beta, decay):
    """A head's state (width, key width) and its result."""
    state = state * decay
    state = state + beta * np.outer(v - state @ k, k)
    return state, state @ q


def _tokens(query, key, value, beta, g, gk, scale):
    """For each token and head what a step takes."""
    tokens, heads, _ = value.shape
    each = heads // key.shape[1]
    q, k = (np.repeat(x.value, each, 1) for x in (query, key))
    betas, decays = _value(beta, 1.0, (tokens, heads)), _value(g, 0.0, (tokens, heads))[..., None]
    decays = np.exp(decays + _value(gk, 0.0, (1, 1, 1)))
    scale = float(np.float32(scale))
    return lambda t, h: (q[t, h] * scale, k[t, h], value.value[t, h], betas[t, h], decays[t, h])


def delta_rule(query, key, value, beta, first, lengths, scale, g):
    taken = _tokens(query, key, value, beta, g, None, scale)
    heads, shape = value.shape[1], (len(lengths), value.shape[1], value.shape[2], key.shape[2])
    states, out = np.array(_value(first, 0.0, shape)), np.zeros(value.shape)
    t = 0
    for i, length in enumerate(lengths):
        for _ in range(length):
            for h in range(heads):
                states[i, h], out[t, h] = _step(states[i, h], *taken(t, h))
            t += 1
    return _near(out), _near(states)


def recurrent_delta_rule(query, key, value, beta, states, lengths, places, g, gk, accepted, scale):
    taken = _tokens(query, key, value, beta, g, gk, scale)
    heads, states, out = value.shape[1], np.array(states.value), np.zeros(value.shape)
    t = 0
    for i, length in enumerate(lengths):
        if length == 0:
            continue
        own = states[places[t + (1 if accepted is None else accepted[i]) - 1]].copy()
        for _ in range(length):
            for h in range(heads):
                own[h], out[t, h] = _step(own[h], *taken(t, h))
            states[places[t]] = own
            t += 1
    return _near(states), _near(out)
