# SPDX-License-Identifier: Apache-2.0
"""Common calls of mindspore.ops and mindspore.nn, each against NumPy in float64."""

import math

import mindspore
import numpy as np
import pytest
from mindspore import Tensor, nn, ops

SHAPES = {"x": (3, 4), "y": (3, 4), "z": (2, 3, 6, 8), "row": (4,), "square": (4, 4)}


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def softmax(a, axis=-1):
    e = np.exp(a - a.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def pooled(a, function):
    n, c, height, width = a.shape
    return function(a.reshape(n, c, height // 2, 2, width // 2, 2), (3, 5))


def layer_norm(a):
    return (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-7)


def erf(a):
    return np.vectorize(math.erf)(a)


def bilinear(a, height, width):
    def weights(size, result):
        at = np.clip((np.arange(result) + 0.5) * size / result - 0.5, 0, size - 1)
        return np.maximum(1 - np.abs(at[:, None] - np.arange(size)), 0)

    return np.einsum("nchw,ih,jw->ncij", a, weights(a.shape[2], height), weights(a.shape[3], width))


# A name, the call on tensors, the same on arrays: x, y (3, 4), z images, row, square, p positive
# numbers, u numbers within -1 and 1, i indices, k integers, b truth values.
CALLS = {
    "abs": (lambda t: ops.abs(t.x), lambda a: np.abs(a.x)),
    "acos": (lambda t: ops.acos(t.u), lambda a: np.arccos(a.u)),
    "acosh": (lambda t: ops.acosh(t.p + 1), lambda a: np.arccosh(a.p + 1)),
    "add": (lambda t: ops.add(t.x, t.row), lambda a: a.x + a.row),
    "addcdiv": (lambda t: ops.addcdiv(t.x, t.y, t.p, 0.5), lambda a: a.x + 0.5 * a.y / a.p),
    "addcmul": (lambda t: ops.addcmul(t.x, t.y, t.p, 0.5), lambda a: a.x + 0.5 * a.y * a.p),
    "addn": (lambda t: ops.addn([t.x, t.y, t.p]), lambda a: a.x + a.y + a.p),
    "all": (lambda t: ops.all(t.b, 1), lambda a: a.b.all(1)),
    "amax": (lambda t: ops.amax(t.x, 1), lambda a: a.x.max(1)),
    "amin": (lambda t: ops.amin(t.x, 0), lambda a: a.x.min(0)),
    "any": (lambda t: ops.any(t.b, 1), lambda a: a.b.any(1)),
    "arange": (lambda t: ops.arange(1, 9, 2), lambda a: np.arange(1, 9, 2)),
    "argmax": (lambda t: ops.argmax(t.x, 1), lambda a: a.x.argmax(1)),
    "argmin": (lambda t: ops.argmin(t.x, 1), lambda a: a.x.argmin(1)),
    "asin": (lambda t: ops.asin(t.u), lambda a: np.arcsin(a.u)),
    "asinh": (lambda t: ops.asinh(t.x), lambda a: np.arcsinh(a.x)),
    "atan": (lambda t: ops.atan(t.x), lambda a: np.arctan(a.x)),
    "atan2": (lambda t: ops.atan2(t.x, t.y), lambda a: np.arctan2(a.x, a.y)),
    "atanh": (lambda t: ops.atanh(t.u), lambda a: np.arctanh(a.u)),
    "avg_pool2d": (
        lambda t: ops.avg_pool2d(t.z, 2, 2), lambda a: pooled(a.z, np.mean),
    ),
    "bmm": (
        lambda t: ops.bmm(t.z[0], t.z[0].swapaxes(1, 2)),
        lambda a: a.z[0] @ a.z[0].swapaxes(1, 2),
    ),
    "broadcast_to": (lambda t: ops.broadcast_to(t.row, (2, 4)), lambda a: np.broadcast_to(a.row, (2, 4))),
    "cat": (lambda t: ops.cat((t.x, t.y), 1), lambda a: np.concatenate((a.x, a.y), 1)),
    "ceil": (lambda t: ops.ceil(t.x), lambda a: np.ceil(a.x)),
    "chunk": (lambda t: ops.chunk(t.x, 2, 1)[1], lambda a: a.x[:, 2:]),
    "clamp": (lambda t: ops.clamp(t.x, -0.5, 0.5), lambda a: np.clip(a.x, -0.5, 0.5)),
    "cos": (lambda t: ops.cos(t.x), lambda a: np.cos(a.x)),
    "cosh": (lambda t: ops.cosh(t.x), lambda a: np.cosh(a.x)),
    "cumsum": (lambda t: ops.cumsum(t.x, 1), lambda a: a.x.cumsum(1)),
    "cumprod": (lambda t: ops.cumprod(t.x, 1), lambda a: a.x.cumprod(1)),
    "diag": (lambda t: ops.diag(t.row), lambda a: np.diag(a.row)),
    "div": (lambda t: ops.div(t.x, t.p), lambda a: a.x / a.p),
    "elu": (lambda t: ops.elu(t.x), lambda a: np.where(a.x > 0, a.x, np.expm1(a.x))),
    "equal": (lambda t: ops.equal(t.k, t.i), lambda a: a.k == a.i),
    "erf": (lambda t: ops.erf(t.x), lambda a: erf(a.x)),
    "erfc": (lambda t: ops.erfc(t.x), lambda a: 1 - erf(a.x)),
    "exp": (lambda t: ops.exp(t.x), lambda a: np.exp(a.x)),
    "expand_dims": (lambda t: ops.expand_dims(t.x, 1), lambda a: a.x[:, None]),
    "expm1": (lambda t: ops.expm1(t.x), lambda a: np.expm1(a.x)),
    "eye": (lambda t: ops.eye(3, 4, mindspore.float32), lambda a: np.eye(3, 4)),
    "flip": (lambda t: ops.flip(t.x, (1,)), lambda a: a.x[:, ::-1]),
    "floor": (lambda t: ops.floor(t.x), lambda a: np.floor(a.x)),
    "floor_divide": (lambda t: ops.floor_divide(t.x, t.p), lambda a: np.floor(a.x / a.p)),
    "fmod": (lambda t: ops.fmod(t.x, t.p), lambda a: np.fmod(a.x, a.p)),
    "full": (lambda t: ops.full((2, 3), 1.5, dtype=mindspore.float32), lambda a: np.full((2, 3), 1.5)),
    "gather": (lambda t: ops.gather(t.x, t.i[:, 0], 0), lambda a: a.x[a.i[:, 0]]),
    "gather_elements": (
        lambda t: ops.gather_elements(t.x, 1, t.i), lambda a: np.take_along_axis(a.x, a.i, 1),
    ),
    "gather_nd": (lambda t: ops.gather_nd(t.x, t.i[:, :2]), lambda a: a.x[a.i[:, 0], a.i[:, 1]]),
    "gelu": (
        lambda t: ops.gelu(t.x, "tanh"),
        lambda a: a.x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (a.x + 0.044715 * a.x**3))),
    ),
    "greater": (lambda t: ops.greater(t.x, t.y), lambda a: a.x > a.y),
    "greater_equal": (lambda t: ops.greater_equal(t.x, t.y), lambda a: a.x >= a.y),
    "hardsigmoid": (lambda t: ops.hardsigmoid(t.x), lambda a: np.clip(a.x / 6 + 0.5, 0, 1)),
    "hardswish": (lambda t: ops.hardswish(t.x), lambda a: a.x * np.clip(a.x + 3, 0, 6) / 6),
    "interpolate": (
        lambda t: ops.interpolate(t.z, size=(5, 3), mode="bilinear"), lambda a: bilinear(a.z, 5, 3),
    ),
    "isfinite": (lambda t: ops.isfinite(t.x), lambda a: np.isfinite(a.x)),
    "l1_loss": (lambda t: ops.l1_loss(t.x, t.y), lambda a: np.abs(a.x - a.y).mean()),
    "l2_loss": (lambda t: ops.L2Loss()(t.x), lambda a: (a.x**2).sum() / 2),
    "leaky_relu": (lambda t: ops.leaky_relu(t.x, 0.1), lambda a: np.where(a.x > 0, a.x, 0.1 * a.x)),
    "lerp": (lambda t: ops.lerp(t.x, t.y, 0.25), lambda a: a.x + 0.25 * (a.y - a.x)),
    "less": (lambda t: ops.less(t.x, t.y), lambda a: a.x < a.y),
    "less_equal": (lambda t: ops.less_equal(t.x, t.y), lambda a: a.x <= a.y),
    "linspace": (lambda t: ops.linspace(1, 2, 5), lambda a: np.linspace(1, 2, 5)),
    "log": (lambda t: ops.log(t.p), lambda a: np.log(a.p)),
    "log1p": (lambda t: ops.log1p(t.p), lambda a: np.log1p(a.p)),
    "log_softmax": (lambda t: ops.log_softmax(t.x), lambda a: np.log(softmax(a.x))),
    "logical_and": (lambda t: ops.logical_and(t.b, t.c), lambda a: a.b & a.c),
    "logical_not": (lambda t: ops.logical_not(t.b), lambda a: ~a.b),
    "logical_or": (lambda t: ops.logical_or(t.b, t.c), lambda a: a.b | a.c),
    "logsumexp": (lambda t: ops.logsumexp(t.x, 1), lambda a: np.log(np.exp(a.x).sum(1))),
    "masked_fill": (lambda t: ops.masked_fill(t.x, t.b, 7.0), lambda a: np.where(a.b, 7, a.x)),
    "masked_select": (lambda t: ops.masked_select(t.x, t.b), lambda a: a.x[a.b]),
    "matmul": (lambda t: ops.matmul(t.x, t.square), lambda a: a.x @ a.square),
    "max": (lambda t: ops.max(t.x, 1)[0], lambda a: a.x.max(1)),
    "maximum": (lambda t: ops.maximum(t.x, t.y), lambda a: np.maximum(a.x, a.y)),
    "mean": (lambda t: ops.mean(t.x, 1), lambda a: a.x.mean(1)),
    "meshgrid": (lambda t: ops.meshgrid(t.row, t.row)[0], lambda a: np.meshgrid(a.row, a.row)[0]),
    "min": (lambda t: ops.min(t.x, 1)[0], lambda a: a.x.min(1)),
    "minimum": (lambda t: ops.minimum(t.x, t.y), lambda a: np.minimum(a.x, a.y)),
    "mish": (lambda t: ops.mish(t.x), lambda a: a.x * np.tanh(np.log1p(np.exp(a.x)))),
    "mse_loss": (lambda t: ops.mse_loss(t.x, t.y), lambda a: ((a.x - a.y) ** 2).mean()),
    "mul": (lambda t: ops.mul(t.x, t.y), lambda a: a.x * a.y),
    "neg": (lambda t: ops.neg(t.x), lambda a: -a.x),
    "nonzero": (lambda t: ops.nonzero(t.b), lambda a: np.argwhere(a.b)),
    "norm": (lambda t: ops.norm(t.x), lambda a: np.linalg.norm(a.x)),
    "not_equal": (lambda t: ops.not_equal(t.k, t.i), lambda a: a.k != a.i),
    "one_hot": (
        lambda t: ops.one_hot(t.i[:, 0], 4, Tensor(1.0), Tensor(0.0)), lambda a: np.eye(4)[a.i[:, 0]],
    ),
    "ones": (lambda t: ops.ones((2, 3)), lambda a: np.ones((2, 3))),
    "ones_like": (lambda t: ops.ones_like(t.x), lambda a: np.ones_like(a.x)),
    "pad": (lambda t: ops.pad(t.x, (1, 2, 0, 1)), lambda a: np.pad(a.x, ((0, 1), (1, 2)))),
    "permute": (lambda t: ops.permute(t.z, (0, 2, 3, 1)), lambda a: a.z.transpose(0, 2, 3, 1)),
    "pow": (lambda t: ops.pow(t.p, t.x), lambda a: a.p**a.x),
    "prod": (lambda t: ops.prod(t.x, 1), lambda a: a.x.prod(1)),
    "range": (
        lambda t: ops.range(Tensor(1, mindspore.int32), Tensor(7, mindspore.int32), Tensor(2, mindspore.int32)),
        lambda a: np.arange(1, 7, 2),
    ),
    "reciprocal": (lambda t: ops.reciprocal(t.p), lambda a: 1 / a.p),
    "relu": (lambda t: ops.relu(t.x), lambda a: np.maximum(a.x, 0)),
    "relu6": (lambda t: ops.relu6(t.x * 9), lambda a: np.clip(a.x * 9, 0, 6)),
    "remainder": (lambda t: ops.remainder(t.x, t.p), lambda a: np.mod(a.x, a.p)),
    "repeat_elements": (lambda t: ops.repeat_elements(t.x, 2, 1), lambda a: a.x.repeat(2, 1)),
    "reshape": (lambda t: ops.reshape(t.x, (2, 6)), lambda a: a.x.reshape(2, 6)),
    "round": (lambda t: ops.round(t.x), lambda a: np.rint(a.x)),
    "rsqrt": (lambda t: ops.rsqrt(t.p), lambda a: 1 / np.sqrt(a.p)),
    "scatter_nd": (
        lambda t: ops.scatter_nd(Tensor([[1], [3]]), t.row[:2], (5,)),
        lambda a: np.array([0, a.row[0], 0, a.row[1], 0]),
    ),
    "select": (lambda t: ops.select(t.b, t.x, t.y), lambda a: np.where(a.b, a.x, a.y)),
    "selu": (
        lambda t: ops.selu(t.x),
        lambda a: 1.0507009873554805 * np.where(a.x > 0, a.x, 1.6732632423543772 * np.expm1(a.x)),
    ),
    "sigmoid": (lambda t: ops.sigmoid(t.x), lambda a: sigmoid(a.x)),
    "sign": (lambda t: ops.sign(t.x), lambda a: np.sign(a.x)),
    "silu": (lambda t: ops.silu(t.x), lambda a: a.x * sigmoid(a.x)),
    "sin": (lambda t: ops.sin(t.x), lambda a: np.sin(a.x)),
    "sinh": (lambda t: ops.sinh(t.x), lambda a: np.sinh(a.x)),
    "slice": (lambda t: ops.slice(t.x, (1, 0), (2, 3)), lambda a: a.x[1:, :3]),
    "smooth_l1_loss": (
        lambda t: ops.smooth_l1_loss(t.x, t.y),
        lambda a: np.where(np.abs(a.x - a.y) < 1, (a.x - a.y) ** 2 / 2, np.abs(a.x - a.y) - 0.5),
    ),
    "softmax": (lambda t: ops.softmax(t.x), lambda a: softmax(a.x)),
    "softplus": (lambda t: ops.softplus(t.x), lambda a: np.log1p(np.exp(a.x))),
    "sort": (lambda t: ops.sort(t.x, 1)[0], lambda a: np.sort(a.x, 1)),
    "split": (lambda t: ops.split(t.x, 2, 1)[1], lambda a: a.x[:, 2:]),
    "sqrt": (lambda t: ops.sqrt(t.p), lambda a: np.sqrt(a.p)),
    "square": (lambda t: ops.square(t.x), lambda a: a.x**2),
    "squeeze": (lambda t: ops.squeeze(t.x[None]), lambda a: a.x),
    "stack": (lambda t: ops.stack((t.x, t.y), 1), lambda a: np.stack((a.x, a.y), 1)),
    "std": (lambda t: ops.std(t.x, 1), lambda a: a.x.std(1)),
    "strided_slice": (
        lambda t: ops.strided_slice(t.x, (0, 0), (3, 4), (2, 3)), lambda a: a.x[::2, ::3],
    ),
    "sub": (lambda t: ops.sub(t.x, t.y), lambda a: a.x - a.y),
    "sum": (lambda t: ops.sum(t.x, 1), lambda a: a.x.sum(1)),
    "swapaxes": (lambda t: ops.swapaxes(t.x, 0, 1), lambda a: a.x.T),
    "tan": (lambda t: ops.tan(t.u), lambda a: np.tan(a.u)),
    "tanh": (lambda t: ops.tanh(t.x), lambda a: np.tanh(a.x)),
    "tensor_scatter_update": (
        lambda t: ops.tensor_scatter_update(t.x, Tensor([[0, 1]]), t.row[:1]),
        lambda a: np.concatenate(([[a.x[0, 0], a.row[0], *a.x[0, 2:]]], a.x[1:])),
    ),
    "tile": (lambda t: ops.tile(t.x, (2, 1)), lambda a: np.tile(a.x, (2, 1))),
    "topk": (lambda t: ops.topk(t.x, 2)[0], lambda a: -np.sort(-a.x, 1)[:, :2]),
    "trace": (lambda t: ops.trace(t.x), lambda a: np.trace(a.x)),
    "transpose": (lambda t: ops.transpose(t.x, (1, 0)), lambda a: a.x.T),
    "tril": (lambda t: ops.tril(t.x), lambda a: np.tril(a.x)),
    "triu": (lambda t: ops.triu(t.x), lambda a: np.triu(a.x)),
    "trunc": (lambda t: ops.trunc(t.x), lambda a: np.trunc(a.x)),
    "unsqueeze": (lambda t: ops.unsqueeze(t.x, 0), lambda a: a.x[None]),
    "unstack": (lambda t: ops.unstack(t.x, 1)[2], lambda a: a.x[:, 2]),
    "var": (lambda t: ops.var(t.x, 1), lambda a: a.x.var(1)),
    "where": (lambda t: ops.where(t.b, t.x, t.y), lambda a: np.where(a.b, a.x, a.y)),
    "zeros": (lambda t: ops.zeros((2, 3)), lambda a: np.zeros((2, 3))),
    "zeros_like": (lambda t: ops.zeros_like(t.x), lambda a: np.zeros_like(a.x)),
    "nn.AdaptiveAvgPool2d": (
        lambda t: nn.AdaptiveAvgPool2d((3, 4))(t.z), lambda a: pooled(a.z, np.mean),
    ),
    "nn.AvgPool2d": (lambda t: nn.AvgPool2d(2, 2)(t.z), lambda a: pooled(a.z, np.mean)),
    "nn.BatchNorm2d": (
        lambda t: nn.BatchNorm2d(3).set_train(False)(t.z), lambda a: a.z / math.sqrt(1 + 1e-5),
    ),
    "nn.BatchNorm2d, training": (
        lambda t: nn.BatchNorm2d(3).set_train(True)(t.z),
        lambda a: (a.z - a.z.mean((0, 2, 3), keepdims=True))
        / np.sqrt(a.z.var((0, 2, 3), keepdims=True) + 1e-5),
    ),
    "nn.Dropout": (lambda t: nn.Dropout(p=0.5).set_train(False)(t.x), lambda a: a.x),
    "nn.Flatten": (lambda t: nn.Flatten()(t.z), lambda a: a.z.reshape(2, -1)),
    "nn.GELU": (
        lambda t: nn.GELU()(t.x),
        lambda a: a.x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (a.x + 0.044715 * a.x**3))),
    ),
    "nn.LayerNorm": (lambda t: nn.LayerNorm((4,))(t.x), lambda a: layer_norm(a.x)),
    "nn.MaxPool2d": (lambda t: nn.MaxPool2d(2, 2)(t.z), lambda a: pooled(a.z, np.max)),
    "nn.SoftmaxCrossEntropyWithLogits": (
        lambda t: nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")(t.x, t.i[:, 0]),
        lambda a: -np.log(softmax(a.x))[np.arange(3), a.i[:, 0]].mean(),
    ),
    "nn.CrossEntropyLoss": (
        lambda t: nn.CrossEntropyLoss()(t.x, t.i[:, 0]),
        lambda a: -np.log(softmax(a.x))[np.arange(3), a.i[:, 0]].mean(),
    ),
}


