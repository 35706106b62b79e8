# SPDX-License-Identifier: Apache-2.0
"""The table of operators that clients look up has those of this torch-npu."""

import sys
from pathlib import Path

import torch_npu

CLIENTS = Path(__file__).resolve().parents[1]
sys.path.append(str(CLIENTS))
import called_operators


def test_the_table_has_the_names_of_this_package():
    client = f"torch-npu {torch_npu.__version__.partition('+')[0]}"
    listed, clients = set(), ""
    for line in called_operators.FILE.read_text("utf-8").splitlines():
        if line.startswith("["):
            clients = line.strip("[]").split(", ")
        elif client in clients:
            listed |= set(line.split())
    folder = Path(torch_npu.__file__).parent / "lib"
    names = set().union(*(called_operators.in_library(each.read_bytes()) for each in folder.glob("*.so*")))
    called = called_operators.of_torch_npu(names)
    assert len(called) > 500
    # A version that the table does not have has nothing to compare.
    different = listed ^ called if listed else set()
    assert not different, sorted(different)


def test_names_of_libraries():
    found = called_operators.in_library(b"\0aclnnAdd\0aclnnAddGetWorkspaceSize\0x_aclnnMul\0aclnnSub\0aclnn\0")
    assert found == {"aclnnAdd", "aclnnAddGetWorkspaceSize", "aclnnSub"}
    assert called_operators.of_torch_npu(found) == {"aclnnAdd"}
    assert called_operators.of_mindspore({*found, "aclnnView"}) == {"aclnnAdd", "aclnnSub"}
