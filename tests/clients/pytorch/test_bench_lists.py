# SPDX-License-Identifier: Apache-2.0
"""The lists that `openaclnn bench --walk` and `--drawn` time: PyTorch's counterparts of records compute
the same, and the calls of models run on the device."""

import json
import os
import subprocess
import sys

import pytest
import torch

from openaclnn.benchmark import calls
from openaclnn.benchmark.drawn import calls as drawn
from openaclnn.benchmark.walk.counterparts import COUNTERPARTS

pytestmark = pytest.mark.skipif(
    not torch.__version__.startswith("2.8.")
    or os.environ.get("OPENACLNN_SOC") != "Ascend910B1"
    or os.environ.get("TASK_QUEUE_ENABLE") != "1",
    reason="the bench has torch 2.8, once is enough",
)
# Found by their names: of one tensor, of scalars, of lists, with an output, in place, of places.
LIKE = ("Exp", "GeluBackward", "Adds", "ForeachAddListV2", "Cat", "Sort", "InplaceCopy", "Convolution")
# A call of each operator, of dense tensors where one is: of images whose channels are last, which a CPU
# passes on from one operator to the next, torch-npu makes no result.
CHOSEN = {}
for given, each in zip(json.loads(drawn.FILE.read_text())["calls"], drawn.find(), strict=True):
    if given["call"] not in CHOSEN or "strides" not in json.dumps(given):
        CHOSEN[given["call"]] = each.call


@pytest.fixture(scope="module")
def peers():
    """The kind and the name of the peers of records, as a walk finds them."""
    names = [word for each in (*COUNTERPARTS, *LIKE) for word in ("--operator", each)]
    command = [sys.executable, "-W", "ignore", "-m", "openaclnn", "bench", "--walk", "--quick", "--json"]
    environment = os.environ | {"OPENACLNN_BENCH_PYTHON": sys.executable}
    done = subprocess.run(
        [*command, "--threads", "1", *names], env=environment, stdout=subprocess.PIPE, check=True
    )
    found = json.loads(done.stdout)
    assert not found["refused"]
    return {each["operator"].removeprefix("aclnn"): (each["peer"], each["by"]) for each in found["walk"]}


@pytest.mark.parametrize("name", sorted(COUNTERPARTS))
def test_an_expression_computes_the_same(name, peers):
    given = COUNTERPARTS[name]
    assert peers[name] == ("torch", given if isinstance(given, str) else given[1])


@pytest.mark.parametrize("name", LIKE)
def test_an_operator_is_found_by_its_name(name, peers):
    kind, found = peers[name]
    assert kind == "torch" and found.startswith("aten.")


@pytest.mark.parametrize("name", CHOSEN)
def test_a_drawn_call_runs(name):
    run = CHOSEN[name].make(calls.Device(torch, "npu", torch.float32))
    run()
    torch.npu.synchronize()
