# SPDX-License-Identifier: Apache-2.0
"""Commands by the names of an earlier release, which go on working for one more."""

from pathlib import Path

import typer

from ..errors import ExitCode
from ..operators import FORWARDS, GRADIENTS
from ..operators.operator import Operator
from . import verbs
from .operator_commands import Report, differentiate, group, option, run, write_option
from .parser import hint

app = typer.Typer()


def _run(operator: Operator, values: dict, files: verbs.Files, json: bool) -> ExitCode:
    verb = "grad" if operator.derivative else "forward"
    hint(f"openaclnn {verb} {operator.name}", f"openaclnn call {operator.name}")
    return run(operator, values, files, json)


def _gradcheck(
    operator: Operator, values: dict, files: verbs.Files, json: bool, html: Path | None
) -> ExitCode:
    now = f"openaclnn check {operator.name} --derivatives"
    hint(f"openaclnn gradcheck {operator.name}", now)
    return differentiate(operator, values, json, html)


def _report(operator: Operator):
    return (option("html", Report, None),)


_GROUPS = {
    "grad": group("grad", _run, "Former name of call.", GRADIENTS, write_option),
    "forward": group("forward", _run, "Former name of call.", FORWARDS, write_option),
    "gradcheck": group(
        "gradcheck", _gradcheck, "Former name of check --derivatives.", GRADIENTS, options=_report
    ),
}
for _name, _group in _GROUPS.items():
    app.add_typer(_group, name=_name, hidden=True)
