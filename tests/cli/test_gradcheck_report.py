# SPDX-License-Identifier: Apache-2.0
"""`openaclnn check --derivatives --report`: the page has what --json says, and what was wrong is red."""

import json
import re
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import refused
from test_html_report import cells, drawings, words

from openaclnn.pages import error_figures
from openaclnn.native.call import Call

OPERATOR = "grouped_bias_add_grad"


@pytest.fixture
def checked(here, tmp_path):
    """Runs the comparison with a report; what it printed as JSON, and the page."""

    def run():
        ended = here("check", OPERATOR, "--derivatives", "--report", "out.html", "--json")
        return ended, (tmp_path / "out.html").read_text("utf-8")

    return run


def test_the_page_has_what_json_has(checked):
    ended, page = checked()
    assert ended.code == 0
    inside = re.search(r'<script type="application/json" id="openaclnn">(.*?)</script>', page, re.S)
    assert json.loads(inside[1]) == ended.json
    assert "aclnnGroupedBiasAddGrad" in page and ">within what derivatives allow</span>" in page
    assert f"check {OPERATOR} --derivatives --report out.html --json</code>" in page
    problems = ended.json["problems"]
    assert page.count("<h2>Problem ") == len(problems)
    rows = [row for problem in problems for row in problem["derivatives"]]
    found = cells(page)
    assert found.count("ok") == len(rows) == page.count("<b>Derivatives.</b>")
    assert {f"{row['operator_ratio']:.3g}" for row in rows} <= set(found)
    named = re.findall(r"""(?:src|href|action)\s*=\s*["']?([^"'\s>]*)|url\(([^)]*)""", page)
    assert named and all(each.startswith(("data:", "#")) for pair in named for each in pair if each)
    assert "<script" not in page.replace('<script type="application/json"', "")


def test_text_with_a_page_says_where_it_is(here, tmp_path):
    plain = here("check", OPERATOR, "--derivatives")
    drawn = here("check", OPERATOR, "--derivatives", "--report", "out.html")
    said = "The report is in out.html: open it in a browser.\n"
    assert (drawn.code, drawn.stdout) == (plain.code, plain.stdout + said)
    assert (tmp_path / "out.html").is_file()


def test_a_gradient_that_is_wrong(checked, monkeypatch):
    outputs = Call.outputs

    def broken(call):
        found = outputs(call)
        for array in found.values():
            array.reshape(-1)[-1] = np.nan
        return found

    monkeypatch.setattr(Call, "outputs", broken)
    ended, page = checked()
    assert ended.code == 1 and ">OUTSIDE what derivatives allow</span>" in page
    assert "WRONG" in cells(page) and "inf" in cells(page)
    drawing = next(each for each in drawings(page) if "difference / allowed" in words(each))
    assert error_figures._OUTSIDE in ElementTree.tostring(drawing, "unicode")


def test_points_outside_are_red():
    drawing = error_figures.derivatives([0.0] * 3, [0.5, 2.0, float("inf")])
    mark = r'<path d="M [\d.]+ ([\d.]+)[^>]*?style="fill: (#\w+); stroke: \2;'
    (inside, blue), (outside, red), (infinite, its) = re.findall(mark, drawing)[:3]
    assert blue != red == its == error_figures._OUTSIDE
    assert float(inside) > float(outside) > float(infinite)  # y of SVG grows downwards


def test_without_matplotlib(here, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ended = here("check", OPERATOR, "--derivatives", "--report", "out.html")
    refused(ended, 4, "--report needs matplotlib", "-m pip install matplotlib")
    assert not (tmp_path / "out.html").exists()


def test_a_page_that_cannot_be_written(here, monkeypatch):
    monkeypatch.setattr("openaclnn.gradcheck.run", None)
    refused(here("check", OPERATOR, "--derivatives", "--report", "no/out.html"), 2, "no folder no")
