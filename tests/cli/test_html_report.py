# SPDX-License-Identifier: Apache-2.0
"""`openaclnn check --report`: what the page says is what --json prints, and needs nothing else."""

import json
import re
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import refused, save
from test_distribution import compared

from openaclnn import accuracy
from openaclnn.pages import error_figures
from openaclnn.tool import report

CHECK = ("check", "embedding_dense_backward")
CONV = ("--shape", "9,2,8", "--dtype", "bfloat16")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def checked(here, tmp_path, files):
    """Runs the check with a report; what it printed as JSON, and the page."""

    def run(*options):
        ended = here(*CHECK, *files, *options, "--report", "out.html", "--json")
        return ended, (tmp_path / "out.html").read_text("utf-8")

    return run


def drawings(page: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(each) for each in re.findall(r"<svg.*?</svg>", page, re.S)]


def words(drawing) -> list[str]:
    found = ("".join(each.itertext()).strip() for each in drawing.iter(SVG + "text"))
    return [each for each in found if each]


def cells(page: str) -> list[str]:
    return [re.sub("<.*?>", "", each) for each in re.findall(r"<t[dh].*?</t[dh]>", page, re.S)]


def test_the_page_has_what_json_has(checked):
    ended, page = checked()
    assert ended.code == 0
    inside = re.search(r'<script type="application/json" id="openaclnn">(.*?)</script>', page, re.S)
    assert json.loads(inside[1]) == ended.json
    environment = ended.json["environment"]
    assert {str(each) for each in environment.values()} <= set(cells(page))
    assert "aclnnEmbeddingDenseBackward <span" in page and "within the bound</span>" in page
    assert "--num-weights 4 --padding-idx 0 --report out.html --json</code>" in page


def test_the_page_needs_no_network(checked):
    _, page = checked()
    named = re.findall(r"""(?:src|href|action)\s*=\s*["']?([^"'\s>]*)|url\(([^)]*)""", page)
    assert named and all(each.startswith(("data:", "#")) for pair in named for each in pair if each)
    assert "@import" not in page
    assert "<script" not in page.replace('<script type="application/json"', "")


def wrong(tmp_path) -> None:
    out = np.array([[0, 0, 0], [1, 2, 3], [4, 5, 6], [0, 0, 0]], np.float32)
    out[1, 2], out[3, 0] = 3.5, np.nan
    save(tmp_path / "wrong.npy", out)


def test_numbers_that_differ(checked, tmp_path):
    wrong(tmp_path)
    ended, page = checked("--out", "wrong.npy")
    assert ended.code == 1 and "OUTSIDE the bound</span>" in page
    (result,) = ended.json["results"]
    rows = [str(each["coordinates"]) for each in result["worst"]]
    found = cells(page)
    assert rows == ["[3, 0]", "[1, 2]"] and found[found.index(rows[0]) - 1] == "1"
    assert found[found.index(rows[1]) - 1] == "2" and "3.5" in found
    assert found[found.index("elements outside the bound") + 1] == "2"
    histogram, heat_map = drawings(page)
    assert {"10", "1", "not finite"} <= set(words(histogram))
    assert {"1", "2"} <= set(words(heat_map)) and "Red: outside" in page


def test_a_result_without_error_has_no_map(checked):
    _, page = checked()
    assert len(drawings(page)) == 1 and "No map: every element is the reference.<" in page


def test_what_was_not_judged_is_not_the_reference(here, tmp_path):
    save(tmp_path / "large.npy", np.full((2, 2), [3e38, 1], np.float32))
    save(tmp_path / "zeros.npy", np.zeros(2, np.int64))
    operands = ("--grad", "large.npy", "--indices", "zeros.npy", "--num-weights", "1")
    assert here(*CHECK, *operands, "--report", "out.html").code == 0
    page = (tmp_path / "out.html").read_text()
    assert "No map: every element that was judged is the reference.<" in page


def test_text_and_page(here, tmp_path, files):
    plain, drawn = here(*CHECK, *files), here(*CHECK, *files, "--report", "out.html")
    said = "The report is in out.html: open it in a browser.\n"
    assert (drawn.code, drawn.stdout) == (plain.code, plain.stdout + said)
    found = cells((tmp_path / "out.html").read_text())
    assert "0  within the bound" in found and "0  within the bound" in plain.stdout


def test_without_matplotlib(here, tmp_path, files, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ended = here(*CHECK, *files, "--report", "out.html")
    refused(ended, 4, "--report needs matplotlib", "-m pip install matplotlib")
    assert not (tmp_path / "out.html").exists()
    assert here(*CHECK, *files).code == 0


def test_a_page_that_cannot_be_written(here, files, monkeypatch):
    monkeypatch.setattr(accuracy, "compare", None)
    refused(here(*CHECK, *files, "--report", "no/out.html"), 2, "no/out.html: no folder no")


def test_what_the_user_names_is_text(here, tmp_path, files):
    name = "<b>&.html"
    assert here(*CHECK, *files, "--report", name).code == 0
    page = (tmp_path / name).read_text()
    assert "<b>&" not in page and "--report &#x27;&lt;b&gt;&amp;.html&#x27;</code>" in page


def test_bfloat16(here, tmp_path):
    assert here("check", "conv_tbc", *CONV, "--report", "out.html").code == 0
    page = (tmp_path / "out.html").read_text()
    assert "elements of bfloat16" in page and "Errors by size" in page


def test_figures_of_nothing_finite():
    result, seen = compared([np.nan, np.nan], [1, 2])
    assert "2" in words(ElementTree.fromstring(error_figures.histogram(seen)))
    assert {"1", "2"} <= set(words(ElementTree.fromstring(error_figures.heat_map(seen, result))))
    assert report.accuracy_facts(result)[1] == ("error / bound", "inf  OUTSIDE the bound")
