# SPDX-License-Identifier: Apache-2.0
"""The site has an example of every supporting operator, which is what the functions give."""

import re

import numpy as np
import pytest
import record_examples
import records

from openaclnn import ops
from openaclnn.dtypes import BFLOAT16

EXAMPLES = record_examples.examples()


def test_every_operator_has_one():
    assert EXAMPLES.keys() == {each.api for each in records.load()}


def parts(text: str) -> tuple[str, str]:
    """The call, and what stands below it."""
    lines = text.splitlines()[1:-1]
    typed = [line[4:] for line in lines if line.startswith((">>> ", "... "))]
    return "\n".join(typed), "\n".join(lines[len(typed) :])


WHOLE = [api for api, text in EXAMPLES.items() if "..." not in parts(text)[1]]


@pytest.mark.parametrize("api", WHOLE)
def test_its_call_gives_what_stands_below_it(api):
    call, given = parts(EXAMPLES[api])
    names = {**vars(np), "bfloat16": BFLOAT16}
    expected = [eval(each, names) for each in re.split(r"\n(?=array\()", given)]
    got = record_examples.arrays([eval(call, {"np": np, "ops": ops})])
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6, rtol=1e-6)


def test_none_is_long():
    lines = [line for text in EXAMPLES.values() for line in text.splitlines()]
    assert len(lines) / len(EXAMPLES) < 16
