# SPDX-License-Identifier: Apache-2.0
"""Elements by elements, and their gradients."""

from . import Call, Device

_BOTH = ("float32", "bfloat16")


def _unary(name: str, dtypes=("float32",)) -> Call:
    """A function of torch or of torch.nn.functional."""

    def make(d: Device):
        function = getattr(d.torch, name, None) or getattr(d.torch.nn.functional, name)
        x = d.normal()
        return lambda: function(x)

    return Call(name, make, dtypes)


def _unary_backward(name: str) -> Call:
    def make(d: Device):
        function = getattr(d.torch, name, None) or getattr(d.torch.nn.functional, name)
        x = d.normal(grad=True)
        return d.back(function(x), x)

    return Call(f"{name} backward", make)


def _add(d: Device):
    x, y = d.normal(), d.normal(seed=1)
    return lambda: x + y


def _add_row(d: Device):
    x, row = d.normal(), d.normal(d.n, seed=1)
    return lambda: x + row


def _multiply_in_place(d: Device):
    x = d.normal()
    return lambda: x.mul_(1.0)


def _divide(d: Device):
    x, y = d.normal(), d.positive(seed=1)
    return lambda: x / y


def _fused(d: Device):
    x, y, z = d.normal(), d.normal(seed=1), d.normal(seed=2)
    return lambda: d.torch.addcmul(x, y, z, value=0.5)


def _where(d: Device):
    x, y = d.normal(), d.normal(seed=1)
    chosen = x > 0
    return lambda: d.torch.where(chosen, x, y)


def _masked(d: Device):
    x = d.normal()
    chosen = x > 0
    return lambda: x.masked_fill(chosen, -1.0)


def _compare(d: Device):
    x, y = d.normal(), d.normal(seed=1)
    return lambda: x > y


def _narrowed(d: Device):
    x = d.normal()
    return lambda: x.to(d.torch.bfloat16)


def _widened(d: Device):
    x = d.normal()
    return lambda: x.to(d.torch.float32)


def _clamped(d: Device):
    x = d.normal()
    return lambda: x.clamp(-1.0, 1.0)


CALLS = (
    Call("add", _add, _BOTH),
    Call("add of a row", _add_row),
    Call("mul_ by a number", _multiply_in_place),
    Call("div", _divide),
    Call("addcmul", _fused),
    Call("where", _where),
    Call("masked_fill", _masked),
    Call("greater than", _compare),
    Call("cast to bfloat16", _narrowed),
    Call("cast to float32", _widened, ("bfloat16", "float16")),
    Call("clamp", _clamped),
    _unary("exp"),
    _unary("tanh"),
    _unary("relu"),
    _unary_backward("relu"),
    _unary("gelu", _BOTH),
    _unary_backward("gelu"),
    _unary("silu"),
    _unary_backward("silu"),
)
