# SPDX-License-Identifier: Apache-2.0
"""Every operator through the tool: results, checks, timing, and refusals of bad input.

Names no operator: what is peculiar to a few is tested in files of their names.
"""

import inspect
import pkgutil
import tracemalloc

import numpy as np
import pytest
from conftest import refused, save
from worked import BY_NAME, RANDOM, WORKED, file_of

import openaclnn
from openaclnn.native import libraries
from openaclnn.tool import operator_commands
from openaclnn.operators import FORWARDS, GRADIENTS, OPERATORS, VERSIONS

EVERY = pytest.mark.parametrize("worked", WORKED, ids=lambda each: each.name)


def test_names():
    """A module, its function and its first operator have one name, which no other module has."""
    assert {name: versions[0].name for name, versions in VERSIONS.items()} == {
        name: name for name in VERSIONS
    }
    assert not {each.name for each in pkgutil.iter_modules(openaclnn.__path__)} & VERSIONS.keys()
    for names in ([each.name for each in OPERATORS], [each.function.api for each in OPERATORS]):
        assert len(set(names)) == len(names)


def test_gradients_come_first():
    assert OPERATORS == GRADIENTS + FORWARDS and GRADIENTS and FORWARDS
    for group in (GRADIENTS, FORWARDS):
        assert list(group) == sorted(group, key=lambda each: each.name)
        assert all((each.derivative is None) == (group is FORWARDS) for each in group)


def test_outputs_are_spelled_as_options():
    assert operator_commands.spelled("weightGradOut") == "--weight-grad-out" and operator_commands.spelled("y") == "--y"


@EVERY
def test_worked_example(here, tmp_path, worked):
    run = here("call", worked.name, *worked.arguments(tmp_path), *worked.writes)
    assert (run.code, run.stderr) == (0, ""), run
    for name, (option, expected) in worked.outputs.items():
        out = np.load(tmp_path / f"{option}.npy")
        assert np.array_equal(out, expected)
        assert f"{option}.npy: {name} {out.dtype} {expected.shape}" in run.stdout


@EVERY
def test_check_of_files(here, tmp_path, worked):
    arguments = worked.arguments(tmp_path)
    run = here("check", worked.name, *arguments, "--json")
    assert run.code == 0 and run.json["ok"], run
    assert [each["output"] for each in run.json["results"]] == list(worked.outputs)
    # The results of a run are files that pass; the one that is changed is found.
    assert here("call", worked.name, *arguments, *worked.writes).code == 0
    assert here("check", worked.name, *arguments, *worked.writes).code == 0
    for name, (option, expected) in worked.outputs.items():
        path = tmp_path / f"{option}.npy"
        kept = path.read_bytes()
        out = np.load(path)
        out.reshape(-1)[-1] += 1
        save(path, out)
        run = here("check", worked.name, *arguments, *worked.writes, "--json")
        (wrong,) = [each for each in run.json["results"] if each["outside"]]
        last = [extent - 1 for extent in expected.shape]
        assert run.code == 1 and wrong["output"] == name
        assert wrong["outside"] == 1 and wrong["worst"][0]["coordinates"] == last
        path.write_bytes(kept)


@pytest.mark.parametrize(
    "operator, dtype",
    [(each.name, dtype) for each in OPERATORS for dtype in each.random.dtypes],
)
def test_check_of_random_arrays(here, operator, dtype):
    options = RANDOM[operator]
    seen = []
    for seed in ("0", "1"):
        more = ["--dtype", dtype, "--seed", seed]
        run = here("check", operator, *options, *more, "--json")
        assert run.code == 0 and run.json["ok"], run
        assert {each["dtype"] for each in run.json["results"]} == {dtype}
        assert all(0 <= each["bound_ratio"] <= 1 for each in run.json["results"])
        seen.append(run.json["results"][0]["worst"])
    assert seen[0] != seen[1] or not any(seen), "a copy has no errors to tell seeds apart"


