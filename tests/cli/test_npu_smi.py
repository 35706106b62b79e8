# SPDX-License-Identifier: Apache-2.0
"""npu-smi, read in the ways of the programs that call it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from openaclnn.native import libraries

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "python/npu_smi.py"


def ended(*arguments, **variables):
    home = str(libraries.find().resolve())
    environment = {
        **os.environ,
        "OPENACLNN_HOME": home,
        "OPENACLNN_SOC": "Ascend910B1",
        **variables,
    }
    command = [sys.executable, SCRIPT, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def said(*arguments, **variables):
    run = ended(*arguments, **variables)
    assert (run.returncode, run.stderr) == (0, ""), run
    return run.stdout


def value(text, name):
    """What vllm-ascend's setup.py finds: the end of the first line that has the name."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return next((line.split(":")[-1].strip() for line in lines if name in line), "")


def build_name(**variables):
    """The product for which vllm-ascend's setup.py builds."""
    number = int(value(said("info", "-l", **variables), "NPU ID"))
    text = said("info", "-t", "board", "-i", str(number), **variables)
    if not value(text, "Chip Name"):
        text = said("info", "-t", "board", "-i", str(number), "-c", "0", **variables)
    names = [value(text, each) for each in ("Chip Type", "Chip Name", "NPU Name")]
    kind, chip, variant = names
    assert bool(kind) != bool(variant), names
    return (f"{kind}{chip}" if kind else f"{chip}_{variant}").lower()


@pytest.mark.parametrize(
    "soc", ["Ascend910B1", "Ascend910_9391", "Ascend310P3", "Ascend950PR_9579", "Ascend910A"]
)
def test_vllm_ascend_builds_for_the_product(soc):
    assert build_name(OPENACLNN_SOC=soc) == soc.lower()


def test_the_parts_of_a_name_are_apart():
    """IndexSDK joins 910_ and the NPU's name."""
    text = said("info", "-t", "board", "-i", "0", "-c", "0", OPENACLNN_SOC="Ascend910_9391")
    assert (value(text, "Chip Name"), value(text, "NPU Name")) == ("Ascend910", "9391")
    text = said("info", "-t", "board", "-i", "0", "-c", "0")
    assert (value(text, "Chip Type"), value(text, "Chip Name")) == ("Ascend", "910B1")


def test_ggml_finds_the_product_in_the_seventh_row():
    """As awk -F"[|]" reads it: the third field, whose first letters are dropped."""
    row = said("info", OPENACLNN_SOC="Ascend910B3").splitlines()[6]
    assert row.split("|")[1].split() == ["0", "910B3"]


def test_gpustack_reads_the_table():
    """Blocks between rules; the indexes of the headings count words."""
    blocks = said("info").split("+\n")
    words = [[re.split(r"[|/\s]+", line)[1:-1] for line in each.split("\n")[:2]] for each in blocks]
    heading = next(lines for lines in words if lines[0][:1] == ["NPU"])
    first, second = next(lines for lines in words if lines[0][:1] == ["0"])
    assert first[heading[0].index("Name")] == "910B1"
    at = heading[1].index("Memory-Usage(MB)")
    assert second[heading[1].index("AICore(%)")] == "0"
    ddr_used, ddr_total, hbm_used, hbm_total = map(int, second[at : at + 4])
    assert (
        0 <= hbm_used <= hbm_total
        and hbm_total > 0
        and (ddr_used, ddr_total) == (hbm_used, hbm_total)
    )
    mapped = [line.split() for line in said("info", "-m").splitlines()]
    assert mapped[1][:3] == ["0", "0", "0"]


def test_a_regular_expression_finds_the_memory():
    pattern = r"\|\s*\d+\s+\|\s+[\w:.]+\s+\|\s+\d+\s+\d+\s*/\s*\d+\s+(\d+)\s*/\s*(\d+)"
    (used, total), *more = re.findall(pattern, said("info"))
    assert int(total) > 0 and not more


def test_the_table_is_as_wide_as_the_vendors():
    assert {len(line) for line in said("info").splitlines()} == {98}


