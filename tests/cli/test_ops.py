# SPDX-License-Identifier: Apache-2.0
"""`openaclnn.ops`: the operators of the headers as functions on NumPy arrays."""

import inspect
import subprocess
import sys
import time

import numpy as np
import pytest

import openaclnn
from openaclnn import AclError, InputError, ops
from openaclnn.native import declared, libraries

RANDOM = np.random.default_rng(0)
A, B = RANDOM.standard_normal((2, 3), np.float32), RANDOM.standard_normal(3, np.float32)


def test_broadcast_and_scalar():
    assert np.array_equal(ops.add(A, B, 0.5), A + np.float32(0.5) * B)
    assert np.array_equal(ops.add(self=A, other=B, alpha=1), A + B)
    assert ops.add(A, B, 1).dtype == np.float32


def test_scalars_have_the_precision_of_the_operands():
    third = 1 / 3
    assert np.array_equal(ops.muls(A.astype(np.float64), third), A.astype(np.float64) * third)
    assert np.array_equal(ops.muls(A, third), A * np.float32(third))
    assert ops.muls(np.arange(3), 2).tolist() == [0, 2, 4]


def test_what_the_operator_wants_is_asked():
    """Shapes and types that neither the inputs nor the caller give."""
    place = ops.arg_max(A, 1, False)
    assert place.dtype.kind == "i" and np.array_equal(place, A.argmax(1))
    assert np.array_equal(ops.permute(A, [1, 0]), A.T)
    assert ops.matmul(A, A.T.copy(), 0).shape == (2, 2)
    least, most = ops.aminmax(A, [1], True)
    assert np.array_equal(least, A.min(1, keepdims=True))
    assert np.array_equal(most, A.max(1, keepdims=True))
    assert ops.lt_tensor(A, B).dtype == bool


def test_an_attribute_dtype_is_that_of_the_output():
    total = ops.reduce_sum(A, [1], False, np.float64)
    assert total.dtype == np.float64 and np.allclose(total, A.sum(1, dtype=np.float64))
    assert ops.cast(A, "int32").dtype == np.int32


def test_what_is_given_is_taken():
    place = ops.arg_max(A, 1, False, out=((2,), np.int32))
    assert place.dtype == np.int32
    assert ops.add(A, A, 1, out=np.float64).dtype == np.float64
    room = np.empty((2, 3), np.float32)
    assert ops.abs(A, out=room) is room and np.array_equal(room, np.abs(A))
    with pytest.raises(AclError, match=r"out shape is \(3, 2\), expected \(2, 3\)"):
        ops.abs(A, out=((3, 2), np.float32))


def test_in_place_leaves_the_argument():
    before = A.copy()
    assert np.array_equal(ops.inplace_add(A, B, 1), A + B)
    assert np.array_equal(A, before)


def test_lists():
    got = ops.foreach_add_list_v2([A, B], [A, B], 1.0)
    assert len(got) == 2 and all(map(np.array_equal, got, (A + A, B + B)))
    assert np.array_equal(ops.cat([A, A], 0), np.concatenate([A, A]))
    scaled = ops.foreach_mul_scalar_list([A, B], [2.0, 3.0])
    assert all(map(np.array_equal, scaled, (A * 2, B * 3)))


def test_what_is_found_may_be_less():
    mask = A > 0
    assert np.array_equal(ops.masked_select(A, mask, out=((6,), np.float32)), A[mask])
    room = np.zeros(6, np.float32)
    found = ops.masked_select(A, mask, out=room)
    assert found is not room and np.array_equal(found, A[mask])


def test_what_may_be_null():
    x = ops.layer_norm(A, [3], None, None, 0.0)
    means = A.astype(np.float64)
    means -= means.mean(1, keepdims=True)
    assert np.allclose(x, means / means.std(1, keepdims=True), rtol=1e-5)
    x, mean, _ = ops.layer_norm(A, [3], eps=0.0, meanOutOptional=True, rstdOutOptional=True)
    assert np.allclose(mean, A.mean(1), rtol=1e-5, atol=1e-6)
    groups = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    assert np.array_equal(ops.grouped_bias_add_grad(groups), groups.sum(1))  # a room's


def test_a_room_is_the_same_operator():
    """Also of those that records do not have."""
    grad, places = np.float32([[1, 2, 3], [4, 5, 6]]), np.array([1, 2])
    got = ops.embedding_dense_backward(grad, places, 4, 0, False)
    assert np.array_equal(got, openaclnn.embedding_dense_backward(grad, places, 4, padding_idx=0))


