# SPDX-License-Identifier: Apache-2.0
"""Calls are captured, run again, and printed as C programs; damaged captures are refused."""

import json
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from conftest import change, refused

from openaclnn.native import libraries
from openaclnn import replay

CLIENT = Path(__file__).with_name("capture_client.py")
GRADIENT = ("-m", "openaclnn", "call", "embedding_dense_backward")


@pytest.fixture
def captured(tool, tmp_path):
    """Captures what a Python program does, in `calls`; more environment by keyword."""

    def run(*arguments, **environment):
        folder = {"OPENACLNN_CAPTURE": str(tmp_path / "calls"), **environment}
        return tool("run", "--", sys.executable, *arguments, **folder)

    return run


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def test_a_gradient_is_the_same_again(tool, gradient):
    run = tool("replay", gradient, "--json")
    assert (run.code, run.stderr) == (0, "")
    (call,) = run.json["calls"]
    assert call["ok"] and call["product"] == "Ascend910B1"
    assert [(step["name"], step["captured"]["code"]) for step in call["steps"]] == [
        ("phase_1", 0), ("phase_2", 0), ("synchronize", 0),
    ]  # fmt: skip
    (out,) = call["outputs"]
    assert (out["name"], out["elements"], out["different"]) == ("out", 12, 0)
    assert out["reference"]["outside"] == out["captured_reference"]["outside"] == 0
    table = tool("replay", gradient)
    assert (table.code, table.stderr) == (0, "")
    assert "within the bound" in table.stdout and "The same here." in table.stdout


def test_arguments_are_saved_as_they_were(gradient):
    document = json.loads((gradient / "call.json").read_text())
    values = {each["name"]: (each["kind"], each["value"]) for each in document["arguments"]}
    assert values["numWeights"] == ("uint64", 4)
    assert values["paddingIdx"] == ("uint64", 0)
    assert values["scaleGradByFreq"] == ("bool", False)
    assert values["indices"][1]["shape"] == [2]
    contents = np.fromfile(gradient / f"memory{values['indices'][1]['memory']}.before.bin", np.int64)
    assert contents.tolist() == [1, 2]


def test_another_result_is_seen(tool, gradient):
    (after,) = gradient.glob("*.after.bin")
    result = np.fromfile(after, np.float32)
    result[4] += 0.25
    after.write_bytes(result.tobytes())

    def edit(document):
        for piece in document["memory"]:
            if piece["after"]:
                piece["after"]["crc32"] = zlib.crc32(result.tobytes())

    change(gradient, edit)
    run = tool("replay", gradient, "--json")
    assert run.code == 1
    (out,) = run.json["calls"][0]["outputs"]
    assert (out["different"], out["largest_difference"]) == (1, 0.25)
    assert out["reference"]["outside"] == 0 and out["captured_reference"]["outside"] == 1
    table = tool("replay", gradient)
    assert "NOT the same here." in table.stdout and "OUTSIDE the bound" in table.stdout


def test_c_program(tool, gradient, tmp_path):
    assert tool("replay", gradient, "--c", "program.c").code == 0
    assert tool("replay", gradient, "--c", "-").stdout == (tmp_path / "program.c").read_text()
    home = libraries.find()
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{home}/include", f"-L{home}/lib64"]
    libs = ["-lopapi", "-lnnopbase", "-lascendcl"]
    subprocess.run(
        ["gcc", "program.c", *flags, *libs, "-o", "program"], cwd=tmp_path, check=True, timeout=60
    )
    ended = tool("run", "--", "./program")
    assert (ended.code, ended.stdout.splitlines()[1:]) == (0, ["out: 0 of 48 bytes differ"]), ended
    (after,) = gradient.glob("*.after.bin")
    after.write_bytes(bytes(each ^ 1 for each in after.read_bytes()))
    assert "out: 48 of 48 bytes differ" in tool("run", "--", "./program").stdout
    assert "cannot read" in tool("run", "--", "./program", "nowhere").stdout