@pytest.mark.parametrize(
    "operator",
    [each.name for each in OPERATORS if "text" in inspect.signature(each.read).parameters],
)
def test_text_is_an_input(here, book, operator):
    run = here("check", operator, "--text", book, "--width", "32", "--json")
    assert run.code == 0 and run.json["ok"], run


@pytest.mark.parametrize("operator", RANDOM)
def test_bench(here, operator):
    options = RANDOM[operator]
    run = here("bench", operator, *options, "--json")
    assert run.code == 0, run
    timing = run.json["timing"]
    assert timing["seconds"] > 0 and timing["calls"] >= 5 and timing["roof_seconds"] > 0
    table = here("bench", operator, *options)
    assert table.code == 0 and "GB/s" in table.stdout


@EVERY
def test_what_a_product_lacks_is_exit_code_3(tool, tmp_path, worked):
    support = libraries.load().support
    (found,) = support.only_operator(worked.operator.function.api).operators
    has = {family for operand in found.operands for family in operand.dtypes}
    lacking = {family: product for product, family in support.products.items() if family not in has}
    arguments = worked.arguments(tmp_path)
    for product in list(lacking.values())[:1]:
        refused(tool("check", worked.name, *arguments, "--soc", product), 3, product)


@pytest.mark.parametrize(
    "operator, name", [(each.name, name) for each in WORKED for name in each.example.arrays]
)
def test_arrays_of_no_numbers(here, tmp_path, operator, name):
    worked = BY_NAME[operator]
    arguments = worked.arguments(tmp_path)
    array = worked.example.arrays[name]
    save(tmp_path / file_of(name), np.full(array.shape, "a"))
    before = sorted(tmp_path.iterdir())
    for run in (
        here("call", operator, *arguments, *worked.writes),
        here("check", operator, *arguments),
    ):
        refused(run, 2, f"{file_of(name)}: ", "dtype is <U1", "expected")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY\x01\x00", b"1,2\n"], ids=len)
@pytest.mark.parametrize(
    "operator, name", [(each.name, name) for each in WORKED for name in each.example.arrays]
)
def test_broken_files(here, tmp_path, operator, name, content):
    worked = BY_NAME[operator]
    arguments = worked.arguments(tmp_path)
    path = tmp_path / file_of(name)
    path.write_bytes(content)
    before = sorted(tmp_path.iterdir())
    run = here("call", operator, *arguments, *worked.writes)
    refused(run, 2, path.name, "not a .npy file", "expected")
    path.unlink()
    refused(here("check", operator, *arguments), 2, f"{path.name}: No such file", "expected")
    assert sorted(tmp_path.iterdir()) == [each for each in before if each != path]


@pytest.mark.parametrize("operator", [each for each in RANDOM if "--shape" in RANDOM[each]])
def test_more_memory_than_there_is(here, operator):
    extents = RANDOM[operator][RANDOM[operator].index("--shape") + 1].split(",")
    shape = ",".join(["2000000000"] * len(extents))
    tracemalloc.start()
    refused(here("check", operator, "--shape", shape), 4, "out of memory")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1 << 28, "nothing that there is room for is made first"


@pytest.mark.parametrize(
    "worked", [each for each in WORKED if len(each.outputs) > 1], ids=lambda each: each.name
)
def test_outputs_without_a_file_are_printed(here, tmp_path, worked):
    arguments, (option, *_) = worked.arguments(tmp_path), worked.writes
    run = here("call", worked.name, *arguments, option, "x.npy")
    (first, (_, expected)), *others = worked.outputs.items()
    assert run.code == 0 and run.stdout.startswith(f"x.npy: {first} "), run
    assert np.array_equal(np.load(tmp_path / "x.npy"), expected)
    said = run.stdout.splitlines()
    for name, (_, array) in others:
        assert any(line.startswith(f"{name} ") and line.endswith(f" {array.shape}") for line in said)