class Operands:
    """Arrays by their names, or their tensors."""

    def __init__(self, values):
        self.__dict__.update(values)


@pytest.fixture(name="operands", scope="module")
def fixture_operands():
    generator = np.random.default_rng(0)
    arrays = {name: generator.standard_normal(shape) for name, shape in SHAPES.items()}
    arrays |= {"p": generator.uniform(0.5, 2, (3, 4)), "u": generator.uniform(-0.9, 0.9, (3, 4))}
    arrays = {name: each.astype(np.float32) for name, each in arrays.items()}
    arrays |= {name: generator.integers(0, 3, (3, 4)).astype(np.int32) for name in ("i", "k")}
    arrays |= {name: generator.integers(0, 2, (3, 4)).astype(bool) for name in ("b", "c")}
    wide = {
        name: each.astype(np.float64) if each.dtype == np.float32 else each
        for name, each in arrays.items()
    }
    return Operands({name: Tensor(each) for name, each in arrays.items()}), Operands(wide)


def test_a_name_that_is_absent_is_said():
    with pytest.raises(RuntimeError, match="OperatorFactory is not exist, op type: Unique"):
        ops.unique(Tensor([1, 2, 1], mindspore.int32))[0].asnumpy()


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_numpys(operands, name):
    call, formula = CALLS[name]
    tensors, arrays = operands
    np.testing.assert_allclose(call(tensors).asnumpy(), formula(arrays), rtol=2e-5, atol=2e-5)
