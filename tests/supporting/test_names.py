# SPDX-License-Identifier: Apache-2.0
"""Records name test cases, samples and functions that there are."""

from types import SimpleNamespace

import cases
import check_names
import pytest
import records


def test_every_record_names_what_there_is():
    operators = [each for topic in records.read_topics() for each in topic.operators]
    assert [fault for each in operators for fault in check_names.faults(each)] == []


@pytest.mark.parametrize(
    "field, says",
    [
        ({"cases": "flaots"}, "cases: is 'flaots', expected a function of cases.py"),
        ({"cases": "np"}, "cases: is 'np', expected a function"),
        ({"cases": "fill"}, "cases: is 'fill', expected a function"),
        ({"samples": {"self": "positve"}}, "samples: self is 'positve', expected one of any, tame"),
        ({"numpy": "np.abs(slef)"}, "numpy: names 'slef', expected a parameter"),
        ({"numpy": "seperate(self)"}, "numpy: names 'seperate', expected a parameter"),
    ],
)
def test_a_name_that_is_not_there_is_told(field, says):
    parameters = [SimpleNamespace(name="self"), SimpleNamespace(name="out")]
    record = {"numpy": "[self * i for i in range(2)]", "cases": "floats"} | field
    operator = SimpleNamespace(name="Turn", topic="order", parameters=parameters, record=record,
                               in_place=False)  # fmt: skip
    (fault,) = check_names.faults(operator)
    assert fault.startswith(f"src/opapi/supporting/order/operators.toml: Turn: {says}")


def test_no_other_name_draws():
    with pytest.raises(KeyError, match="no function np"):
        cases.numbers("np")
