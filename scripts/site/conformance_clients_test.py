# SPDX-License-Identifier: Apache-2.0
"""The tables of clients hold what was seen, also when they are read back."""

import conformance_clients
import pytest

DATABASE = "PyTorch 2.8.0's operator database on torch-npu 2.8.0.post5"
MODE = {"OPENACLNN_SOC": "Ascend910B1", "ASCEND_LAUNCH_BLOCKING": "1"}


def run(client, mode=MODE, ok=True, failed=(), said="5"):
    return {
        "client": client, "mode": mode, "ok": ok, "passed": 0, "failed": list(failed), "said": said,
    }  # fmt: skip


RUNS = [
    run(f"{DATABASE}: backward", said="460 native, 1 missing"),
    run(f"{DATABASE}: forward", ok=False, failed=["add", "mul"], said="2 wrong, 1 native"),
    run("ctypes", mode={"OPENACLNN_SOC": "Ascend910B1"}),
    run("torch-npu 2.10.0", mode={}, ok=False, said="does not load: Duplicated key 'x'"),
    run("torch-npu 2.8.0", failed=["test_add"]),
    run("torch-npu 2.8.0", mode={"TASK_QUEUE_ENABLE": "2"}),
]


def page(runs):
    return f"# Page\n\n{conformance_clients.tables(runs)}\n## Operators\n\n| a | b |\n"


def test_tables_are_read_back():
    assert conformance_clients.merged(conformance_clients.read(page(RUNS)), []) == RUNS


def test_rows():
    text = page(RUNS)
    assert "| backward | 460 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | none |\n" in text
    assert "| `torch-npu 2.10.0` |  |  | **FAILED**, does not load: Duplicated key 'x' | none |\n" in text
    assert "| `torch-npu 2.8.0` | `Ascend910B1` | `ASCEND_LAUNCH_BLOCKING=1` | 5 | test_add |\n" in text
    assert f"| {DATABASE}: forward | `Ascend910B1` |" in text  # what is red is a row of its own


def test_new_runs_of_a_client_take_the_place_of_its_old_ones():
    new = [run("torch-npu 2.8.0", said="6")]
    assert conformance_clients.merged(RUNS, new) == [*RUNS[:4], *new]


def test_a_result_without_a_column_is_refused():
    with pytest.raises(SystemExit, match="counts odd"):
        conformance_clients.tables([run(f"{DATABASE}: backward", said="1 odd")])
