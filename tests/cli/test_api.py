# SPDX-License-Identifier: Apache-2.0
"""The Python functions, which are made from the operators' modules; names no operator."""

import inspect
import pickle
import pydoc
import subprocess
import sys
import threading

import numpy as np
import pytest
from worked import WORKED

import openaclnn
from openaclnn import api
from openaclnn.operators import VERSIONS

FUNCTIONS = pytest.mark.parametrize("name", VERSIONS)
EVERY = pytest.mark.parametrize("worked", WORKED, ids=lambda each: each.name)


@FUNCTIONS
def test_function_and_help(name):
    function, operator = getattr(openaclnn, name), VERSIONS[name][0]
    assert function is getattr(openaclnn, name) is pickle.loads(pickle.dumps(function))
    assert (function.__module__, function.__qualname__) == ("openaclnn", name)
    parameters = inspect.signature(function).parameters
    assert parameters == inspect.signature(operator.problem).parameters
    assert len(operator.problem.__doc__) > 40 and "note" not in parameters
    assert all(each.annotation is not each.empty for each in parameters.values())
    words = pydoc.plain(pydoc.render_doc(function))
    assert all(each in words for each in parameters) and "-> " in words
    assert all(line.strip() in words for line in operator.problem.__doc__.splitlines())
    returned = inspect.signature(function).return_annotation
    outputs = len(operator.function.output_names)
    assert returned == (np.ndarray if outputs == 1 else tuple[(np.ndarray,) * outputs])


@FUNCTIONS
def test_versions_differ_in_their_attributes(name):
    taken = [tuple(sorted(each.function.attribute_names)) for each in VERSIONS[name]]
    assert len(set(taken)) == len(taken)
    assert all(each.problem is VERSIONS[name][0].problem for each in VERSIONS[name])


def test_everything_is_exported():
    assert set(VERSIONS) < set(openaclnn.__all__) <= set(dir(openaclnn))
    everything = {}
    exec("from openaclnn import *", everything)
    assert set(openaclnn.__all__) <= everything.keys()
    for name in ("no_such_operator", "options", "conv_geometry", "_private"):
        with pytest.raises(AttributeError, match=f"openaclnn.*{name}"):
            getattr(openaclnn, name)


def test_the_package_loads_no_operator():
    """torch.autograd's functions and `openaclnn.__version__` cost no import of the operators."""
    program = "import sys, openaclnn; print(*(each for each in sys.modules if 'openaclnn' in each))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "openaclnn.errors" in loaded.stdout and "openaclnn.operators" not in loaded.stdout


@EVERY
def test_example(worked):
    results = worked.call()
    first = next(iter(worked.example.arrays.values()))
    assert len(results) == len(worked.example.outputs)
    for got, expected in zip(results, worked.example.outputs.values(), strict=True):
        assert got.dtype == first.dtype and np.array_equal(got, expected)


@EVERY
def test_strided_arrays(worked):
    """Each in the middle of a larger one, with its last dimension backwards."""
    strided = {}
    for name, array in worked.example.arrays.items():
        around = np.zeros([2 * extent + 1 for extent in array.shape], array.dtype)
        view = around[tuple(slice(1, None, 2) for _ in array.shape)][..., ::-1]
        view[...] = array
        assert view.strides != array.strides
        strided[name] = view
    for got, expected in zip(worked.call(strided), worked.example.outputs.values(), strict=True):
        assert np.array_equal(got, expected)


@EVERY
def test_lists_stand_for_arrays(worked):
    """They are of NumPy's default types; an operator that does not take those says so."""
    lists = {name: array.tolist() for name, array in worked.example.arrays.items()}
    try:
        results = worked.call(lists)
    except openaclnn.AclError as refusal:
        assert refusal.code == 161002 and "dtype is DOUBLE" in str(refusal)
        return
    for got, expected in zip(results, worked.example.outputs.values(), strict=True):
        assert np.array_equal(got, expected)


@EVERY
def test_threads(worked):
    wrong, results = [], worked.call()

    def work():
        for _ in range(20):
            same = all(map(np.array_equal, worked.call(), results))
            wrong.extend([] if same else ["differs"])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@FUNCTIONS
def test_arguments_that_no_parameter_takes(name):
    for arguments, words in (((), "missing"), ((1,) * 40, "too many"), ({"x_y": 1}, "")):
        named = arguments if isinstance(arguments, dict) else {}
        with pytest.raises(TypeError, match=rf"^{name}\(\) .*{words}"):
            getattr(openaclnn, name)(*(() if named else arguments), **named)


def test_none_is_left_out_only_where_it_may_be():
    def problem(array: np.ndarray, other: np.ndarray | None = None, number: int = 3):
        pass

    array, other, number = inspect.signature(problem).parameters.values()
    assert api._operand(array, None).shape == () and api._operand(other, None) is None
    assert api._operand(other, [1]).tolist() == [1] and api._operand(number, None) is None
    assert api._operand(number, [1]) == [1]
