# SPDX-License-Identifier: Apache-2.0
"""Numbers on the command line for the operators that have a name of their own."""

import json

import numpy as np
import pytest
from conftest import refused
from worked import Worked, option_of

from openaclnn.operators import OPERATORS


def typed(worked: Worked) -> list[str]:
    """The options of the inputs, with their numbers."""
    found = []
    for name, array in worked.example.arrays.items():
        numbers = json.dumps(np.asarray(array, np.float64).tolist())
        kind = array.dtype.name
        if kind == "bool":
            numbers = json.dumps(array.tolist())
        found += [option_of(name), f"{numbers}:{kind}"]
    for name, value in worked.example.attributes.items():
        values = value if isinstance(value, list | tuple) else [value]
        text = ",".join(map(str, values))
        found += [option_of(name)] if value is True else [option_of(name), text]
    return found


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda each: each.name)
def test_typed_numbers_are_taken(here, tmp_path, operator):
    """By `call`, whose results are those of the example, and by `check`."""
    worked = Worked(operator)
    run = here("call", worked.name, *typed(worked), *worked.writes)
    assert run.code == 0, run
    for option, expected in worked.outputs.values():
        assert np.array_equal(np.load(tmp_path / f"{option}.npy"), expected), option
    assert here("check", worked.name, *typed(worked)).code == 0


_GRADIENT = ("call", "embedding_dense_backward", "--num-weights", "4", "--indices", "[1,2]")


def test_whole_numbers_for_floats_are_refused_with_what_to_type(here):
    words = "grad dtype is int64, expected float32", "give '[[1,2],[3,4]]:float32' or 1.0 for 1"
    refused(here(*_GRADIENT, "--grad", "[[1,2],[3,4]]"), 2, *words)
    words = "self dtype is INT64, expected FLOAT", "give '[1, 2]:float32' or 1.0 for 1"
    refused(here("call", "LogSoftmax", "--self", "[1, 2]", "--dim", "0"), 3, *words)
    run = here("call", "LogSoftmax", "--self", "[1, 2]:int64", "--dim", "0")
    assert "or 1.0 for 1" in run.stderr
    run = here("call", "LogSoftmax", "--self", "[true, false]", "--dim", "0")
    assert "dtype is BOOL" in run.stderr and "1.0" not in run.stderr


def test_what_cannot_be_read_is_said_with_its_option(here):
    refused(here(*_GRADIENT, "--grad", "no.npy"), 2, "no.npy: No such file", "for grad")
    refused(here(*_GRADIENT, "--grad", "[[1.0,2],[3,"), 2, "--grad is [[1.0,2],[3,")
    refused(here(*_GRADIENT, "--grad", "[true]:bool"), 2, "grad dtype is bool, expected float32")
