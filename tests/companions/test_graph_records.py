# SPDX-License-Identifier: Apache-2.0
"""Every operator by its graph name, against the NumPy expression of its record."""

import re
import sys
from pathlib import Path

import graph_cases
import graph_driver
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts/operators"))

from graph_records import read_records

RECORDS = {each.name: each for each in read_records()}
CASES = [(name, i) for name, record in RECORDS.items() for i in range(len(record.record["cases"]))]
FUNCTIONS = {name: value for name, value in vars(graph_cases).items() if not name.startswith("_")}
WRONG = {"flag": 2, "integer": 0.5, "real": True, "text": 7, "integers": "ab", "reals": "ab",
         "type": "ab"}  # fmt: skip


@pytest.fixture(scope="session", name="device")
def fixture_device():
    return graph_driver.Device()


def default(attribute):
    """As Python has it."""
    text = attribute.default
    if text is None:
        return None
    if text in ("true", "false"):
        return text == "true"
    return eval(text.replace("{", "[").replace("}", "]"), {})


def wide(value):
    """As formulas take it: floats in double."""
    if isinstance(value, graph_driver.Host):
        return value.array if value.array.ndim else value.array.item()
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], np.ndarray):
        return [wide(each) for each in value]
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value.astype(np.float64)
    return value


class Case:
    """A call that a record has, and what it has to give."""

    def __init__(self, record, text):
        graph_cases.generator = np.random.default_rng(1)
        known = FUNCTIONS | {"np": np}
        made = eval(text, known) if text.startswith(("distances(", "gru_operands(", "lstm_operands(", "max_pool3d_operands(")) else eval(f"dict({text})", known)
        names = {each.name for each in (*record.inputs, *record.attributes)}
        assert set(made) <= names, f"{set(made) - names} are no inputs or attributes"
        self.record = record
        self.attributes = {each.name: made[each.name] for each in record.attributes if each.name in made}
        self.operands = [made.get(each.name) for each in record.inputs]
        given = {each.name: default(each) for each in record.attributes}
        given |= {each.name: None for each in record.inputs} | made
        formula = eval(record.record["numpy"], known | {name: wide(each) for name, each in given.items()})
        outputs = [each.copies or each.name for each in record.outputs]
        if not isinstance(formula, dict):
            many = record.outputs[0].many
            formula = {outputs[0]: formula} if len(outputs) == 1 or many else dict(
                zip(outputs, formula, strict=True))  # fmt: skip
        self.wanted = formula

    @property
    def inputs(self):
        made = []
        for each, value in zip(self.record.inputs, self.operands, strict=True):
            made += value if each.many else [value]
        while made and made[-1] is None:
            made.pop()
        return made

    @property
    def outputs(self):
        made = []
        for each in self.record.outputs:
            value = self.wanted[each.copies or each.name]
            made += value if each.many else [value]
        return [np.full(each.shape, 77, self.type_of(each)) for each in made]

    def type_of(self, value):
        if isinstance(value, graph_cases.Drawn):
            return value.dtype
        dtype = np.asarray(value).dtype
        return np.dtype(np.float32) if dtype == np.float64 else dtype


def near(got, wanted, what):
    if isinstance(wanted, graph_cases.Drawn):
        assert wanted.check(got.astype(np.float64)), f"{what}: {got}"
    else:
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5, err_msg=what)


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}-{i}" for name, i in CASES])
def test_the_record_is_what_its_formula_is(device, name, case):
    record = RECORDS[name]
    made = Case(record, record.record["cases"][case])
    places = {each.name: i for i, each in enumerate(record.inputs)}
    copies = {i: places[each.copies] for i, each in enumerate(record.outputs) if each.copies}
    for same in ({}, copies) if copies else ({},):
        called = device.call(name, made.inputs, [each.copy() for each in made.outputs],
                             made.attributes, same)  # fmt: skip
        assert called.code == 0, called.message
        at = 0
        for i, each in enumerate(record.outputs):
            wanted = made.wanted[each.copies or each.name]
            for one in wanted if each.many else [wanted]:
                near(called.outputs[at], one, f"{each.copies or each.name}, output {i}")
                at += 1
        for key, wanted in made.wanted.items():
            if key in places:
                near(called.inputs[places[key]], wanted, f"{key} afterwards")


def test_what_is_said_to_be_absent_is():
    source = Path(__file__).resolve().parents[2] / "src/companions/acl_op_compiler/absent_operators.cc"
    absent = re.findall(r'^    \{"(\w+)", ', source.read_text(), re.MULTILINE)
    assert absent and not set(absent) & set(RECORDS)


@pytest.mark.parametrize("name", RECORDS)
def test_what_is_missing_or_of_another_type_is_named(device, name):
    record = RECORDS[name]
    made = Case(record, record.record["cases"][0])
    least = sum(not (each.optional or each.many) for each in record.inputs)
    if least:
        called = device.call(name, made.inputs[: least - 1], made.outputs, made.attributes)
        names = [each.name for each in record.inputs]
        assert called.code and f"inputs count is {least - 1}, expected " in called.message
        assert all(each in called.message for each in names), called.message
    called = device.call(name, made.inputs, [], made.attributes)
    if not record.outputs[0].many:
        assert called.code and "outputs count is 0, expected " in called.message
    for each in record.attributes:
        wrong = made.attributes | {each.name: WRONG[each.kind]}
        called = device.call(name, made.inputs, made.outputs, wrong)
        assert called.code, each.name
        assert f"{each.name} type is another, expected " in called.message
        if each.default is None:
            rest = {key: value for key, value in made.attributes.items() if key != each.name}
            called = device.call(name, made.inputs, made.outputs, rest)
            assert called.code and f"{each.name} is not set, expected " in called.message