def test_refusals_are_captured(tool, captured, tmp_path):
    run = captured(*GRADIENT[:3], "nsa_compress_grad", "--shape", "64,2,32", "--soc",
                   "Ascend950PR_9579", "--input-grad-out", "a", "--weight-grad-out", "b")  # fmt: skip
    assert run.code == 3 and "Ascend950PR_9579" in run.stderr, run
    folder = tmp_path / "calls" / "000001-aclnnNsaCompressGrad"
    again = tool("replay", folder, "--json")
    assert again.code == 0, again
    first = again.json["calls"][0]["steps"][0]
    assert first["captured"]["code"] == first["here"]["code"] == 561003
    assert first["captured"]["message"] in run.stderr
    other = tool("replay", folder, "--json", "--soc", "Ascend910B1")
    assert other.code == 1
    assert other.json["calls"][0]["steps"][0]["here"]["code"] == 0


def test_errors_of_tasks_reach_the_program_too(tool, captured, tmp_path):
    run = captured("-c", "import openaclnn, numpy as np\n"
                   "openaclnn.embedding(np.ones((4, 3), np.float32), np.array([1, 7]))")  # fmt: skip
    assert "indices value 1 is 7, expected 0 <= value < 4" in run.stderr
    again = tool("replay", tmp_path / "calls", "--json")
    assert again.code == 0, again
    last = again.json["calls"][0]["steps"][2]
    assert last["captured"]["code"] == last["here"]["code"] == 507035
    assert "indices value 1 is 7" in last["captured"]["message"]


@pytest.mark.parametrize(
    ("does", "printed", "calls"),
    [
        ("views", str((np.arange(24).reshape(4, 6) + np.array([1, 0] * 3) *
                       (np.arange(24).reshape(4, 6) + 1) / 2).tolist()), ["aclnnInplaceAdd"]),
        ("lists", "[[20.0, 20.0], [300.0, 300.0, 300.0]]", ["aclnnForeachMulScalarList"]),
        ("again", "\n".join(str([float(each)] * 4) for each in (1, 2, 3)), ["aclnnAbs"] * 3),
    ],
)  # fmt: skip
def test_all_kinds_of_arguments(tool, captured, tmp_path, does, printed, calls):
    run = captured(CLIENT, does)
    assert (run.code, run.stdout, run.stderr) == (0, printed + "\n", ""), run
    folder = tmp_path / "calls"
    assert names(folder) == [f"{i + 1:06}-{name}" for i, name in enumerate(calls)]
    again = tool("replay", folder, "--json")
    assert (again.code, len(again.json["calls"])) == (0, len(calls))
    for each in folder.iterdir():
        assert tool("replay", each, "--c", "program.c").code == 0
        home = libraries.find()
        libs = [f"-I{home}/include", f"-L{home}/lib64", "-lopapi", "-lnnopbase", "-lascendcl"]
        subprocess.run(["gcc", "-Wall", "-Werror", "program.c", *libs, "-o", "program"],
                       cwd=tmp_path, check=True, timeout=60)  # fmt: skip
        ended = tool("run", "--", "./program")
        assert ended.code == 0 and ": 0 of" in ended.stdout, ended


def test_new_addresses_are_followed(captured, tmp_path):
    captured(CLIENT, "again")
    for number in (1, 2, 3):
        folder = tmp_path / "calls" / f"{number:06}-aclnnAbs"
        inputs = json.loads((folder / "call.json").read_text())["arguments"][0]
        contents = np.fromfile(folder / f"memory{inputs['value']['memory']}.before.bin", np.float32)
        assert contents.tolist() == [-number] * 4


def test_messages_reach_the_program(captured, tmp_path):
    run = captured(CLIENT, "message")
    assert run.stdout == "161001 EZ1001: aclnnAbs: out value is null, expected a tensor ''\n", run


def test_what_is_not_there_is_not_found(captured):
    run = captured(CLIENT, "symbols")
    assert run.stdout == "False False\nTrue True\n", run


