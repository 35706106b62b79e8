# SPDX-License-Identifier: Apache-2.0
"""Steps of optimisers: the values that each operand has afterwards."""

import numpy as np


def momentum_step(var, accum, lr, grad, momentum, use_nesterov):
    accum = accum * momentum + grad
    return {"var": var - lr * (grad + accum * momentum if use_nesterov else accum), "accum": accum}


def sgd_step(parameters, gradient, rate, accum, momentum, stat, dampening, weight_decay, nesterov):
    by = gradient + weight_decay * parameters
    accum = accum * momentum + by * (1 - dampening * (1 - stat))
    by = by + accum * momentum if nesterov else accum
    return {
        "parameters": parameters - rate * by,
        "accum": accum,
        "stat": stat * 0 if dampening else stat,
    }


def adam_step(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, use_nesterov):
    rate = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
    m = m + (grad - m) * (1 - beta1)
    v = v + (grad * grad - v) * (1 - beta2)
    by = m * beta1 + (1 - beta1) * grad if use_nesterov else m
    return {"var": var - rate * by / (np.sqrt(v) + epsilon), "m": m, "v": v}


def adagrad_step(var, accum, lr, grad, update_slots):
    accum = accum + grad * grad if update_slots else accum
    return {"var": var - lr * grad / np.sqrt(accum), "accum": accum}


def rms_step(var, ms, mom, lr, rho, momentum, epsilon, grad):
    ms = rho * ms + (1 - rho) * grad * grad
    mom = momentum * mom + lr * grad / np.sqrt(ms + epsilon)
    return {"var": var - mom, "ms": ms, "mom": mom}


def lamb_direction(
    grad, v, m, weights, beta1, rest1, beta2, rest2, epsilon, steps, do_use_weight, decay
):
    v = beta2 * v + rest2 * grad * grad
    m = beta1 * m + rest1 * grad
    by = m / (1 - beta1**steps) / (np.sqrt(v / (1 - beta2**steps)) + epsilon)
    return {"output0": by + do_use_weight * decay * weights, "inputv": v, "inputm": m}


def lamb_weights(weight_norm, step_norm, rate, step, weights):
    ratio = weight_norm / step_norm if weight_norm > 0 and step_norm > 0 else 1
    return weights - rate * ratio * step


def centered_rms_step(var, mg, ms, mom, lr, rho, momentum, epsilon, grad):
    mg = rho * mg + (1 - rho) * grad
    ms = rho * ms + (1 - rho) * grad * grad
    mom = momentum * mom + lr * grad / np.sqrt(ms - mg * mg + epsilon)
    return {"var": var - mom, "mg": mg, "ms": ms, "mom": mom}


def adamax_step(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad):
    m = beta1 * m + (1 - beta1) * grad
    v = np.maximum(beta2 * v, np.abs(grad))
    return {"var": var - lr / (1 - beta1_power) * m / (v + epsilon), "m": m, "v": v}


def amsgrad_step(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad):
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad * grad
    vhat = np.maximum(vhat, v)
    rate = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
    return {"var": var - rate * m / (np.sqrt(vhat) + epsilon), "m": m, "v": v, "vhat": vhat}


def adadelta_step(var, accum, accum_update, lr, rho, epsilon, grad):
    accum = rho * accum + (1 - rho) * grad * grad
    step = np.sqrt(accum_update + epsilon) / np.sqrt(accum + epsilon) * grad
    accum_update = rho * accum_update + (1 - rho) * step * step
    return {"var": var - lr * step, "accum": accum, "accum_update": accum_update}


def ftrl_step(var, accum, linear, grad, lr, l1, l2, lr_power):
    new = accum + grad * grad
    linear = linear + grad - (new**-lr_power - accum**-lr_power) / lr * var
    root = new**-lr_power / lr + 2 * l2
    step = np.where(np.abs(linear) > l1, (np.sign(linear) * l1 - linear) / root, 0)
    return {"var": step, "accum": new, "linear": linear}


def adam_decay_step(grad, v, m, weights, rate, beta1, rest1, beta2, rest2, decay, epsilon):
    m = beta1 * m + rest1 * grad
    v = beta2 * v + rest2 * grad * grad
    step = m / (np.sqrt(v) + epsilon) + decay * weights
    return {"input1": v, "input2": m, "input3": weights - rate * step}
