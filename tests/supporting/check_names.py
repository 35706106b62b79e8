# SPDX-License-Identifier: Apache-2.0
"""What records name of this folder: functions that draw cases, samples, functions of formulas.

The rest of a record is checked by scripts/operators/check_records.py, which the build runs; it has no tests.
"""

import ast
import builtins

import cases
import driver
import draw


def faults(operator):
    """`file: record: key: is X, expected Y` for each name that is not there."""
    where = f"src/opapi/supporting/{operator.topic}/operators.toml: {operator.name}"
    given = operator.record
    name = given.get("cases")
    if name is not None and name not in cases.drawing():
        expected = "a function of cases.py, more_cases.py or network_cases.py that returns a Case"
        yield f"{where}: cases: is '{name}', expected {expected}"
    for parameter, sample in given.get("samples", {}).items():
        known = {**draw.SAMPLES, **cases.PLAIN}
        if sample not in known:
            expected = f"one of {', '.join(known)}"
            yield f"{where}: samples: {parameter} is '{sample}', expected {expected}"
    for name in sorted(_free_names(given["numpy"]) - _known(operator)):
        expected = "a parameter, np or a function of formulas.py, places.py, chance.py, networks.py"
        yield f"{where}: numpy: names '{name}', expected {expected}"


def _free_names(expression):
    """Those that the expression does not make itself."""
    nodes = list(ast.walk(ast.parse(expression, mode="eval")))
    made = {node.arg for node in nodes if isinstance(node, ast.arg)}
    made |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return {node.id for node in nodes if isinstance(node, ast.Name)} - made


def _known(operator):
    names = {each.name for each in operator.parameters} | {"self"}
    names |= {"out"} if operator.in_place else set()
    names |= {"from_"} if "from" in names else set()
    return names | driver.NAMES.keys() | vars(builtins).keys()