def test_next_is_next_to_the_caller(tool, tmp_path):
    """RTLD_NEXT means the libraries behind the one that asks, not those behind the capture."""
    source = tmp_path / "which.c"
    source.write_text(
        "#include <dlfcn.h>\n"
        "#ifdef SECOND\nint which(void) { return 2; }\n#else\n"
        'int which(void) { return 10 + ((int (*)(void))dlsym(RTLD_NEXT, "which"))(); }\n#endif\n'
    )
    main = tmp_path / "main.c"
    main.write_text('#include <stdio.h>\nint which(void);\nint main(void) { printf("%d", which()); }')
    gcc = ["gcc", "-D_GNU_SOURCE"]
    for arguments in (
        ["-shared", "-fPIC", source, "-o", "libfirst.so"],
        ["-shared", "-fPIC", "-DSECOND", source, "-o", "libsecond.so"],
        [main, "-Wl,--no-as-needed", "-L.", "-lfirst", "-lsecond", "-Wl,-rpath,.", "-o", "main"],
    ):
        subprocess.run([*gcc, *arguments], cwd=tmp_path, check=True, timeout=60)
    folder = {"OPENACLNN_CAPTURE": str(tmp_path / "calls")}
    assert tool("run", "--", "./main", **folder).stdout == "12"


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"OPENACLNN_CAPTURE_CALL": "2"}, ["000002-aclnnAbs"]),
        ({"OPENACLNN_CAPTURE_CALL": "2-9"}, ["000002-aclnnAbs", "000003-aclnnAbs"]),
        ({"OPENACLNN_CAPTURE_OPERATOR": "Abs", "OPENACLNN_CAPTURE_CALL": "3"}, ["000003-aclnnAbs"]),
        ({"OPENACLNN_CAPTURE_OPERATOR": "aclnnAbs"}, [f"00000{i}-aclnnAbs" for i in (1, 2, 3)]),
        ({"OPENACLNN_CAPTURE_OPERATOR": "aclnnAdd"}, None),
    ],
)
def test_some_calls(captured, tmp_path, environment, expected):
    assert captured(CLIENT, "again", **environment).code == 0
    folder = tmp_path / "calls"
    assert (names(folder) if folder.exists() else None) == expected


@pytest.mark.parametrize("text", ["0", "3-2", "1-", "1 ", "99999999999999999999"])
def test_calls_that_are_no_numbers(captured, tmp_path, text):
    run = captured(CLIENT, "again", OPENACLNN_CAPTURE_CALL=text)
    assert run.code == 0 and run.stdout.count("\n") == 3
    assert run.stderr.count("\n") == 1 and f"OPENACLNN_CAPTURE_CALL is '{text}'" in run.stderr
    assert not (tmp_path / "calls").exists()


def test_earlier_captures_stay(tool, captured, tmp_path):
    captured(CLIENT, "lists")
    captured(CLIENT, "lists")
    name = "000001-aclnnForeachMulScalarList"
    assert names(tmp_path / "calls") == [name, f"{name}.2"]


def test_calls_of_killed_programs_are_named(tool, captured, tmp_path):
    """What they were saving stays in a folder of another name, which is no call."""
    calls = tmp_path / "calls"
    left = calls / ".unfinished-17-000002-aclnnAbs"
    left.mkdir(parents=True)
    (left / "memory0.before.bin").write_bytes(b"1")
    refused(tool("replay", calls), 2, "has no captured call", f"{left} was not finished")
    assert captured(CLIENT, "again", OPENACLNN_CAPTURE_CALL="1").code == 0
    run = tool("replay", calls, "--json")
    assert run.code == 0 and len(run.json["calls"]) == 1
    assert run.stderr.count("\n") == 1 and f"{left} is no whole call" in run.stderr


