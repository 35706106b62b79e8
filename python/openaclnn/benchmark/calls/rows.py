# SPDX-License-Identifier: Apache-2.0
"""Sums, softmaxes, normalisations: what goes along a dimension."""

from . import Call, Device

_BOTH = ("float32", "bfloat16")


def _method(name: str, *arguments) -> Call:
    def make(d: Device):
        function = getattr(d.normal(), name)
        return lambda: function(*arguments)

    return Call(" ".join([name, *(f"dim {each}" for each in arguments)]), make)


def _softmax(name: str, dtypes=("float32",)) -> tuple[Call, Call]:
    def forward(d: Device):
        x, function = d.normal(), getattr(d.torch, name)
        return lambda: function(x, -1)

    def backward(d: Device):
        x = d.normal(grad=True)
        return d.back(getattr(d.torch, name)(x, -1), x)

    return Call(name, forward, dtypes), Call(f"{name} backward", backward)


def _layer_norm(d: Device):
    x, weight, bias = d.normal(), d.normal(d.n, seed=1), d.normal(d.n, seed=2)
    return lambda: d.torch.nn.functional.layer_norm(x, (d.n,), weight, bias)


def _layer_norm_backward(d: Device):
    x = d.normal(grad=True)
    weight, bias = d.normal(d.n, seed=1, grad=True), d.normal(d.n, seed=2, grad=True)
    return d.back(d.torch.nn.functional.layer_norm(x, (d.n,), weight, bias), x, weight, bias)


def _group_norm(d: Device):
    x = d.normal(16, 64, 4096)
    weight, bias = d.normal(64, seed=1), d.normal(64, seed=2)
    return lambda: d.torch.nn.functional.group_norm(x, 8, weight, bias)


def _batch_norm(d: Device):
    x, weight, bias = d.normal(16, 64, 64, 64), d.normal(64, seed=1), d.normal(64, seed=2)
    function = d.torch.nn.functional.batch_norm
    return lambda: function(x, None, None, weight, bias, training=True)


def _batch_norm_backward(d: Device):
    x = d.normal(16, 64, 64, 64, grad=True)
    weight, bias = d.normal(64, seed=1, grad=True), d.normal(64, seed=2, grad=True)
    y = d.torch.nn.functional.batch_norm(x, None, None, weight, bias, training=True)
    return d.back(y, x, weight, bias)


CALLS = (
    _method("sum"),
    _method("sum", 0),
    _method("sum", 1),
    _method("mean", 1),
    _method("max", 1),
    _method("argmax", 1),
    _method("norm"),
    _method("cumsum", 1),
    _method("var", 1),
    *_softmax("softmax", _BOTH),
    *_softmax("log_softmax"),
    Call("layer_norm", _layer_norm, _BOTH),
    Call("layer_norm backward", _layer_norm_backward),
    Call("group_norm", _group_norm),
    Call("batch_norm", _batch_norm),
    Call("batch_norm backward", _batch_norm_backward),
)