def test_every_operator_is_a_function():
    """By another name each, with its parameters, and in dir()."""
    known = declared.operators(libraries.find() / "include")
    assert len(dir(ops)) == len(known) > 400
    for name in dir(ops):
        function = getattr(ops, name)
        assert function.__name__ == name and function.__doc__
        assert "@" not in function.__doc__ and "hase 1: checks" not in function.__doc__
    assert str(inspect.signature(ops.add)) == "(self, other, alpha, *, out=None)"
    assert "out = self + alpha * other" in ops.add.__doc__ and "self: operand" in ops.add.__doc__


@pytest.mark.parametrize(
    "call, refusal",
    [
        (lambda: ops.add(A, np.zeros(4), 1), (AclError, "aclnnAdd")),
        (lambda: ops.add(A, B), (TypeError, r"add\(\) missing a required argument: 'alpha'")),
        (lambda: ops.layer_norm(A, [3]), (TypeError, r"layer_norm\(\) missing .* argument: 'eps'")),
        (lambda: ops.add(A, "b", 1), (InputError, "other dtype is <U1, expected a type of tensors")),
        (lambda: ops.add(A, B, "x"), (InputError, r"alpha is 'x', expected a value of aclScalar\*")),
        (lambda: ops.flip(A, [5]), (AclError, "aclnnFlip: .*dims")),
        (lambda: ops.flip(A, [0.5]), (InputError, r"dims is \[0.5\], expected a value of aclIntArray")),
        (lambda: ops.flip(A, 3), (InputError, "dims is 3, expected a value of aclIntArray")),
        (lambda: ops.arg_max(A, 2**63, True), (InputError, "dim is 9223372036854775808, expected")),
        (lambda: ops.arg_max(A, 1, 1), (InputError, "keepDim is 1, expected a value of bool")),
        (lambda: ops.arg_max(A, None, True), (InputError, "dim is None, expected a value of int64_t")),
        (lambda: ops.cast(A, "bogus"), (InputError, "dtype is 'bogus', expected")),
        (lambda: ops.abs(A, out="bogus"), (InputError, "out is 'bogus', expected a dtype or")),
        (lambda: ops.abs(A, out=((-1,), float)), (InputError, r"out shape is \(-1,\), expected len")),
        (lambda: ops.cat(A, 0), (InputError, "tensors is ndarray, expected a list of arrays")),
        (lambda: ops.layer_norm_backward(A, A, [3], A[:, :1], A[:, :1], None, None, [False] * 3),
         (InputError, "no output to write, expected gradInputOut or .* to be True")),
        (lambda: ops.gelu_backward_v2(A, A, "\udcff"), (AclError, r"value is '\\xff', expected none")),
        (lambda: ops.gelu_backward_v2(A, A, "\ud800"), (InputError, r"'\\ud800', expected a value")),
        (lambda: ops.gelu_backward_v2(A, A, "none\0x"), (InputError, r"'none\\x00x', expected a v")),
        (lambda: ops.ad, (AttributeError, "openaclnn.ops has no operator ad; did you mean add")),
    ],
    ids=str,
)  # fmt: skip
def test_refusals(call, refusal):
    kind, words = refusal
    with pytest.raises(kind, match=words):
        call()


@pytest.mark.parametrize(
    "text",
    ["x" * 2**17, "gradInput dtype is FLOAT, expected " + "X" * 2**17 + "_"],
    ids=["a word", "a name"],
)
def test_a_long_text_is_refused_at_once(text):
    """Its refusal is read once, not from each of its letters on."""
    began = time.process_time()
    with pytest.raises(AclError, match="approximate"):
        ops.gelu_backward_v2(A, A, text)
    assert time.process_time() - began < 2


def test_importing_it_loads_no_library():
    program = (
        "import sys, numpy\nimport openaclnn.ops\n"
        "print(*(each for each in sys.modules if each in ('typer', 'rich', 'ml_dtypes')))\n"
        "print(any('libopapi' in line for line in open('/proc/self/maps')))"
    )
    site = ["-S"] if sys.flags.no_site else []
    ran = subprocess.run([sys.executable, *site, "-c", program], capture_output=True, text=True)
    assert ran.stdout.split() in (["False"], ["ml_dtypes", "False"]), ran


@pytest.mark.parametrize("name", ["ops", "embedding"])
def test_a_python_without_numpy_says_how_it_gets_it(name):
    program = f"import sys; sys.modules['numpy'] = None; import openaclnn; openaclnn.{name}"
    site = ["-S"] if sys.flags.no_site else []
    ended = subprocess.run([sys.executable, *site, "-c", program], capture_output=True, text=True)
    words = f"openaclnn.{name} needs NumPy, which {sys.executable} does not have: "
    assert ended.returncode == 1
    assert f"ModuleNotFoundError: {words}`{sys.executable} -m pip install numpy`" in ended.stderr