def test_a_folder_that_cannot_be_written(captured, tmp_path):
    (tmp_path / "calls").write_text("a file")
    run = captured(CLIENT, "again")
    assert run.code == 0 and run.stdout.count("\n") == 3, run
    assert run.stderr.count("cannot make") == 3, run


def test_without_the_library_the_environment_is_refused():
    program = "import openaclnn, numpy as np; openaclnn.embedding(np.ones((4, 3)), np.array([1]))"
    environment = {**os.environ, "OPENACLNN_CAPTURE": "x"}
    run = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 1 and "OPENACLNN_CAPTURE is 'x'" in run.stderr, run
    assert "libopenaclnn_capture.so in LD_PRELOAD" in run.stderr


def test_the_tool_itself_is_not_captured(tool, gradient, tmp_path):
    """An exported OPENACLNN_CAPTURE is for the programs that `run` starts."""
    run = tool("replay", gradient, OPENACLNN_CAPTURE="calls")
    assert (run.code, run.stderr) == (0, ""), run
    assert "OPENACLNN_CAPTURE is" not in tool("doctor", OPENACLNN_CAPTURE="calls").stdout
    assert not (tmp_path / "calls").exists()


def test_outputs_that_were_not_read_are_not_the_same(tool, gradient):
    def lose(document):
        for piece in document["memory"]:
            piece.update(before=None, after=None)

    change(gradient, lose)
    run = tool("replay", gradient)
    assert run.code == 1 and "not compared" in run.stdout and "NOT the same" in run.stdout, run
    (out,) = tool("replay", gradient, "--json").json["calls"][0]["outputs"]
    assert not out["compared"] and out["reference"] is None


def test_inputs_that_were_not_read_have_no_reference(tool, gradient):
    change(gradient, lambda document: document["memory"][0].update(before=None))
    run = tool("replay", gradient, "--json")
    (out,) = run.json["calls"][0]["outputs"]
    assert run.code == 1 and out["compared"] and out["reference"] is None, out


def test_memory_that_was_not_read_is_not_allocated_for_a_refusal(tool, gradient):
    def refuse(document):
        document["arguments"][0]["value"].update(shape=[1, 3], strides=[3, 1])
        document["memory"][0].update(bytes=2**50, before=None)
        document["phase_1"].update(code=161002, message="")
        document.update(phase_2=None, synchronize=None)

    change(gradient, refuse)
    assert tool("replay", gradient).code == 0


def test_the_reference_judges_bfloat16(tool, captured, tmp_path):
    captured("-c", "import openaclnn, ml_dtypes, numpy as np\n"
             "grad = np.ones((2, 3), ml_dtypes.bfloat16)\n"
             "openaclnn.embedding_dense_backward(grad, np.array([1, 1]), 4, 0)")  # fmt: skip
    (out,) = tool("replay", "calls", "--json").json["calls"][0]["outputs"]
    assert out["reference"]["dtype"] == "bfloat16" and out["largest_difference"] == 0


@pytest.mark.parametrize(
    ("dtype", "difference", "ok"),
    [
        (np.float64, 2.0**-41, True),
        (np.float64, 2.0**-39, False),
        (np.float64, np.inf, False),
        (np.complex64, 2.0**-22, True),
        (np.complex64, 2.0**-8 * 1j, False),
        (np.complex128, 2.0**-41, True),
        (np.complex128, 2.0**-39 * 1j, False),
        (np.int64, 1, False),
    ],
)
def test_results_without_a_reference(dtype, difference, ok):
    there = np.full((2, 4), 1, dtype)
    here = there.copy()
    here[1, 2] += difference
    assert replay.run._compare_output("out", here, there, None).ok is ok
    assert replay.run._compare_output("out", there, there, None).ok