def test_it_says_that_nothing_of_it_is_hardware():
    text = said("info")
    assert "(openaclnn, emulated)" in text.splitlines()[1]
    assert text.splitlines()[7].split("|")[2].strip() == "emulated"
    assert value(said("info", "-t", "board", "-i", "0"), "PCIe Bus Info") == "emulated"
    assert value(said("info", "-t", "board", "-i", "0"), "Software Version").endswith("-emulated")
    assert "No running processes found in NPU 0" in text


def test_the_memory_is_that_of_the_runtime():
    usages = said("info", "-t", "usages", "-i", "0", OPENACLNN_DEVICE_MEMORY="3G")
    assert (value(usages, "HBM Capacity(MB)"), value(usages, "HBM Usage Rate(%)")) == ("3072", "0")
    text = said("info", "-t", "memory", "-i", "0", OPENACLNN_DEVICE_MEMORY="3G")
    assert value(text, "DDR Capacity(MB)") == "3072"
    assert "0    / 3072" in said("info", OPENACLNN_DEVICE_MEMORY="3G")


def test_every_device_has_its_lines():
    text = said("info", OPENACLNN_DEVICE_COUNT="2")
    assert [line.split()[1] for line in text.splitlines() if "910B1" in line] == ["0", "1"]
    assert value(said("info", "-l", OPENACLNN_DEVICE_COUNT="2"), "Total Count") == "2"
    rows = [
        line.split() for line in said("info", "-m", OPENACLNN_DEVICE_COUNT="2").splitlines()[1:]
    ]
    assert [row[:3] for row in rows] == [["0", "0", "0"], ["1", "0", "1"]]
    hidden = said("info", "-l", OPENACLNN_DEVICE_COUNT="2", ASCEND_RT_VISIBLE_DEVICES="1")
    assert value(hidden, "Total Count") == "2"
    topology = said("info", "-t", "topo", OPENACLNN_DEVICE_COUNT="2")
    links = dict(line.split(None, 1) for line in topology.splitlines() if line.startswith("NPU"))
    assert links["NPU0"].split()[:2] == ["X", "MEM"] and links["NPU1"].split()[:2] == ["MEM", "X"]
    assert "hccs" not in topology.lower()


def test_topology_has_the_processors_that_compute():
    """As vllm-ascend reads it: the last word of a line that begins with NPU."""
    line = next(line for line in said("info", "-t", "topo").splitlines() if line.startswith("NPU0"))
    numbers = set()
    for part in line.split()[-1].split(","):
        first, _, last = part.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    assert numbers == os.sched_getaffinity(0)


def test_vllm_ascend_finds_the_npu_well():
    assert value(said("info", "-i", "0", "-t", "health"), "Health") == "OK"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["info", "-t", "power", "-i", "0"], 2, "invalid choice: 'power'"),
        (["info", "-t", "board", "-i", "7"], 1, "NPU ID is 7, expected 0 to 0"),
        (["info", "-t", "usages", "-i", "0", "-c", "1"], 1, "chip ID is 1, expected 0"),
        ([], 2, "expected info"),
    ],
)
def test_what_it_does_not_know_is_refused(arguments, code, words):
    run = ended(*arguments)
    assert run.returncode == code and words in run.stderr and run.stdout == ""


def test_an_unknown_product_is_refused():
    run = ended("info", OPENACLNN_SOC="Ascend1")
    assert run.returncode == 1 and "OPENACLNN_SOC is 'Ascend1'" in run.stderr


def test_the_program_keeps_its_trace(tmp_path):
    trace = tmp_path / "t.json"
    trace.write_text("the program's")
    said("info", OPENACLNN_TRACE=str(trace), OPENACLNN_CHECK="full")
    assert trace.read_text() == "the program's"


def test_run_and_the_installation_have_it_on_path(tool):
    home = libraries.find().resolve()
    run = tool("run", "--soc", "Ascend310P3", "--", "sh", "-c", "command -v npu-smi; npu-smi info")
    assert run.code == 0, run.stderr
    place, *lines = run.stdout.splitlines()
    assert place == str(home / "bin/npu-smi") and lines[6].split()[2] == "310P3"
