# SPDX-License-Identifier: Apache-2.0
"""The comparison with numerical derivatives: green for every gradient, red for a broken one."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import refused
from worked import BY_NAME, RANDOM

from openaclnn import accuracy, gradcheck
from openaclnn.native import libraries
from openaclnn.native.call import Call
from openaclnn.operators import FORWARDS, GRADIENTS
from openaclnn.operators.operator import Point, Problem, Reference

_FEW = 10_000  # elements of an example whose derivatives are quick to take
SMALL_EXAMPLES = [
    each.name
    for each in GRADIENTS
    if sum(array.size for array in BY_NAME[each.name].example.arrays.values()) < _FEW
]
EVERY = pytest.mark.parametrize("operator", GRADIENTS, ids=lambda each: each.name)


@EVERY
def test_every_gradient_is_the_derivative_of_its_forward(here, operator):
    run = here("check", operator.name, "--derivatives", "--json")
    assert run.code == 0, run
    assert run.json["ok"] and run.json["operator"] == operator.function.api
    rows = [row for problem in run.json["problems"] for row in problem["derivatives"]]
    assert len(run.json["problems"]) >= 2
    assert {row["output"] for row in rows} == set(operator.function.output_names)
    for row in rows:
        assert row["tried"] == row["accuracy"]["elements"]
        assert 0 <= row["reference_ratio"] <= 1 and 0 <= row["operator_ratio"] <= 1
    table = here("check", operator.name, "--derivatives")
    assert table.code == 0 and "WRONG" not in table.stdout


@pytest.mark.parametrize("operator", [each.name for each in GRADIENTS])
def test_options_add_a_problem(here, operator):
    small = len(here("check", operator, "--derivatives", "--json").json["problems"])
    for dtype in BY_NAME[operator].operator.random.dtypes:
        run = here("check", operator, "--derivatives", *RANDOM[operator], "--dtype", dtype, "--json")
        assert run.code == 0, run
        assert len(run.json["problems"]) == small + 1
        (first, *_) = run.json["problems"][-1]["inputs"].values()
        assert first["dtype"] == dtype


@pytest.mark.parametrize("operator", SMALL_EXAMPLES)
def test_files_are_a_problem(here, tmp_path, operator):
    run = here("check", operator, "--derivatives", *BY_NAME[operator].arguments(tmp_path), "--json")
    assert run.code == 0, run


@EVERY
def test_red_when_the_operator_is_broken(here, monkeypatch, operator):
    outputs = Call.outputs

    def broken(call):
        found = outputs(call)
        last = list(found)[-1]
        found[last] = (found[last].astype(np.float64) * 1.1).astype(found[last].dtype)
        return found

    monkeypatch.setattr(Call, "outputs", broken)
    run = here("check", operator.name, "--derivatives", "--json")
    assert run.code == 1 and not run.json["ok"]
    last = operator.function.output_names[-1]
    for problem in run.json["problems"]:
        for row in problem["derivatives"]:
            assert (row["operator_ratio"] > 1) == (row["output"] == last)
            assert row["reference_ratio"] <= 1
    assert "WRONG" in here("check", operator.name, "--derivatives").stdout


@EVERY
def test_red_when_the_reference_is_broken(here, monkeypatch, operator):
    """A reference with the same mistake as the operator does not hide it."""
    outputs, reference = Call.outputs, operator.reference

    def wrong_outputs(call):
        return {name: -array for name, array in outputs(call).items()}

    def wrong_reference(kit, problem):
        return {
            name: replace(each, value=-each.value) for name, each in reference(kit, problem).items()
        }

    monkeypatch.setattr(Call, "outputs", wrong_outputs)
    object.__setattr__(operator, "reference", wrong_reference)
    try:
        run = here("check", operator.name, "--derivatives", "--json")
    finally:
        object.__setattr__(operator, "reference", reference)
    assert run.code == 1
    for problem in run.json["problems"]:
        for row in problem["derivatives"]:
            assert row["accuracy"]["outside"] == 0  # the two agree
            assert row["reference_ratio"] == "inf" or row["reference_ratio"] > 1
            assert row["operator_ratio"] == "inf" or row["operator_ratio"] > 1


@EVERY
def test_red_when_one_element_is_broken(here, monkeypatch, operator):
    outputs = Call.outputs

    def broken(call):
        found = outputs(call)
        for array in found.values():
            array.reshape(-1)[-1] = np.nan
        return found

    monkeypatch.setattr(Call, "outputs", broken)
    run = here("check", operator.name, "--derivatives", "--json")
    assert run.code == 1
    for problem in run.json["problems"]:
        assert all(row["operator_ratio"] == "inf" for row in problem["derivatives"])


@pytest.mark.parametrize("forward", [each.name for each in FORWARDS])
def test_forwards_are_refused(here, forward):
    refused(here("check", forward, "--derivatives"), 2, forward)


def point(forward, at: np.ndarray, upstream: np.ndarray, step: float) -> Point:
    nothing = Problem({}, {}, {})
    return Point({"out": at}, lambda at: forward(at["out"]), upstream, nothing, step)


def test_derivatives_of_known_functions():
    at, upstream = np.array([0.3, 1.1, -2.0]), np.array([1.0, -2.0, 0.5])
    direction = np.array([1.0, 1.0, 0.0])
    exact = 1.0 * np.cos(0.3) - 2.0 * np.cos(1.1)
    value, allowed = gradcheck._derivative(point(np.sin, at, upstream, 1e-3), "out", direction)
    assert abs(value - exact) <= allowed < 1e-8
    # Whatever the step, a polynomial of the fourth degree has no error but rounding.
    for step in (1.0, 0.1):
        cubes = point(lambda x: x**4 - x, at, upstream, step)
        value, allowed = gradcheck._derivative(cubes, "out", direction)
        exact = (4 * 0.3**3 - 1) - 2.0 * (4 * 1.1**3 - 1)
        assert abs(value - exact) <= allowed < 1e-7


@EVERY
def test_the_operator_runs_at_the_point_of_the_derivative(operator):
    """Its inputs are those of the point, rounded, in the types that were asked for."""
    for problem in operator.derivative.small():
        exact = operator.derivative.point(libraries.load(), problem).exact
        rounded = gradcheck._rounded(exact, problem)
        assert rounded.attributes == problem.attributes and rounded.outputs == problem.outputs
        for name, array in problem.inputs.items():
            got = rounded.inputs[name]
            assert got.dtype == array.dtype and got.shape == array.shape
            assert np.array_equal(got, exact.inputs[name].astype(array.dtype))


def test_what_does_not_move_has_no_derivative():
    still = point(lambda x: 0 * x + 5, np.ones(3), np.ones(3), 1.0)
    assert gradcheck._derivative(still, "out", np.ones(3)) == (0, 0)


def test_elements_to_try():
    def tried(size, work):
        sizes = point(np.sin, np.zeros(work - 1), np.zeros(1), 1.0)
        return gradcheck._elements_to_try(sizes, size)

    assert tried(1000, 100_000).tolist() == list(range(1000))
    assert len(np.unique(tried(1000, 100_001))) == 48
    assert tried(48, 10**8).tolist() == list(range(48)) and tried(0, 10).tolist() == []


def test_directions():
    found = list(gradcheck._directions((2, 3), np.array([1, 5])))
    assert len(found) == 2 + 16 and all(each.shape == (2, 3) for each in found)
    assert found[0].tolist() == [[0, 1, 0], [0, 0, 0]] and found[1].tolist() == [
        [0, 0, 0],
        [0, 0, 1],
    ]
    assert all(set(np.unique(each)) <= {-1, 1} for each in found[2:])
    assert list(gradcheck._directions((0, 4), np.arange(0))) == []


@pytest.mark.parametrize(
    "error, allowed", [(1.0, 0.0), (np.nan, 1.0), (np.inf, 1.0), (0.1, np.nan)]
)
def test_ratios_that_are_no_number_are_too_large(error, allowed):
    assert gradcheck._worse(0.5, error, allowed) == np.inf


@pytest.mark.parametrize("reference, operator, got", [(2, 0, 1), (0, 2, 1), (0, 0, 2), (0, 0, 1)])
def test_each_comparison_must_hold(reference, operator, got):
    one = Reference(np.ones(1), np.ones(1), np.ones(1))
    compared = accuracy.compare("out", np.full(1, got, np.float32), one)
    derivation = gradcheck.Derivation("out", 1, reference, operator, compared)
    assert derivation.ok == (reference <= 1 and operator <= 1 and got == 1)


def test_the_larger_ratio_stays():
    assert gradcheck._worse(0.5, 0.0, 0.0) == 0.5 and gradcheck._worse(0.5, 3.0, 4.0) == 0.75