def test_one_product_at_a_time(here, tool, taken, tmp_path):
    for name, product in (("a", "Ascend910B1"), ("b", "Ascend950PR_9579")):
        folder = shutil.copytree(taken, tmp_path / "calls" / name)
        change(folder, lambda document, product=product: document.update(product=product))
    refused(here("replay", "calls"), 2, "one product's calls at a time")
    run = tool("replay", "calls", "--json", "--soc", "Ascend910B1")
    assert run.code == 0
    assert [each["product_here"] for each in run.json["calls"]] == ["Ascend910B1"] * 2
    assert "here on Ascend910B1" in tool("replay", "calls/b", "--soc", "Ascend910B1").stdout


def test_strings_are_plain_ascii_in_c(tmp_path):
    text = '\x01\x7f "é😀" ??/ \\ 9'.encode() + b"\xff7"
    literal = replay.program._string(text)
    assert literal.isascii() and "??" not in literal
    source = tmp_path / "text.c"
    source.write_text(f"#include <stdio.h>\nint main(void) {{ return puts({literal}) < 0; }}")
    subprocess.run(["gcc", "-std=c99", source, "-o", tmp_path / "text"], check=True, timeout=60)
    run = subprocess.run([tmp_path / "text"], capture_output=True, check=True, timeout=60)
    assert run.stdout == text + b"\n"


def test_every_operator_has_a_signature():
    include = libraries.find() / "include"
    declared = replay.signature._declared(include)
    text = "".join(header.read_text() for header in (include / "aclnnop").glob("*.h"))
    assert len(declared) == text.count("GetWorkspaceSize(") > 400
    kinds = {kind for each in declared.values() for kind, _ in each.arguments}
    assert kinds <= set(replay.signature._KINDS.values())


def test_folders_without_a_call(here, tmp_path):
    refused(here("replay", tmp_path / "nothing"), 2, "is not a folder")
    (tmp_path / "empty").mkdir()
    refused(here("replay", tmp_path / "empty"), 2, "has no captured call")


def test_one_program_for_one_call(tool, captured, tmp_path):
    captured(CLIENT, "again")
    refused(tool("replay", "calls", "--c", "x.c"), 2, "has 3 calls, expected the folder of one")
    call = "calls/" + names(tmp_path / "calls")[0]
    refused(tool("replay", call, "--c", "none/x.c"), 2, "none/x.c: no folder none, expected one")
    run = tool("replay", "calls")
    assert run.code == 0 and run.stdout.count("the same") == 3


def test_the_program_does_not_replace_the_call(tool, gradient, tmp_path):
    (tmp_path / "link").symlink_to(gradient)
    contents = {each: each.read_bytes() for each in gradient.iterdir()}
    assert len(contents) > 2
    for file in contents:
        refused(tool("replay", gradient, "--c", f"link/{file.name}"), 2, "a file of the captured call")
    assert {each: each.read_bytes() for each in gradient.iterdir()} == contents
    assert tool("replay", gradient, "--c", "gradient/program.c").code == 0


def test_folders_of_any_name(tool, gradient):
    for name in ("two\nlines", os.fsdecode(b"\xff")):
        gradient = gradient.rename(gradient.with_name(name))
        run = tool("replay", gradient)
        said = ascii(name)[1:-1]
        assert run.code == 0 and run.stdout.startswith("aclnnEmbeddingDenseBackward of ")
        assert f"/{said}, " in run.stdout.splitlines()[0]
        assert tool("replay", gradient, "--c", "program.c").code == 0


def test_unknown_products_name_the_known(tool, gradient):
    change(gradient, lambda document: document.update(product="Ascend1"))
    refused(tool("replay", gradient), 2, "'Ascend1'", "Ascend910B1", "Ascend950")


def test_operators_that_are_not_here(tool, gradient):
    change(gradient, lambda document: document.update(api="aclnnNothing"))
    refused(tool("replay", gradient), 4, "no header in", "declares aclnnNothing")


def test_capturing_changes_nothing(captured, files, tmp_path, tool):
    captured(*GRADIENT, *files, "--out", "a.npy")
    tool(*GRADIENT[2:], *files, "--out", "b.npy")
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    assert "OPENACLNN_CAPTURE" not in os.environ
