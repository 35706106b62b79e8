# SPDX-License-Identifier: Apache-2.0
"""The table of operators x products x dtypes, and finding the libraries that hold it."""

from pathlib import Path

import pytest

from openaclnn.native import libraries
from openaclnn.errors import InputError, ToolkitNotFound
from openaclnn.native.support import Support

DOCUMENT = {
    "products": [{"name": "P1", "family": "F1"}, {"name": "P2", "family": "F2"}],
    "operators": [
        {
            "name": "aclnnX",
            "operands": [
                {"name": "grad", "dtypes": {"F1": ["FLOAT", "BFLOAT16"], "F2": ["FLOAT"]}}
            ],
        },
        {"name": "aclnnY", "operands": [{"name": "grad", "dtypes": {"F1": ["BOOL"]}}]},
    ],
    "supporting": [
        {"name": "aclnnZ", "operands": [{"name": "tensors", "dtypes": {"F2": ["FLOAT"]}}]},
        {
            "name": "aclnnV",
            "operands": [
                {"name": "tensors", "dtypes": {"F2": ["FLOAT", "INT8", "BOOL"]}},
                {"name": "self", "dtypes": {"F2": ["FLOAT", "INT8"]}},
                {"name": "mask", "dtypes": {"F2": ["INT8"]}},
            ],
        },
    ],
}


def test_table():
    support = Support.parse(DOCUMENT)
    assert support.families == ["F1", "F2"]
    assert support.dtypes("aclnnX", "grad") == ["float32", "bfloat16"]
    assert support.only_product("P2").families == ["F2"]
    assert [each.api for each in support.only_operator("aclnnY").operators] == ["aclnnY"]


def test_supporting_operators_are_apart():
    support = Support.parse(DOCUMENT)
    only = support.only_operator("aclnnZ")
    assert only.operators == () and [each.api for each in only.supporting] == ["aclnnZ"]
    assert support.only_operator("aclnnX").supporting == ()


def test_tensors_have_types_of_their_own():
    plain, own = Support.parse(DOCUMENT).supporting
    assert [each.name for each in plain.named] == ["tensors"]
    assert plain.any_operand.dtypes == {"F2": ("float32",)}
    assert [each.name for each in own.named] == ["self", "mask"]
    assert own.any_operand.dtypes == {"F2": ("float32", "int8")}


def test_unknown_names_list_the_known_ones():
    support = Support.parse(DOCUMENT)
    with pytest.raises(InputError, match="expected one of aclnnX, aclnnY or 2 supporting"):
        support.only_operator("aclnnW")
    assert [each.api for each in support.only_operator("x").operators] == ["aclnnX"]
    with pytest.raises(InputError, match=r"expected one of .*P1, P2; did you mean P2 or P1\?$"):
        support.only_product("P")


def make_toolkit(home: Path) -> Path:
    for name in libraries._LIBRARIES:
        (home / "lib64" / name).parent.mkdir(parents=True, exist_ok=True)
        (home / "lib64" / name).touch()
    return home


def test_places_are_looked_at_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr(libraries, "_PACKAGE", tmp_path / "python" / "openaclnn")
    monkeypatch.delenv("OPENACLNN_HOME", raising=False)
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path / "cann"))
    with pytest.raises(ToolkitNotFound, match="set OPENACLNN_HOME"):
        libraries.find()
    built = make_toolkit(tmp_path / "build" / "install")
    assert libraries.find() == built
    sourced = make_toolkit(tmp_path / "cann")
    assert libraries.find() == sourced
    packaged = make_toolkit(tmp_path / "python" / "openaclnn" / "cann")
    assert libraries.find() == packaged
    named = make_toolkit(tmp_path / "named")
    monkeypatch.setenv("OPENACLNN_HOME", str(named))
    assert libraries.find() == named


def test_a_real_cann_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(libraries, "_PACKAGE", tmp_path / "python" / "openaclnn")
    monkeypatch.delenv("OPENACLNN_HOME", raising=False)
    (make_toolkit(tmp_path / "cann") / "lib64" / libraries._LIBRARIES[-1]).unlink()
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path / "cann"))
    with pytest.raises(ToolkitNotFound):
        libraries.find()


def test_a_named_toolkit_must_be_one(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENACLNN_HOME", str(tmp_path))
    with pytest.raises(ToolkitNotFound, match=r"has no lib64/libascendcl\.so"):
        libraries.find()


def test_libraries_that_do_not_load(tmp_path):
    with pytest.raises(ToolkitNotFound, match="cannot load"):
        libraries.Toolkit(make_toolkit(tmp_path))
