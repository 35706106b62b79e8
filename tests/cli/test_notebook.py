# SPDX-License-Identifier: Apache-2.0
"""examples/gradients.ipynb runs, its formulas are those of the rooms and its C is that of the programs."""

import os
import re
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from openaclnn.native import libraries

ROOT = Path(__file__).resolve().parents[2]
PATH = ROOT / "examples/gradients.ipynb"
NOTEBOOK = nbformat.read(PATH, as_version=4)
FAMILIES = ("embedding", "grouped_bias", "nsa_compress", "masked_softmax", "conv_tbc")
PICTURES = len(FAMILIES) + 1

sys.path.insert(0, str(ROOT / "scripts/site"))

import formula


def prose() -> str:
    return "\n".join(each.source for each in NOTEBOOK.cells if each.cell_type == "markdown")


@pytest.fixture(scope="module")
def outputs():
    """What the cells leave when they are run in their order, in a kernel of this Python."""
    notebook = nbformat.read(PATH, as_version=4)
    libraries.find()
    place = {"metadata": {"path": str(PATH.parent)}}
    variables = {**os.environ, "PYTHONWARNINGS": "error::RuntimeWarning"}
    NotebookClient(notebook, timeout=120, resources=place).execute(env=variables)
    return [each for cell in notebook.cells for each in cell.get("outputs", ())]


def test_every_result_is_within_its_bound(outputs):
    said = "".join(each.text for each in outputs if each.output_type == "stream")
    lines = re.findall(r"^(\w+) d\w: largest error .*, ([\d.]+)% of what is allowed$", said, re.M)
    assert len(lines) == len(said.splitlines()) == 8, said
    assert all(0 < float(share) <= 100 for _, share in lines)
    titles = [(ROOT / f"src/opapi/{each}/backward/README.md").read_text() for each in FAMILIES]
    assert {name for name, _ in lines} == {re.match(r"# (\w+)", each)[1] for each in titles}


def test_there_is_a_picture_of_each_and_of_the_errors(outputs):
    shown = [each for each in outputs if each.output_type != "stream"]
    assert all("image/png" in each.data for each in shown) and len(shown) == PICTURES


def test_it_is_stored_without_outputs():
    nbformat.validate(NOTEBOOK)
    for cell in NOTEBOOK.cells:
        assert not cell.metadata
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None), cell.id
    assert set(NOTEBOOK.metadata) == {"kernelspec", "language_info"}
    assert nbformat.writes(NOTEBOOK) + "\n" == PATH.read_text("utf-8")


def test_formulas_are_those_of_the_rooms():
    for family in FAMILIES:
        readme = (ROOT / f"src/opapi/{family}/backward/README.md").read_text("utf-8")
        text = re.search(r"(?:^ {4}.*\n)+", readme, re.M)[0]
        assert f"\n$$\n{formula.latex(text)}\n$$\n" in prose(), family


def test_calls_from_c_are_those_of_the_programs():
    programs = [each.read_text("utf-8") for each in (ROOT / "examples").glob("*.c")]
    calls = re.findall(r"^```c\n(.*?)^```$", prose(), re.M | re.S)
    assert len(calls) == len(FAMILIES)
    for call in calls:
        assert any(call in each for each in programs), call
