# SPDX-License-Identifier: Apache-2.0
"""`openaclnn list`: one screen of what there is, one operator's table, the operators of a topic."""

import json
import sys

import pytest
from conftest import refused

from openaclnn.native import libraries, topics
from openaclnn.tool import report
from openaclnn.errors import Error
from openaclnn.operators import OPERATORS


def test_what_there_is_fits_a_screen(here, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = here("list").stdout.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80
    words = " ".join(lines).replace(",", " ").split()
    for name in ("A2", "Ascend910B1", "matmul", *(each.name for each in OPERATORS)):
        assert name in words
    topics_said = lines[lines.index(next(each for each in lines if "by topic" in each)) + 1 : -2]
    for line in topics_said:
        assert line.rstrip().endswith((".", " …")), line
    assert lines[0].startswith("Products") and "aclnnAdd" not in words


@pytest.mark.parametrize("name", ["aclnnMatmul", "Matmul", "matMul", "mat_mul"])
def test_one_operator_by_any_spelling(here, name):
    run = here("list", name)
    assert run.code == 0 and "aclnnMatmul" in run.stdout and "aclnnAdd" not in run.stdout
    assert "float16" in run.stdout and "mat2" in run.stdout and len(run.stdout.splitlines()) < 24


def test_a_product_or_its_family_counts_what_it_takes(here):
    every, some = here("list", "--json").json, here("list", "--soc", "310B", "--json").json
    assert set(some["products"].values()) == {"310B"} and len(some["products"]) > 1
    takes = {
        each["api"]
        for each in every["supporting"]
        if any(one["dtypes"].get("310B") for one in each["operands"])
    }
    assert {name for names in some["topics"].values() for name in names} == takes
    said = here("list", "--soc", "Ascend310B1").stdout
    assert f"{len(takes)} supporting" in said and "0 operators" in said and 0 < len(takes) < 500
    assert here("list", "Matmul", "--soc", "a2").stdout == here("list", "Matmul", "--soc", "A2").stdout


def test_a_family_is_a_product_to_act_as(tool):
    assert tool("run", "--soc", "A2", "--", "sh", "-c", "echo $OPENACLNN_SOC").stdout == "Ascend910B1\n"
    run = tool("call", "Abs", "--self", "[-1]:bfloat16", "--soc", "910")
    assert run.code == 3 and "BFLOAT16" in run.stderr
    refused(tool("call", "Abs", "--self", "[1.0]", "--soc", "A9"), 2, "'A9'", "expected one of")


def test_an_operator_with_a_room(here):
    for operator in OPERATORS:
        (only,) = here("list", operator.name, "--json").json["operators"]
        assert only["api"] == operator.function.api
    run = here("list", "embedding_dense_backward", "--product", "Ascend910A", "--json")
    assert run.json["products"] == {"Ascend910A": "910"}
    (operator,) = run.json["operators"]
    dtypes = {each["name"]: each["dtypes"] for each in operator["operands"]}
    assert "bfloat16" not in dtypes["grad"]["910"] and "bfloat16" in dtypes["grad"]["A2"]


def test_every_supporting_operator_has_one_topic(here):
    every = here("list", "--json").json
    apis = [each["api"] for each in every["supporting"]]
    assert len(apis) > 400 and not {each.function.api for each in OPERATORS} & set(apis)
    assert sorted(apis) == sorted(name for names in every["topics"].values() for name in names)
    (tensors,) = next(each["operands"] for each in every["supporting"] if each["api"] == "aclnnLayerNorm")
    assert tensors["dtypes"]["910"] == ["float32", "float16", "float64"]
    assert "bfloat16" in tensors["dtypes"]["A2"] and "int32" not in tensors["dtypes"]["A2"]


def test_a_topic_names_its_operators(here, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = here("list", "matmul", "--json").json["topics"]["matmul"]
    run = here("list", "matmul")
    assert max(map(len, run.stdout.splitlines())) <= 80
    assert {each.removeprefix("aclnn") for each in names} <= set(run.stdout.split())


def test_all_tables(here, monkeypatch):
    wide = here("list", "--all").stdout
    for api in (each.function.api for each in OPERATORS):
        assert api in wide.split()
    count = len(here("list", "--json").json["supporting"])
    assert f"{count} supporting" in wide and "bfloat16" in wide
    monkeypatch.setenv("COLUMNS", "80")
    narrow = here("list", "--all").stdout
    assert max(map(len, narrow.splitlines())) <= 80
    assert {word for word in narrow.split() if word[0] != "─"} <= set(wide.split()), "names are whole"


def test_refusals(here):
    refused(here("list", "--product", "Ascend1"), 2, "Ascend1", "expected one of", "Ascend910B1")
    refused(here("list", "--soc", "Ascend910B11"), 2, "Ascend910B11", "mean Ascend910B1")
    refused(here("list", "mull"), 2, "mull", "aclnnEmbeddingDenseBackward", "aclnnMul")
    refused(here("list", "nope"), 2, "topics are activation, arrange")
    refused(here("list", "Add", "--all"), 2, "Add is given")


def test_a_terminal_shows_it_a_page_at_a_time(monkeypatch, tmp_path, capfd):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("PAGER", f"cat > {tmp_path}/paged")
    monkeypatch.setattr("pydoc.pager", lambda text, *_: (tmp_path / "paged").write_text(text))
    with report.paged() as console:
        console.print("word")
    assert "word" in (tmp_path / "paged").read_text()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False, raising=False)
    with report.paged() as console:
        console.print("plain")
    assert "plain" in capfd.readouterr().out


def test_topics_that_cannot_be_read(tmp_path):
    with pytest.raises(Error, match=r"topics\.json"):
        topics.read(tmp_path)
    path = tmp_path / "share/openaclnn/topics.json"
    path.parent.mkdir(parents=True)
    for text in ("{", "[1]", json.dumps([{"name": "a"}])):
        path.write_text(text)
        with pytest.raises(Error, match="cannot be read|can be read"):
            topics.read(tmp_path)
    assert topics.read(libraries.find())
